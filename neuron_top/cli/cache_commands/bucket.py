"""The commands on a cache in S3: the same plans, another hand."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from neuron_top import settings
from neuron_top.actions import bucket_evict, history
from neuron_top.actions.evict import EvictPolicy, plan_eviction
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Outcome, Plan, Progress, Totals
from neuron_top.actions.surroundings import Surroundings
from neuron_top.amounts import parse_seconds
from neuron_top.cache import s3
from neuron_top.cache.entry import HITS
from neuron_top.cli.cache_commands import acting, common
from neuron_top.cli.output import narrate, print_json, table
from neuron_top.errors import UsageError
from neuron_top.units import count_text


def evict(policy: EvictPolicy, arguments: argparse.Namespace) -> int:
    """`neurontop cache evict s3://…`."""
    if policy.free_bytes is not None or arguments.workdirs:
        raise UsageError("--free and --workdirs speak of a disk: in a bucket, say --max-size or --older-than")
    bucket = s3.connect(arguments.root)
    listing = s3.take(bucket)
    try:
        plan = plan_eviction(listing.snapshot.entries, bucket.url, policy, _around(listing, bucket, arguments))
    except ValueError as problem:
        raise UsageError(f"--compiler: {problem}") from None
    drain = parse_seconds(arguments.drain)

    def carry(wanted: Plan, watch: Callable[[Progress], bool]) -> Outcome:
        narrate(f"neurontop: the marks go first; then {arguments.drain} for downloads under way, then the rest")
        return bucket_evict.evict(
            wanted, bucket, journal_of(bucket), read_only=arguments.read_only, drain_seconds=drain, watch=watch
        )

    return acting.settle([plan], arguments, carry)


def bring_back(arguments: argparse.Namespace) -> int:
    """`neurontop cache restore PLAN s3://…`."""
    bucket = s3.connect(arguments.root)
    record = bucket_evict.restore(arguments.plan, bucket, journal_of(bucket), read_only=arguments.read_only)
    if arguments.json:
        print_json({"plan": record.plan, "restored": record.restored, "kept": record.kept})
    else:
        narrate(f"neurontop: plan {record.plan}: {count_text(record.restored)} objects brought back")
        for key, reason in record.kept:
            print(f"stays deleted: {key}: {reason}")
    return 1 if record.kept else 0


def verify(arguments: argparse.Namespace) -> int:
    """`neurontop cache verify s3://…`: headers and flags of every hit, a request each."""
    bucket = s3.connect(arguments.root)
    listing = s3.take(bucket)
    hits = [entry for entry in listing.snapshot.entries if entry.state in HITS]
    found = [(entry, what) for entry in hits if (what := s3.check_head(bucket, listing.objects[entry.path]))]
    if arguments.json:
        rows = [{**common.entry_json(entry, common.now()), "findings": [{"level": "broken", "what": what}]}
                for entry, what in found]  # fmt: skip
        print_json({"root": bucket.url, "full": False, "entries": rows,
                    "totals": {"entries": len(hits), "broken": len(found), "warnings": 0}})  # fmt: skip
    else:
        if found:
            print(table(("", "entry", "what"), [("broken", entry.path, what) for entry, what in found]))
        narrate(f"{count_text(len(hits))} entries looked at: {len(found)} broken")
    return 1 if found else 0


def journal_of(bucket: s3.Bucket) -> bucket_evict.BucketJournal:
    """The journal of a bucket, in the state folder."""
    return bucket_evict.BucketJournal(bucket, common.state_path())


def _around(listing: s3.Listing, bucket: s3.Bucket, arguments: argparse.Namespace) -> Surroundings:
    current = settings.load()[0]
    past = history.known(current.state_path)
    caveats = ["states are from the listing: headers of artefacts were not read (neurontop cache verify reads them)",
               "a bucket keeps no access times: last use is known from recordings only"]  # fmt: skip
    if not bucket.versioned():
        caveats.append("this bucket keeps no versions: what goes is gone, nothing can be undone")
    else:
        caveats.append("the space is free when the bucket's old versions expire")
    snapshot = listing.snapshot
    return Surroundings(
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
        pins=(*Pins(current.state_path).patterns(), *acting.words(current.cache_pins)),
        used=past.used,
        compiled=past.compiled,
    )
