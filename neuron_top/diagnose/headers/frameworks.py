"""Headers that the C++ of frameworks prints: glog and what was modeled on it."""

from __future__ import annotations

from neuron_top.diagnose.headers.neuron import COMPILERS_SOURCE
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

_GLOG = late_pattern(
    r"\[?(?P<level>[IWEF])(?:\d{4})?\d{3,4} \d\d:\d\d:(?:\d\d|\d{10})\.\d{1,9}\s+(?:\d{1,20}\s+)?"
    r"(?P<file>[^\s\]]{1,300}?)(?::\d{1,6})?\]\s*"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{1,9}: (?P<short>[IWEF]) (?P<python>[^\s\]]{1,300})\] ?(?:> )?"
    r"|\[?(?P<xla>[IWEF]) \S{1,300}\.(?:cc|h|cpp):\d{1,6}\] ?"
    r"|(?P<sky>[DIWE]) \d\d-\d\d \d\d:\d\d:\d\d [\w.-]{1,80}\.py:\d{1,6}\] {0,8}"
    r"|(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{1,9} )?(?P<ray>[IWECFD]) \d{1,10} \d{1,10}\] (?:\([\w.-]{1,60}\) )?"
    r"\S{1,300}\.(?:cc|h|cpp):\d{1,6}:\s*"
)
"""Headers of glog (newer ones have the year too) and klog, of PyTorch (no leading zero in the month, or no timestamp),
Abseil, NxD's core, XLA without its timestamp, SkyPilot, and Ray's C++."""
_TORCH_WARNING = "Warning: "


def glog(statement: Statement) -> bool:
    found = _GLOG.match(statement.text.lstrip())
    if found is None:
        return False
    level = found["level"] or found["short"] or found["xla"] or found["sky"] or found["ray"]
    statement.level = LogLevel.FATAL if level == "C" else LogLevel.named(level)  # Ray's: a check failed
    file = found["file"] or ""
    statement.speaker = Speaker.TOOL if file.endswith(".go") else Speaker.FRAMEWORK
    if COMPILERS_SOURCE.search(file):
        statement.speaker = Speaker.COMPILER
    statement.text = statement.text.lstrip()[found.end() :]
    if not statement.level.is_error and statement.text.startswith(_TORCH_WARNING):
        statement.text = statement.text.removeprefix(_TORCH_WARNING)
    return True
