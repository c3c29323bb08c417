"""Timestamps, and levels with whatever a logger puts before them."""

from __future__ import annotations

from neuron_top.diagnose.headers.tools import TOOL
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

_NAMES = (
    "TRACE|DEBUG|INFO|NOTICE|USER|WARNING|WARN|ERROR|ERR|SEVERE|CRITICAL|CRIT|FATAL|EMERG|ALERT"
    "|trace|debug|info|notice|warning|warn|error|severe|critical|fatal"
)
_GO_STAMP = late_pattern(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? (?:[\w./-]{1,80}\.go:\d{1,6}: )?")
_STAMP = late_pattern(
    r"[\[(]?(?:\d{4}[-/](?:\d\d|[A-Z][a-z]{2})[-/]\d\d"
    r"(?:(?:[ T]|-(?=\d\d:\d\d:\d\d))\d\d:\d\d(?::\d\d)?(?:[.,:]{1,2}\d{1,9})?)?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|\d{1,6}\.\d{3}s(?=: flux)"
    r"|\d{1,5}\.\d{1,3}(?= {1,12}(?:WARNING|ERROR|DEPRECATION|E|fatal|error): "
    r"| CMake (?:Error|Warning)\b| /bin/\w{0,3}sh: )"
    r"|#\d{1,4}(?: \d{1,6}\.\d{1,3}(?= )|(?= ERROR: ))"
    r"|\d\d/\d\d(?:/\d\d(?:\d\d)?)? \d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?"
    r"|\d\d?[- ][A-Z][a-z]{2}[- ]\d{4} \d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|[A-Z][a-z]{2}(?:\s{1,2}\d{1,2}|-\d\d) \d\d:\d\d:\d\d(?:\.\d{1,9}(?: \d{1,10}(?= slurm))?)?"
    r"|(?:[A-Z][a-z]{2} ){2} ?\d{1,2} \d\d:\d\d:\d\d \d{4})"
    r"(?:Z| ?[+-]\d\d:?\d\d| UTC)?[\])]?[\s:|,-]{0,6}"
)
"""A date, a time or both; BuildKit prints the number and the seconds of a step instead, Slurm's daemons add their
process."""
_LOGGERS_NAME = late_pattern(r"[\w.-]{1,80} {1,8}(?=(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) {1,8}\S)")
"""A logger's name, which Python's loggers often put between timestamp and level with only blanks around it."""
_LEVEL = late_pattern(
    rf"(?:(?:\[[^\]\n]{{1,80}}\]|[\w./$-]{{1,60}}(?= ?[-|:] )|[\w./$-]{{1,60}}:(?=(?:{_NAMES})\b)"
    rf"|[\w./-]{{1,60}}\.py(?::\d{{1,6}})?(?= [A-Z])|\{{[\w.]{{1,60}}\.py:\d{{1,6}}\}}(?= [A-Z])"
    rf"|[A-Z][\w-]{{2,40}}(?= \[)"
    rf"|[a-z_]\w{{0,40}}(?:\.\w{{1,60}}){{1,9}}(?= [A-Z]{{4,8}} \[\w{{1,60}}\(\):)"
    rf"|\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?Z?|\d{{1,10}}|[-|:>])\s*){{0,5}}?"
    rf"(?:[\[(<] ?|\*{{2,3}} ?)?(?P<level>{_NAMES})(?! CALLED\b)[ \t]{{0,8}}(?:(?P<close>[\])>|:])"
    rf"|(?<=WARNING)!|(?=\s-\s)|(?:(?<=[A-Z] )|(?<=[A-Z]  )|(?<=[A-Z] {{4}})|(?<=[A-Z] {{5}})|(?<=[A-Z]\t))(?=\S))"
    rf"[\s|:-]{{0,4}}"
)
"""A level with whatever headers put before it; in lower case only if a bracket, a bar or a colon closes it."""
_EXCEPTION = late_pattern(r"(?:\w{1,80}\.){0,12}\w{1,80}(?:Error|Exception): ")
"""An exception's type is no header, even if its message is a line that has one."""
_REFUSAL = late_pattern(r"[\w./-]{1,200}\.py(?: [\w-]{1,40})?: error: \S")
"""How errors of Python's argparse begin, with the program's name."""
_LOGGER = late_pattern(
    r"(?:\[(?=[^\]]*[./:])[\w./-]{1,120}(?::\d{1,6})?\]\s*:?|[\w./-]{1,100}\.py:\d{1,6}:?"
    r"|[\w.]{1,80}:[\w<>]{1,60}:\d{1,6}(?= - )"
    r"|[a-z]\w{0,40}(?:\.\w{1,60}){1,9}(?= - \S)"
    r"|[\w.-]{1,60}:(?=[^\s:])(?!//))\s*(?:- )?"
)
"""What stands between level and text: `[file.py:12]`, `module:function:12 -`, Python's `name:`."""
_TOOLS_LOGGER = late_pattern(r"\[slurm_plugin\.")
"""How AWS ParallelCluster's programs name themselves in their headers."""


def stamp(statement: Statement) -> bool:
    found = _GO_STAMP.match(statement.text)
    if found is not None:
        statement.speaker = Speaker.TOOL
    found = found or _STAMP.match(statement.text)
    if found is None:
        return False
    name = _LOGGERS_NAME.match(statement.text, found.end()) if "," in found[0] else None
    statement.text = statement.text[found.end() if name is None else name.end() :]
    return True


def level(statement: Statement) -> bool:
    found = _LEVEL.match(statement.text.lstrip())
    if found is None or (found["level"].islower() and not found["close"]) or _EXCEPTION.match(statement.text):
        return False
    if _REFUSAL.match(statement.text):
        statement.level = LogLevel.ERROR
        return False
    body = statement.text.lstrip()
    is_of_table = body[:1] == "|" and body.rstrip().endswith("|")
    if is_of_table or (body[:1] == "[" and found.end() < 4):
        return False
    statement.level = LogLevel.named(found["level"])
    if TOOL.match(body) or _TOOLS_LOGGER.search(body, 0, found.end()):
        statement.speaker = Speaker.TOOL
    statement.text = body[found.end() :]
    logger = _LOGGER.match(statement.text)
    if logger is not None and logger.end() < len(statement.text):
        statement.text = statement.text[logger.end() :]
    return True
