"""Which entries go when space is wanted: a pure planner.

Candidates in the order of the published procedure: leftovers and broken entries, old failures, copies that differ
only in a log path, compiler versions superseded and long unused, then by last use, where value counts: idle time is
divided by the minutes a compile took, so what took an hour goes after what took seconds. Left alone, always, is
whatever is locked, being written, unknown, pinned, or used within a day.
"""

from __future__ import annotations

import fnmatch
import functools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from neuron_top.actions.plan import DAY, FILES_REMOVED, Action, Exclusion, Fingerprint, Plan, Step, Verb
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.compiler_filter import compiler_filter
from neuron_top.actions.planners.eviction_ranking import EvictionRanking
from neuron_top.actions.planners.plan_builder import build_plan, exclude, files_taken
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import Artifact, Entry, State
from neuron_top.units import bytes_text, counted, duration_text

BY_NAME_ONLY = frozenset({State.EXTRACTED, State.PARTIAL, State.PUBLISHED_UNMARKED})
"""Somebody's extracted or half-stored work: only when named, and a day old."""


class EvictCriteria(msgspec.Struct, frozen=True, kw_only=True):
    """The wish. Filters narrow the candidates; a goal (`max_bytes`, `free_bytes`) stops when it is reached."""

    max_bytes: int | None = None
    free_bytes: int | None = None
    older_than: float | None = None
    """Seconds since the last use."""
    compiler: str | None = None
    """`<2.20`, `==2.19.8089.0`, or a pattern of folder names (`inductor-*`)."""
    states: frozenset[State] = frozenset()
    modules: tuple[str, ...] = ()
    """Patterns of module names."""
    paths: frozenset[str] = frozenset()
    """Exactly these entries (`compiler/module`): what was marked by hand."""
    slim: bool = False

    @property
    def empty(self) -> bool:
        """True when nothing was asked for: that is refused, never taken for everything."""
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
        """The wish as it is shown and journalled."""
        parts = [
            f"at most {bytes_text(self.max_bytes)}" if self.max_bytes is not None else "",
            f"{bytes_text(self.free_bytes)} free" if self.free_bytes is not None else "",
            f"unused for {duration_text(self.older_than)}" if self.older_than is not None else "",
            f"compiler {self.compiler}" if self.compiler else "",
            "state " + ",".join(sorted(self.states)) if self.states else "",
            "module " + ",".join(self.modules) if self.modules else "",
            counted(len(self.paths), "marked entry", "marked entries") if self.paths else "",
            "slim" if self.slim else "",
        ]
        return "; ".join(part for part in parts if part)


def plan_eviction(entries: Iterable[Entry], root: str, policy: EvictCriteria, context: PlanContext) -> Plan:
    """The plan for one root. Raises ValueError for an empty wish or a compiler specifier that can't be read."""
    if policy.empty:
        raise ValueError("nothing asked for: give a size, an age, a compiler, a state or a module")
    everything = list(entries)
    candidates, exclusions = _candidates(everything, policy, context)
    if _bytes_wanted(policy, context) == 0:
        return build_plan(Verb.EVICT, root, policy.describe(), (), (), context, goal_met=_how_it_is(policy, context))
    steps, missed = _until_goal(candidates, everything, policy, context)
    emptied = () if policy.slim else _emptied(everything, candidates[: len(steps)])
    return build_plan(
        Verb.EVICT, root, policy.describe(), steps, exclusions, context, goal_missed=missed, emptied=emptied
    )


class _Candidate(msgspec.Struct, gc=False):
    """An entry that may go. There are 50,000 of them: made by position, and without a look from the collector."""

    sort_key: float
    """Where it stands in the order."""
    tier: int
    """Its class."""
    entry: Entry
    last_use: float
    last_use_from: str
    rebuild_seconds: float | None
    rebuild_from: str


_COMPILER = operator.attrgetter("compiler")
_TIER = 1e12
"""Classes lie further apart than any two idle times, seconds."""


def _candidates(
    everything: list[Entry], policy: EvictCriteria, context: PlanContext
) -> tuple[list[_Candidate], list[Exclusion]]:
    """(what may go, in order; what stays although the wish speaks of it). Written for 50,000 entries at a time."""
    matches = compiler_filter(policy.compiler)
    compilers = set(filter(matches, set(map(_COMPILER, everything))))
    pinned, named, now = _any_of(context.pins), _any_of(policy.modules), context.now
    worth = EvictionRanking(everything)
    candidates: list[_Candidate] = []
    exclusions: list[Exclusion] = []
    last_use, rebuild, tier, keep, hit = context.last_use, context.rebuild, worth.tier, candidates.append, State.HIT
    fast_path = not (context.in_use or policy.slim or any(name.startswith(_HUB) for name in compilers))
    states, paths, older_than, protect = policy.states, policy.paths, policy.older_than, context.protect_seconds
    filtered = bool(policy.compiler or states or paths or named)
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
            obstacle = "pinned"
        elif (
            fast_path
            and idle >= protect
            and entry.state is hit
            and now - entry.changed_at >= protect
            and not entry.problems
        ):
            obstacle = ""  # as `_obstacle` would say, for what most entries are
        else:
            obstacle = _obstacle(entry, policy, context)
            if not obstacle and idle < protect:
                obstacle = f"used within a day (known from: {known_from})"
        if obstacle:
            exclusions.append(exclude(entry, obstacle))
            continue
        seconds, seconds_from = rebuild(entry)
        value = idle / (1 + seconds / 60) if seconds else idle
        kind = tier(entry, idle)
        keep(_Candidate(kind * _TIER - value, kind, entry, used, known_from, seconds, seconds_from))
    candidates.sort(key=operator.attrgetter("sort_key"))
    return candidates, exclusions


def _any_of(patterns: tuple[str, ...]) -> Callable[[str], object] | None:
    """One matcher for all patterns; None when there are none."""
    return re.compile("|".join(map(fnmatch.translate, patterns))).match if patterns else None


def _emptied(everything: list[Entry], going: list[_Candidate]) -> tuple[str, ...]:
    """Compiler folders that lose all their entries."""
    left = Counter(map(_COMPILER, everything))
    left.subtract(Counter([candidate.entry.compiler for candidate in going]))
    return tuple(sorted(compiler for compiler, count in left.items() if count == 0))


_LOCKED_WORDS = {
    State.COMPILING: "being compiled now",
    State.RETRYING: "a failure being compiled again now",
    State.LOCKED_UNKNOWN: "locked, and nothing proves that the holder is dead",
    State.STALE_LOCK: "locked by a dead process: unlock it first",
    State.HIT_LEFTOVER_LOCK: "locked: unlock it first",
    State.TRACED: "a whole exported model: not a cache entry",
    State.UNKNOWN: "of no known form: never touched",
}


def _obstacle(entry: Entry, policy: EvictCriteria, context: PlanContext) -> str:
    """Why the entry must stay, whatever its last use; empty when it may go."""
    if entry.state is State.HIT:
        pass
    elif entry.state in _LOCKED_WORDS:
        return _LOCKED_WORDS[entry.state]
    elif entry.state in BY_NAME_ONLY:
        if entry.state not in policy.states:
            return f"{entry.state}: extracted or half-stored work goes only when its state is named"
        if context.now - entry.changed_at < DAY:
            return f"{entry.state}, changed within a day: somebody may still be at work"
    if entry.problems:
        unreadable = [problem for problem in entry.problems if not _of_broken_artifact(entry, problem)]
        if unreadable:
            return f"not fully readable: {unreadable[0]}"
    if entry.compiler.startswith(_HUB):
        return "a hub's own layout: it is read and copied only"
    if context.in_use:
        return f"the cache is in use: {context.in_use}"
    if context.now - entry.changed_at < context.protect_seconds:
        return "changed within a day"
    if policy.slim and not entry.parts & _SLIM_PARTS:
        return "slim already"
    return ""


_HUB = "snapshots/"
_SLIM_PARTS = functools.reduce(operator.or_, FILES_REMOVED[Action.SLIM])
_ARTIFACT_FILES = tuple(f"{name}: " for name in (*filenames.ARTIFACT_NAMES, filenames.INDUCTOR_KERNELS))


def _of_broken_artifact(entry: Entry, problem: str) -> bool:
    """What is wrong with an artifact that was read is its state, and no reason to keep it."""
    return entry.artifact in (Artifact.STUB, Artifact.BROKEN) and problem.startswith(_ARTIFACT_FILES)


def _until_goal(
    candidates: list[_Candidate], everything: list[Entry], policy: EvictCriteria, context: PlanContext
) -> tuple[list[Step], str]:
    """(steps, why the goal is missed)."""
    wanted = _bytes_wanted(policy, context)
    linked = [entry.links for entry in everything if entry.links]
    sharers = Counter(inode for links in linked for inode, _ in links)
    action, slim, now = (Action.SLIM if policy.slim else Action.EVICT), policy.slim, context.now
    steps: list[Step] = []
    freed = 0
    for candidate in candidates:
        if wanted is not None and freed >= wanted:
            break
        entry = candidate.entry
        frees = entry.allocated if not (slim or entry.links) else _frees(entry, sharers, slim=slim)
        steps.append(_step(action, candidate, frees, now))
        freed += frees
    if wanted is not None and freed < wanted:
        rest = "the rest is graphs and flags, or protected" if slim else "the rest is protected"
        return steps, f"only {bytes_text(freed)} of {bytes_text(wanted)} can be freed; {rest}"
    return steps, ""


def _step(action: Action, candidate: _Candidate, frees: int, now: float) -> Step:
    entry = candidate.entry
    return Step(
        action=action,
        path=f"{entry.compiler}/{entry.module}",
        reason=EvictionRanking.reason(candidate.tier, entry, now - candidate.last_use),
        frees=frees,
        files=files_taken(action, entry),
        fingerprint=Fingerprint.of(entry),
        rebuild_seconds=candidate.rebuild_seconds,
        rebuild_from=candidate.rebuild_from,
        last_used=candidate.last_use,
        last_used_from=candidate.last_use_from,
    )


def _bytes_wanted(policy: EvictCriteria, context: PlanContext) -> int | None:
    goals = []
    if policy.max_bytes is not None:
        goals.append(context.before.size - policy.max_bytes)
    if policy.free_bytes is not None:
        goals.append(policy.free_bytes - (context.before.free or 0) - context.trash_bytes)
    return max(0, *goals) if goals else None


def _how_it_is(policy: EvictCriteria, context: PlanContext) -> str:
    size = f"the cache holds {bytes_text(context.before.size)}" if policy.max_bytes is not None else ""
    free = f"{bytes_text(context.before.free)} are free" if policy.free_bytes is not None else ""
    if free and context.trash_bytes:
        free += f", {bytes_text(context.trash_bytes)} more once the trash is purged (neurontop cache purge),"
    return " and ".join(filter(None, (size, free)))


def _frees(entry: Entry, sharers: Counter[int], *, slim: bool) -> int:
    """Bytes that go: an inode with other names in the cache goes with its last one."""
    frees = entry.allocated - (entry.kept if slim else 0)
    for inode, size in entry.links:
        sharers[inode] -= 1
        if sharers[inode] > 0:
            frees -= size
    return max(0, frees)
