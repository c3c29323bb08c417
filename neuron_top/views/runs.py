"""The list of recordings: result, duration, compile share, hit rate."""

from __future__ import annotations

import msgspec

from neuron_top.store.records import RunRecord
from neuron_top.views.summary import Summary


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One recording. What only the closing summary knows is None for a run that wrote none."""

    id: str
    name: str
    node: str
    command: tuple[str, ...]
    state: str
    """`running`, `cut off` (its recorder died), or the summary's words: `finished`, `failed (exit status 1)`, …"""
    started: float | None
    finished: float | None
    seconds: float | None
    exit_code: int | None
    compile_share: float | None
    hit_rate: float | None
    graphs: int | None
    events: int
    bytes: int
    folder: str


_closing = msgspec.json.Decoder(Summary)  # made once, in one thread: see `cache/scan/index.py`


def run_row(record: RunRecord, now: float, *, recorder_alive: bool) -> RunRow:
    """A recording as a row; whether its recording process lives is looked up by the caller."""
    closing = _summary(record.summary)
    end = record.finished if record.finished is not None else (now if recorder_alive else record.touched)
    return RunRow(
        id=record.id,
        name=record.name,
        node=record.node,
        command=record.command,
        state=_state(record, closing, recorder_alive),
        started=record.started,
        finished=record.finished,
        seconds=max(0.0, end - record.started) if record.started is not None else None,
        exit_code=record.exit_code,
        compile_share=closing.compile_share if closing is not None else None,
        hit_rate=closing.hit_rate if closing is not None else None,
        graphs=closing.graphs if closing is not None else None,
        events=record.events,
        bytes=record.bytes,
        folder=record.folder,
    )


def _state(record: RunRecord, closing: Summary | None, recorder_alive: bool) -> str:
    if record.open:
        return "running" if recorder_alive else "cut off"
    if closing is not None:
        return closing.state
    return "finished" if record.exit_code == 0 else f"failed (exit status {record.exit_code})"


def _summary(text: str) -> Summary | None:
    """The closing summary as it was written; None when there is none, or an older program wrote another form."""
    try:
        return _closing.decode(text) if text else None
    except msgspec.DecodeError:
        return None
