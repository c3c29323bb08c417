"""A container's log service may print the zone of its clock: `2026-03-01T10:00:00.123456789+02:00 stdout F …`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from neuron_top.ingest.run_loader import read_logs
from neuron_top.parsers import timestamps

EIGHT = datetime(2026, 3, 1, 8, tzinfo=UTC).timestamp()
HIT = "2026-03-01 08:00:00.000000:  42  [INFO]: Using a cached neff at /c/neuronxcc-2.1/MODULE_1+a/model.neff"


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-03-01T10:00:00+02:00",
        "2026-03-01T10:00:00.000000000+02:00",
        "2026-03-01 04:30:00,000-0330",
        "2026-03-01 08:00:00+0000",
        "2026-03-01T08:00:00Z",
        "2026-03-01 08:00:00",
        "2026-03-01 08:00:00-0047",  # no clock is so many minutes ahead
        "2026-03-01 08:00:00-12:30:00",
        "2026-03-01 08:00:00-02000",
    ],
)
def test_a_zone_behind_a_stamp_is_heeded(stamp: str) -> None:
    assert timestamps.leading(f"{stamp} step 1 loss 2.5") == EIGHT
    assert timestamps.generic(f"at {stamp} step 1") == EIGHT


def test_steps_in_local_time_and_lookups_in_utc_are_on_one_time_line(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    steps = [f"2026-03-01T10:00:{10 * step}.000000000+02:00 stdout F step {step} loss=2.5" for step in (1, 2, 3)]
    log.write_text("\n".join((f"2026-03-01T10:00:00.000000000+02:00 stdout F {HIT}", *steps)) + "\n")
    run = read_logs([str(log)], 3600.0)
    assert (run.first_time, run.last_time) == (EIGHT, EIGHT + 30)


@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "9999-12-31 23:59:59"])
def test_a_stamp_that_a_zone_leads_out_of_the_calendar_is_none(stamp: str, tmp_path: Path) -> None:
    assert timestamps.leading(f"{stamp} step 20 loss 2.5") is None
    log = tmp_path / "0.log"
    log.write_text(f"{stamp} step 20 loss 2.5\n{HIT}\n")
    assert read_logs([str(log)], 3600.0).last_time == EIGHT
