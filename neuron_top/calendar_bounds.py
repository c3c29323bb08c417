"""Which numbers are moments: seconds since the epoch that can be shown.

Files, logs and databases hold any number in place of a time, and anybody may have written it.
"""

from __future__ import annotations

EARLIEST, LATEST = -62_104_060_800.0, 253_370_764_800.0
"""The years 2 and 9999 begin, in UTC. Between these, every moment can be shown in any time zone."""


def is_in_calendar(moment: float) -> bool:
    """Whether screens can show these seconds since the epoch."""
    return EARLIEST <= moment < LATEST
