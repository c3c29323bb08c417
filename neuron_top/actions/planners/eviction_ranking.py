"""Ranks the candidates of an eviction: the order in which they go."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable

from neuron_top.actions.plan import DAY
from neuron_top.actions.reasons import Reason, ReasonCode
from neuron_top.cache.model.entry import Entry, compiler_version
from neuron_top.cache.model.states import FAILURES, HITS, State

SUPERSEDED_DAYS = 30
"""An entry of an older compiler that was unused for this long goes before those of the newest."""
_LONG = SUPERSEDED_DAYS * DAY
_COMPILER, _MODULE = operator.attrgetter("compiler"), operator.attrgetter("module")
_GRAPH = operator.itemgetter(slice(-9))
"""The graph's part of a module name: `+` and eight digits for the flags follow."""
_HIT = State.HIT
"""Looked up once: getting a member from an enum class costs as much as the rest of a comparison."""
_LOG_PATH = re.compile(r"--logfile=[^\s\"]*")
LEFTOVER, USELESS, FAILED, COPY, SUPERSEDED, USED = range(6)
"""The classes of the published procedure, in the order in which they go."""


class EvictionRanking:
    """Finds the class of each candidate. `everything`: all entries of the root, for comparison; `last_use` returns
    seconds since the epoch."""

    def __init__(self, everything: list[Entry], last_use: Callable[[Entry], float]) -> None:
        sample = dict(zip(map(_COMPILER, everything), everything, strict=True))
        versions = {name: compiler_version(name) for name, entry in sample.items() if not entry.local}
        newest = max(versions.values(), default=())
        self._superseded = {name for name, version in versions.items() if version < newest}
        self._copies = _copies(everything, last_use)

    def tier(self, entry: Entry, idle: float) -> int:
        """The class; `idle` is seconds since the last use."""
        state = entry.state
        if state is not _HIT:
            if state is State.EMPTY:
                return LEFTOVER
            if state in FAILURES:
                return FAILED
            if state not in HITS:
                return USELESS
        if self._copies and entry.path in self._copies:
            return COPY
        return SUPERSEDED if idle > _LONG and entry.compiler in self._superseded else USED

    @staticmethod
    def reason(tier: int, entry: Entry, idle: float) -> Reason:
        """The class as a step's cause."""
        if tier == USED:
            return Reason(_UNUSED, "", idle)
        if tier == USELESS:
            return Reason(ReasonCode.USELESS, str(entry.state))
        return Reason(_CODES[tier], "", idle) if tier == SUPERSEDED else Reason(_CODES[tier])


_UNUSED = ReasonCode.UNUSED
_CODES = {
    LEFTOVER: ReasonCode.LEFTOVER,
    FAILED: ReasonCode.CACHED_FAILURE,
    COPY: ReasonCode.DUPLICATE,
    SUPERSEDED: ReasonCode.SUPERSEDED,
}


def _copies(everything: list[Entry], last_use: Callable[[Entry], float]) -> set[str]:
    """Paths of usable entries of which another one, used later, differs only by a log path in the flags. Jobs ask for
    the one that was used last. Most graphs occur only once."""
    names = list(map(_GRAPH, map(_MODULE, everything)))
    if len(set(names)) == len(names):
        return set()
    graphs = Counter(names)
    alike: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in everything:
        if graphs[_GRAPH(entry.module)] > 1 and entry.state in HITS:
            alike.setdefault(_without_log(entry), []).append(entry)
    return {entry.path for several in alike.values() for entry in sorted(several, key=last_use)[:-1]}


def _without_log(entry: Entry) -> tuple[str, str, str]:
    flags = _LOG_PATH.sub("", entry.flags or entry.module)
    return entry.compiler, entry.module.partition("+")[0], flags
