"""A log that is read once and a log that is followed tell the same times: when it began, for how long it went on."""

from __future__ import annotations

import gzip
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from neuron_top import settings as configuration
from neuron_top.ingest import run_loader
from neuron_top.ingest.log_span import END_BYTES, last_clock
from neuron_top.services.feeds import live_feed
from neuron_top.services.status import status
from neuron_top.views.overview import Header, overview

HOUR = 3600.0
BEGAN = float(int(time.time())) - 2 * HOUR


def now() -> float:
    """The time as logs have it; a test may run half an hour after its module was imported."""
    return float(int(time.time()))


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S,000")


def steps(began: float, count: int = 50) -> list[str]:
    return [f"{stamp(began + 10 * step)} - INFO - train - step {step}/50 loss: 1.{step:02d}" for step in range(count)]


def quoted_failure() -> list[str]:
    """A failure that was stored long before, at the end of a log."""
    where = "/c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.neff"
    return [
        f"{stamp(BEGAN + 490)[:-4]}.000000:  42  [ERROR]: Got a cached failed neff at {where}. Will skip compilation, "
        "please set --retry_failed_compilation for recompilation: ",
        " Failed compilation with ['neuronx-cc', 'compile', '--framework=XLA']:",
        f"{stamp(BEGAN - 8 * HOUR)[:-4].replace(' ', 'T')}Z [F137] neuronx-cc was forcibly killed",
    ]


LOGS: dict[str, tuple[list[str], float | None]] = {
    "no clock": (["step 1/50 loss: 1.0", "step 2/50 loss: 0.9"], None),
    "a job": (steps(BEGAN), 490.0),
    "colors": ([f"\x1b[32m{line}\x1b[0m" for line in steps(BEGAN)], 490.0),
    "several processes": ([f"[rank{number % 4}]: {line}" for number, line in enumerate(steps(BEGAN))], 490.0),
    "two days": (steps(BEGAN - 24 * HOUR) + steps(BEGAN), 24 * HOUR + 490.0),
    "first and last lines that nothing is read of": (
        [
            f"{stamp(BEGAN - 600)} INFO loads data",
            *["x"] * END_BYTES,
            *steps(BEGAN),
            f"{stamp(BEGAN + 1000)} INFO saves",
        ],
        1600.0,
    ),
    "a table of dates in front": (["2013-01-01 00:00:00  0.46 -0.28", *steps(BEGAN)], 490.0),
    "a stored failure behind": (steps(BEGAN) + quoted_failure(), 490.0),
    "a zone in the east": (steps(BEGAN + 5 * HOUR), 490.0),
    "a zone in the west": (steps(BEGAN - 7 * HOUR), 490.0),
    "milliseconds as six digits": (
        [f"{stamp(BEGAN)[:-4]}.000900 INFO begins", f"{stamp(BEGAN + 1)[:-4]}.000100: 42 [INFO]: step 1/2 loss: 1.0"],
        0.2,
    ),
}


def read_once(path: Path) -> Header:
    return status(configuration.load()[0], str(path)).header


def followed(path: Path) -> Header:
    feed = live_feed(configuration.load()[0], [str(path)], None, stays=False)
    feed.start(lambda: None)
    feed.settle(5.0)
    feed.stop()
    return feed.read(overview).header


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "train.log"


def write(path: Path, lines: list[str], changed: float, encoding: str = "utf-8") -> Path:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    os.utime(path, (changed, changed))
    return path


@pytest.mark.parametrize("name", LOGS)
def test_a_log_has_one_elapsed_time(log: Path, name: str) -> None:
    lines, seconds = LOGS[name]
    write(log, lines, BEGAN + 490)
    once, live = read_once(log), followed(log)
    for header in (once, live):
        assert header.elapsed == (None if seconds is None else pytest.approx(seconds, abs=0.001))
    assert (once.started, once.last_line) == (live.started, live.last_line)


def test_a_log_in_utf_16_has_the_same(log: Path) -> None:
    write(log, steps(BEGAN), BEGAN + 490, "utf-16")
    assert (read_once(log).elapsed, followed(log).elapsed) == (490.0, 490.0)


def test_a_compressed_log_whose_zone_is_not_known_beforehand_has_none(log: Path) -> None:
    packed = log.with_name("train.log.gz")
    packed.write_bytes(gzip.compress("\n".join(steps(BEGAN + 5 * HOUR)).encode()))
    os.utime(packed, (BEGAN + 490, BEGAN + 490))
    assert (read_once(packed).elapsed, followed(packed).elapsed) == (None, None)


def test_the_log_of_a_job_that_goes_on_is_not_cut_off(log: Path) -> None:
    write(log, steps(now() - 495), now() - 5)
    once, live = read_once(log), followed(log)
    assert (once.state_text, live.state_text) == ("training", "training")
    assert once.active
    assert once.elapsed is not None
    assert live.elapsed is not None
    assert once.elapsed == pytest.approx(live.elapsed, abs=5)
    assert once.elapsed >= 495


def test_a_file_that_was_rotated_or_compressed_is_no_log_of_a_job_that_goes_on(log: Path) -> None:
    write(log, steps(now() - 95, 10), now() - 5)
    rotated = write(log.with_name("train.log.1"), steps(now() - 495, 40), now() - 5)
    packed = log.with_name("train.log.2.gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert read_once(log).state_text == "training"
    assert [read_once(path).state_text for path in (rotated, packed)] == ["cut off (was training)"] * 2


def piped(path: Path) -> Header:
    with path.open("rb") as file:
        feed = live_feed(configuration.load()[0], ["-"], file.fileno(), stays=False)
        feed.start(lambda: None)
        feed.settle(5.0)
        feed.stop()
    return feed.read(overview).header


def test_a_pipe_that_brings_an_old_log_has_the_times_of_its_clocks(log: Path) -> None:
    lines, seconds = LOGS["first and last lines that nothing is read of"]
    header = piped(write(log, lines, now()))
    assert header.elapsed == seconds
    assert header.started == BEGAN - 600
    assert header.silent == pytest.approx(now() - (BEGAN + 1000), abs=60)


def test_a_report_is_made_of_what_there_is(log: Path) -> None:
    write(log, steps(now() - 495), now() - 5)
    run = run_loader.load([str(log)], configuration.load()[0])
    assert run.silence.closed


def test_the_arrival_of_anything_else_does_not_begin_a_job_whose_clock_is_ahead(log: Path) -> None:
    write(log, [*steps(now() + 3 * HOUR - 500), *["x"] * 10], now() - 1)
    assert (read_once(log).elapsed, followed(log).elapsed) == (None, None)


def test_the_clock_of_a_file_that_a_link_leads_to_is_read(log: Path) -> None:
    write(log, steps(BEGAN), BEGAN + 490)
    link = log.with_name("latest.log")
    link.symlink_to(log)
    assert last_clock(link) == last_clock(log) == BEGAN + 490
