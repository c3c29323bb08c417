"""Makes values storable: columns of PostgreSQL hold no zero bytes."""

from __future__ import annotations

from neuron_top.escapes import json_bytes


def storable(text: str) -> str:
    """Text that a column can hold: without zero bytes and bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def jsonb(value: object) -> str:
    """A value as JSON that a column of JSON can hold: `\u0000` becomes the replacement character, and bytes that are
    not UTF-8, as a file's name may have, become escapes."""
    return json_bytes(value).decode().replace("\\u0000", "\\ufffd")
