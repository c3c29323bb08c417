"""vLLM prints month, day and time: the year is that of the log's other stamps, else of its file."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top import events as ev
from neuron_top.ingest.run_loader import read_logs
from neuron_top.parsers import timestamps
from neuron_top.parsers.reader import LogReader

HEAD = "INFO 07-30 00:48:12 [loggers.py:127] "
SERVED = (
    HEAD + "Engine 000: Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 640.5 tokens/s, Running: 4"
)


def at(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "until", "read"),
    [
        (HEAD, at(2026, 8, 1), at(2026, 7, 30, 0, 48, 12)),
        (HEAD, at(2026, 7, 29, 14), at(2026, 7, 30, 0, 48, 12)),  # another zone
        (HEAD, at(2026, 7, 28), at(2025, 7, 30, 0, 48, 12)),
        (HEAD, None, None),
        ("WARNING 02-29 10:00:00 [a.py:1] x", at(2026, 8, 1), at(2024, 2, 29, 10)),
        ("INFO 12-31 23:59:59 [a.py:1] x", at(2027, 1, 1, 0, 0, 5), at(2026, 12, 31, 23, 59, 59)),
        ("INFO 01-01 00:00:01 [a.py:1] x", at(2026, 12, 31, 23, 0, 0), at(2027, 1, 1, 0, 0, 1)),
        ("(EngineCore_DP0 pid=280) ERROR 12-14 08:00:01 [core.py:7] x", at(2026, 1, 5), at(2025, 12, 14, 8, 0, 1)),
        ("INFO 13-30 00:48:12 [a.py:1] x", at(2026, 8, 1), None),
        ("INFO 07-30 24:48:12 [a.py:1] x", at(2026, 8, 1), None),
        ("it printed 07-30 00:48:12 [a.py:1] before", at(2026, 8, 1), None),
    ],
)
def test_the_year_is_the_newest_that_is_not_to_come(text: str, until: float | None, read: float | None) -> None:
    assert timestamps.leading(text, until) == read


@given(
    moment=st.integers(1_583_020_800, 2_051_222_400).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    later=st.integers(0, 363 * 86400),
)
def test_printed_within_a_year_less_two_days_it_is_read_so(moment: datetime, later: int) -> None:
    line = f"INFO {moment:%m-%d %H:%M:%S} [loggers.py:127] served"
    assert timestamps.leading(line, moment.timestamp() + later) == moment.timestamp()


def test_other_stamps_of_the_log_say_the_year_whatever_its_file_says(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    whole = "2023-07-30 00:40:00.000123:  42  [INFO]: Using a cached neff at /c/neuronxcc-2.1/MODULE_1+a/model.neff"
    for lines in ((SERVED, whole, SERVED), (whole, SERVED), (SERVED, whole)):
        log.write_text("\n".join(lines) + "\n")
        os.utime(log, (at(2026, 8, 1), at(2026, 8, 1)))
        run = read_logs([str(log)], 3600.0)
        assert run.last_time == pytest.approx(at(2023, 7, 30, 0, 48 if lines[-1] == SERVED else 40, 12), abs=700)
        steps = [event.at for event in _events(lines, timestamps.written_before("\n".join(lines), at(2026, 8, 1)))]
        assert set(steps) == {at(2023, 7, 30, 0, 48, 12)}


def test_a_log_of_nothing_else_is_as_old_as_its_file(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(SERVED + "\n" + SERVED.replace("00:48:12", "00:58:12") + "\n")
    os.utime(log, (at(2025, 8, 1), at(2025, 8, 1)))
    run = read_logs([str(log)], 3600.0)
    assert run.last_time == at(2025, 7, 30, 0, 58, 12)
    assert run.training.throughput == 640.5


@pytest.mark.parametrize("changed", [9e15, 4e11, -7e10])
def test_a_file_of_an_impossible_time_says_no_year(changed: float) -> None:
    assert timestamps.leading(HEAD, changed) is None
    assert [event.at for event in _events((SERVED,), changed)] == [None]


def _events(lines: tuple[str, ...], until: float) -> list[ev.StepReported]:
    reader = LogReader("log:x", until=until)
    events = [*reader.feed(("\n".join(lines) + "\n").encode()), *reader.flush()]
    return [event for event in events if isinstance(event, ev.StepReported)]
