"""Retry now: compile failed graphs again, several at a time, with the compiler that their folder names.

Each entry is first checked again, through descriptors that follow no link; one that is no longer the failure that was
planned is refused. The compile component does the work, under each entry's lock. A stored failure is replaced only by a
finished artifact, so there is nothing to undo. The plan is journaled beside the cache like any other. After an
interruption it can be executed again: what is compiled by then counts as done.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from neuron_top.actions import entry_lock
from neuron_top.actions.execution.preconditions import check_preconditions
from neuron_top.actions.journal import plan_history
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.open_entries import OpenEntry, OpenRoot, StaleEntryError, not_done
from neuron_top.actions.plan import Action, Outcome, Plan, Step
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.compile.compiler import Compiler
from neuron_top.compile.parallel.collect import Counts, largest_peak
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, QueueProgress
from neuron_top.compile.parallel.local import CompilePids, LocalExecutor
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.compile.parallel.run import ParallelCompile
from neuron_top.compile.wrapper.cache_root import check_root
from neuron_top.compile.wrapper.flags import parse_environment
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.errors import RefusedForSafety


def compile_now(
    plan: Plan,
    trash: Trash,
    compilers: Mapping[str, Compiler],
    *,
    jobs: int,
    log: ParallelLog,
    watch: Callable[[QueueProgress], bool],
    read_only: bool = False,
) -> Outcome:
    """Compile the plan's graphs again, at most `jobs` at a time; when `watch` returns False, every compile is ended.

    Raises RefusedForSafety if the plan, read-only mode or the root forbids it.
    """
    check_preconditions(plan, os.path.realpath(plan.root), str(trash.root), {Action.COMPILE}, read_only=read_only)
    check_root(trash.root)
    trash.prepare()
    work = _Compiles(plan, trash, compilers)
    work.begin()
    try:
        work.run(jobs, log, watch)
    finally:
        for compiler in compilers.values():
            compiler.close()
        work.end()
    return work.outcome()


class _Compiles:
    def __init__(self, plan: Plan, trash: Trash, compilers: Mapping[str, Compiler]) -> None:
        self.plan, self.trash, self.compilers = plan, trash, compilers
        self.folders = {name: compiler.directory() for name, compiler in compilers.items()}
        self.resumed = any(history.begun.plan == plan.identity for history in trash.histories())
        self.graphs: dict[CollectedGraph, int] = {}
        self.refused: list[tuple[int, NotDone]] = []
        self.done = 0
        self.interrupted = True
        self._ended: dict[CollectedGraph, CompileResult] = {}

    def begin(self) -> None:
        """Check every step against the disk, and journal the plan. Raises RefusedForSafety."""
        with contextlib.closing(OpenRoot(self.trash.root)) as root:
            for number, step in enumerate(self.plan.steps):
                try:
                    self._look(root, number, step)
                except (StaleEntryError, OSError) as problem:
                    self.refused.append((number, not_done(problem)))
        self.trash.keep(self.plan)
        self.trash.write(plan_history.begun(self.plan, lock_owner.current()))

    def run(self, jobs: int, log: ParallelLog, watch: Callable[[QueueProgress], bool]) -> None:
        """Compile what may be compiled."""
        options = msgspec.structs.replace(parse_environment(), retry_failed=True)
        pids = CompilePids()
        wrappers = {name: Wrapper(each, options, log=log, emit=pids.emit) for name, each in self.compilers.items()}

        def show(progress: QueueProgress) -> None:
            if not watch(progress):
                raise KeyboardInterrupt

        executor = LocalExecutor(wrappers, log=log, pids=pids)
        work = ParallelCompile(executor, workers=jobs, retries=0, log=log, show=show)
        peak = largest_peak(self.trash.root, {step.path.rpartition("/")[0] for step in self.plan.steps})
        try:
            self._ended = work.run(tuple(self.graphs), Counts(), peak) if self.graphs else {}
            self.interrupted = False
        except KeyboardInterrupt:
            self._ended = work.ended
        for graph, ended in self._ended.items():
            if ended.ok:
                self.done += 1
            else:
                cause = NotDone(NotDoneCode.COMPILE_FAILED, ended.message.partition("\n")[0])
                self.refused.append((self.graphs[graph], cause))

    def end(self) -> None:
        """Write the closing records. If the disk has no room for them, the plan counts as interrupted."""
        closing = plan_history.ended(
            self.plan.identity, self.refused, done=self.done, moved_bytes=0, interrupted=self.interrupted
        )
        with contextlib.suppress(RefusedForSafety):
            self.trash.write(*closing)

    def outcome(self) -> Outcome:
        """What to report."""
        refused = sorted(self.refused, key=lambda each: each[0])
        return Outcome(
            plan=self.plan.identity,
            done=self.done,
            refused=tuple((self.plan.steps[number].path, reason) for number, reason in refused),
            moved_bytes=0,
            interrupted=self.interrupted,
        )

    def _look(self, root: OpenRoot, number: int, step: Step) -> None:
        """Add the entry's graph to those to compile. Raises StaleEntryError if it is no longer the failure planned."""
        with root.entry(step.path) as entry:
            names = entry.names()
            if self.resumed and filenames.DONE in names:
                entry_lock.break_dead(entry)  # an attempt was killed after it wrote the mark, with the lock held
                self.done += 1
                return
            if not names.isdisjoint(filenames.LOCK_NAMES) and not entry_lock.is_left_by_dead(entry):
                raise StaleEntryError(NotDoneCode.LOCKED)
            # Compiling changes the folder, so after an interruption only its identity is compared.
            entry.check(step.fingerprint, touched=self.resumed)
            graph = _graph(self.trash.root, step.path, entry, names)
        if self.folders.get(graph.path.name) != step.path.rpartition("/")[0]:
            raise StaleEntryError(NotDoneCode.COMPILER_MISSING)
        self.graphs[graph] = number


def _graph(root: Path, path: str, entry: OpenEntry, names: set[str]) -> CollectedGraph:
    """The entry's graph, unread: a local one is a pickle, which `Wrapper.compile_entry` reads through the gate."""
    name = next((name for name in filenames.COMPILED_NAMES if name in names), None)
    if name is None:
        raise StaleEntryError(NotDoneCode.NO_GRAPH)
    facts = entry.facts(name)
    if not stat.S_ISREG(facts.st_mode):
        raise StaleEntryError(NotDoneCode.NOT_A_FILE, name)
    graph = root / path / name
    return CollectedGraph(path=graph, module=graph.parent.name, bytes=facts.st_size)
