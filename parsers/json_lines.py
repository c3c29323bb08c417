"""Unwraps lines that a log shipper has put into JSON, one object per line: Docker's `json-file`, Fluent Bit, Loki, GCP,
Rust's tracing.

What the program printed is one member of the object, with its control characters escaped; the rest is the shipper's own
and not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from neuron_top import escapes

_MEMBERS = ("log", "message", "msg", "textPayload", "MESSAGE", "line")
"""Where shippers keep the text, in the order in which they are tried."""
_TRACEBACKS = ("exc_info", "exception", "exc_text", "stack_trace", "stacktrace", "traceback", "stack")
"""Where structured loggers of Python keep a traceback, beside the message; Elastic's has them below `error`."""
_MOST_LINES = 1000
HEADING = "Traceback (most recent call last)"
"""How the first line of a Python traceback begins."""


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
