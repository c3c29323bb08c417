"""Unwraps lines that a log shipper has put into JSON, one object per line: Docker's `json-file`, Fluent Bit, Loki, GCP,
Rust's tracing.

What the program printed is one member of the object, with its control characters escaped; the rest is the shipper's own
and not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

import msgspec

from neuron_top import escapes
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import prefixes

_SHIPPED = "log"
"""Where Docker and Fluent Bit keep what a program printed, whatever its form."""
_MEMBERS = (_SHIPPED, "message", "msg", "textPayload", "MESSAGE", "line", "@message")
"""Where shippers keep the text, in the order in which they are tried."""
_EVENT = "event"
"""Where structlog keeps the text; without a level it may be anything."""
_LEVELS = ("level", "severity", "levelname", "lvl")
_ERRORS = ("error", "err", "exception")
_WORDS = ("msg", "message", _EVENT, *_ERRORS)
"""Where structured loggers keep what a line says, in the order in which it is joined."""
_STAMPS = ("time", "timestamp", "@timestamp", "ts")
_STAMP = late_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}(?:Z|[+-]\d\d:?\d\d)")
"""With a fraction and a zone: other timestamps may be those of the program in its own zone, or a compiler's."""
_FIRST_SECOND, _LAST_SECOND = 1e9, 1e10
"""The years 2001 to 2286: numbers with more digits count milliseconds or less."""
_LEVEL_IN_FRONT = late_pattern(r".{0,200}\b(?:ERROR|WARNING|WARN|CRITICAL|FATAL)\b")
_TRACEBACKS = ("exc_info", "exception", "exc_text", "stack_trace", "stacktrace", "traceback", "stack")
"""Where structured loggers of Python keep a traceback, beside the message; Elastic's has them below `error`."""
_MOST_LINES = 1000
HEADING = "Traceback (most recent call last)"
"""How the first line of a Python traceback begins."""


class StructuredLine(NamedTuple):
    """What an object says that a structured logger wrote: zap, logrus or slog of Go, structlog or others of Python."""

    head: str
    """What a launcher or a container has put in front of it."""
    level: LogLevel
    words: str
    """Its message and error, joined."""
    fields: Mapping[str, Any]


def structured(text: str) -> StructuredLine | None:
    """What a line says that a structured logger wrote: by itself, behind a prefix, or in the object of a container's
    log. None where it is something else."""
    if not any(name in text for name in _LEVELS) or (begin := text.find('{"')) < 0:
        return None
    if begin and len(text) - len(prefixes.split(text)[1]) != begin:
        return None
    shipped = _object_in(text[begin:])
    if shipped is None:
        return None
    _name, printed = _printed(_with_fields(shipped)) or ("", [])
    logged = _object_in(printed[0]) if len(printed) == 1 else None
    found = _structured(logged) if logged is not None else None
    found = found or _structured(shipped)
    return found and found._replace(head=text[:begin])


def _structured(fields: Mapping[str, Any]) -> StructuredLine | None:
    level = _level(fields)
    words = (fields[name] for name in _WORDS if name in fields)
    said = [each for each in words if isinstance(each, str) and HEADING not in each]
    return StructuredLine("", level, ": ".join(said), fields) if level and said else None


def level_of(line: bytes) -> LogLevel | None:
    """The level of a line that is an object; None where it has none or is something else."""
    members = _members_of(line.decode("utf-8", "replace"))
    return _level(members) if members is not None else None


def without_level(line: bytes) -> bytes:
    """The text of an object that has one line; the object without its level, if it has several or none."""
    members = _object_in(line.decode("utf-8", "replace"))
    printed = _printed(_with_fields(members)) if members is not None else None
    if members is None or printed is None:
        return line
    if len(printed[1]) == 1:
        return printed[1][0].encode()
    return msgspec.json.encode({name: value for name, value in members.items() if name not in _LEVELS})


def lines(text: str) -> list[str]:
    """The lines that the program printed; the text itself where it is not such an object."""
    members = _members_of(text)
    found = _printed(members) if members is not None else None
    return [text] if found is None else found[1]


def marked_lines(text: str) -> list[str]:
    """As `lines`, in the form in which programs print to a terminal: the shipper's timestamp in front of each line, a
    structured logger's level in front of its message, if it is a warning or worse, and its traceback behind that."""
    members = _members_of(text)
    if members is not None and _level(members) is not None and isinstance(members.get(_EVENT), str):
        members = {"message": members[_EVENT], **members}
    found = _printed(members) if members is not None else None
    if members is None or found is None:
        return [text]
    name, printed = found
    if name == _SHIPPED and len(printed) == 1 and (inside := _members_of(printed[0])) is not None:
        name, members = "", inside
        printed = (_printed(inside) or ("", printed))[1]
    level = _level(members)
    if name != _SHIPPED and level is not None and level.is_marked and _LEVEL_IN_FRONT.match(printed[0]) is None:
        printed = [f"{level.name}: {': '.join([printed[0], *_errors(members)])}", *printed[1:]]
    stamp = _stamp(members)
    return [stamp + line for line in (*printed, *traceback(members))]


def stamped(text: str, milliseconds: object) -> list[str]:
    """The lines of a text, each behind the time that a log service gives it beside the text."""
    seconds = milliseconds / 1000 if isinstance(milliseconds, int) else None
    stamp = _stamp({"time": seconds})
    return [stamp + line for line in escapes.strip_ansi(text).strip("\n").split("\n")[:_MOST_LINES]]


def _errors(members: Mapping[str, Any]) -> list[str]:
    """What went wrong, where it stands beside the message in one line."""
    found = (members[name] for name in _ERRORS if isinstance(members.get(name), str))
    return [error for error in found if "\n" not in error and HEADING not in error]


def _stamp(members: Mapping[str, Any]) -> str:
    """The time, to be put in front of a line; "" where there is none, or none whose zone is known."""
    for value in (members[name] for name in _STAMPS if name in members):
        if isinstance(value, str) and _STAMP.fullmatch(value):
            return f"{value} "
        if isinstance(value, int | float) and _FIRST_SECOND <= value < _LAST_SECOND:
            return f"{datetime.fromtimestamp(value, UTC).isoformat(timespec='milliseconds')} "
    return ""


def _level(members: Mapping[str, Any]) -> LogLevel | None:
    return next((LogLevel.named(value) for key in _LEVELS if isinstance(value := members.get(key), str)), None)


def _members_of(text: str) -> dict[str, Any] | None:
    """The members of the object that a text is, with those of its `fields`; None where it is none."""
    found = _object_in(text)
    return found and _with_fields(found)


def _object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None where it is something else."""
    if not text.startswith('{"') or not text.rstrip().endswith("}"):
        return None
    try:
        return cast("dict[str, Any]", msgspec.json.decode(text))
    except (ValueError, RecursionError):
        return None


def _with_fields(members: dict[str, Any]) -> dict[str, Any]:
    """Members with those of `fields`: Rust's tracing keeps the text one level below, as TGI's launcher prints it."""
    fields = members.get("fields")
    return {**members, **fields} if isinstance(fields, dict) else members


def _printed(members: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    """The member that holds the text, and its lines."""
    name = next((name for name in _MEMBERS if isinstance(members.get(name), str)), None)
    if name is None:
        return None
    return name, escapes.strip_ansi(members[name]).strip("\n").split("\n")[:_MOST_LINES]


def traceback(fields: Mapping[str, Any]) -> list[str]:
    """The lines of the traceback that a structured logger of Python has put into a member of its object, if any.

    Structlog may write a list instead: the exceptions of a chain, each with type and value.
    """
    below = fields.get("error")
    members = {**below, **fields} if isinstance(below, dict) else fields
    kept = [members[name] for name in _TRACEBACKS if members.get(name)]
    text = next((each for each in kept if isinstance(each, str) and HEADING in each), None)
    if text is not None:
        return text.strip("\n").split("\n")[:_MOST_LINES]
    chain = next((each for each in kept if isinstance(each, list)), [])
    raised = [each for each in chain if isinstance(each, dict) and "exc_type" in each]
    return [line for each in raised for line in (HEADING + ":", f"{each['exc_type']}: {each.get('exc_value', '')}")]
