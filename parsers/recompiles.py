"""`[__recompiles]`: which function PyTorch compiles once more, and the guards that failed (TORCH_LOGS=recompiles).

    V0721 09:45:26.129000 4711 torch/_dynamo/guards.py:4760] [0/1] [__recompiles] Recompiling function f in /x/m.py:9
    V0721 … [0/1] [__recompiles]     triggered by the following guard failure(s):
    V0721 … [0/1] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 1. expected 64, actual 1

A stack may follow, in further lines that begin with a dash.
"""

from __future__ import annotations

from neuron_top.events import AnyEvent, FunctionRecompiled
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.base import LineFamily, Record, clip, common

NAME = "recompiles"
_LINE = late_pattern(r"(?:\[(?P<id>!?[\d/_]{1,40})\] )?\[__recompiles\] (?P<text>.*)")
_HEAD = late_pattern(r"Recompiling function (?P<function>.{1,300}?) in (?P<place>.{1,1000}?:\d{1,9})\s*$")
_REASON = late_pattern(r"\s{2,}- (?:!?[\d/]{1,40}: )?(?P<reason>\S.*)")
_NO_REASON = ("User stack trace:",)
_PID = late_pattern(r"[VDIWEC]\d{4} [\d:.]{8,18}\s+(\d{1,10}) ")
_MOST_FUNCTIONS = 1000


class RecompileLines(LineFamily):
    """Reads these lines; keeps which function each process reported last, whose reasons follow."""

    name = NAME

    def __init__(self) -> None:
        self._last: dict[tuple[int | None, int | None, str], tuple[str, str]] = {}

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        found = _LINE.search(record.text)
        if found is None:
            return None
        record.stands_alone = False
        pid = _PID.search(record.text[: found.start()])
        record.pid = int(pid[1]) if pid else record.pid
        compile_id = found["id"] or ""
        key = record.pid, record.rank, compile_id
        head = _HEAD.match(found["text"])
        if head is not None:
            if len(self._last) >= _MOST_FUNCTIONS:
                self._last.clear()
            self._last[key] = clip(head["function"]), clip(head["place"])
            return [self._event(record, key, "")]
        reason = _REASON.match(found["text"])
        if reason is None or key not in self._last or reason["reason"].startswith(_NO_REASON):
            return []
        return [self._event(record, key, clip(reason["reason"]))]

    def _event(self, record: Record, key: tuple[int | None, int | None, str], reason: str) -> FunctionRecompiled:
        function, place = self._last[key]
        return FunctionRecompiled(**common(record), function=function, place=place, compile_id=key[2], reason=reason)
