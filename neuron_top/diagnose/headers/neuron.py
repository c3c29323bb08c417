"""Headers of Neuron's components and of collectives: compiler, runtime, NCCL, TorchNeuron's native code."""

from __future__ import annotations

import re

from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

_RUNTIME = late_pattern(
    r"(?:(?P<pid>\d{1,10}):\d{1,10}\s+)?(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL)\s+"
    r"(?P<component>[A-Z]{2,10}):(?P<function>[^\s(]{1,200})\s*(?P<text>.*)",
    re.DOTALL,
)
_BARE_RUNTIME = late_pattern(
    r"(?:NRT:\s+)?(?:(?P<pid>\d{1,10}):\d{1,10}\s+)?(?:(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL)\s+|\[)"
    r"(?P<component>TDRV|NRT|NMGR|KMGR|ENC|ENCD|HAL|NEFF):(?P<function>\w{1,100})\]?:?\s+(?P<text>.*)",
    re.DOTALL,
)
"""A header of the runtime without its timestamp, which a web page or a log shipper has dropped, or syslog replaced."""
_COLLECTIVES = late_pattern(
    r"(?:(?P<pid>\d{1,10}):\d{1,10}\s+)?\[(?P<rank>\d{1,6}|-1)\]\s+.{0,300}?\s(?:CCOM|NCCL)\s+"
    r"(?P<level>WARN|INFO|ERROR|TRACE|ABORT)\s*(?P<text>.*)",
    re.DOTALL,
)
_NCCL = late_pattern(
    r"(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] )?[\w.-]{1,200}:\d{1,10}(?::\d{1,10})? \[-?\d{1,6}\] "
    r"(?:\S{1,200}[: ]\d{1,6} )?NCCL (?P<level>INFO|WARN|TRACE|ERROR|ABORT) +"
)
"""NCCL's own header. It prints its errors as warnings; their text shows whether they are failures."""
_UCX = late_pattern(
    r"\[?\d{1,12}\.\d{6}\] \[[\w.-]{1,200}:\d{1,10}(?::\d{1,10})? {0,3}:?\d{0,10}\] +[\w.-]{1,80}:\d{1,6} +UCX +"
    r"(?P<level>FATAL|ERROR|WARN|DIAG|INFO|DEBUG|TRACE) +"
)
"""The header of UCX, over which MPI sends."""
NCCL = "NCCL"
"""Stands for the function of its statements."""
_NATIVE = late_pattern(r"\[Neuron\] \[(?P<level>[A-Z]{4,10})\]\s*(?:\[[^\]\s]{1,200}:\d{1,6}\]\s*)?")
COMPILERS_SOURCE = late_pattern(r"(?:^|/)(?:hilo|penguin|walrus|neuronx?cc|tensorizer|birsim|birverifier)/")
"""Folders of the compiler's C++, as glog's header names them."""
_COMPILER = late_pattern(
    r"\.{0,200}(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M) "
    r"(?:(?P<level>[A-Z]{4,8})(?: \d{1,20}){0,2}(?: \(\w{1,40}\))? \[(?P<component>[^\]]{1,200})\]: ?)?"
)
_COMPILER_WITHIN = late_pattern(
    r".{1,400}?(?<![\w:/-])(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M) "
    r"(?P<level>[A-Z]{4,8})(?: \d{1,20}){0,2}(?: \(\w{1,40}\))? \[(?P<component>[^\]]{1,200})\]: ?"
)
"""The whole header, after a launcher's prefix or after the progress that the compiler draws."""
_COMPILER_WITHOUT_STAMP = late_pattern(
    r"(?:E{0,20}(?P<level>ERROR|WARNING|INFO|FATAL|CRITICAL) \d{1,20} \[(?P<component>neuronx?-cc|job\.\w[\w.]{0,80})\]"
    r"|\[neuronx?-cc\]): ?"
)
"""The header without its timestamp, perhaps without its level and process too, as in documents and excerpts."""
_TO_ITS_USER = "USER"
"""How the compiler marks messages to its user, failures as well: not a level."""


def read_runtime(statement: Statement) -> None:
    found = _RUNTIME.match(statement.text)
    if found is not None:
        found = _RUNTIME.match(found["text"]) or found  # two processes wrote their headers before either wrote words
        statement.speaker = Speaker.RUNTIME
        statement.function = f"{found['component']}:{found['function']}"
    else:
        found = _COLLECTIVES.match(statement.text)
        if found is None:
            return
        statement.speaker = Speaker.COLLECTIVES
        statement.rank = None if found["rank"] == "-1" else int(found["rank"])
    statement.pid = int(found["pid"]) if found["pid"] else statement.pid
    statement.level = LogLevel.named(found["level"])
    statement.text = found["text"]


def nccl(statement: Statement) -> bool:
    found = statement.take_off(_NCCL)
    if found is None:
        return False
    level = LogLevel.named(found["level"])
    statement.level = LogLevel.NOTSET if level is LogLevel.WARNING else level
    statement.speaker = Speaker.COLLECTIVES
    statement.function = NCCL
    return True


def ucx(statement: Statement) -> bool:
    found = statement.take_off(_UCX)
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"])
    statement.speaker = Speaker.COLLECTIVES
    return True


def native(statement: Statement) -> bool:
    found = statement.take_off(_NATIVE)
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"])
    statement.speaker = Speaker.NATIVE
    return True


def compiler(statement: Statement) -> bool:
    text = statement.text.lstrip()
    found = _COMPILER.match(text) or _COMPILER_WITHIN.match(text) or _COMPILER_WITHOUT_STAMP.match(text)
    if found is None:
        return False
    statement.speaker = Speaker.COMPILER
    if found["level"] != _TO_ITS_USER:
        statement.level = LogLevel.named(found["level"] or "") or statement.level
    statement.text = text[found.end() :]
    return True


def bare_runtime(statement: Statement) -> bool:
    found = _BARE_RUNTIME.match(statement.text.lstrip())
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"] or "ERROR")
    statement.speaker = Speaker.RUNTIME
    statement.function = f"{found['component']}:{found['function']}"
    statement.pid = int(found["pid"]) if found["pid"] else statement.pid
    statement.text = found["text"]
    return True
