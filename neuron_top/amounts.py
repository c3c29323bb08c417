"""Text into numbers: sizes and spans of time as people write them in options and settings.

Sizes: `200GB` and `200G` are powers of 1000, as disks are sold; `200GiB` and `200Gi` powers of 1024, as this program
prints them; a bare number is bytes. Spans: `30d`, `12h`, `1w2d`; a bare number has no unit and is refused. Amounts
that are negative, not finite or beyond any disk or calendar are refused with a message that says what was expected.
"""

from __future__ import annotations

import re

from neuron_top.errors import UsageError

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)\Z", re.ASCII)
_SPANS = re.compile(r"(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*[a-z]+\s*)+\Z", re.ASCII)
_SPAN = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]+)", re.ASCII)
_PREFIXES = "kmgtp"
_UNITS: dict[str, int] = {"": 1, "b": 1}
for _power, _prefix in enumerate(_PREFIXES, 1):
    _UNITS |= dict.fromkeys((_prefix, f"{_prefix}b"), 1000**_power)
    _UNITS |= dict.fromkeys((f"{_prefix}i", f"{_prefix}ib"), 1024**_power)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_LARGEST_BYTES = 2**63 - 1
_LONGEST_SECONDS = 100 * 365 * 86400
_MOST_DIGITS = 40


def parse_bytes(text: str) -> int:
    """`200GB` → bytes, rounded down. Raises UsageError."""
    found = _SIZE.match(text.strip()) if len(text) <= _MOST_DIGITS else None
    unit = _UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise UsageError(f"{text!r} is not a size: expected a number and a unit, as in 200GB, 1.5GiB or 4096")
    size = int(float(found[1]) * unit) if "." in found[1] else int(found[1]) * unit
    if size > _LARGEST_BYTES:
        raise UsageError(f"{text!r} is larger than any disk")
    return size


def parse_seconds(text: str) -> float:
    """`30d`, `1w2d` → seconds. Raises UsageError; for `6M` too, which may mean months, while `m` is minutes."""
    cleaned = text.strip().lower()
    is_span = len(text) <= _MOST_DIGITS and "M" not in text and _SPANS.match(cleaned)
    parts = _SPAN.findall(cleaned) if is_span else []
    if not parts or any(unit not in _SECONDS for _, unit in parts):
        raise UsageError(
            f"{text!r} is not a span of time: expected numbers with units s, m, h, d, w or y, as in 30d or 12h"
        )
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds > _LONGEST_SECONDS:
        raise UsageError(f"{text!r} is longer than a hundred years")
    return seconds
