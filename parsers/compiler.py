"""The compiler's own lines: its file `log-neuron-cc.txt`, and what it prints when it is verbose.

Shapes: `2026-01-21T05:40:13Z INFO 6595 [root]: text` (file), `2023-11-29T15:38:46Z text` (console, and inside
failures), `04/19/2022 09:09:57 AM ERROR 1203 [neuron-cc]: text` (first generation). `Compiler status PASS` stands for a
whole compile, and is read by `wrapper`.
"""

from __future__ import annotations

import re

import msgspec

from neuron_top.events import (
    AnyEvent,
    CompilerErrorSeen,
    CompilerExited,
    CompilerProgress,
    CompilerStageFinished,
    CompilerVersionSeen,
)
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import timestamps
from neuron_top.parsers.base import DOTS, WRAPPER, LineFamily, Record, clip, common, marked
from neuron_top.parsers.failure_signs import ERROR_CODE

NAME = "compiler"
_UTC = late_pattern(r"\.*(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z ")
_OLD = late_pattern(r"\.*(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M) ")
_LEVEL = late_pattern(r"(INFO|USER|WARNING|ERROR|CRITICAL|DEBUG) (?:(\d{1,10}) )?\[([^\]]{1,200})\]: ?")
_STAGE = late_pattern(r"(\w[\w.-]{0,120}) finished after (\d{1,9}(?:\.\d{1,9})?) seconds")
_OLD_STAGE = late_pattern(r"Exit time region: delta=(\d{1,9}(?:\.\d{1,9})?)s")
_EXIT = late_pattern(r"Subcommand returned with exitcode=(-?\d{1,6})|Compile command returned: (-?\d{1,6})")
VERSION = late_pattern(r"NeuronX Compiler version (\d+\.\d+\.[0-9a-z.]+(?:\+[0-9a-f]+)?)")
DETAIL = late_pattern(
    r"\s*(?:[\W_]*$|Version information|Error (?:class|location)|Command line:|Internal details:"
    r"|Diagnostic (?:information|logs)"
    r"|Type: <class|File \"|Location:|Neuron\w* Compiler version|(?:HWM|NumPy|Python|HWM Early|XLA) version|Not in AMI"
    r"|(?:NEFF|TVM|TF|MXNet) version|(?:TVM|TF|MXNet) not available"
    r"|Running (?:on|in) |Artifacts stored in)"
)
"""Lines of the banner around an internal error, at level ERROR: they say where it happened, not what."""
REGION = "region"
"""Stands for a stage of the compilers of early 2023, which timed regions without naming them."""


class CompilerLines(LineFamily):
    """Reads these lines one at a time; keeps no state."""

    name = NAME

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if record.shape is WRAPPER:
            return None
        if utc := _UTC.match(record.text):
            record.at = timestamps.whole_seconds(utc[1], utc[2])
            return self._dated(record, utc)
        if old := _OLD.match(record.text):
            record.at = timestamps.twelve_hours(old[1])
            return self._dated(record, old)
        return _facts(record, record.text) or None

    def _dated(self, record: Record, stamp: re.Match[str]) -> list[AnyEvent]:
        header = _LEVEL.match(record.text, stamp.end())
        if header:
            record.level = LogLevel.named(header[1])
            record.pid = int(header[2]) if header[2] else record.pid
        text = record.text[header.end() if header else stamp.end() :]
        events = _facts(record, text)
        if not events and record.level.is_marked and not DETAIL.match(text):
            return [marked(record, record.level, text)]
        return events


def error_codes(record: Record) -> list[AnyEvent]:
    """An event for each bracketed error code, with the text after it.

    A code right after the compiler's own timestamp gets no time: messages of stored failures begin like that, and their
    compile was an earlier job's.
    """
    if "[" not in record.text:
        return []
    events: list[AnyEvent] = []
    for found in ERROR_CODE.finditer(record.text):
        text = record.text[found.end() : found.end() + 600]
        seen = CompilerErrorSeen(**common(record), code=found[1], text=clip(text))
        events.append(msgspec.structs.replace(seen, at=None) if _UTC.fullmatch(record.text[: found.start()]) else seen)
    return events


def _facts(record: Record, text: str) -> list[AnyEvent]:
    """Events of what a line may hold besides its date: stage times, the exit status, the version."""
    events: list[AnyEvent] = []
    if " finished after " in text:
        stages = ((clip(found[1]), float(found[2])) for found in _STAGE.finditer(text))
        events += [CompilerStageFinished(**common(record), stage=stage, seconds=seconds) for stage, seconds in stages]
    regions = (float(found[1]) for found in _OLD_STAGE.finditer(text))
    events += [CompilerStageFinished(**common(record), stage=REGION, seconds=seconds) for seconds in regions]
    codes = (int(found[1] or found[2]) for found in _EXIT.finditer(text))
    events += [CompilerExited(**common(record), code=code) for code in codes]
    events += [CompilerVersionSeen(**common(record), version=found[1]) for found in VERSION.finditer(text)]
    return events


class Dots(LineFamily):
    """Progress dots: one at once, then about one every 20 seconds, without a line end; `base.records` splits them off.

    They stand alone on a line or before something that another process printed. Ellipses in prose and in tensor dumps
    are not counted: those are indented, or have a word before them.
    """

    name = "dots"

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """An event with the number of dots."""
        if record.shape is not DOTS:
            return None
        return [CompilerProgress(**common(record), dots=len(record.text))]
