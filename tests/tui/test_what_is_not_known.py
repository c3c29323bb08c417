"""What a screen says where a log told less than the screen could show."""

from __future__ import annotations

from neuron_top import events as ev
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp

from .feeds import START, StillFeed, failed_log, job
from .test_fleet import text_of, until


async def test_losses_without_steps_have_no_axis_of_steps() -> None:
    reports = [ev.StepReported(loss=5.0 - place, at=START + place) for place in range(4)]
    app = TopApp(StillFeed([*job(), ev.StepReported(step=5000, at=START), *reports], now=START + 9), Settings())
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(app, pilot, lambda text: "in the order in which they were printed" in text)
    assert not any(line.split()[:2] == ["step", "5,000"] and line.endswith("5,000") for line in text.splitlines())


async def test_of_a_job_that_has_ended_no_core_is_waited_for() -> None:
    app = TopApp(failed_log(), Settings(), "cores")
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(app, pilot, lambda text: "No core reported." in text)
    assert "yet" not in text
    app = TopApp(StillFeed(now=START), Settings(), "cores")
    async with app.run_test(size=(120, 40)) as pilot:
        assert "No core reports yet." in await until(app, pilot, lambda text: "core" in text_of(app).splitlines()[4])
