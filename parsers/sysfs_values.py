"""What the files of the Neuron driver's sysfs tree say: a number, a power reading, a list of neighbors.

Pure text → values; which files exist is `telemetry/sysfs.py`'s business. Formats: the telemetry spec, section 7.
"""

from __future__ import annotations

import msgspec

from neuron_top.escapes import visible
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.json_fields import LARGEST_BYTES, LARGEST_COUNT

_WHOLE = late_pattern(r"\s*([0-9]{1,18})\s*")
_POWER = late_pattern(r"POWER_STATUS_VALID\s*,\s*([0-9]{1,12})\s*((?:,\s*[0-9]{1,6}(?:\.[0-9]{1,9})?\s*){3})")
_VERSION = late_pattern(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})*)")

LIVE_COUNTERS_SINCE = (2, 30, 2)
"""Before this driver version `status` and `other_info` were added up only when their process ended."""


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """Power in the minute that ended at `at` (epoch seconds), as shares 0…1 of the device's maximum, not watts."""

    at: float
    low: float
    high: float
    mean: float


def whole(text: str, largest: int = LARGEST_COUNT) -> int | None:
    """A count, with or without a line end; None for anything else."""
    match = _WHOLE.fullmatch(text)
    value = int(match[1]) if match else None
    return value if value is not None and value <= largest else None


def level(text: str) -> int | None:
    """Bytes in use, of a `total` or `peak` file."""
    return whole(text, LARGEST_BYTES)


def power(text: str) -> Power | None:
    """`stats/power/utilization`; None unless its status is VALID (NO_DATA until a minute is full, INVALID on error)."""
    match = _POWER.fullmatch(text.strip())
    if match is None:
        return None
    low, high, mean = (float(part) / 100 for part in match[2].split(",")[1:])
    return Power(at=float(match[1]), low=low, high=high, mean=mean)


def neighbors(text: str) -> tuple[int, ...]:
    """`connected_devices`: `12, 3, 4, 1`, or an empty line where a device has none."""
    found = (whole(part, 65535) for part in text.split(","))
    return tuple(index for index in found if index is not None)


def name(text: str) -> str:
    """A word such as `NDv3` or `Trainium2`, trimmed, control characters made visible."""
    return visible(text.strip()[:200])


def version(text: str) -> tuple[int, ...] | None:
    """`/sys/module/neuron/version`: `2.26.5.0` → (2, 26, 5, 0)."""
    match = _VERSION.match(text)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def counters_are_live(driver: tuple[int, ...] | None) -> bool | None:
    """Whether status counters of a running process can be believed; None when the driver's version is unknown."""
    return None if driver is None else driver >= LIVE_COUNTERS_SINCE
