"""Checks whether a file that was given as a log can be one: it may be empty, or not text (a program, a checkpoint).

A log may hold some bytes that are not text: zeros where the file was cut off while it was written, half a character,
color codes. So what counts is the share of control characters that no terminal interprets.
"""

from __future__ import annotations

from neuron_top.events.diagnosis import Unreadable
from neuron_top.parsers import wide

SAMPLE_BYTES = 64 << 10
"""How much of the beginning, and of the end, is looked at."""
_BLANK = b"\0 \t\r\n\v\f"
_ODD = bytes({*range(0x01, 0x20), 0x7F} - set(b"\a\b\t\n\v\f\r\x1b"))
"""Control characters that no terminal interprets."""
_MOST_ODD = 0.02
"""The largest share of them in a text; random bytes have five times as many."""


def why_unreadable(head: bytes, tail: bytes) -> Unreadable | None:
    """Why a log cannot be read, judged by its first and last bytes; None where it is text."""
    if not head.strip(_BLANK) and not tail.strip(_BLANK):
        return Unreadable.EMPTY
    if wide.encoding_of(head) is not None or _is_text(head) or _is_text(tail):
        return None
    return Unreadable.NOT_TEXT


def _is_text(sample: bytes) -> bool:
    kept = sample.replace(b"\0", b"")
    odd = len(kept) - len(kept.translate(None, delete=_ODD))
    return bool(kept.strip(_BLANK)) and odd <= _MOST_ODD * len(kept)
