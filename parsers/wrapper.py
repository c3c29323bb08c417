"""The compile wrapper and its cache, generations G0 to G3, and whatever of a later one still uses the same words.

The words decide, not the header: a line of a generation that is not known yet is recognized by its phrase, with
generation UNKNOWN. Only a fresh failure needs its ERROR header, because every program that passes the failure on quotes
the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from neuron_top.events import (
    AnyEvent,
    CachedFailureHit,
    CacheHit,
    CacheMissed,
    CachePathAnnounced,
    CompileCompleted,
    CompileFailed,
    CompileGaveUp,
    CompilerPassed,
    CompileStarted,
    GraphExtracted,
    LockWaited,
    LogGeneration,
)
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import paths, timestamps
from neuron_top.parsers.base import PLAIN, WRAPPER, Record, clip, common, malformed
from neuron_top.parsers.failure_signs import FAILURE
from neuron_top.parsers.failures import MessageLines

HIT = "Using a cached neff at"
EXIT_OK = "Exiting with a successfully compiled graph"
CACHED_FAILURE = "Got a cached failed neff at"
OLD_CACHED_FAILURE = "There was a compilation error for this graph"
STATUS_FAILED = "compiler status: failed"
"""The message of a failure that only the compiler's status line reports; the wrapper's own line may follow."""

_FAILURES = (CACHED_FAILURE, OLD_CACHED_FAILURE, FAILURE)

MINUTES_WAITED = late_pattern(r"been waiting for: (\d{1,9}(?:\.\d{1,6})?) minutes")
_NEFF = late_pattern(r"(?:\S| (?=[^/,()]{1,80}/))+?\.neff(?=[\s.,'\"\])]|$)|\S+")
_GRAPH_PATH = late_pattern(r"(?:[^\s,)]| (?=[^/,()]{1,80}/))+?\.pb(?=[\s.,'\"\])]|$)|[^\s,)]+")
"""Paths: a blank belongs to one when the word behind it goes on with a slash."""
_NUMBERED_GRAPH = late_pattern(r"MODULE_SyncTensorsGraph\.\d{1,9}_(\d{8,20})\.hlo")
"""G0's file of an extracted graph: the number of its key stands behind a running number."""
_GRAPH_FILE = late_pattern(r"model\.(MODULE_[0-9a-f]{8,64}(?:\+[0-9a-f]{8})?)\.(?:hlo|neff)")
_TARGET = late_pattern(r"--target[= ]\s*([\w.-]{1,40})")
_OUTPUT = late_pattern(r"--output'?,?[= ]\s*'?([^\s',]{1,500})/model\.")
_PASSED_ON = late_pattern(r"Process \d{1,15} failed compilation:")
_GAVE_UP = late_pattern(r"(\S+)(?: after (\d{1,9}) retries)?")
_ERROR_LEAD = late_pattern(r"\b(?:ERROR|CRITICAL|FATAL)\]?:?\s*(?:\|\|[A-Z_]{1,40}\|\|)?:?\s*$")

_LEAD = 200
"""Characters before a phrase that are looked at: bounded, since a line may hold thousands of phrases."""

_Event = AnyEvent | None


_Speaker = tuple[int | None, int | None]
_NOBODY: _Speaker = (None, None)
_MOST_FAILURES = 4096
_PATIENCE = 500
"""Lines of other processes after which a failure's message is no longer expected to go on."""


class _Failure:
    """A failure whose message may go on."""

    def __init__(self, event: CachedFailureHit | CompileFailed) -> None:
        self.event = event
        self.message = MessageLines()
        self.others = 0
        """Lines of other processes since it began."""

    def finished(self) -> AnyEvent:
        """The event, with the message as far as it came."""
        event, message = self.event, self.message.text()
        if isinstance(event, CachedFailureHit):
            return msgspec.structs.replace(event, message=clip(message), retrying=self.message.retrying)
        return msgspec.structs.replace(
            event,
            message=clip(message),
            code=self.message.code,
            exit_status=self.message.exit_status,
            module=event.module or paths.module_in(self.message.argv),
        )


class WrapperLines:
    """Reads the lines of `libneuronxla` (before: `torch-neuronx`); keeps failures until their messages are complete,
    one for each process that the prefix of a launcher tells from others.
    """

    name = "wrapper"

    def __init__(self) -> None:
        self._failures: dict[_Speaker, _Failure] = {}

    @property
    def open(self) -> bool:
        """True while the message of a failure may go on."""
        return bool(self._failures)

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """The failures that end before this record, which is no part of their messages."""
        events: list[AnyEvent] = []
        speaker = self._speaker(record)
        for each, failure in list(self._failures.items()):
            if each != speaker:
                failure.others += 1
                if failure.others > _PATIENCE:
                    events += self._finish(each)
            elif not self._continues(failure, record) and not self._comes_between(failure, record):
                events += self._finish(each) if record.shape is WRAPPER or failure.message.begun else []
        return events

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        speaker = self._speaker(record)
        failure = self._failures.get(speaker)
        if failure is not None and self._continues(failure, record):
            failure.message.take(record.text)
            return self._finish(speaker) if failure.message.complete else []
        return self._read(record)

    def _speaker(self, record: Record) -> _Speaker:
        """Whose record it is, as far as its prefix says; one without a prefix may go on with the last failure."""
        speaker = record.prefix.rank, record.prefix.pid
        if speaker == _NOBODY and self._failures and _NOBODY not in self._failures:
            return next(reversed(self._failures))
        return speaker

    def _continues(self, failure: _Failure, record: Record) -> bool:
        return record.shape is PLAIN and failure.message.accepts(record.text)

    def _comes_between(self, failure: _Failure, record: Record) -> bool:
        """True for another process's line between a failure's header and its message."""
        other = record.header_pid is not None and record.header_pid != failure.event.pid
        return other and not failure.message.begun and not any(phrase in record.text for phrase in _FAILURES)

    def flush_idle(self) -> list[AnyEvent]:
        """The failures, without waiting longer: a message comes at once or not at all."""
        return self.flush()

    def flush(self) -> list[AnyEvent]:
        """The failures that were kept, with their messages as far as these came."""
        return [event for speaker in list(self._failures) for event in self._finish(speaker)]

    def _finish(self, speaker: _Speaker) -> list[AnyEvent]:
        failure = self._failures.pop(speaker, None)
        return [] if failure is None else [failure.finished()]

    def _read(self, record: Record) -> list[AnyEvent] | None:
        if record.shape is WRAPPER and _PASSED_ON.match(record.text):
            return None  # `neuron_parallel_compile` repeats what the wrapper has said: its own family's line
        events: list[AnyEvent] = []
        claimed = False
        for phrase, before, body in _phrases(record.text):
            event = _READERS[phrase](record, before, body)
            if event is None:
                continue
            claimed = True
            if isinstance(event, CachedFailureHit | CompileFailed) and phrase in _FAILURES:
                events += self._begin(event, phrase, body, record)
            else:
                events += _with_damage(event, record)
        return events if claimed else None

    def _begin(self, event: CachedFailureHit | CompileFailed, phrase: str, body: str, record: Record) -> list[AnyEvent]:
        """Keep the failure if its message follows, else return it at once."""
        speaker = record.prefix.rank, record.prefix.pid
        before = self._finish(speaker if len(self._failures) < _MOST_FAILURES else next(iter(self._failures)))
        failure = self._failures[speaker] = _Failure(event)
        failure.message.begin(body if phrase != OLD_CACHED_FAILURE else "")
        follows = phrase == FAILURE or body.rstrip().endswith(":") or ": [" in body
        return before if follows and not failure.message.complete else [*before, *self._finish(speaker)]


def _phrases(text: str) -> Iterator[tuple[str, str, str]]:
    """Each phrase of the text with what stands before it and its body, which reaches to the next phrase."""
    found = PHRASE.search(text)
    while found is not None:
        phrase, start, end = found[0], found.start(), found.end()
        if phrase in _FAILURES:
            yield phrase, text[max(0, start - _LEAD) : start], text[end:]  # what follows is quoted
            return
        found = PHRASE.search(text, end) if text.find(" ", end + 1) >= 0 else None
        if phrase == HIT and found is not None and found[0] == EXIT_OK:
            found = PHRASE.search(text, found.end())  # the second half of the hit itself
        yield phrase, text[max(0, start - _LEAD) : start], text[end : found.start() if found else len(text)].strip()


def _with_damage(event: AnyEvent, record: Record) -> list[AnyEvent]:
    """The event, and a note if the line was cut so short that it does not name its graph."""
    if isinstance(event, CacheHit | CompileStarted | GraphExtracted | LockWaited) and event.module is None:
        return [event, malformed("wrapper", record, "no module key")]
    return [event]


def _hit(record: Record, before: str, body: str) -> _Event:
    path = _path(body)
    where = paths.place(path)
    return CacheHit(
        **_common(record, before), module=where.module, neff=clip(path), root=_clip(where.root), compiler=where.compiler
    )


def _cached_failure(record: Record, before: str, body: str) -> _Event:
    where = paths.place(_path(body))
    return CachedFailureHit(
        **_common(record, before), module=where.module, root=_clip(where.root), compiler=where.compiler
    )


def _old_cached_failure(record: Record, before: str, body: str) -> _Event:
    _, _, path = body.partition("graph at ")
    where = paths.place(path)
    return CachedFailureHit(
        **_common(record, before, LogGeneration.G0),
        module=where.module,
        root=_clip(where.root),
        compiler=where.compiler,
    )


def _started(record: Record, before: str, body: str) -> _Event:
    graph, target, output = _GRAPH_FILE.search(body), _TARGET.search(body), _OUTPUT.search(body)
    return CompileStarted(
        **_common(record, before),
        module=graph[1] if graph else paths.module_in(body),
        target=target[1] if target else None,
        workdir=clip(output[1]) if output else None,
        command=clip(body),
    )


def _started_by_name(record: Record, before: str, body: str) -> _Event:
    """`neuron_parallel_compile` of G0: `Compiling <graph> using following command: <command>`."""
    if "Compiling " not in before:
        return None
    event = _started(record, before, body)
    number = _NUMBERED_GRAPH.search(body)
    return msgspec.structs.replace(event, module=f"MODULE_{number[1]}") if event and number else event


def _announced(record: Record, before: str, body: str) -> _Event:
    return CachePathAnnounced(
        **_common(record, before), path=clip(body.split(maxsplit=1)[0].rstrip("`'\"") if body else "")
    )


def _passed(record: Record, before: str, body: str) -> _Event:
    return CompilerPassed(**_common(record, before))


def _not_passed(record: Record, before: str, body: str) -> _Event:
    """The failing counterpart of PASS: never seen in public, so nothing is known of what follows it."""
    return CompileFailed(**_common(record, before), message=clip(f"{STATUS_FAILED} {body}"))


def _completed(record: Record, before: str, body: str) -> _Event:
    return CompileCompleted(**_common(record, before), module=paths.module_in(body))


def _waited(record: Record, before: str, body: str) -> _Event:
    path = _path(body, _GRAPH_PATH)
    minutes, where = MINUTES_WAITED.search(body), paths.place(path)
    return LockWaited(
        **_common(record, before),
        module=where.module,
        path=clip(path),
        root=_clip(where.root),
        compiler=where.compiler,
        minutes=float(minutes[1]) if minutes else None,
    )


def _extracted(record: Record, before: str, body: str) -> _Event:
    path = _path(body, _GRAPH_PATH)
    where = paths.place(path)
    return GraphExtracted(
        **_common(record, before), module=where.module, path=clip(path), root=_clip(where.root), compiler=where.compiler
    )


def _failed(record: Record, before: str, body: str) -> _Event:
    """Fresh only directly behind an ERROR header; anything else quotes an older line."""
    fresh = record.level.is_error and not before.strip()
    if not fresh and not (record.shape is PLAIN and _ERROR_LEAD.search(before)):
        return None
    return CompileFailed(**_common(record, before), module=paths.module_in(body))


def _gave_up(record: Record, before: str, body: str) -> _Event:
    if body.startswith("cache key "):
        return None  # TorchNeuron's
    found = _GAVE_UP.match(body)
    path, retries = (found[1], int(found[2] or 0)) if found else ("", 0)
    return CompileGaveUp(**_common(record, before), module=paths.module_in(path), path=clip(path), retries=retries)


def _missed(record: Record, before: str, body: str) -> _Event:
    where = paths.place(body)
    return CacheMissed(
        **_common(record, before, LogGeneration.G0),
        module=where.module,
        root=_clip(where.root),
        compiler=where.compiler,
    )


def _work_folder(record: Record, before: str, body: str) -> _Event:
    return CompileStarted(**_common(record, before, LogGeneration.G0), module=paths.module_in(body), workdir=clip(body))


def _exited(record: Record, before: str, body: str) -> _Event:
    """G0's own line; inside other text it is a quotation or the second half of a hit."""
    return None if before.strip() else CompileCompleted(**_common(record, before, LogGeneration.G0))


_READERS: dict[str, Callable[[Record, str, str], _Event]] = {
    HIT: _hit,
    CACHED_FAILURE: _cached_failure,
    "Call compiler with cmd:": _started,
    "using following command:": _started_by_name,
    "Compile cache path:": _announced,
    "Compiler status PASS": _passed,
    "Compiler status ERROR": _not_passed,
    "Compiler status FAIL": _not_passed,
    "Compilation Successfully Completed for": _completed,
    "Another process must be compiling": _waited,
    "Extracting graphs (": _extracted,
    FAILURE: _failed,
    "Compilation failed for": _gave_up,
    "No candidate found under": _missed,
    "Cache dir for the neff:": _work_folder,
    OLD_CACHED_FAILURE: _old_cached_failure,
    EXIT_OK: _exited,
}
PHRASE = late_pattern("|".join(map(re.escape, _READERS)))
"""The phrases of all generations; each row of `_READERS` is one kind of line."""


def _common(record: Record, before: str, generation: LogGeneration = LogGeneration.UNKNOWN) -> dict[str, Any]:
    """The fields every event of the wrapper has; without a header, the lead may still hold a stamp."""
    at = record.at if record.shape else timestamps.generic(before)
    return common(record) | {"at": at, "generation": generation or record.generation}


def _path(body: str, pattern: re.Pattern[str] = _NEFF) -> str:
    found = pattern.search(body)
    return found[0] if found else ""


def _clip(text: str | None) -> str | None:
    return clip(text) if text else None
