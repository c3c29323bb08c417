"""Control characters, kept away from terminals: what a log holds may have been written to do harm.

Log text reaches a terminal, a web page and a report; an escape sequence in it could move the cursor, change the
title or worse. Colour codes are dropped before parsing; whatever else is not printable is made visible.
"""

from __future__ import annotations

import re

LINE_JOIN = "⏎"
"""Stands between the lines of a message that spanned several; a screen may break the line there."""

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[@-Z\\^_])|#033\[[0-9;]*[A-Za-z]")
"""CSI and OSC sequences, two-byte escapes, and escape codes that a log service has turned into text."""
ANSI_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
"""Colour and weight alone (ECMA-48 SGR): what is counted, not what is dropped."""

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)}
_VISIBLE = str.maketrans(
    _PICTURES
    | {0x09: " ", 0x0A: LINE_JOIN, 0x7F: "␡"}
    | {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
    # Direction overrides and isolates would let a line show something other than it says.
    | {code: f"\\u{code:04x}" for code in (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))}
    | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
)


def strip_ansi(text: str) -> str:
    """The text without terminal sequences; cheap when there are none."""
    return ANSI.sub("", text) if "\x1b" in text or "#033[" in text else text


def visible(text: str) -> str:
    """The text with every control character replaced by something that shows: nothing here moves a cursor."""
    return text if text.isprintable() else text.translate(_VISIBLE)
