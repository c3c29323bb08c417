"""Makes values storable: columns of PostgreSQL hold no zero bytes."""

from __future__ import annotations

import msgspec


def storable(text: str) -> str:
    """Text that a column can hold: without zero bytes and bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def jsonb(value: object) -> str:
    """A value as JSON that a column of JSON can hold: `\u0000` becomes the replacement character."""
    return msgspec.json.encode(value).decode().replace("\\u0000", "\\ufffd")
