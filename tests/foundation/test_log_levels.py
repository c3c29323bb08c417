"""One enum of levels reads what every program and every old recording calls them."""

from __future__ import annotations

import pytest

from neuron_top.events import RuntimeLogged, decode, encode
from neuron_top.events.levels import LineLevel, LogLevel


@pytest.mark.parametrize(
    ("printed", "level"),
    [("WARN", "WARNING"), ("FATAL", "FATAL"), ("F", "FATAL"), ("ABORT", "CRITICAL"), ("error", "ERROR"), ("odd", "")],
)
def test_levels_of_old_recordings_are_read_by_their_printed_names(printed: str, level: str):
    old = b'{"type":"RuntimeLogged","level":"%b","text":"x"}' % printed.encode()
    event = decode(old)
    assert isinstance(event, RuntimeLogged)
    assert event.level is LogLevel(level)
    assert decode(encode(event)) == event


def test_levels_are_ordered_by_what_matters():
    assert [level for level in LogLevel if level.is_marked] == ["WARNING", "ERROR", "CRITICAL", "FATAL"]
    assert [level for level in LogLevel if level.is_mild] == ["TRACE", "DEBUG", "INFO", "WARNING"]
    assert LineLevel.WARNING.and_worse() == (LineLevel.WARNING, LineLevel.ERROR)
