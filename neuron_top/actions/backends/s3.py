"""A cache in S3: one paged listing is its snapshot, the bucket's versions are its trash."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import msgspec

from neuron_top.actions.backends.base import BackendKind, BackendOptions, ExecuteOptions, ignore
from neuron_top.actions.execution import s3 as execution
from neuron_top.actions.execution.s3_copy_target import S3CopyTarget
from neuron_top.actions.journal import s3_restore
from neuron_top.actions.journal.records import PlanRestored
from neuron_top.actions.journal.s3_journal import BucketJournal
from neuron_top.actions.plan import Outcome, Plan, Totals
from neuron_top.actions.plan_context import ContextFacts, PlanContext, dated_ahead_caveat
from neuron_top.actions.reasons import Caveat, CaveatCode
from neuron_top.cache import s3
from neuron_top.cache.filesystem import Filesystem
from neuron_top.cache.location import BUCKET_SCHEME
from neuron_top.cache.model import failures
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.filenames import FAILURE_LOG
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.model.states import FAILURES, HITS
from neuron_top.cache.scan import catalog, scanner, verify
from neuron_top.cache.scan.catalog import Sums
from neuron_top.errors import UsageError


class S3Backend:
    """See CacheBackend. Opening it sends no request."""

    kind = BackendKind.BUCKET
    keeps_graphs = True

    def __init__(self, url: str, options: BackendOptions) -> None:
        """Raises UsageError for a URL that is not a bucket's, or that holds a login."""
        parts = s3.checked(url)
        self.root = f"{BUCKET_SCHEME}{parts.netloc}/{parts.path.strip('/')}".rstrip("/")
        self._state = options.state

    @cached_property
    def _bucket(self) -> s3.Bucket:
        return s3.connect(self.root)

    @cached_property
    def _journal(self) -> BucketJournal:
        return BucketJournal(self.root, self._state)

    @cached_property
    def _listing(self) -> s3.BucketListing:
        return s3.take(self._bucket)

    def snapshot(self, *, rescan: bool = False) -> Snapshot:
        """See CacheBackend: a listing is always new."""
        self.__dict__.pop("_listing", None)
        return self._listing.snapshot

    def sums(self, *, rescan: bool = False) -> tuple[Sums, Filesystem]:
        """See CacheBackend: the sums of a new listing."""
        snapshot = self.snapshot()
        return catalog.sums_of(snapshot), snapshot.filesystem

    def with_failures(self, snapshot: Snapshot) -> Snapshot:
        """See CacheBackend: costs a request per failure, for its log."""
        return msgspec.structs.replace(snapshot, entries=tuple(map(self._with_failure, snapshot.entries)))

    def _with_failure(self, entry: Entry) -> Entry:
        if entry.state not in FAILURES:
            return entry
        objects = self._listing.objects.get(entry.path, ())
        log = next((each for each in objects if each.name == FAILURE_LOG), None)
        try:
            text = self._bucket.read(log.key, failures.READ_BYTES).decode(errors="replace") if log and log.size else ""
        except s3.ObjectUnavailable:  # deleted since it was listed, or withheld: why the compile failed stays unknown
            return entry
        return msgspec.structs.replace(entry, failure=failures.read_failure(text))

    def context(self, snapshot: Snapshot, facts: ContextFacts) -> PlanContext:
        """See CacheBackend. Who uses a bucket cannot be seen."""
        versions = CaveatCode.KEEPS_VERSIONS if self._bucket.versioned() else CaveatCode.NO_VERSIONS
        notes = tuple(map(Caveat, (CaveatCode.LISTED_ONLY, CaveatCode.NO_ACCESS_TIMES, versions)))
        return PlanContext(
            now=snapshot.taken_at,
            before=Totals(
                entries=len(snapshot.entries),
                files=sum(map(len, self._listing.objects.values())) + len(snapshot.others),
                size=snapshot.totals().all.bytes + sum(other.allocated for other in snapshot.others),
            ),
            shared=s3.WHY_SHARED,
            shared_confirmed=facts.shared_confirmed,
            read_only=facts.read_only,
            notes=(*notes, *dated_ahead_caveat(facts.first_seen)),
            pins=facts.pins,
            used=facts.used,
            compiled=facts.compiled,
            first_seen=facts.first_seen,
        )

    @contextlib.contextmanager
    def local_copy(self, entry: Entry) -> Iterator[tuple[str, Entry]]:
        """See CacheBackend: in a temporary folder. Allocated bytes stay the lengths of the objects, as in listings.
        What no disk can store is left out; no compiler writes such names."""
        objects = filter(s3.can_be_file, s3.objects_of(self._bucket, entry.path))
        with tempfile.TemporaryDirectory(prefix="neurontop-") as root:
            s3.fetch(self._bucket, objects, Path(root))
            fetched = next((each for each in scanner.scan(root).entries if each.path == entry.path), None)
            yield root, msgspec.structs.replace(fetched, allocated=fetched.apparent) if fetched else entry

    def _verified(self, entry: Entry, objects: list[s3.Object], *, deep: bool) -> Iterator[verify.EntryFinding]:
        if deep:
            with self.local_copy(entry) as (root, local):
                findings = [*verify.cheap([local]), *verify.deep(root, local)]
            yield from (msgspec.structs.replace(finding, entry=entry) for finding in findings)
        elif problem := s3.check_head(self._bucket, objects):
            yield verify.EntryFinding(entry=entry, level=verify.FindingLevel.BROKEN, what=problem)

    def verify(
        self, entries: Iterable[Entry], *, deep: bool, watch: Callable[[int, int], None] = ignore
    ) -> Iterator[verify.EntryFinding]:
        """See CacheBackend: reads headers and flags, a request each; `deep` fetches each entry whole."""
        wanted = tuple(entries)
        objects = self._listing.objects
        hits = [entry for entry in wanted if entry.state in HITS and entry.path in objects]
        total, done = sum(entry.apparent for entry in hits), 0
        yield from verify.cheap(entry for entry in wanted if entry.state not in HITS)
        for entry in hits:
            try:
                yield from self._verified(entry, objects[entry.path], deep=deep)
            except s3.ObjectUnavailable as problem:
                yield verify.EntryFinding(entry=entry, level=verify.FindingLevel.WARNING, what=str(problem))
            done += entry.apparent
            if deep:
                watch(done, total)

    def journal(self) -> BucketJournal:
        """See CacheBackend: it lies in the state folder of whoever acts."""
        return self._journal

    def execute(self, plan: Plan, options: ExecuteOptions) -> Outcome:
        """See CacheBackend: marks first, then a wait, then the rest."""
        return execution.execute(plan, self._bucket, self.journal(), options)

    def waits_for_readers(self, plan: Plan) -> bool:
        """See CacheBackend."""
        return execution.takes_marks(plan)

    def undo(self, identity: str, *, read_only: bool = False) -> PlanRestored:
        """See CacheBackend: removes the delete markers."""
        return s3_restore.restore(identity, self._bucket, self.journal(), read_only=read_only)

    def trash(self) -> NoReturn:
        """See CacheBackend: there is none."""
        raise UsageError("a bucket has no trash to purge: add a lifecycle rule to the bucket that deletes old versions")

    def copy_target(self) -> S3CopyTarget:
        """See CacheBackend."""
        return S3CopyTarget(self._bucket)

    def free(self) -> int | None:
        """See CacheBackend: a bucket has no limit."""
        return None

    def why_shared(self) -> str | None:
        """See CacheBackend: always shared, as anybody with the rights may write."""
        return s3.WHY_SHARED
