"""Splits a line into statements, and separates their text from prefixes, headers, levels, escapes and colors.

One physical line can hold several statements: processes share the stream, progress bars leave carriage returns, and a
notebook or a log service may write the line ends of a whole traceback as `\\n`. All of them have the line's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from neuron_top import escapes
from neuron_top.diagnose import joined_lines
from neuron_top.diagnose.headers import read_header
from neuron_top.diagnose.headers.neuron import COMPILERS_SOURCE, read_runtime
from neuron_top.diagnose.recognizers import CRASHES
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import base, json_lines, log_events, prefixes

_MOST_PIECES = 400
_LONGEST = 6000
"""Characters of a statement that are looked at."""
_SOURCE = late_pattern(r"^\S{1,300}:\d{1,7}\] ?")
_SUFFIX = late_pattern(r"\s*\[repeated (\d{1,9})x across [^\]]{1,60}\].*$")
_NEXT_ACTOR = late_pattern(r"\((?:\w[\w.:()=-]{0,80},? )?(?:rank=\d+,? )?pid=\d{1,10}(?:, ip=[\w.:]{1,60})?\)\s?$")
"""Ray's prefix of the next record, where a web page has joined lines."""
_ESCAPED_ANSI = late_pattern(r"\\(?:u001b|x1b|033|e)\[[0-9;]{0,12}m")
_ESCAPES = {r"\"": '"', r"\t": "\t", r"\'": "'", r"\/": "/"}
_BAR = late_pattern(
    r"\s*(?:(?:[^|\n%]{1,80}[:)] *)?\d{1,3}%\|[^|]{0,400}\|)?\s*\d+\S{0,9}/\d+\S{0,9} "
    r"\[\d*:?\d+:\d\d<(?:[^\[\]\n]{1,400}\](?=\S)"
    r"|[^\[\]\n]{1,400}?(?=(?:slurmstepd|srun|wandb): |Error executing job with |Traceback \(most)"
    r"|[^\]\n]{1,60}?(?:it/s|s/it)\]?(?=[^\s,]))"
)
"""A progress bar after which, or in the middle of which, something was printed without a line end."""
_BETWEEN_BARS = late_pattern(r"(?<=\]) {1,4}(?=(?:[^|\n%\]]{1,60}: {0,2})?\d{1,3}%\|)")
"""Between two states of a progress bar that were printed on the same line."""
_STRING = late_pattern(r"\s{0,40}\"(.*?)(?:\\n)?\",?\s*$", re.DOTALL)
"""A line of a notebook: a string of a JSON list."""
_DIED = late_pattern(rf"(?:Killed|{CRASHES})\b")
"""A shell's report of a signal. The compiler's dots before it show which program died, so they stay with it."""


def statements(raw: bytes, line: int, offset: int) -> Iterator[Statement]:
    """The statements of one physical line, without the margin of its log."""
    text = escapes.strip_ansi(raw.decode("utf-8", "replace"))
    message = log_events.message_in(text)
    if message is not None:
        text = escapes.strip_ansi(message)
    said = json_lines.structured(text) if '{"' in text else None
    if said is not None and "\n" not in said.words:
        traceback = json_lines.traceback(said.fields)
        speaker = Speaker.TOOL if not traceback and _may_be_from_go(said.fields) else Speaker.UNKNOWN
        prefix = prefixes.split(said.head)[0]
        yield Statement(said.words[:_LONGEST], line, offset, said.level, speaker, rank=prefix.rank, pid=prefix.pid)
        yield from (_of_traceback(piece, line, offset, said.level) for piece in traceback[:_MOST_PIECES])
        return
    for piece in _pieces(text):
        records, dots = base.records(piece[:_LONGEST], offset), ""
        for record in records:
            if record is not records[-1] and "pid=" in record.text:
                record.text = _NEXT_ACTOR.sub("", record.text)
            if record.shape is base.DOTS:
                dots = record.text
                continue
            if dots and _DIED.match(record.text):
                record.text = dots + record.text
            statement = _statement(record, line, offset)
            statement.indented = statement.indent > 0
            yield statement


def _of_traceback(text: str, line: int, offset: int, level: LogLevel) -> Statement:
    """A line of a traceback that has its own member in a JSON object."""
    indent = len(text) - len(text.lstrip())
    return Statement(text.strip()[:_LONGEST], line, offset, level, indent=indent, indented=indent > 0)


def _may_be_from_go(fields: Mapping[str, Any]) -> bool:
    """Whether a structured logger of Go wrote it, or an unknown one; those of Python and Rust have more members."""
    return not any(name in fields for name in ("target", "span", "spans", "funcName", "lineno", "pathname"))


def _pieces(text: str) -> list[str]:
    """The lines that a line holds: shipped as JSON, with escaped line ends, or separated by carriage returns."""
    pieces = json_lines.lines(text) if text.startswith('{"') else [text]
    result: list[str] = []
    for piece in pieces:
        if "\\n" in piece or "\\u001b" in piece or "\\x1b" in piece or piece.lstrip()[:1] == '"':
            result += _unescaped(piece)
        elif len(lines := joined_lines.parts(piece)) > 1:
            result += lines
        elif "\r" in piece:
            result += filter(None, piece.split("\r"))
        elif "%|" in piece and _tells_pace(piece):
            result.append(_BETWEEN_BARS.split(piece)[-1])
        else:
            result.append(piece)
    return result[:_MOST_PIECES]


def _tells_pace(text: str) -> bool:
    """Whether it may hold a progress bar; checked first, since the patterns for one are slow."""
    return "it/s" in text or "s/it" in text or ("%|" in text and "/s" in text)


def _unescaped(text: str) -> list[str]:
    string = _STRING.match(text)
    body = string[1] if string else text
    body = _ESCAPED_ANSI.sub("", body)
    for escape, character in _ESCAPES.items():
        body = body.replace(escape, character)
    if not string and "Traceback" not in body and "rror: " not in body:
        return [body]  # `\n` in a Windows path or a regular expression is no line end
    return re.split(r"\\r\\n|\\n", body)


def _statement(record: base.Record, line: int, offset: int) -> Statement:
    text, repeats = _without_suffix(record.text)
    statement = Statement(
        text=text,
        line=line,
        offset=offset,
        rank=record.rank,
        pid=record.pid,
        repeats=repeats,
        indent=len(text) - len(text.lstrip()),
        level=record.level,
        at=record.at,
    )
    if record.shape is base.WRAPPER:
        statement.speaker = Speaker.WRAPPER
    elif record.shape is base.XLA:
        source = _SOURCE.match(text)
        is_compiler = source is not None and COMPILERS_SOURCE.search(source[0])
        statement.speaker = Speaker.COMPILER if is_compiler else Speaker.FRAMEWORK
        statement.text = text[source.end() :] if source is not None else text
    elif record.shape is base.RUNTIME:
        read_runtime(statement)
    else:
        bar = _BAR.match(text) if _tells_pace(text) else None
        if bar is not None:
            statement.text, statement.indent = text[bar.end() :], 0
        read_header(statement)
    statement.text = statement.text.strip(" \t\xa0\r")
    return statement


def _without_suffix(text: str) -> tuple[str, int]:
    """The text without Ray's remark on copies that it left out, and the number of copies."""
    found = _SUFFIX.search(text) if "[repeated " in text else None
    return (text[: found.start()], int(found[1])) if found else (text, 1)
