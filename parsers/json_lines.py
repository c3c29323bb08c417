"""Unwraps lines that a log shipper has put into JSON, one object per line: Docker's `json-file`, Fluent Bit, Loki, GCP,
Rust's tracing.

What the program printed is one member of the object, with its control characters escaped; the rest is the shipper's own
and not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from neuron_top import escapes
from neuron_top.events.levels import LogLevel
from neuron_top.parsers import prefixes, timestamps

_MEMBERS = ("log", "message", "msg", "textPayload", "MESSAGE", "line")
"""Where shippers keep the text, in the order in which they are tried."""
_LEVELS = ("level", "severity", "levelname", "lvl")
_WORDS = ("msg", "message", "event", "error", "err", "exception")
"""Where structured loggers keep what a line says, in the order in which it is joined."""
_TIMES = ("ts", "time", "timestamp", "@timestamp")
_FIRST_SECOND, _LAST_SECOND = 1e9, 1e10
"""The years 2001 to 2286: numbers with more digits count milliseconds or less."""
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
    at: float | None
    fields: Mapping[str, Any]


def structured(text: str) -> StructuredLine | None:
    """What a line says that a structured logger wrote: by itself, behind a prefix, or in the object of a container's
    log. None where it is something else."""
    if not any(name in text for name in _LEVELS) or (begin := text.find('{"')) < 0:
        return None
    if begin and len(text) - len(prefixes.split(text)[1]) != begin:
        return None
    inside = lines(text[begin:])
    found = _structured(inside[0]) if len(inside) == 1 and inside[0].startswith('{"') else None
    found = found or _structured(text[begin:])
    return found and found._replace(head=text[:begin])


def _structured(text: str) -> StructuredLine | None:
    try:
        fields = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None
    level = next((fields[name] for name in _LEVELS if name in fields), None)
    words = [fields[name] for name in _WORDS if name in fields]
    said = [each for each in words if isinstance(each, str) and HEADING not in each]
    if not isinstance(level, str) or not said or not LogLevel.named(level):
        return None
    return StructuredLine("", LogLevel.named(level), ": ".join(said), _time_of(fields), fields)


def _time_of(fields: Mapping[str, Any]) -> float | None:
    """The time of an object: a stamp, or seconds since the epoch, as zap writes them."""
    found = next((fields[name] for name in _TIMES if name in fields), None)
    if isinstance(found, str):
        return timestamps.leading(found)
    return float(found) if isinstance(found, int | float) and _FIRST_SECOND <= found < _LAST_SECOND else None


def lines(text: str) -> list[str]:
    """The lines that the program printed; the text itself where it is not such an object."""
    if not text.startswith('{"') or not text.rstrip().endswith("}"):
        return [text]
    try:
        found = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return [text]
    fields = found.get("fields")  # Rust's tracing keeps the text one level below, as TGI's launcher prints it
    members = {**found, **fields} if isinstance(fields, dict) else found
    message = next((members[name] for name in _MEMBERS if isinstance(members.get(name), str)), None)
    return [text] if message is None else escapes.strip_ansi(message).strip("\n").split("\n")[:_MOST_LINES]


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
