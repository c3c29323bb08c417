"""Charts of cores: the heat map, one core, memory by category and over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.dashboard import figures, memory_figures
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.core_lines import core_lines
from neuron_top.dashboard.pages import cores
from neuron_top.dashboard.table_order import TableOrder, in_order
from neuron_top.views.core_metrics import UTILIZATION
from neuron_top.views.core_rows import CoreRow, silence_text
from neuron_top.views.cores import core_page
from neuron_top.views.memory import memory_kinds, memory_table
from neuron_top.views.overview import overview
from tests.dashboard.test_pages import lived, words_of
from tests.tui.feeds import START, StillFeed

GIB, MIB = 1 << 30, 1 << 20
KINDS = {"tensors": 6 * GIB, "model_code": 1 * GIB, "constants": 0, "runtime_memory": 1 * GIB}


def fed(cores: int, per_device: int = 2, *, now: float = START + 5, **sample: Any) -> StillFeed:
    """So many cores, of which each reports every second; every eighth of a device is idle from the ninth on."""
    reported: dict[str, Any] = {"memory": 8 * GIB, "capacity": 16 * GIB, "kinds": KINDS, **sample}
    given = tuple(
        ev.CoreSample(core=core, device=core // per_device, utilization=0.004 if core == 9 else 0.9, **reported)
        for core in range(cores)
    )
    return StillFeed(
        [ev.CoresSampled(kind=ev.CoreKind.NEURON, node="trn1", at=START + n, cores=given) for n in range(6)], now=now
    )


def worker(**sample: Any) -> StillFeed:
    given = (ev.CoreSample(core=0, utilization=0.5, **sample),)
    return StillFeed(
        [ev.CoresSampled(kind=ev.CoreKind.LOCAL, at=START + n, cores=given) for n in range(6)], now=START + 5
    )


def rows_of(feed: StillFeed) -> tuple[CoreRow, ...]:
    return feed.read(overview).cores


def names(traces: Iterable[dict[str, Any]]) -> list[str]:
    return [trace["name"] for trace in traces]


def test_the_mark_of_a_core_has_the_size_of_its_cell() -> None:
    figure = figures.heat(rows_of(fed(128, 8)), UTILIZATION, DARK)
    mark = figure["data"][3]
    assert mark["name"] == "stands out"
    assert mark["x"][:5] == [0.5, 1.5, 1.5, 0.5, 0.5], "the column of device 1"
    assert mark["y"][:5] == [0.5, 0.5, 1.5, 1.5, 0.5], "the line of its core 1"
    assert figure["layout"]["yaxis"]["range"] == [7.5, -0.5]


def test_devices_stand_below_the_map_by_their_number_and_each_has_one() -> None:
    axis = figures.heat(rows_of(fed(128, 8)), UTILIZATION, DARK)["layout"]["xaxis"]
    assert axis["title"]["text"] == "device"
    assert (axis["ticktext"], axis["tickangle"]) == ([str(device) for device in range(16)], 0)
    lines = figures.heat(rows_of(fed(4)), UTILIZATION, DARK)["layout"]["yaxis"]
    assert (lines["tickvals"], lines["ticktext"]) == ([0, 1], ["device 0", "device 1"])


@pytest.mark.parametrize(("count", "named"), [(30, 30), (42, 21), (100, 50)])
def test_names_of_nodes_beside_the_map_do_not_lie_over_each_other(count: int, named: int) -> None:
    cores = tuple(ev.CoreSample(core=core, utilization=0.9) for core in range(64))
    feed = StillFeed(
        [ev.CoresSampled(kind=ev.CoreKind.NEURON, node=f"n{node}", at=START, cores=cores) for node in range(count)],
        now=START + 1,
    )
    whole = figures.heat(rows_of(feed), UTILIZATION, DARK)["layout"]
    assert len(whole["yaxis"]["tickvals"]) == named
    assert (whole["height"] - 94) / named >= 15


@pytest.mark.parametrize(("cores", "written"), [(2, True), (16, True), (32, False)])
def test_few_cores_have_their_number_written_on_them(cores: int, *, written: bool) -> None:
    assert ("texttemplate" in figures.heat(rows_of(fed(cores)), UTILIZATION, DARK)["data"][0]) is written


def test_a_cell_says_core_device_and_value_where_it_is_pointed_at() -> None:
    cells = figures.heat(rows_of(fed(128, 8)), UTILIZATION, DARK)["data"][0]
    assert cells["text"][1][2] == "core 17<br>device 2"


def test_old_values_are_hatched_all_over_their_cell() -> None:
    old = figures.heat(rows_of(fed(2, now=START + 600)), UTILIZATION, DARK)["data"][2]
    assert (old["name"], old["fill"], old["fillpattern"]["shape"]) == ("old value", "toself", "/")
    assert len(old["x"]) == 2 * 6


@pytest.mark.parametrize(("seconds", "words"), [(12.4, "12 s"), (59.7, "1 m 00 s"), (68.0, "1 m 08 s")])
def test_silence_is_counted_in_whole_seconds(seconds: float, words: str) -> None:
    feed = fed(2, now=START + 5 + seconds)
    assert silence_text(rows_of(feed), feed.now) == f"no data for {words}"


def test_there_is_no_choice_of_metrics_where_one_is_reported() -> None:
    assert "no-choice" not in str(lived(fed(4))["live-heat-words"])
    assert "no-choice" in str(lived(worker())["live-heat-words"])


def test_both_axes_of_one_core_reach_from_nothing_to_everything() -> None:
    core = fed(2).read(lambda run, now: core_page(run, now, "trn1/neuron/0"))
    layout = core_lines(core, DARK)["layout"]
    assert layout["yaxis"]["range"] == [0, 102]
    assert layout["yaxis2"]["range"] == [0, pytest.approx(16 * 1.02)]
    assert layout["yaxis2"]["ticksuffix"] == " GiB"
    core = worker(memory=500 * MIB).read(lambda run, now: core_page(run, now, run_key(run)))
    drawn = core_lines(core, DARK)
    assert drawn["data"][1]["name"] == "memory, MiB"
    assert drawn["data"][1]["y"][0] == 500


def run_key(run: Any) -> str:
    return next(iter(run.cores.cores))


def test_the_line_of_the_capacity_has_its_name() -> None:
    feed = fed(2)
    (line,) = figures.kinds(rows_of(feed)[0], DARK)["layout"]["shapes"]
    assert (line["label"]["text"], line["x0"]) == ("capacity", 16)
    view = feed.read(memory_table)
    for figure in (memory_figures.over_time(view, DARK).figure, memory_figures.bars(view, DARK)):
        assert [(one["label"]["text"], one["y0"]) for one in figure["layout"]["shapes"]] == [("capacity", 16)]


def test_kinds_of_memory_have_one_order_everywhere_and_none_that_is_empty() -> None:
    feed = fed(2)
    order = ["tensors", "model code", "runtime memory"]
    assert names(figures.kinds(rows_of(feed)[0], DARK)["data"]) == order
    assert names(memory_figures.bars(feed.read(memory_table), DARK)["data"]) == [*order, "peak"]
    areas = memory_figures.kinds_over_time(feed.read(memory_kinds), DARK)["data"]
    assert names(areas) == [*order, "total"]
    assert all(area["fillcolor"] == area["line"]["color"] for area in areas[:-1]), "as strong as the bars beside it"


def test_less_than_a_gib_is_drawn_in_mib_as_words_have_it() -> None:
    feed = worker(memory=505 * MIB, kinds={"parameters": 300 * MIB, "rest": 205 * MIB})
    view = feed.read(memory_table)
    for figure in (
        memory_figures.bars(view, DARK),
        memory_figures.over_time(view, DARK).figure,
        memory_figures.kinds_over_time(feed.read(memory_kinds), DARK),
    ):
        assert figure["layout"]["yaxis"]["title"]["text"] == "MiB"
    assert memory_figures.over_time(view, DARK).figure["data"][0]["y"][0] == 505


def test_a_bar_stands_for_a_device_where_cores_are_many() -> None:
    few, many = (fed(cores).read(memory_table) for cores in (32, 128))
    assert len(memory_figures.bars(few, DARK)["data"][0]["x"]) == 32
    figure = memory_figures.bars(many, DARK)
    tensors = figure["data"][0]
    assert tensors["x"] == [str(device) for device in range(64)], "every device, the idle ones too"
    assert tensors["y"][0] == 12, "of two cores"
    assert tensors["customdata"][1] in ("trn1/neuron/2", "trn1/neuron/3"), "a click chooses one of its cores"
    assert figure["layout"]["xaxis"]["title"]["text"] == "device"
    shown = cores.render(many, None, DARK)
    assert shown["cores-summary"] == "128 cores, highest peak 8.0 GiB.", "none is left out of a chart"


def test_marks_of_peaks_are_no_wider_than_their_bars() -> None:
    sizes = [
        memory_figures.bars(fed(cores).read(memory_table), DARK)["data"][-1]["marker"]["size"] for cores in (8, 32)
    ]
    assert sizes == [16, 4]


def test_cores_are_named_alike_in_charts_tables_and_sentences() -> None:
    feed = fed(2)
    shown = cores.render(feed.read(memory_table), None, DARK, feed.read(memory_kinds))
    assert shown["cores-kinds"].figure["data"][0]["x"] == ["core 0", "core 1"]
    assert "core 1" in words_of(shown["cores-rows"])
    assert shown["cores-core-words"].startswith("Core 0 on trn1: 90 % busy")
    assert shown["cores-core-words"].endswith("to choose a core.")
    local = worker(memory=505 * MIB)
    shown = cores.render(local.read(memory_table), None, DARK)
    assert "worker 0" in words_of(shown["cores-rows"])
    assert shown["cores-summary"].startswith("1 worker, ")
    assert "core" not in lived(local)["live-busy-sub"]


def test_the_table_of_cores_is_sorted_by_the_column_that_was_clicked_on() -> None:
    view = fed(12).read(memory_table)

    def first(order: TableOrder) -> str:
        shown = cores.render(view, None, DARK, order=order)["cores-rows"][0]
        return words_of(shown.children.children[2].children[0].children[0])

    falling = TableOrder("core", falls=True)
    assert first(TableOrder("core")) == "core 0"
    assert first(falling) == "core 11"
    assert first(TableOrder("no such column")) == first(TableOrder("core"))
    assert TableOrder().after("core", falls_first=False) == TableOrder("core")
    assert TableOrder("core").after("core", falls_first=False) == falling
    assert falling.after("core", falls_first=False) == TableOrder()
    rows = [2, None, 3]
    assert in_order(rows, TableOrder("x", falls=True), {"x": lambda row: row}) == [3, 2, None]


def test_the_table_of_cores_begins_with_the_peak_and_leaves_out_what_none_reports() -> None:
    def heads(feed: StillFeed) -> list[str]:
        head = cores.render(feed.read(memory_table), None, DARK)["cores-rows"][0].children.children[1]
        return [cell.children.children for cell in head.children.children]

    assert heads(fed(2)) == ["core", "peak", "utilization", "memory", "capacity", "free"]
    assert heads(worker(memory=505 * MIB)) == ["core", "peak", "utilization", "memory"]


def test_two_sources_of_a_workers_memory_are_named() -> None:
    feed = worker(memory=505 * MIB, kinds={"rest": 500 * MIB})
    shown = cores.render(feed.read(memory_table), None, DARK, feed.read(memory_kinds))
    assert "the total is measured from outside" in shown["cores-core-words"]
    neuron = fed(2)
    shown = cores.render(neuron.read(memory_table), None, DARK, neuron.read(memory_kinds))
    assert "from outside" not in shown["cores-core-words"]


def on_gpu(*, ended: bool) -> StillFeed:
    """A worker whose GPU was seen at one moment only, in a job of a few seconds."""
    gpu = ev.GpuMemory(
        name="G", index=1, memory=3 * GIB, peak=3 * GIB, capacity=80 * GIB, kinds={"parameters": 3 * GIB}
    )
    core = ev.CoreSample(core=0, pid=7, utilization=0.5, memory=GIB)
    events: list[ev.AnyEvent] = [
        ev.RunStarted(run="r", at=START),
        ev.CoresSampled(kind=ev.CoreKind.LOCAL, at=START + 1, cores=(core,)),
        ev.WorkerMemoryReported(pid=7, kinds={"rest": GIB}, gpu=gpu, at=START + 1.5),
        ev.CoresSampled(kind=ev.CoreKind.LOCAL, at=START + 2, cores=(core,)),
    ]
    return StillFeed([*events, *([ev.RunFinished(run="r", exit_code=0, at=START + 3)] if ended else [])], now=START + 3)


def test_the_newest_stretch_of_a_job_that_has_ended_is_drawn_and_a_single_point_is_no_line() -> None:
    drawn = memory_figures.kinds_over_time(on_gpu(ended=True).read(memory_kinds), DARK)["data"]
    assert [(one["name"], one["mode"], one["y"]) for one in drawn] == [
        ("parameters", "markers", [3]), ("total", "markers", [3]),
    ]  # fmt: skip
    going_on = memory_figures.kinds_over_time(on_gpu(ended=False).read(memory_kinds), DARK)
    assert going_on["data"] == [], "its highest total may still come"
    (words,) = going_on["layout"]["annotations"]
    assert words["text"] == "the first samples are still being collected", "not axes of the year 2000"


def test_a_worker_on_a_gpu_is_told_with_what_is_the_gpus_and_what_is_the_hosts() -> None:
    feed = on_gpu(ended=True)
    shown = cores.render(feed.read(memory_table), None, DARK, feed.read(memory_kinds))["cores-core-words"]
    assert "GPU 1 (G): 50 % busy, 3.0 GiB of 80.0 GiB" in shown
    assert "how busy it is, is that of the host's processor" in shown


def test_the_first_sample_of_a_core_is_drawn_as_a_point() -> None:
    given = (ev.CoreSample(core=0, device=0, utilization=0.9, memory=8 * GIB, capacity=16 * GIB),)
    sampled = [ev.CoresSampled(kind=ev.CoreKind.NEURON, at=START + n, cores=given) for n in range(2)]
    for events, mode in ((sampled[:1], "markers"), (sampled, "lines")):
        lines = core_lines(
            StillFeed(events, now=START + 2).read(lambda run, now: core_page(run, now, next(iter(run.cores.cores)))),
            DARK,
        )["data"]
        assert {one["mode"] for one in lines} == {mode}


def test_workers_without_a_bar_are_counted_in_words_that_fit_any_number() -> None:
    view = fed(4).read(memory_table)
    many, one = (msgspec.structs.replace(view, hidden=hidden) for hidden in (5312, 1))
    assert "the 5,312 with the lowest peaks have no bar." in cores._summary(many)
    assert "the one with the lowest peak has no bar." in cores._summary(one)


def test_a_share_of_memory_that_other_cores_hold_a_part_of_says_so() -> None:
    row = rows_of(fed(2))[0]
    assert "8.0 GiB of 16.0 GiB (50 %)" in figures.core_words(row, START + 5)
    shared = msgspec.structs.replace(row, headroom=0.25, beside=4 * GIB)
    assert "8.0 GiB of 16.0 GiB (75 %, with 4.0 GiB of other cores in its bank)" in figures.core_words(
        shared, START + 5
    )


def test_a_line_does_not_go_on_where_samples_are_missing() -> None:
    sample = (ev.CoreSample(core=0, device=0, utilization=0.9, memory=8 * GIB, capacity=16 * GIB),)
    times = [*range(6), *range(120, 126)]
    feed = StillFeed(
        [ev.CoresSampled(kind=ev.CoreKind.NEURON, node="trn1", at=START + at, cores=sample) for at in times],
        now=START + 125,
    )
    key = rows_of(feed)[0].key
    for trace in core_lines(feed.read(lambda run, now: core_page(run, now, key)), DARK)["data"]:
        assert [place for place, value in enumerate(trace["y"]) if value is None] == [6]
        assert len(trace["x"]) == len(times) + 1


def test_the_name_of_a_node_is_no_markup_in_the_charts_of_memory() -> None:
    """Plotly draws some tags in the words of an axis, and links."""
    link = '<a href="https://elsewhere.example">n</a>'
    given = (ev.CoreSample(core=0, device=0, memory=GIB, capacity=2 * GIB, kinds={"tensors": GIB}),)
    few = [ev.CoresSampled(node=node, kind=ev.CoreKind.NEURON, at=START, cores=given) for node in (link, "n2")]
    many = tuple(ev.CoreSample(core=core, device=core // 2, memory=GIB) for core in range(40))
    events = (few, [*few, ev.CoresSampled(node=link, kind=ev.CoreKind.NEURON, at=START + 1, cores=many)])
    for feed in map(StillFeed, events):
        trace = memory_figures.bars(feed.read(memory_table), DARK)["data"][0]
        assert not any("<a " in name for name in trace["x"])
        assert any("&lt;a " in name for name in trace["x"])
