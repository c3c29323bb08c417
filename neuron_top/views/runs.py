"""The list of recordings: result, duration, compile share, hit rate."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.run.state import JobState
from neuron_top.store.records import RunRecord
from neuron_top.store.run_labels import NO_LABELS, RunLabels
from neuron_top.views.diagnosis import cause_text
from neuron_top.views.states import ended_state, job_text, run_name


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One recording. What only the closing summary knows is None for a run that wrote none."""

    id: str
    name: str
    """The one that a person gave it, else the one that it was recorded under."""
    node: str
    command: tuple[str, ...]
    state: JobState
    """`running`, or how it ended."""
    state_text: str
    """In words: `running`, `failed (exit status 1)`, …"""
    started: float | None
    finished: float | None
    seconds: float | None
    """None where the clock was set back while it ran, too."""
    exit_code: int | None
    compile_share: float | None
    hit_rate: float | None
    graphs: int | None
    events: int
    bytes: int
    """What deleting it frees: its events and, where they are on this machine, its log and other files."""
    folder: str
    starred: bool = False
    tags: tuple[str, ...] = ()
    note: str = ""
    reason: str = ""
    """Why it failed, as its log states; "" where it did not fail or does not say."""
    silent_seconds: float = 0.0
    """For how long nothing was heard of one that is being recorded elsewhere; 0 below SILENT_SECONDS."""

    @property
    def called(self) -> str:
        """Its name, else its program, else its id: what every list and title calls it."""
        return run_name(self.name, self.command, self.id)


class _ClosingCause(msgspec.Struct, frozen=True, rename={"cause_class": "class"}):
    cause_class: str = ""
    text: str = ""
    stated: bool = True
    confidence: str = ""


class _ClosingDiagnosis(msgspec.Struct, frozen=True):
    failed: bool = False
    causes: tuple[_ClosingCause, ...] = ()


class _Closing(msgspec.Struct, frozen=True):
    """What a row takes from a closing summary, whichever version wrote it."""

    state: str
    """A JobState; version 0.1 wrote words: `failed (exit status 3)`."""
    state_text: str = ""
    compile_share: float | None = None
    hit_rate: float | None = None
    graphs: int | None = None
    diagnosis: _ClosingDiagnosis | None = None


_closing = msgspec.json.Decoder(_Closing)  # made once, in one thread: see `cache/scan/index.py`


def run_row(
    record: RunRecord,
    now: float,
    *,
    recorder_alive: bool,
    silent_seconds: float = 0.0,
    labels: RunLabels = NO_LABELS,
    file_bytes: int = 0,
) -> RunRow:
    """A recording as a row; whether its recording process lives, for how long nothing was heard of it, and what its
    files take, the caller looks up."""
    closing = _summary(record.summary)
    state, text = _state(record, closing, recorder_alive)
    is_silent = state is JobState.RUNNING and silent_seconds > SILENT_SECONDS
    end = record.finished if record.finished is not None else (now if recorder_alive else record.touched)
    return RunRow(
        id=record.id,
        name=labels.name or record.name,
        node=record.node,
        command=record.command,
        state=state,
        state_text=f"{text}, silent" if is_silent else text,
        started=record.started,
        finished=record.finished,
        seconds=end - record.started if record.started is not None and end >= record.started else None,
        exit_code=record.exit_code,
        compile_share=closing.compile_share if closing is not None else None,
        hit_rate=closing.hit_rate if closing is not None else None,
        graphs=closing.graphs if closing is not None else None,
        events=record.events,
        bytes=record.bytes + file_bytes,
        folder=record.folder,
        starred=labels.starred,
        tags=labels.tags,
        note=labels.note,
        reason=_reason(closing),
        silent_seconds=silent_seconds if is_silent else 0.0,
    )


def _reason(closing: _Closing | None) -> str:
    final = closing.diagnosis if closing is not None else None
    if final is None or not final.failed or not final.causes or not final.causes[0].stated:
        return ""
    cause = final.causes[0]
    with suppress(ValueError):  # a class of a newer version has no words here
        is_guess = cause.confidence == Confidence.LOW
        confidence = Confidence.LOW if is_guess else Confidence.HIGH
        return cause_text(CauseClass(cause.cause_class), cause.text, confidence=confidence)
    return cause.text


def _state(record: RunRecord, closing: _Closing | None, recorder_alive: bool) -> tuple[JobState, str]:
    if record.open:
        state = JobState.RUNNING if recorder_alive else JobState.CUT_OFF
        return state, job_text(state)
    if closing is not None:
        with suppress(ValueError):
            state = JobState(closing.state.partition(" (")[0])
            # Versions before 0.2 had another word for this end.
            ended_well = state is JobState.FINISHED
            return state, job_text(state) if ended_well else closing.state_text or closing.state
    state = ended_state(record.exit_code, record.last_phases)
    return state, job_text(state, exit_code=record.exit_code)


def _summary(text: str) -> _Closing | None:
    """The closing summary as it was written; None when there is none, or an older program wrote another form."""
    try:
        return _closing.decode(text) if text else None
    except MALFORMED:
        return None
