"""Explains misses across nodes: why a node compiled a graph, and whether another node had it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

from neuron_top.cache.model.compiler_names import is_same_compiler
from neuron_top.cache.model.keys import parse_key
from neuron_top.cache.model.states import HITS, State
from neuron_top.explain.flag_changes import differences
from neuron_top.run.graph import Attempt, AttemptOutcome, Graph, WorkerGraph
from neuron_top.store.fleet_records import NodeKey
from neuron_top.units import duration_text
from neuron_top.views.blame.facts import FleetFacts
from neuron_top.views.blame.program_differences import differing
from neuron_top.views.blame.records import Because
from neuron_top.views.miss_sentences import flags_text

_GONE = "gone"
_VERSION = re.compile(r"^\w+-")


class Call(NamedTuple):
    """One call of the compiler, where it was made. `key`: of the graph, the same on every node."""

    key: str
    node: str
    graph: Graph
    worker: WorkerGraph
    attempt: Attempt

    @property
    def began(self) -> float | None:
        """When the call began; None if no line reports it."""
        if self.attempt.start is not None:
            return self.attempt.start
        end, seconds = self.attempt.end, self.attempt.seconds
        return end - seconds if end is not None and seconds is not None else end


class CompileReason(NamedTuple):
    """The reason of a compile, what differs, and whether another node had the graph."""

    because: Because
    text: str = ""
    again: bool = False


class Had(NamedTuple):
    """A node that had a graph, or was compiling it, before another one compiled it."""

    node: str
    graph: Graph
    since: float | None
    """When the node got the graph; None while it was compiling it."""


class _KeyHistory:
    """The calls for one key over all nodes, in order, and who had the graph before each; without failed calls, which
    leave no artifact for others. Thousands of ranks may compile one graph, so what came before is added up once."""

    def __init__(self, graphs: Mapping[str, Sequence[Graph]]) -> None:
        """`graphs`: node → what its run knows of the key."""
        self.calls: list[Call] = []
        self._kept: list[Call] = []
        self._before: dict[int, int] = {}
        """By identity of a call's attempt: how many of `_kept` are before it."""
        self._first_of: dict[str, int] = {}
        """Node → number of its first call in `_kept`."""
        self._ends: list[tuple[float, str, float]] = [(inf, "", inf)]
        """For each number of `_kept`: the earliest end among so many, its node, and the earliest on any other node."""
        self._hits = list(_first_hits(graphs))

    def add(self, call: Call) -> None:
        """Add the next call."""
        self.calls.append(call)
        self._before[id(call.attempt)] = len(self._kept)
        if call.attempt.outcome in (AttemptOutcome.FAILED, AttemptOutcome.INTERRUPTED):
            return
        self._first_of.setdefault(call.node, len(self._kept))
        self._kept.append(call)
        first, node, other = self._ends[-1]
        end = call.attempt.end if call.attempt.end is not None else inf
        if call.node == node:
            self._ends.append((min(first, end), node, other))
        elif end < first:
            self._ends.append((end, call.node, first))
        else:
            self._ends.append((first, node, min(other, end)))

    def is_second_on_its_node(self, call: Call) -> bool:
        """Whether an earlier call for the key was made on the same node."""
        return self._first_of.get(call.node, inf) < self._before[id(call.attempt)]

    def had_elsewhere(self, call: Call) -> Had | None:
        """Another node that had the graph already, else one that was compiling it."""
        count, began = self._before[id(call.attempt)], call.began
        first, node, other = self._ends[count]
        earliest = first if node != call.node else other
        earlier = (one for one in islice(self._kept, count) if one.node != call.node)
        if earliest < inf and (began is None or earliest <= began):
            for one in earlier:
                end = one.attempt.end
                if end is not None and (began is None or end <= began):
                    return Had(one.node, one.graph, end)
        if began is not None:
            for hit in self._hits:
                if hit.node != call.node and hit.since is not None and hit.since < began:
                    return hit
        return next((Had(one.node, one.graph, None) for one in earlier), None)


def _first_hits(graphs: Mapping[str, Sequence[Graph]]) -> Iterator[Had]:
    """When each node first got the graph without a compile of its own."""
    for node, met in graphs.items():
        for graph in met:
            hits = [w.since for w in graph.workers.values() if w.hits and not w.attempts and w.since is not None]
            if hits:
                yield Had(node, graph, min(hits))


class Causes:
    """Explains the compiler calls of all nodes."""

    def __init__(self, facts: FleetFacts, graphs: dict[str, dict[str, list[Graph]]], calls: Sequence[Call]) -> None:
        """`graphs`: key → node → what its run knows of it. `calls`: all, in their order."""
        self._facts, self._graphs = facts, graphs
        self._keys: dict[str, _KeyHistory] = {}
        self._by_program: dict[object, list[Call]] = {}
        self._by_graph: dict[str, list[str]] = {}
        for call in calls:
            if call.key not in self._keys:
                self._keys[call.key] = _KeyHistory(graphs[call.key])
            self._keys[call.key].add(call)
            for program in self._programs(call):
                self._by_program.setdefault(program, []).append(call)
        for key in [*graphs, *(key for key in facts.keys if key not in graphs)]:
            if (name := parse_key(key)) is not None and name.flags is not None:
                self._by_graph.setdefault(name.graph, []).append(key)

    def of(self, call: Call) -> CompileReason:
        """The reason of this call."""
        history = self._keys[call.key]
        had, is_here = history.had_elsewhere(call), history.is_second_on_its_node(call)
        if had is not None and not (is_here and had.since is None):
            return self._same_key(call, had)
        if is_here:
            return CompileReason(Because.TWICE_HERE)
        return self._other_key(call) or self._told_by_caches(call) or CompileReason(Because.NEW)

    # --- the same key ---

    def _same_key(self, call: Call, had: Had) -> CompileReason:
        compilers = (had.graph.compiler, call.graph.compiler)
        if compilers[0] and compilers[1] and not is_same_compiler(compilers[0], compilers[1]):
            text = f"{_plain(compilers[0])} on {had.node}, {_plain(compilers[1])} on {call.node}"
            return CompileReason(Because.OTHER_COMPILER, text, again=True)
        if (roots := self._own_roots(call, had)) is not None:
            return CompileReason(Because.OWN_ROOT, roots, again=True)
        place = self._root(call.node, call.graph)
        if had.since is None:
            where = f" in {place}{self._file_system(call.node)}" if place else ""
            return CompileReason(Because.LOCK_NOT_SEEN, f"{had.node} was compiling it{where}", again=True)
        if any(row.state == _GONE and row.node in (call.node, had.node) for row in self._facts.keys.get(call.key, ())):
            return CompileReason(Because.REMOVED, f"{had.node} had it, and its entry is gone", again=True)
        if place is None:
            return CompileReason(
                Because.UNKNOWN, f"{had.node} had it; which cache {call.node} used was not reported", again=True
            )
        ago = f"{duration_text(call.began - had.since)} before" if call.began is not None else "before"
        text = f"{had.node} had it {ago} in {place}{self._file_system(call.node)}"
        return CompileReason(Because.NOT_SEEN, text, again=True)

    def _own_roots(self, call: Call, had: Had) -> str | None:
        mine, theirs = self._root(call.node, call.graph), self._root(had.node, had.graph)
        if mine is None or theirs is None:
            return None
        if mine != theirs:
            return f"{theirs} on {had.node}, {mine} on {call.node}"
        if any(self._is_own(node, mine) for node in (call.node, had.node)):
            return f"{mine} is on a local disk of each node{self._file_system(call.node)}"
        return None

    def _root(self, node: str, graph: Graph) -> str | None:
        if graph.root is not None:
            return graph.root
        facts = self._facts.nodes[node]
        paths = facts.run.compiles.counts.cache_paths
        configured = facts.attributes.get("cache_root")
        return paths[-1] if paths else configured if isinstance(configured, str) else None

    def _is_own(self, node: str, root: str) -> bool:
        """Whether a root is known to lie on a disk that no other node sees."""
        attributes = self._facts.nodes[node].attributes
        return attributes.get("cache_root") == root and attributes.get("cache_shared") in (0, False)

    def _file_system(self, node: str) -> str:
        kind = self._facts.nodes[node].attributes.get("cache_filesystem")
        return f" ({kind})" if kind else ""

    # --- another key for the same thing ---

    def _other_key(self, call: Call) -> CompileReason | None:
        return self._other_flags(call) or self._other_name(call)

    def _other_flags(self, call: Call) -> CompileReason | None:
        """The same graph under other flags, on a node that does not use these."""
        name = parse_key(call.key)
        if name is None:
            return None
        for key in self._by_graph.get(name.graph, ()):
            if key == call.key or call.node in self._graphs.get(key, {}):
                continue
            before = next(self._before_with(call, self._calls(key)), None)
            if before is not None:
                return CompileReason(Because.OTHER_FLAGS, self._flags_text(call, before), again=True)
        return None

    def _calls(self, key: str) -> Sequence[Call]:
        return self._keys[key].calls if key in self._keys else ()

    def _before_with(self, call: Call, others: Sequence[Call]) -> Iterator[Call]:
        """Calls of other nodes for another key that began no later than this one."""
        for other in others:
            earlier = other.began is None or call.began is None or other.began <= call.began
            if other.node != call.node and earlier and other.attempt.outcome is not AttemptOutcome.FAILED:
                yield other

    def _flags_text(self, call: Call, before: Call) -> str:
        if call.graph.flags and before.graph.flags:
            return f"{before.node} → {call.node}: {flags_text(differences(before.graph.flags, call.graph.flags))}"
        differing = self._facts.differences(before.node, call.node)
        return "; ".join(differing) or f"{before.key} on {before.node}; the flags were not reported"

    def _other_name(self, call: Call) -> CompileReason | None:
        """The same operators, shapes and arguments under another key."""
        for program in self._programs(call):
            for other in self._before_with(call, self._by_program[program]):
                own = other.key != call.key and call.node not in self._graphs[other.key]
                if own and (reason := self._named(call, other)) is not None:
                    return reason
        return None

    def _programs(self, call: Call) -> Iterator[object]:
        """What two graphs that differ only in names have in common, by an agent's reading and by events."""
        if (row := self._facts.programs.get(call.key)) is not None:
            yield row.program
        graph = call.graph
        if graph.op_counts:
            yield (graph.direction, graph.operators, tuple(sorted(graph.op_counts.items())), graph.inputs, graph.flags)

    def _named(self, call: Call, other: Call) -> CompileReason | None:
        """Why the same program has another key on another node; None if no difference is known."""
        names = parse_key(other.key), parse_key(call.key)
        if names[0] is not None and names[1] is not None and names[0].flags != names[1].flags:
            return CompileReason(Because.OTHER_FLAGS, self._flags_text(call, other), again=True)
        rows = self._facts.programs.get(other.key), self._facts.programs.get(call.key)
        item = None
        if rows[0] is not None and rows[1] is not None:
            item = differing(rows[0].held, rows[1].held, self._who(other, call))
            if item is not None and item.of_ranks:
                return CompileReason(Because.HELD_NAME, f"{item.text} ({other.key} there)", again=True)
        if attributes := self._facts.differences(other.node, call.node):
            return CompileReason(Because.OTHER_ENVIRONMENT, "; ".join(attributes), again=True)
        if item is not None:
            return CompileReason(Because.OTHER_ENVIRONMENT, f"{item.text} ({other.key} there)", again=True)
        if rows[0] is not None and rows[1] is not None:  # both were read completely, without a difference
            return None
        who = " and ".join(self._who(other, call))
        text = f"the same operators and shapes have a key of their own on {who} ({other.key} there)"
        return CompileReason(Because.HELD_NAME, text, again=True)

    def _who(self, one: Call, other: Call) -> tuple[str, str]:
        """Names of two ranks, or of two nodes if no line names the ranks."""
        ranks = self._rank(one), self._rank(other)
        return (f"rank {ranks[0]}", f"rank {ranks[1]}") if None not in ranks else (one.node, other.node)

    def _rank(self, call: Call) -> int | None:
        return self._facts.nodes[call.node].run.rank_of(call.worker)

    # --- what agents said about caches ---

    def _told_by_caches(self, call: Call) -> CompileReason | None:
        rows = self._facts.keys.get(call.key, ())
        wanted = call.graph.compiler
        others = [
            row
            for row in rows
            if wanted and row.compiler and not is_same_compiler(row.compiler, wanted) and _is_hit(row)
        ]
        if others:
            row = min(others, key=lambda row: row.node)
            text = f"{_plain(row.compiler)} on {row.node}, {_plain(wanted)} on {call.node}"
            return CompileReason(Because.OTHER_COMPILER, text, again=row.node != call.node)
        if any(row.state == _GONE for row in rows):
            return CompileReason(
                Because.REMOVED, f"its entry on {min(row.node for row in rows if row.state == _GONE)} is gone"
            )
        return None


def _is_hit(row: NodeKey) -> bool:
    try:
        return State(row.state) in HITS
    except ValueError:  # gone
        return False


def _plain(compiler: str | None) -> str:
    """The version of a compiler, without the name in front of it that folders have."""
    return _VERSION.sub("", compiler) if compiler else "unknown"
