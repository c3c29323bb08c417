"""Diagnoses a log while it grows, and emits the diagnosis when it changes.

Reading costs about as much as the log's other reader; the import of its patterns is paid with the first bytes. A
diagnosis costs a few milliseconds at most, and is made once a second while a log grows, and when it pauses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from neuron_top.events import AnyEvent, JobDiagnosed
from neuron_top.events.diagnosis import Diagnosis

if TYPE_CHECKING:
    from neuron_top.ingest.advised import AdvisedDiagnoser

ASK_SECONDS = 1.0
COUNT_SECONDS = 30.0
"""A diagnosis in which only counts differ is sent at most this often: a message that repeats for hours shall not fill a
disk."""


class LogDiagnosis:
    """The diagnosis of one log, so far."""

    def __init__(self, source: str, clock: Callable[[], float]) -> None:
        self._source, self._clock = source, clock
        self._diagnoser: AdvisedDiagnoser | None = None
        self._reported: Diagnosis | None = None
        self._reported_at = self._asked_at = float("-inf")
        self._is_new = False

    @property
    def is_new(self) -> bool:
        """Whether something was read since the last diagnosis, or a change of counts is still to be sent."""
        return self._is_new

    def take(self, block: bytes) -> list[AnyEvent]:
        """Read whole lines; returns the new diagnosis if it is time for one."""
        if block:
            self._read(block)
        return self.ask() if self._is_new and self._clock() - self._asked_at >= ASK_SECONDS else []

    def take_piece(self, piece: bytes) -> None:
        """Read a piece of a line that has no end yet, which changes no diagnosis."""
        if piece:
            self._read(piece, is_new=self._is_new)

    def ask(self, *, at_once: bool = False) -> list[AnyEvent]:
        """The diagnosis, if it differs from the last one that was sent; `at_once`: also if only counts differ."""
        if self._diagnoser is None or not self._is_new:
            return []
        self._asked_at, self._is_new = self._clock(), False
        so_far = self._diagnoser.so_far()
        # A wait that goes on is reported each minute: its own events tell of it.
        return self._changed(msgspec.structs.replace(so_far, last_wait=msgspec.UNSET), at_once=at_once)

    def end(self, rest: bytes, exit_code: int | None = None) -> list[AnyEvent]:
        """The final diagnosis, after these last bytes. If more bytes come after all, they are read too."""
        if rest or exit_code:
            self._read(rest)
        if self._diagnoser is None:
            return []
        self._is_new = False
        self._diagnoser.flush()
        return self._changed(self._diagnoser.diagnosis(exit_code), at_once=True)

    def begin_anew(self) -> list[AnyEvent]:
        """Note that another file has the name of the log; returns an empty diagnosis if one was sent before."""
        self._diagnoser, self._is_new = None, False
        return self._changed(Diagnosis(), at_once=True) if self._reported is not None else []

    def _read(self, data: bytes, *, is_new: bool = True) -> None:
        if self._diagnoser is None:
            from neuron_top.ingest.advised import AdvisedDiagnoser

            self._diagnoser = AdvisedDiagnoser(self._source)
        self._diagnoser.feed(data)
        self._is_new = is_new

    def _changed(self, diagnosis: Diagnosis, *, at_once: bool) -> list[AnyEvent]:
        now = self._clock()
        if diagnosis == self._reported:
            return []
        is_young = now - self._reported_at < COUNT_SECONDS
        if not at_once and is_young and self._reported is not None and _gist(diagnosis) == _gist(self._reported):
            self._is_new = True  # still to be reported
            return []
        self._reported, self._reported_at = diagnosis, now
        return [JobDiagnosed(diagnosis=diagnosis, source=self._source)]


def _gist(diagnosis: Diagnosis) -> tuple[object, ...]:
    """What a diagnosis says, without its counts."""
    causes = tuple((cause.cause_class, cause.line) for cause in diagnosis.causes)
    return diagnosis.failed, diagnosis.recovered, diagnosis.job_ended, causes
