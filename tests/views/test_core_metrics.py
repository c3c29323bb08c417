"""The table of a core's metrics: what the terminal, the pages and `/metrics` show of a core comes from its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.dashboard import figures
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.metrics import metrics_of
from neuron_top.dashboard.pages import cores
from neuron_top.run.model import Run
from neuron_top.telemetry.monitor_events import MonitorReader
from neuron_top.telemetry.sysfs import SysfsTree
from neuron_top.tui.panels import core_rows
from neuron_top.tui.theme import DARK as DARK_LOOK
from neuron_top.tui.theme import UNICODE, Theme
from neuron_top.units import UNKNOWN
from neuron_top.views.core_metrics import CORE_METRICS, SHARES, CoreMetric, reported
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.cores import CorePage, core_page, core_table
from neuron_top.views.device_map import shown_metric
from neuron_top.views.memory import memory_table
from neuron_top.views.overview import overview
from tests.telemetry import records, trees
from tests.tui.feeds import START, StillFeed, job

GIB = 1024**3


def feed(**values: Any) -> StillFeed:
    """A job with one core, of which these values are known."""
    sample = ev.CoreSample(core=0, **values)
    return StillFeed(
        [*job(), ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=(sample,), period=1.0, at=START, node="trn1")]
    )


def everything() -> StillFeed:
    """A core of which every metric is known."""
    return feed(utilization=0.5, memory=4 * GIB, capacity=16 * GIB, peak=8 * GIB, power=0.1886, flops=41.3e12)


@pytest.mark.parametrize("metric", CORE_METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_the_field_of_the_row_that_it_is_named_after(metric: CoreMetric) -> None:
    (row,) = everything().read(overview).cores
    assert metric.name in msgspec.structs.asdict(row)
    assert metric.value(row) == getattr(row, metric.name) is not None


@pytest.mark.parametrize("metric", CORE_METRICS, ids=lambda metric: metric.name)
def test_a_metric_stands_in_the_terminal_on_the_page_and_in_prometheus_with_one_value(metric: CoreMetric) -> None:
    known = everything()
    (row,) = known.read(overview).cores
    look = Theme(DARK_LOOK, UNICODE)
    cells = {
        column.title: "".join(text for text, _style in column.cell(item(row), look, 20))
        for column in core_rows.columns(known.read(core_table))
    }
    if metric.column:
        assert cells[metric.column] == metric.text(row)
    samples = {family.name: family.samples for family in metrics_of(known.read(overview))}
    if metric.prometheus:
        (sample,) = samples[f"neurontop_core_{metric.prometheus}"]
        assert (sample.value, sample.labels["core"]) == (metric.value(row), "0")
    page = cores.render(known.read(memory_table), None, DARK)["cores-rows"]
    head, body = page[0].children.children[1:]
    titles = [cell.children.children for cell in head.children.children]  # each head is a link that sorts
    assert body.children[0].children[titles.index(metric.title)].children == metric.text(row)


def test_power_and_flops_of_the_samples_reach_the_terminal_the_page_and_prometheus(tmp_path: Path) -> None:
    """Power as the driver's sysfs reports it, FLOP/s as neuron-monitor does, each through the source that reads it."""
    trees.device(tmp_path, 0, 2)
    driver = SysfsTree(tmp_path).sample().cores[0]
    counters = records.counters({0: {"neuroncore_utilization": 50, "effective_flops": 41.3e12}})
    reader = MonitorReader()
    reports = [
        *reader.feed(records.line(records.record(records.runtime(1, neuroncore_counters=counters)))),
        *reader.flush(),
    ]
    (monitor,) = (event for event in reports if isinstance(event, ev.CoresSampled))
    known = feed(power=driver.power, flops=monitor.cores[0].flops)
    (row,) = known.read(overview).cores
    assert (row.power, row.flops) == (pytest.approx(0.1886), 41.3e12)
    assert {column.title for column in core_rows.columns(known.read(core_table))} >= {"Power", "FLOP/s"}
    assert row.sampled is not None
    assert figures.core_words(row, row.sampled).endswith("power 19 %, compute 41.3 TFLOP/s")
    page = core_rows.core_page_lines(Theme(DARK_LOOK, UNICODE), known.read(a_core), 100)
    assert any("41.3 TFLOP/s" in strip.text for strip in page)
    ended = msgspec.structs.replace(known.read(a_core), over=True)
    shown = core_rows.core_page_lines(Theme(DARK_LOOK, UNICODE), ended, 100)
    assert any("the job is over" in strip.text for strip in shown)
    assert not any("live" in strip.text for strip in shown)
    values = {family.name: family.samples[0].value for family in metrics_of(known.read(overview)) if family.samples}
    assert values["neurontop_core_power_ratio"] == pytest.approx(0.1886)
    assert values["neurontop_core_flops_per_second"] == 41.3e12


@pytest.mark.parametrize("metric", SHARES, ids=lambda metric: metric.name)
def test_the_heat_map_shows_every_share_of_the_table(metric: CoreMetric) -> None:
    (row,) = everything().read(overview).cores
    figure = figures.heat([row], shown_metric([row], metric.name), DARK)
    assert metric.share is not None
    share = metric.share(row)
    assert share is not None
    assert figure["data"][0]["z"] == [[pytest.approx(100 * share, abs=0.1)]]  # in percent


def test_an_unknown_metric_is_a_dash_a_gap_or_absent_and_never_zero() -> None:
    unknown = feed()
    (row,) = unknown.read(overview).cores
    assert {metric.text(row) for metric in CORE_METRICS} == {UNKNOWN}
    assert not any(family.samples for family in metrics_of(unknown.read(overview)) if "_core_" in family.name)
    assert all(figures.heat([row], metric, DARK)["data"][0]["z"] == [[None]] for metric in SHARES)
    assert not any(metric.is_optional for metric in reported(CORE_METRICS, [row]))


def a_core(run: Run, now: float) -> CorePage:
    """The page of the one core."""
    page = core_page(run, now, "trn1/neuron/0")
    assert page is not None
    return page


def item(row: CoreRow) -> core_rows.Item:
    """The core as a row of the terminal's table."""
    return core_rows.Item(key=row.key, core=row)
