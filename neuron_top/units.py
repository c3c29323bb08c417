"""Numbers into text, at the last moment.

Bytes are powers of 1024 and say so (KiB, MiB, GiB); durations are seconds; an unknown value is `None`
everywhere in the program and `—` on every screen. Nothing here rounds a value that is kept.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from neuron_top.calendar_bounds import is_in_calendar

UNKNOWN = "—"
_HOURS_COUNT = 10 * 86400
"""Below so many seconds the hours of days are worth reading."""
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def bytes_text(value: float | None) -> str:
    """Bytes for people: `0 B`, `812 KiB`, `1.5 GiB`; three significant digits at most."""
    if value is None:
        return UNKNOWN
    size, unit = float(value), 0
    while abs(size) >= 999.5 and unit < len(_BYTE_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    if unit == 0 or abs(size) >= 99.95:
        return f"{size:.0f} {_BYTE_UNITS[unit]}"
    return f"{math.floor(size * 10 + 0.5) / 10:.1f} {_BYTE_UNITS[unit]}"  # format() makes 15.2 of 15.25


def duration_text(seconds: float | None) -> str:
    """A duration for people: `350 ms`, `4.2 s`, `3 m 05 s`, `2 h 07 m`, `3 d 04 h`, from ten days on `1,197 d`."""
    if seconds is None or not math.isfinite(seconds):  # a sum of what a file says may be beyond all numbers
        return UNKNOWN
    if seconds < -0.0005:
        return "-" + duration_text(-seconds)
    seconds = max(seconds, 0.0)  # what rounds to nothing has no sign
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole >= _HOURS_COUNT:
        return f"{whole // 86400:,} d"
    for size, big, small_size, small in ((60, "m", 1, "s"), (3600, "h", 60, "m"), (86400, "d", 3600, "h")):
        if whole < size * (60 if size < 3600 else 24) or big == "d":
            return f"{whole // size} {big} {whole % size // small_size:02d} {small}"
    raise AssertionError("unreachable")


TO_THE_SECOND = "%Y-%m-%d %H:%M:%S UTC"
"""A form of `moment_text`."""


def moment_text(seconds: float | None, form: str = "%Y-%m-%d %H:%M UTC") -> str:
    """A moment, given as seconds since the epoch, in UTC: `2026-11-29 10:04 UTC`; unknown also where no calendar has
    it."""
    if seconds is None or not is_in_calendar(seconds):
        return UNKNOWN
    return datetime.fromtimestamp(seconds, UTC).strftime(form)


def latency_text(seconds: float | None) -> str:
    """How long an execution took, which may be microseconds: `95 µs`, `5,083 µs`, `67 ms`."""
    if seconds is None or seconds >= 0.01:
        return duration_text(seconds)
    return f"{seconds * 1e6:,.0f} µs"


def limit_text(seconds: float) -> str:
    """A duration that somebody set, in the largest unit that it is a whole number of: `7 d`, `36 h`, `90 s`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:,.0f} {unit}"
    return duration_text(seconds)


def whole_seconds_text(seconds: float | None) -> str:
    """As `duration_text`, without tenths: for something that still goes on, where they would change at every redraw."""
    if seconds is not None and 0 <= seconds < 59.5:
        return f"{seconds:.0f} s"
    return duration_text(round(seconds) if seconds is not None and math.isfinite(seconds) else None)


def age_text(seconds: float) -> str:
    """How long ago something was, in its greatest unit: `<1 m`, `57 m`, `4 h`, `10 d`. A table that is made anew once a
    minute stays right with it."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:,.0f} {unit}"
    return "<1 m"


def range_text(low: float, high: float) -> str:
    """An estimated span, in whole seconds: `8–12 s`, `at most 13 s` from nothing on, `~3 m 05 s` where both read the
    same."""
    if high < 1.0:
        return "< 1 s"
    first, last = whole_seconds_text(low), whole_seconds_text(high)
    if first == last:
        return f"~{last}"
    if low < 1.0:
        return f"at most {last}"
    both_seconds = max(low, high) < 59.5
    return f"{first.removesuffix(' s')}–{last}" if both_seconds else f"{first} to {last}"


def clock_text(seconds: float | None) -> str:
    """An elapsed time of fixed width for headers that tick: `00:04:09`."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, round(seconds))  # as duration_text does, which may stand beside it
    return f"{whole // 3600:02d}:{whole % 3600 // 60:02d}:{whole % 60:02d}"


def percent_text(ratio: float | None) -> str:
    """A ratio of 0…1 as a percentage: `94 %`; one digit below ten."""
    if ratio is None:
        return UNKNOWN
    value = ratio * 100
    return f"{value:.1f} %" if 0 < abs(value) < 9.95 else f"{value:.0f} %"


def signed_percent_text(ratio: float | None) -> str:
    """A change as a percentage: `+12 %`, `-3.1 %`; "" where there is none. The minus sign is the hyphen, as in every
    number here: what is copied from a table or a sentence is then read as a number."""
    if ratio is None:
        return ""
    text = percent_text(abs(ratio))
    return f"{'-' if ratio < 0 else '+'}{text}"


def count_text(value: int | None) -> str:
    """A whole number with thousands apart: `12,400`."""
    return UNKNOWN if value is None else f"{value:,}"


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 graph`, `1,200 graphs`."""
    return f"{count_text(count)} {one if count == 1 else many or one + 's'}"


def number_text(value: float | None, digits: int = 4) -> str:
    """A measured number with so many significant digits: `2.304`, `4,071`; beyond a billion `1.234e+12`."""
    if value is None:
        return UNKNOWN
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if "e+" in text and abs(value) < 1e9 else text


def si_text(value: float | None, unit: str) -> str:
    """A rate with a decimal prefix: `812 MFLOP/s`, `41.3 TFLOP/s`; three significant digits."""
    if value is None:
        return UNKNOWN
    prefixes = ("", "k", "M", "G", "T", "P", "E")
    size, prefix = float(value), 0
    while abs(size) >= 999.5 and prefix < len(prefixes) - 1:
        size, prefix = size / 1000, prefix + 1
    return f"{size:.3g} {prefixes[prefix]}{unit}"


def exit_text(exit_code: int) -> str:
    """`exit status 1`, or `signal 9` of a process that a signal ended."""
    return f"signal {-exit_code}" if exit_code < 0 else f"exit status {exit_code}"
