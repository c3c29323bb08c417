"""Whether what was given for a log is one: it may be empty, or no text at all (a program, an archive, a checkpoint).

A log may hold bytes that are no text: zeros where a file was cut off while it was written, a torn character, codes of
colors. So what is asked is how many control characters there are that no terminal takes.
"""

from __future__ import annotations

from neuron_top.events.diagnosis import Unreadable
from neuron_top.parsers import wide

SAMPLE_BYTES = 64 << 10
"""So much of the beginning, and of the end, is looked at."""
_BLANK = b"\0 \t\r\n\v\f"
_ODD = bytes({*range(0x01, 0x20), 0x7F} - set(b"\a\b\t\n\v\f\r\x1b"))
_MOST_ODD = 0.02
"""Of a text; random bytes have five times as many."""


def why_unreadable(head: bytes, tail: bytes) -> Unreadable | None:
    """Why a log says nothing, by its first and its last bytes; None where it is text."""
    if not head.strip(_BLANK) and not tail.strip(_BLANK):
        return Unreadable.EMPTY
    if wide.encoding_of(head) is not None or _is_text(head) or _is_text(tail):
        return None
    return Unreadable.NOT_TEXT


def _is_text(sample: bytes) -> bool:
    kept = sample.replace(b"\0", b"")
    odd = len(kept) - len(kept.translate(None, delete=_ODD))
    return bool(kept.strip(_BLANK)) and odd <= _MOST_ODD * len(kept)
