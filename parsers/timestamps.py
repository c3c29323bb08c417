"""Reads the timestamps of the log families as seconds since the epoch.

The SDK prints no time zone, so UTC is assumed: every host that could be checked ran on it. A container's log service
may print a zone after its timestamp, which then counts.

The traps, checked against thousands of public lines: the wrapper's six digits and the collectives' four are
milliseconds padded with zeros; the runtime's six are real microseconds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.late_pattern import late_pattern

_STAMP = r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?([+-](?:0\d|1[0-4]):?(?:00|15|30|45)(?![\d:]))?"
GENERIC = late_pattern(_STAMP)
"""An ISO-like stamp anywhere: for lines of a generation that is not known yet."""
_LEADING = late_pattern(r"(?:.{0,60}?(?:[\]):|>\[]|\b[A-Z]{1,8})\s*)?(?:[\[(<]|(?:time|ts)=\"?)?" + _STAMP)
"""A logger's timestamp: only prefixes in brackets, a level and logfmt's name of it may come before it, so that one in a
sentence fails."""
_NO_YEAR = late_pattern(
    r".{0,90}?\b(?:INFO|WARNING|ERROR|DEBUG|CRITICAL) (\d\d-\d\d) (\d\d:\d\d:\d\d) \[[\w./-]{1,120}:\d{1,6}\]"
)
"""vLLM's timestamp, `INFO 07-30 00:48:12 [file.py:1307]`, which has no year: only who printed it may come before it."""
LONGEST = 100
"""Bytes at the start of a line in which its logger's timestamp lies, if it has one: launchers put prefixes in front."""
_DAY = 86400.0
HALF_YEAR = 182 * _DAY
"""Seconds. No log is assumed to span more, so a timestamp without a year is at most this much later than a full one."""
_TWELVE_HOURS = late_pattern(r"(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d) ([AP]M)")
_MONTHS = {name: f"{number:02d}" for number, name in enumerate(
    ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1)}  # fmt: skip


def whole_seconds(date: str, clock: str) -> float | None:
    """`2026-07-29`, `17:19:00` → seconds since the epoch; None where there is no such date or time."""
    day = _midnight(date)
    hour, minute, second = int(clock[:2]), int(clock[3:5]), int(clock[6:8])
    if day is None or hour > 23 or minute > 59 or second > 59:
        return None
    return day + hour * 3600 + minute * 60 + second


@lru_cache(maxsize=512)
def _midnight(date: str) -> float | None:
    try:
        midnight = datetime.fromisoformat(date).replace(tzinfo=UTC)
    except ValueError:
        return None
    return midnight.timestamp() if 1 < midnight.year < 9999 else None  # a zone may lead out of the first and last year


def wrapper(date: str, clock: str, digits: str) -> float | None:
    """The compile wrapper's timestamp: its last six digits are milliseconds if below 1,000, else microseconds."""
    value = int(digits)
    return _plus(whole_seconds(date, clock), value / 1000 if value < 1000 else value / 1_000_000)


def plain_wrapper(minute: bytes, second: bytes, millisecond: bytes) -> float | None:
    """As `wrapper`, but faster, for digits that are milliseconds: `2026-07-29 17:19`, `00` to `59`, `000` to `999`.

    A log has many lines of the same minute, so minutes are cached; dividing whole milliseconds needs no rounding.
    """
    begin = _milliseconds(minute)
    return None if begin is None else (begin + int(second + millisecond)) / 1000


@lru_cache(maxsize=2048)
def _milliseconds(minute: bytes) -> float | None:
    date, clock = minute.decode().split(" ")
    seconds = whole_seconds(date, f"{clock}:00")
    return None if seconds is None else seconds * 1000


def microseconds(date: str, clock: str, digits: str) -> float | None:
    """A timestamp whose six digits are microseconds (XLA's C++ lines)."""
    return _plus(whole_seconds(date, clock), int(digits) / 1_000_000)


def runtime(date: str, clock: str, digits: str | None) -> float | None:
    """The runtime's timestamp: `2026-Jul-29`, a time, and six digits (microseconds), four (milliseconds) or none."""
    month = _MONTHS.get(date[5:8])
    if month is None:
        return None
    digits = digits or "0"
    fraction = int(digits) / 1000 if len(digits) == 4 and int(digits) < 1000 else int(digits) / 10 ** len(digits)
    return _plus(whole_seconds(f"{date[:4]}-{month}-{date[9:]}", clock), fraction)


def generic(text: str) -> float | None:
    """The last ISO-like stamp in the text, digits read as a plain fraction."""
    stamps = GENERIC.findall(text)
    return _fractional(*stamps[-1]) if stamps else None


def leading(text: str, until: float | None = None) -> float | None:
    """The timestamp at the start of a line: `2026-07-29 17:19:00,123 - INFO - …`, `[NeMo I 2026-07-29 17:19:00 …`.

    `until`: no line is newer, give or take a day for time zones. With it, timestamps without a year are read too.
    """
    found = _LEADING.match(text) if "20" in text[:80] else None
    if found is not None:
        date, clock, digits, zone = found.groups()
        if digits is not None and len(digits) == 6:  # the wrapper's look like that, too
            return _plus(wrapper(date, clock, digits), -_ahead(zone))
        return _fractional(date, clock, digits, zone)
    bare = _NO_YEAR.match(text) if until is not None else None
    return _of_newest_year(bare[1], bare[2], until) if bare is not None and until is not None else None


def written_before(head: str, changed: float) -> float:
    """`until` for `leading`, in a log that begins with `head` and was last changed at `changed`.

    The first full timestamp in the log counts more than the time of its file, which may have been copied.
    """
    found = GENERIC.search(head)
    whole = _fractional(*found.groups()) if found is not None else None
    return whole + HALF_YEAR if whole is not None else changed


def _of_newest_year(day: str, clock: str, until: float) -> float | None:
    """The newest moment of this day and time up to a day after `until`; a leap day may be eight years back."""
    if not is_in_calendar(until):  # the file's time, which anybody can set
        return None
    newest = datetime.fromtimestamp(until, UTC).year
    moments = (whole_seconds(f"{year}-{day}", clock) for year in range(newest + 1, newest - 9, -1))
    return next((moment for moment in moments if moment is not None and moment <= until + _DAY), None)


def twelve_hours(text: str) -> float | None:
    """`04/19/2022 09:09:57 AM` of the first compilers, at the start of the text."""
    found = _TWELVE_HOURS.match(text)
    if found is None:
        return None
    month, day, year, hour, minute, second, half = found.groups()
    hours = int(hour) % 12 + (12 if half == "PM" else 0)
    return whole_seconds(f"{year}-{month}-{day}", f"{hours:02d}:{minute}:{second}")


def _fractional(date: str, clock: str, digits: str | None, zone: str | None) -> float | None:
    return _plus(whole_seconds(date, clock), float(f"0.{digits or 0}") - _ahead(zone))


def _ahead(zone: str | None) -> float:
    """`+02:00`, `-0330` → seconds by which clocks in this zone are ahead of UTC."""
    if not zone:
        return 0.0
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _plus(seconds: float | None, fraction: float) -> float | None:
    return None if seconds is None else round(seconds + fraction, 6)
