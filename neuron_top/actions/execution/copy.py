"""Copies usable entries to another root: graph, flags and artifact, and the mark once what arrived was checked.

Locks, failures and half-stored artifacts are never copied. A copy that is cut short has no mark, so no client takes it
for a hit, and the next copy does it again.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from neuron_top.actions.execution.copy_targets import CopyTarget, EntryWriter
from neuron_top.actions.execution.preconditions import check_preconditions
from neuron_top.actions.journal import plan_history
from neuron_top.actions.journal.journal import Journal
from neuron_top.actions.open_entries import CopiedElsewhereError, StaleEntryError, not_done
from neuron_top.actions.plan import (
    Action,
    Outcome,
    Plan,
    Progress,
)
from neuron_top.actions.planners.copy import target_path
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache.arrival import ORDER, arrival_problem
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.cache.model.record import FileFacts
from neuron_top.cache.s3 import ObjectUnavailable
from neuron_top.cache.signing import keys_in_force
from neuron_top.errors import RefusedForSafety

_TELL_SECONDS = 0.2


def copy(
    plan: Plan,
    source: CopyTarget,
    target: CopyTarget,
    journal: Journal,
    watch: Callable[[Progress], bool],
    *,
    read_only: bool = False,
    streams: int = 1,
) -> Outcome:
    """Execute the plan, `streams` entries at a time; when `watch` returns False, no further entry is begun. The journal
    is the destination's.

    Raises RefusedForSafety if the plan, read-only mode or the destination forbids it.
    """
    check_preconditions(plan, plan.target, target.name, {Action.COPY}, read_only=read_only)
    target.make()
    journal.prepare()
    journal.keep(plan)
    journal.write(plan_history.begun(plan, lock_owner.current()))
    work = _Copies(plan, source, target, streams)
    try:
        work.run(watch)
    finally:
        work.end(journal)
    return Outcome(
        plan=plan.identity,
        done=work.done,
        refused=tuple((plan.steps[number].path, reason) for number, reason in work.refused),
        moved_bytes=work.copied,
        interrupted=work.interrupted,
        there=work.there,
    )


class _UsableThereError(StaleEntryError):
    """The destination has a usable entry by now."""


class _Copies:
    def __init__(self, plan: Plan, source: CopyTarget, target: CopyTarget, streams: int) -> None:
        self.plan, self.source, self.target, self.streams = plan, source, target, streams
        self.done = self.copied = self.there = 0
        self.refused: list[tuple[int, NotDone]] = []
        self.interrupted = True
        self._arrived = 0
        self._lock = threading.Lock()
        self._busy: deque[int] = deque()
        """Steps whose entries another copy is filling; they are tried again once all others have begun."""

    def run(self, watch: Callable[[Progress], bool]) -> None:
        """Copy all steps. When `watch` returns False, the copies that have begun are finished first."""
        numbers = deque(range(len(self.plan.steps)))
        under_way: dict[Future[int], int] = {}
        with ThreadPoolExecutor(self.streams, "copy") as pool:
            try:
                self._feed(pool, numbers, under_way)
                while under_way or self._busy:
                    if self._busy and not numbers:
                        time.sleep(_TELL_SECONDS)
                        numbers, self._busy = self._busy, numbers
                        self._feed(pool, numbers, under_way)
                    ended, _ = wait(under_way, timeout=_TELL_SECONDS, return_when=FIRST_COMPLETED)
                    last = ""
                    for future in ended:
                        last = self._take(under_way.pop(future), future)
                    if not watch(Progress(self.done, len(self.refused), len(self.plan.steps), self._arrived, last)):
                        return
                    self._feed(pool, numbers, under_way)
            finally:
                for future, number in under_way.items():
                    self._take(number, future)
        self.interrupted = False

    def _feed(self, pool: ThreadPoolExecutor, numbers: deque[int], under_way: dict[Future[int], int]) -> None:
        """Begin as many steps as there are free streams."""
        while numbers and len(under_way) < self.streams:
            number = numbers.popleft()
            path = self.plan.steps[number].path
            under_way[pool.submit(_entry, path, self.source, self.target, self._count)] = number

    def _take(self, number: int, future: Future[int]) -> str:
        try:
            self.copied += future.result()
            self.done += 1
        except CopiedElsewhereError:
            self._busy.append(number)
        except _UsableThereError:
            self.there += 1
        except (StaleEntryError, ObjectUnavailable, OSError) as problem:
            self.refused.append((number, not_done(problem)))
        return self.plan.steps[number].path

    def _count(self, size: int) -> None:
        with self._lock:
            self._arrived += size

    def end(self, journal: Journal) -> None:
        """Write the closing records. If the disk has no room for them, the copy counts as interrupted."""
        closing = plan_history.ended(
            self.plan.identity, self.refused, done=self.done, moved_bytes=self.copied, interrupted=self.interrupted
        )
        with contextlib.suppress(RefusedForSafety):
            journal.write(*closing)


def _entry(path: str, source: CopyTarget, target: CopyTarget, count: Callable[[int], None]) -> int:
    mark = source.file(path, filenames.DONE)
    if mark is None:
        raise StaleEntryError(NotDoneCode.NO_MARK)
    with target.writer(target_path(path)) as writer:
        if filenames.DONE in writer.names():
            raise _UsableThereError(NotDoneCode.USABLE_THERE)
        written: dict[str, FileFacts] = {}
        try:
            size = sum(_file(path, name, source, writer, written, count) for name in ORDER)
            if problem := arrival_problem(path.rpartition("/")[2], written, writer.read, keys_in_force()):
                raise StaleEntryError(NotDoneCode.NOT_USABLE, problem)
            if source.file(path, filenames.DONE) is None:
                raise StaleEntryError(NotDoneCode.REMOVED_WHILE_COPIED)
        except BaseException:
            # Without its mark nobody takes it for a hit; without its artifact, nobody for one that lost its mark.
            for name in (*filenames.ARTIFACT_NAMES, filenames.INDUCTOR_KERNELS, filenames.WRAPPED_NEFF):
                if name in written:
                    writer.remove(name)
            raise
        writer.write(filenames.DONE, (), mark.mtime_ns)
    return size


def _file(
    path: str,
    name: str,
    source: CopyTarget,
    writer: EntryWriter,
    written: dict[str, FileFacts],
    count: Callable[[int], None],
) -> int:
    found = source.file(path, name)
    if found is None:
        return 0
    digest = hashlib.sha256()

    def passing() -> Iterator[bytes]:
        for chunk in found.chunks:
            digest.update(chunk)
            count(len(chunk))
            yield chunk

    size = writer.write(name, passing(), found.mtime_ns)
    written[name] = FileFacts(digest.hexdigest(), size)
    if size != found.size:
        raise StaleEntryError(NotDoneCode.CHANGED_WHILE_COPIED, name)
    return size
