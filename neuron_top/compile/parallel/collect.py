"""Collects the graphs of a cache that wait to be compiled here, and says why similar ones are skipped.

Everything collected and not compiled counts, not only what this trial run saw: so an interrupted pre-compile goes on
where it stopped. A graph of another compiler version is left to that version; a graph that another process is compiling
is left to that process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from neuron_top.cache.locks.protocol import EntryFolder, owner_of
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.states import FAILURES, HITS, LOCKED, State
from neuron_top.cache.scan.scanner import scan
from neuron_top.compile.parallel.compile_queue import CollectedGraph
from neuron_top.compile.parallel.history import measured_peaks
from neuron_top.compile.wrapper.cache_root import check_root
from neuron_top.errors import NothingToShow
from neuron_top.units import counted

WAITING = frozenset({State.EXTRACTED, State.STALE_LOCK, State.PARTIAL, State.PUBLISHED_UNMARKED})
"""States of graphs to compile: extracted, or begun by a process that is gone."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of one compiler's folder that are not in the queue: the base of the SDK's counters."""

    locked: int = 0
    failed: int = 0
    done: int = 0


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """The graphs to compile in one root, and what was skipped."""

    graphs: tuple[CollectedGraph, ...] = ()
    counts: Counts = Counts()
    failed_before: tuple[CollectedGraph, ...] = ()
    """Graphs that the trial run met and whose failure is stored; they count as one that fails now."""
    others: int = 0
    """Graphs that wait for another compiler."""
    remarks: tuple[str, ...] = ()
    largest_peak: int | None = None
    """The largest memory that a compile in this folder took so far, bytes."""


def waiting_compilers(root: Path) -> dict[str, set[str]]:
    """Compiler folder → names of graph files that wait there; empty for a root that does not exist."""
    found: dict[str, set[str]] = {}
    for entry in _entries(root):
        if entry.state in WAITING | FAILURES and (graph := graph_file(root / entry.path)) is not None:
            found.setdefault(entry.compiler, set()).add(graph.name)
    return found


def collect(
    root: Path,
    compilers: Collection[str],
    *,
    met_failures: Collection[str] = (),
    retry_failed: bool = False,
    claimed: bool = False,
) -> Collected:
    """Look through `root` for the graphs of these compiler folders.

    `claimed`: graphs are claimed to be compiled, so a lock that another node took under a claim is left to the claim.

    Raises CacheUnusable, RefusedForSafety: compiling a graph file means unpickling it.
    """
    check_root(root)
    graphs, failed, remarks, states = [], [], [], []
    others: dict[str, int] = {}
    for entry in _entries(root):
        graph = graph_file(root / entry.path)
        if entry.compiler not in compilers:
            if graph is not None and entry.state in WAITING:
                others[entry.compiler] = others.get(entry.compiler, 0) + 1
            continue
        waits = entry.state in WAITING or (retry_failed and entry.state in FAILURES)
        if graph is not None and (waits or (claimed and entry.state is State.LOCKED_UNKNOWN and _is_claimed(graph))):
            graphs.append(CollectedGraph(path=graph, module=entry.module, bytes=entry.graph_bytes or 0))
            continue
        states.append(entry.state)
        if entry.state in FAILURES and graph is not None and entry.module in met_failures:
            failed.append(CollectedGraph(path=graph, module=entry.module, bytes=entry.graph_bytes or 0))
        if entry.state is State.LOCKED_UNKNOWN:
            remarks.append(f"{entry.module} is locked by an unknown process and skipped (neurontop cache show)")
    remarks += [
        f"{counted(count, f'graph of {name} is', f'graphs of {name} are')} left for that compiler"
        for name, count in sorted(others.items())
    ]
    return Collected(
        graphs=tuple(graphs),
        counts=_counted(states),
        failed_before=tuple(failed),
        others=sum(others.values()),
        remarks=tuple(remarks),
        largest_peak=largest_peak(root, compilers),
    )


def largest_peak(root: Path, compilers: Iterable[str]) -> int | None:
    """The largest peak memory in the statistics of finished compiles; None where there are none."""
    return max((peak for _entry, peak in measured_peaks(root, compilers)), default=None)


def _entries(root: Path) -> tuple[Entry, ...]:
    try:
        return scan(str(root)).entries
    except NothingToShow:
        return ()


def graph_file(entry: Path) -> Path | None:
    """The graph file in an entry's folder; None if there is none."""
    return next((entry / name for name in filenames.COMPILED_NAMES if (entry / name).exists()), None)


def _is_claimed(graph: Path) -> bool:
    """Whether the entry's lock was taken under a claim."""
    owner = owner_of(EntryFolder.at(graph.parent), graph.name + filenames.LOCK_SUFFIX)
    return owner is not None and bool(owner.claim)


def _counted(states: Iterable[State]) -> Counts:
    every = list(states)
    return Counts(
        locked=sum(state in LOCKED and state not in HITS for state in every),
        failed=sum(state in FAILURES for state in every),
        done=sum(state in HITS for state in every),
    )
