"""Plans which entries go when space is wanted. Pure.

Candidates go in the order of the published procedure: leftovers and broken entries, old failures, copies that differ
only in a log path from one that was used later, long unused entries of superseded compiler versions, then the others.
Within each class, those go first that were idle longest, where idle time is divided by the minutes that the compile
took: what took an hour goes after what took seconds.

Entries that are locked, being written, unknown, pinned or used within a day are always skipped, and so are those that
a running job holds, names or may have used since it started. The rest may go even while a job runs: at worst it is
compiled again.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from neuron_top.actions.module_patterns import matcher
from neuron_top.actions.plan import DAY, FILES_REMOVED, Action, Exclusion, Fingerprint, Plan, Step
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.compiler_filter import compiler_filter
from neuron_top.actions.planners.eviction_ranking import EvictionRanking
from neuron_top.actions.planners.freed_bytes import FreedBytes
from neuron_top.actions.planners.plan_builder import HUB, build_plan, exclude, files_taken, read_only_layout
from neuron_top.actions.reasons import Goal, GoalCode, Reason, ReasonCode, RebuildSource, UseSource
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.states import State
from neuron_top.cache.use import is_ahead
from neuron_top.units import bytes_text, counted, limit_text

BY_NAME_ONLY = frozenset({State.EXTRACTED, State.PARTIAL, State.PUBLISHED_UNMARKED})
"""Extracted graphs and half-stored artifacts, which somebody may need: they go only if their state is named, and after
a day."""


class EvictCriteria(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted. Filters narrow the candidates; a goal (`max_bytes`, `free_bytes`) stops when it is reached."""

    max_bytes: int | None = None
    free_bytes: int | None = None
    older_than: float | None = None
    """Seconds since the last use, or since the entry was written if no use is known."""
    compiler: str | None = None
    """`<2.20`, `==2.19.8089.0`, or a pattern of folder names (`inductor-*`)."""
    states: frozenset[State] = frozenset()
    modules: tuple[str, ...] = ()
    """Patterns of module names."""
    paths: frozenset[str] = frozenset()
    """Exactly these entries (`compiler/module`), which a person selected."""
    keep_graph: bool = False
    """Artifacts go; graph and flags stay, so that the graph can be compiled again."""

    @property
    def empty(self) -> bool:
        """True if nothing was asked for, which is refused, and never taken to mean everything."""
        return not (
            self.max_bytes is not None
            or self.free_bytes is not None
            or self.older_than is not None
            or self.compiler
            or self.states
            or self.modules
            or self.paths
        )

    def describe(self) -> str:
        """The criteria in words, as they are shown and journaled."""
        parts = [
            f"at most {bytes_text(self.max_bytes)}" if self.max_bytes is not None else "",
            f"{bytes_text(self.free_bytes)} free" if self.free_bytes is not None else "",
            f"no use known for {limit_text(self.older_than)}" if self.older_than is not None else "",
            f"compiler {self.compiler}" if self.compiler else "",
            "state " + ",".join(sorted(self.states)) if self.states and not self.paths else "",
            "module " + ",".join(self.modules) if self.modules else "",
            counted(len(self.paths), "selected entry", "selected entries") if self.paths else "",
            "keep graphs" if self.keep_graph else "",
        ]
        return "; ".join(part for part in parts if part)


def plan_eviction(entries: Iterable[Entry], root: str, criteria: EvictCriteria, context: PlanContext) -> Plan:
    """The plan for one root. Raises ValueError for empty criteria or a compiler specifier that cannot be read."""
    if criteria.empty:
        raise ValueError("specify at least one of a size, an age, a compiler, a state or a module")
    everything = list(entries)
    candidates, exclusions = _candidates(everything, criteria, context)
    wanted = _bytes_wanted(criteria, context)
    if wanted is not None and wanted.is_reached(0, 0):
        return build_plan(Verb.EVICT, root, criteria.describe(), (), (), context, goal=_met(criteria, context))
    steps, missed, useless = _until_goal(candidates, everything, criteria, wanted, context)
    exclusions += [exclude(entry, Reason(ReasonCode.FREES_NOTHING)) for entry in useless]
    emptied = () if criteria.keep_graph else _emptied(everything, candidates[: len(steps) + len(useless)], useless)
    return build_plan(Verb.EVICT, root, criteria.describe(), steps, exclusions, context, goal=missed, emptied=emptied)


class _Candidate(msgspec.Struct, gc=False):
    """An entry that may go. There are 50,000 of them: fields are given by position, garbage collection skips them."""

    sort_key: float
    """Its place in the order in which candidates go, lowest first."""
    tier: int
    """Its class, see `eviction_ranking`."""
    entry: Entry
    last_use: float
    last_use_from: UseSource
    rebuild_seconds: float | None
    rebuild_from: RebuildSource


_COMPILER = operator.attrgetter("compiler")
_TIER = 1e12
"""Seconds between two classes in `sort_key`: more than any two idle times can differ."""


def _candidates(
    everything: list[Entry], criteria: EvictCriteria, context: PlanContext
) -> tuple[list[_Candidate], list[Exclusion]]:
    """(what may go, in order; what stays although the criteria fit). Written to be fast for 50,000 entries."""
    matches = compiler_filter(criteria.compiler)
    compilers = set(filter(matches, set(map(_COMPILER, everything))))
    pinned = matcher(context.pins) if context.pins else None
    named, now = matcher(criteria.modules) if criteria.modules else None, context.now
    ranking = EvictionRanking(everything, lambda entry: context.last_use(entry)[0])
    candidates: list[_Candidate] = []
    exclusions: list[Exclusion] = []
    obstacle: Reason | None
    last_use, rebuild, tier, add, hit = context.last_use, context.rebuild, ranking.tier, candidates.append, State.HIT
    hub = context.is_hub_commit or any(name.startswith(HUB) for name in compilers)
    fast_path = not (context.in_use or criteria.keep_graph or hub)
    states, paths, older_than, protect = criteria.states, criteria.paths, criteria.older_than, context.protect_seconds
    filtered = bool(criteria.compiler or states or paths or named)
    for entry in everything:
        if filtered and (
            entry.compiler not in compilers
            or (states and entry.state not in states)
            or (paths and entry.path not in paths)
            or (named is not None and not named(entry.module))
        ):
            continue
        used, known_from = last_use(entry)
        idle = now - used
        if older_than is not None and idle < older_than:
            continue
        if pinned is not None and pinned(entry.module):
            obstacle = _PINNED
        elif (
            fast_path
            and idle >= protect
            and entry.state is hit
            and now - entry.changed_at >= protect  # false if it is dated ahead: the difference is negative
            and not entry.problems
        ):
            obstacle = None  # what `_obstacle` would return; most entries are of this kind
        else:
            obstacle = _obstacle(entry, criteria, context)
            if obstacle is None and idle < protect:
                obstacle = _USED[known_from]
        if obstacle is not None:
            exclusions.append(exclude(entry, obstacle))
            continue
        seconds, seconds_from = rebuild(entry)
        value = idle / (1 + seconds / 60) if seconds else idle
        kind = tier(entry, idle)
        add(_Candidate(kind * _TIER - value, kind, entry, used, known_from, seconds, seconds_from))
    candidates.sort(key=operator.attrgetter("sort_key"))
    return candidates, exclusions


def _emptied(everything: list[Entry], going: list[_Candidate], staying: list[Entry]) -> tuple[str, ...]:
    """Compiler folders that lose all their entries: those of `going`, of which `staying` are excluded after all."""
    left = Counter(map(_COMPILER, everything))
    left.subtract(Counter([candidate.entry.compiler for candidate in going]))
    left.update(map(_COMPILER, staying))
    return tuple(sorted(compiler for compiler, count in left.items() if count == 0))


_BY_STATE = {
    State.COMPILING: Reason(ReasonCode.COMPILING),
    State.RETRYING: Reason(ReasonCode.RETRYING),
    State.LOCKED_UNKNOWN: Reason(ReasonCode.LOCK_UNPROVED),
    State.STALE_LOCK: Reason(ReasonCode.LOCK_STALE),
    State.HIT_LEFTOVER_LOCK: Reason(ReasonCode.LOCK_LEFTOVER),
    State.TRACED: Reason(ReasonCode.EXPORTED_MODEL),
    State.UNKNOWN: Reason(ReasonCode.UNKNOWN_FORM),
}
_PINNED, _CHANGED = Reason(ReasonCode.PINNED), Reason(ReasonCode.CHANGED_RECENTLY)
_AHEAD = Reason(ReasonCode.DATED_AHEAD)
_USED = {source: Reason(ReasonCode.USED_RECENTLY, str(source)) for source in UseSource} | {
    UseSource.COMPILE: _CHANGED,
    UseSource.SEEN: _AHEAD,
    UseSource.SEEN_ONLY: _AHEAD,
}


def _obstacle(entry: Entry, criteria: EvictCriteria, context: PlanContext) -> Reason | None:
    """Why the entry must stay, whatever its last use; None when it may go."""
    if entry.state is State.HIT:
        # `read_only_layout` for a hit, whose path every step can name, but faster
        if context.is_hub_commit or entry.compiler.startswith(HUB):
            return Reason(ReasonCode.HUB)
    elif entry.state in _BY_STATE:
        return _BY_STATE[entry.state]
    elif reason := read_only_layout(entry, context):
        return reason
    elif entry.state in BY_NAME_ONLY:
        if entry.state not in criteria.states:
            return Reason(ReasonCode.NOT_NAMED, str(entry.state))
        if context.now - context.last_change(entry) < DAY:
            return Reason(ReasonCode.YOUNG_WORK, str(entry.state))
    if entry.problems and (unreadable := entry.unreadable):
        return Reason(ReasonCode.UNREADABLE, unreadable[0])
    if context.in_use is not None and context.is_used_now(entry):
        return Reason(ReasonCode.IN_USE, context.in_use.why)
    if context.now - context.last_change(entry) < context.protect_seconds:
        return _AHEAD if is_ahead(entry.changed_at, context.now) else _CHANGED
    if criteria.keep_graph and not entry.parts & _ARTIFACT_PARTS:
        return Reason(ReasonCode.NOTHING_TO_TAKE)
    return None


_ARTIFACT_PARTS = functools.reduce(operator.or_, FILES_REMOVED[Action.SLIM])


class _BytesWanted(NamedTuple):
    """Bytes to remove from the cache, and bytes to free on its disk; 0 if that is not asked for."""

    removed: int
    freed: int

    def is_reached(self, removed: int, freed: int) -> bool:
        """Whether these bytes are enough. They differ if files have names outside the cache."""
        return removed >= self.removed and freed >= self.freed


def _until_goal(
    candidates: list[_Candidate],
    everything: list[Entry],
    criteria: EvictCriteria,
    wanted: _BytesWanted | None,
    context: PlanContext,
) -> tuple[list[Step], Goal | None, list[Entry]]:
    """(steps, the goal if they miss it, entries that were left out because they would free nothing)."""
    tally = FreedBytes(everything, context.trashed)
    action, keep_graph, now = (Action.SLIM if criteria.keep_graph else Action.EVICT), criteria.keep_graph, context.now
    steps: list[Step] = []
    useless: list[Entry] = []
    removed = freed = 0
    for candidate in candidates:
        if wanted is not None and wanted.is_reached(removed, freed):
            break
        entry = candidate.entry
        if not (keep_graph or entry.links):  # a short cut for most entries
            frees = removes = entry.allocated
            steps.append(_step(action, candidate, frees, now))
        else:
            going = tally.preview(entry, keep_graph=keep_graph)
            frees, removes = going.frees, going.frees + going.stays
            if wanted is not None and removed >= wanted.removed and removes and not frees:
                useless.append(entry)
                continue
            tally.take(entry, keep_graph=keep_graph)
            step = _step(action, candidate, frees, now)
            steps.append(msgspec.structs.replace(step, stays=going.stays, links=going.links))
        removed += removes
        freed += frees
    if wanted is None or wanted.is_reached(removed, freed):
        return steps, None, useless
    missed, frees = (wanted.removed, removed) if removed < wanted.removed else (wanted.freed, freed)
    return steps, Goal(GoalCode.MISSED, wanted=missed, frees=frees, keeps_graphs=keep_graph), useless


def _step(action: Action, candidate: _Candidate, frees: int, now: float) -> Step:
    entry = candidate.entry
    return Step(
        action=action,
        path=entry.path,
        cause=EvictionRanking.reason(candidate.tier, entry, now - candidate.last_use),
        frees=frees,
        files=files_taken(action, entry),
        fingerprint=Fingerprint.of(entry),
        rebuild_seconds=candidate.rebuild_seconds,
        rebuild_from=candidate.rebuild_from,
        last_used=candidate.last_use,
        last_used_from=candidate.last_use_from,
    )


def _bytes_wanted(criteria: EvictCriteria, context: PlanContext) -> _BytesWanted | None:
    """How much must go to reach the goal; None if neither a size nor free space is asked for."""
    if criteria.max_bytes is None and criteria.free_bytes is None:
        return None
    size = context.before.size - criteria.max_bytes if criteria.max_bytes is not None else 0
    missing = (criteria.free_bytes or 0) - (context.before.free or 0) - context.trash_bytes
    return _BytesWanted(max(0, size), max(0, missing) if criteria.free_bytes is not None else 0)


def _met(criteria: EvictCriteria, context: PlanContext) -> Goal:
    """The goal as one that the cache meets already."""
    return Goal(
        GoalCode.MET,
        size=context.before.size if criteria.max_bytes is not None else None,
        free=context.before.free if criteria.free_bytes is not None else None,
        trash=context.trash_bytes,
    )
