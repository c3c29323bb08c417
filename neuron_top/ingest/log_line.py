"""A log line as screens show it, and what is known of it: level, family, rank and time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from neuron_top.escapes import strip_ansi, visible
from neuron_top.events import (
    AnyEvent,
    CachedFailureHit,
    CacheFamily,
    CompileFailed,
    CompileFamily,
    CompileGaveUp,
    CompilerErrorSeen,
    DeviceMemoryExhausted,
    ErrorRaised,
    LineMalformed,
    LineMarked,
    LogEvent,
    ParallelFamily,
    RuntimeFamily,
    RuntimeLogged,
    StepReported,
    TrainingFamily,
    WorkerDied,
)
from neuron_top.events.levels import LineLevel
from neuron_top.parsers import wide

_PREFIX_SIGNS = tuple("[(0123456789")
"""How prefixes begin that may hold a rank."""
_LONGEST_PREFIX = 400
_FAILURES = (
    CompileFailed, CachedFailureHit, CompileGaveUp, CompilerErrorSeen, DeviceMemoryExhausted, ErrorRaised, WorkerDied,
)  # fmt: skip


class LineSubject(StrEnum):
    """What kind of event came from a line."""

    NONE = ""
    """No event."""
    COMPILE = "compile"
    PARALLEL = "parallel"
    TRAINING = "training"
    RUNTIME = "runtime"
    CACHE = "cache"
    OTHER = "other"

    @classmethod
    def _missing_(cls, value: object) -> LineSubject:
        return cls.OTHER  # an agent of another version may know more members


_VAGUE = (LineSubject.NONE, LineSubject.OTHER)


class LogLine(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line of a source for a screen: without terminal sequences, and with other control characters made visible."""

    source: str
    offset: int
    text: str
    level: LineLevel = LineLevel.PLAIN
    family: LineSubject = LineSubject.NONE
    rank: int | None = None
    end: int = 0
    """Offset of the byte after its line end."""


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    """Part of the logs, oldest line first."""

    lines: tuple[LogLine, ...]
    at: dict[str, int]
    """By source, the offset up to which it was read: where the next page begins."""
    ended: bool
    """There is nothing further in this direction."""


class LogChain(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one log."""

    files: tuple[str, ...]
    """As sources, the newest first: the log itself, then what was rotated away."""
    unread: tuple[str, ...] = ()
    """Names of files beside them that hold still older lines and are not read: compressed ones."""


class LineFacts(msgspec.Struct, frozen=True):
    """What the events of one line say of it."""

    level: LineLevel = LineLevel.PLAIN
    family: LineSubject = LineSubject.NONE
    rank: int | None = None
    time: float | None = None


PLAIN = LineFacts()


def facts_of(event: AnyEvent, known: LineFacts = PLAIN) -> LineFacts:
    """What an event shows about its line, combined with what is known of it: the worst level counts."""
    level = level_of(event)
    rank = event.rank if isinstance(event, LogEvent) else None
    return LineFacts(
        level=level if level in known.level.and_worse() else known.level,
        family=_family(event) if known.family in _VAGUE else known.family,
        rank=rank if rank is not None else known.rank,
        time=event.at if event.at is not None else known.time,
    )


def gathered(events: Iterable[AnyEvent]) -> dict[int, LineFacts]:
    """Facts by offset."""
    facts: dict[int, LineFacts] = {}
    for event in events:
        if event.offset is not None:
            facts[event.offset] = facts_of(event, facts.get(event.offset, PLAIN))
    return facts


def level_of(event: AnyEvent) -> LineLevel:
    """How much a line matters to a person, judged by its event."""
    if isinstance(event, _FAILURES):
        return LineLevel.ERROR
    if isinstance(event, LineMarked | RuntimeLogged):
        return LineLevel.of(event.level)
    if isinstance(event, LineMalformed):
        return LineLevel.WARNING
    return LineLevel.PLAIN if isinstance(event, StepReported) else LineLevel.EVENT


def _family(event: AnyEvent) -> LineSubject:
    for family, members in _MEMBERS.items():
        if isinstance(event, members):
            return family
    return LineSubject.OTHER


_MEMBERS: Mapping[LineSubject, type | tuple[type, ...]] = {
    LineSubject.COMPILE: CompileFamily.__args__,
    LineSubject.PARALLEL: ParallelFamily.__args__,
    LineSubject.TRAINING: TrainingFamily.__args__,
    LineSubject.RUNTIME: RuntimeFamily.__args__,
    LineSubject.CACHE: CacheFamily.__args__,
}


def readable(source: str, offset: int, text: bytes, facts: LineFacts = PLAIN, end: int | None = None) -> LogLine:
    """A line for a screen. `end`: where it ends in its source, when `text` is only the beginning of it."""
    # A progress bar rewrites its line with carriage returns: what a terminal would show is its last state.
    last = wide.narrowed(text, is_first=offset == 0).rstrip(b"\r").rpartition(b"\r")[2]
    shown = strip_ansi(last.decode(errors="replace"))
    return LogLine(
        source=source,
        offset=offset,
        text=visible(shown),
        level=facts.level,
        family=facts.family,
        rank=facts.rank if facts.rank is not None else _rank_in(shown),
        end=end if end is not None else offset + len(text) + 1,
    )


def _rank_in(shown: str) -> int | None:
    """The rank in a launcher's prefix, `[rank3]: `, `[1,3]<stdout>:`, which may stand behind a container's."""
    if shown[:1] not in _PREFIX_SIGNS:
        return None
    from neuron_top.parsers import prefixes  # the first frame is drawn before any line

    return prefixes.split(shown[:_LONGEST_PREFIX])[0].rank
