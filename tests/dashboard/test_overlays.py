"""Curves of several runs: a recording that grows is not read from its beginning at every refresh."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.overlays import RESTS, TIME, Overlays, loss
from neuron_top.events import RunStarted, StepReported
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.overlay import OverlaidRun
from neuron_top.views.trends import StepValue
from tests.tui.feeds import StillFeed

RUN, BEGAN, TOOK = "20260101-000000-aaaa", 1_767_225_600.0, 3.0


class SlowRuns(RunService):
    """Reads a recording in TOOK seconds."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.now, self.times_read = 100.0, 0

    def overlay(self, names: Iterable[str]) -> tuple[OverlaidRun, ...]:
        self.now += TOOK
        self.times_read += 1
        return super().overlay(names)


def test_a_recording_that_grows_is_read_again_seldom_and_one_that_does_not_never(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path))
    feeds, runs = FeedRegistry(settings, StillFeed([])), SlowRuns(settings)
    overlays = Overlays(feeds, runs, lambda: runs.now)

    def values() -> int:
        feeds.list_again()
        (curves,) = overlays.read([RUN])
        return len(curves.loss)

    with SqliteStore(settings.state_path / "neurontop.db") as store:
        first = RunStarted(run=RUN, name="tp1", at=BEGAN, seen=BEGAN)
        store.begin(first)
        store.append(RUN, [first], BEGAN)
        for step in range(3):
            store.append(RUN, [StepReported(step=step, loss=1.0, at=BEGAN + step, seen=BEGAN + step)], BEGAN + step)
            assert values() == (1 if step < 2 else 3), step
            runs.now += RESTS * TOOK * 0.6
    assert runs.times_read == 2
    runs.now += 10 * RESTS * TOOK
    assert (values(), runs.times_read) == (3, 2)


@pytest.mark.parametrize(
    ("seconds", "unit", "last"),
    [(90.0, " s", 90.0), (5400.0, " min", 90.0), (151_200.0, " h", 42.0), (864_000, " d", 10.0)],
)
def test_curves_over_time_have_the_unit_of_their_length(seconds: float, unit: str, last: float) -> None:
    values = tuple(StepValue(step=n, time=time, value=1.0) for n, time in enumerate((0.0, seconds)))
    run = OverlaidRun(id=RUN, title="tp1", loss=values, throughput=(), throughput_unit="")
    figure = loss([run], TIME, DARK).figure
    assert (figure["layout"]["xaxis"]["ticksuffix"], figure["data"][0]["x"]) == (unit, [0.0, last])
