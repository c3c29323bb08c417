"""Lines that a log shipper has wrapped into JSON, one object a line: Docker's `json-file`, Fluent Bit, Loki, GCP,
Rust's tracing.

What the program printed is one member of the object, with its control characters spelled out; the rest is the
shipper's own and says nothing to us.
"""

from __future__ import annotations

import msgspec

from neuron_top import escapes

_MEMBERS = ("log", "message", "msg", "textPayload", "MESSAGE", "line")
"""Where shippers keep the text, in the order in which they are tried."""
_MOST_LINES = 1000


def lines(text: str) -> list[str]:
    """The lines that were printed; the text itself where it is no such object."""
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
