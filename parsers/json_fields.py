"""Picks values out of JSON that other programs wrote: one of the wrong type, a missing one and `null` are all unknown.

Everything is bounded here (length, nesting, size of a number), so what comes out can be stored, added up and printed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from neuron_top.escapes import visible
from neuron_top.late_pattern import late_pattern

LONGEST_DOCUMENT = 8 * 1024**2
"""Bytes of one JSON document; 128 processes with 20 models each on 128 cores take about 5 MB."""
MOST_VALUES = 400_000
"""Values in one document: three bytes of JSON (`[],`) may become a hundred in memory, so length alone is no bound."""
LONGEST_TEXT = 4096
MOST_ITEMS = 4096
LARGEST_COUNT = 2**53
LARGEST_BYTES = 2**46
"""64 TiB: three times the device memory of the largest UltraServer; a sum of thousands still fits 64 bits."""

_DECIMAL = late_pattern(r"[+-]?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_NOTHING: Mapping[str, object] = {}


def load(document: bytes | str) -> object:
    """The document as Python values. Raises ValueError with a reason for a person."""
    if len(document) > LONGEST_DOCUMENT:
        raise ValueError(f"longer than {LONGEST_DOCUMENT} bytes")
    data = document.encode("utf-8", "replace") if isinstance(document, str) else document
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES} values")
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except (msgspec.DecodeError, UnicodeError, OverflowError) as problem:
        raise ValueError(visible(str(problem))) from None


def mapping(value: object) -> Mapping[str, object]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def pairs(value: object) -> Iterator[tuple[str, object]]:
    """The members of an object, a bounded number of them."""
    return islice(mapping(value).items(), MOST_ITEMS)


def sequence(value: object) -> Sequence[object]:
    """The array, bounded, or an empty one."""
    return value[:MOST_ITEMS] if isinstance(value, list) else ()


def number(value: object) -> float | None:
    """A finite number, not a truth value; also one written as text, as some exporters do."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        value = float(value) if len(value) < 40 and _DECIMAL.fullmatch(value) else None
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def measure(value: object, largest: float) -> float | None:
    """A number from 0 to `largest`; None for others, since no measurement is negative or larger."""
    found = number(value)
    return found if found is not None and 0 <= found <= largest else None


def whole(value: object, largest: int = LARGEST_COUNT) -> int | None:
    """A whole number from 0 to `largest`; also one written as `12.0` or as text, as older tools do."""
    if type(value) is int:
        return value if 0 <= value <= largest else None
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 20 else None
    found = number(value)
    if found is None or found != int(found) or not 0 <= found <= largest:
        return None
    return int(found)


def text(value: object) -> str:
    """A text with its control characters made visible; "" for what is not text."""
    return visible(value[:LONGEST_TEXT]) if isinstance(value, str) else ""


def counts(value: object, largest: int = LARGEST_COUNT) -> dict[str, int]:
    """The members of an object that are whole numbers."""
    found = ((text(name), whole(member, largest)) for name, member in islice(pairs(value), 64))
    return {name: member for name, member in found if member is not None}
