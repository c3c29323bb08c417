"""The states of a cache entry, the results of a lookup, and what is known about a lock's holder."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where an entry stands. The values are what `--json` and the event `EntryChanged` carry."""

    HIT = "hit"
    HIT_LEFTOVER_LOCK = "hit-leftover-lock"
    HIT_LEGACY = "hit-legacy"
    CORRUPT = "corrupt"
    PARTIAL = "partial"
    COMPILING = "compiling"
    RETRYING = "retrying"
    LOCKED_UNKNOWN = "locked-unknown"
    STALE_LOCK = "stale-lock"
    FAILED = "failed"
    FAILED_LEGACY = "failed-legacy"
    PUBLISHED_UNMARKED = "published-unmarked"
    EXTRACTED = "extracted"
    EMPTY = "empty"
    INCONSISTENT = "inconsistent"
    TRACED = "traced"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> State | None:
        return cls.EXTRACTED if value == "todo" else None  # as version 0.1 called it


HITS = frozenset({State.HIT, State.HIT_LEFTOVER_LOCK, State.HIT_LEGACY})
FAILURES = frozenset({State.FAILED, State.FAILED_LEGACY})
BROKEN = frozenset({State.CORRUPT, State.INCONSISTENT})
LOCKED = frozenset({State.COMPILING, State.RETRYING, State.LOCKED_UNKNOWN, State.STALE_LOCK, State.HIT_LEFTOVER_LOCK})
COMPILED = HITS | {State.PUBLISHED_UNMARKED}
"""States of an entry with a whole artifact."""
KEPT = LOCKED | {State.TRACED, State.UNKNOWN}
"""States that no eviction takes."""
UNSETTLED = LOCKED | {State.PARTIAL, State.PUBLISHED_UNMARKED}
"""States that do not last; every refresh reads such entries again."""


def states_named(text: str) -> frozenset[State]:
    """`failed,extracted` → states; names of earlier versions are understood. Raises ValueError for unknown names."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if not _is_state(name)]
    if unknown:
        raise ValueError(f"no state is called {', '.join(map(repr, unknown))}; the states are {', '.join(State)}")
    return frozenset(map(State, names))


def _is_state(name: str) -> bool:
    try:
        State(name)
    except ValueError:
        return False
    return True


class Lookup(StrEnum):
    """What a client finds that looks an entry up: a mark, else a stored failure, else nothing."""

    HIT = "hit"
    FAILED = "failed"
    MISS = "miss"


class Holder(StrEnum):
    """What is known about the holder of a lock."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"
