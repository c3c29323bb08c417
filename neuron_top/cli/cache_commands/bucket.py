"""What the commands need when the root is a bucket: its listing, its surroundings, one entry fetched to look at."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from neuron_top import settings
from neuron_top.actions import usage_history as history
from neuron_top.actions.journal import s3_restore
from neuron_top.actions.journal.s3_journal import BucketJournal
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Totals
from neuron_top.actions.plan_context import PlanContext
from neuron_top.cache import s3
from neuron_top.cache.model import failures
from neuron_top.cache.model.entry import FAILURES, HITS, Entry
from neuron_top.cache.model.filenames import FAILURE_LOG
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import scanner, verify
from neuron_top.cli.cache_commands import common
from neuron_top.cli.output import log_stderr, print_json, print_text
from neuron_top.units import bytes_text, count_text


def look(url: str, arguments: argparse.Namespace, *, with_logs: bool = False) -> tuple[Snapshot, PlanContext]:
    """The listing, and what planners must know besides; `with_logs` reads the failures' logs, a request each."""
    bucket = s3.connect(url)
    listing = s3.take(bucket)
    snapshot = listing.snapshot
    if with_logs:
        entries = tuple(_with_failure(bucket, listing, entry) for entry in snapshot.entries)
        snapshot = msgspec.structs.replace(snapshot, entries=entries)
    return snapshot, _around(listing, bucket, arguments)


def _with_failure(bucket: s3.Bucket, listing: s3.Listing, entry: Entry) -> Entry:
    if entry.state not in FAILURES:
        return entry
    log = next(each for each in listing.objects[entry.path] if each.key.endswith(f"/{FAILURE_LOG}"))
    text = bucket.read(log.key, failures.READ_BYTES).decode(errors="replace") if log.size else ""
    return msgspec.structs.replace(entry, failure=failures.read_failure(text))


def bring_back(url: str, arguments: argparse.Namespace) -> int:
    """`neurontop cache restore PLAN s3://…`."""
    bucket = s3.connect(url)
    trash = BucketJournal(bucket.url, common.state_path())
    record = s3_restore.restore(arguments.plan, bucket, trash, read_only=arguments.read_only)
    if arguments.json:
        print_json({"plan": record.plan, "restored": record.restored, "kept": record.kept})
    else:
        log_stderr(f"neurontop: plan {record.plan}: {count_text(record.restored)} objects brought back")
        for key, reason in record.kept:
            print_text(f"stays deleted: {key}: {reason}")
    return 1 if record.kept else 0


def findings(url: str, entries: Iterable[Entry], *, full: bool) -> Iterator[verify.Finding]:
    """What is wrong with the hits among `entries`: headers and flags, a request each; `full` fetches each one whole."""
    bucket = s3.connect(url)
    objects = s3.take(bucket).objects
    wanted = [entry for entry in entries if entry.state in HITS and entry.path in objects]
    total, done = sum(entry.apparent for entry in wanted), 0
    yield from verify.cheap(entry for entry in entries if entry.state not in HITS)
    for entry in wanted:
        if full:
            with fetched(bucket, objects[entry.path], entry) as (root, local):
                found = [*verify.cheap([local]), *verify.deep(root, local)]
            yield from (msgspec.structs.replace(one, entry=entry) for one in found)
        elif what := s3.check_head(bucket, objects[entry.path]):
            yield verify.Finding(entry=entry, level=verify.BROKEN_LEVEL, what=what)
        done += entry.apparent
        if full and sys.stderr.isatty():
            print(f"\r{bytes_text(done)} of {bytes_text(total)} read\x1b[K", end="", file=sys.stderr, flush=True)
    if full and sys.stderr.isatty():
        print(file=sys.stderr)


def fetched_from(url: str, entry: Entry) -> contextlib.AbstractContextManager[tuple[str, Entry]]:
    """See `fetched`, for one entry of the bucket at `url`."""
    bucket = s3.connect(url)
    return fetched(bucket, s3.look_again(bucket, entry.path)[1], entry)


@contextlib.contextmanager
def fetched(bucket: s3.Bucket, objects: Iterable[s3.Object], entry: Entry) -> Iterator[tuple[str, Entry]]:
    """(root, entry) of a copy of one entry in a folder of its own, gone afterwards. There it takes its length."""
    with tempfile.TemporaryDirectory(prefix="neurontop-") as root:
        s3.fetch(bucket, objects, Path(root))
        found = next((each for each in scanner.scan(root).entries if each.path == entry.path), None)
        yield root, msgspec.structs.replace(found, allocated=found.apparent) if found else entry


def _around(listing: s3.Listing, bucket: s3.Bucket, arguments: argparse.Namespace) -> PlanContext:
    current = settings.load()[0]
    past = history.known(current.state_path)
    caveats = ["states are from the listing: headers of artifacts were not read (neurontop cache verify reads them)",
               "a bucket keeps no access times: last use is known from recordings only"]  # fmt: skip
    if not bucket.versioned():
        caveats.append("this bucket keeps no versions: what goes is gone, nothing can be undone")
    else:
        caveats.append("the space is free when the bucket's old versions expire")
    snapshot = listing.snapshot
    return PlanContext(
        now=snapshot.taken_at,
        before=Totals(
            entries=len(snapshot.entries),
            files=sum(map(len, listing.objects.values())) + len(snapshot.others),
            size=snapshot.totals().all.bytes + sum(other.allocated for other in snapshot.others),
        ),
        shared=s3.WHY_SHARED,
        shared_confirmed=arguments.i_am_alone,
        read_only=arguments.read_only,
        caveats=tuple(caveats),
        pins=(*Pins(current.state_path).patterns(), *common.words(current.cache_pins)),
        used=past.used,
        compiled=past.compiled,
    )
