"""The view of a report: what its figures say of runs whose truth is known."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top import events as ev
from neuron_top.cli.main import main
from neuron_top.cli.plain import summary_text
from neuron_top.ingest.run_loader import end_of, read_logs
from neuron_top.report.charts import BARS_DRAWN, charts
from neuron_top.report.columns import tables, torch_tables
from neuron_top.report.svg import Axis, BarShape, lanes, lines
from neuron_top.run.model import Run
from neuron_top.run.spans import Span, SpanKind, merged, union_seconds, without
from neuron_top.store.records import RunRecord
from neuron_top.views.gate import judge
from neuron_top.views.metric import Metric, Provenance
from neuron_top.views.overview import overview
from neuron_top.views.report import Report, report
from neuron_top.views.report_context import POINTS
from neuron_top.views.report_graphs import Remembered
from neuron_top.views.report_metrics import Prices
from neuron_top.views.report_time import concurrency, critical_path, precompiled
from neuron_top.views.runs import run_row
from neuron_top.views.summary import summary
from tests.corpus import CORPUS, corpus
from tests.report.samples import A2, T0, A, B, C, D, compiled, hit, made, sample, stepped
from tests.run.samples import event_lists
from tests.tui.feeds import failed_log

LOGS = sorted(path.name for path in CORPUS.glob("logs/*.log"))


def reported(view: Report, name: str) -> Metric:
    return next(one for one in view.metrics if one.name == name)


def test_overlapping_compiles_and_waits_count_once() -> None:
    view = report(sample(), 0.0)
    # 0…31 compiles and the wait behind them, 50…60, 62…70
    assert reported(view, "compile_wall").value == pytest.approx(31 + 10 + 8)
    assert reported(view, "compile_share").value == pytest.approx(0.49)
    assert reported(view, "compile_sum").value == pytest.approx(20 + 20 + 10 + 8)
    assert reported(view, "wall").value == 100.0
    assert reported(view, "wall").provenance is Provenance.MEASURED


def test_compiles_of_another_clock_have_no_share_of_the_time() -> None:
    run = made(compiled(A, 10, 0, 140), until=2.0)
    view = report(run, 0.0)
    assert reported(view, "compile_wall").value == pytest.approx(140)
    closing = summary(run, T0 + 2)
    assert reported(view, "compile_share").value is closing.compile_share is None
    assert view.headline[1] == "Compiling held it up for 2 m 20 s."
    assert re.search(r"compile time +2 m 20 s\n", summary_text(closing, ""))
    assert reported(report(made(compiled(A, 10, 0, 2.5), until=2.0), 0.0), "compile_share").value == 1.0


def test_a_clock_that_was_set_back_leaves_no_wall_time_in_any_view() -> None:
    run = made(until=-3600.0)
    end = T0 - 3600
    record = RunRecord("r1", "", "", (), "", None, T0, end, 0, end, 0, 0, "", "")
    assert overview(run, end).header.elapsed is summary(run, end).wall_seconds is None
    assert reported(report(run, end), "wall").value is run_row(record, end, recorder_alive=False).seconds is None


def test_graphs_that_were_new_after_the_third_report_are_late_and_know_their_step() -> None:
    view = report(sample(), 0.0)
    assert {(line.key, line.step) for line in view.after_warm_up if line.seconds} == {(D, 3), (A2, 3)}


def test_tracing_for_our_own_back_end_is_a_part_of_its_own_and_no_compiling() -> None:
    identity = {"pid": 10, "compile_id": "0/0", "source": "torch-trace:10"}
    traced = [
        ev.FrameCompileBegan(at=T0 + 5, function="forward", **identity),
        ev.GraphDescribed(module=A, pid=10, at=T0 + 8),
        ev.GraphCaptured(at=T0 + 8, **identity),
        *compiled(A, 10, 10, 20),
        ev.FrameCompiled(began=T0 + 5, seconds=20.0, at=T0 + 25, function="forward", **identity),
    ]
    view = report(made(traced, stepped(1, 40), stepped(2, 80)), 0.0)
    assert {part.name: part.seconds for part in view.parts} == pytest.approx(
        {"compiling": 10.0, "tracing": 10.0, "training": 40.0, "rest": 40.0}
    )
    assert [(one.kind, one.start - T0, one.end - T0) for one in view.critical_path] == [
        ("trace", 5.0, 10.0),
        ("compile", 10.0, 20.0),
        ("trace", 20.0, 25.0),
    ]
    assert (reported(view, "compile_wall").value, reported(view, "tracing").value) == pytest.approx((10.0, 10.0))
    assert (
        view.headline[1] == "Compiling held it up for 10.0 s, 10 % of its time, and PyTorch's tracing for 10.0 s more."
    )
    bar = next(chart for chart in charts(view) if chart.heading == "Where the time went")
    assert "else PyTorch traced for the compile cache" in bar.note
    assert "tracing, saving" not in bar.note


def test_blocks_that_shared_a_compiled_graph_and_what_was_compiled_are_counted() -> None:
    shared = [ev.GraphReused(module=A, pid=pid, blocks=blocks, at=T0 + 30) for pid in (10, 11) for blocks in (1, 2, 3)]
    described = [ev.GraphDescribed(module=key, pid=10, operators=count, at=T0) for key, count in ((A, 40), (B, 60))]
    view = report(made(described, compiled(A, 10, 0, 9), hit(B, 10, 12), shared), 0.0)
    assert reported(view, "block_hits").value == 4
    assert reported(view, "operators_compiled").value == 40
    assert {line.key: line.block_hits for line in view.graphs} == {A: 4, B: None}
    assert reported(report(sample(), 0.0), "block_hits").value is None


def test_what_pytorch_compiled_again_after_warm_up_is_late_has_its_step_and_its_bar() -> None:
    def frame(number: int, began: float, *reasons: str) -> list[ev.AnyEvent]:
        identity = {"pid": 10, "compile_id": f"0/{number}", "source": "torch-trace:10"}
        reported: list[ev.AnyEvent] = [ev.FrameCompileBegan(at=T0 + began, function="forward", **identity)]
        reported += [ev.FrameRecompiled(at=T0 + began, reasons=reasons, **identity)] if reasons else []
        return [
            *reported,
            ev.GraphCaptured(at=T0 + began, **identity),
            ev.FrameCompiled(began=T0 + began, seconds=4.0, at=T0 + began + 4, **identity),
            ev.BackwardCompiled(began=T0 + began + 5, seconds=2.0, at=T0 + began + 7, **identity),
            ev.TritonKernelsCompiled(kernels=3, at=T0 + began + 7, **identity),
        ]

    steps = [event for number in range(6) for event in stepped(number, 20.0 + 5 * number)]
    view = report(made(frame(0, 1), steps, frame(1, 41, "size mismatch")), 0.0)
    assert view.torch is not None
    first, again = view.torch.frames
    assert (first.step, first.after_warm_up) == (None, False)
    assert (again.step, again.after_warm_up) == (4, True)
    assert again.spans == ((T0 + 41, T0 + 45), (T0 + 46, T0 + 48))
    assert view.headline[-1] == "1 function compiled by PyTorch after warm-up."
    assert reported(view, "triton_kernels").value == 6
    assert "triton_kernels" not in {one.name for one in report(sample(), 0.0).metrics}, "nothing of it without a GPU"
    (late,) = judge(view, {"max-late-compiles": 0})
    assert (late.passed, late.value) == (False, 1)
    (chart,) = [chart for chart in charts(view) if chart.heading == "Timeline"]
    assert "torch 10" in chart.svg
    assert "forward 0/1: backward, 2.0 s" in chart.svg
    path = [(one.graph, one.start - T0, one.end - T0) for one in view.critical_path]
    assert path == [
        ("forward 0/0", 1, 5),
        ("forward 0/0, backward", 6, 8),
        ("forward 0/1", 41, 45),
        ("forward 0/1, backward", 46, 48),
    ]
    assert [(one.time - T0, one.value) for one in view.concurrency][:2] == [(1, 1), (5, 0)]
    (table,) = [table for table in torch_tables(view.torch) if table.heading == "Recompiles"]
    assert [column.text(again) for column in table.columns][:4] == ["0/1", "forward", "4", "yes"]


def test_the_same_graph_under_flags_that_differ_in_a_path_is_work_done_twice() -> None:
    known = {
        A: Remembered(flags=("--target=trn1", "--logfile=/tmp/1.txt")),
        A2: Remembered(flags=("--target=trn1", "--logfile=/tmp/2.txt")),
    }
    (one,) = report(sample(), 0.0, memory=known).duplicates
    assert (one.kind, set(one.graphs), one.seconds) == ("flags differ in a path", {A, A2}, 8.0)
    (unknown,) = report(sample(), 0.0).duplicates
    assert unknown.kind == "other flags"
    assert "--cache" in unknown.text


def test_a_graph_compiled_by_two_workers_is_work_done_twice() -> None:
    (one,) = report(made(compiled(A, 10, 0, 20), compiled(A, 11, 1, 16)), 0.0).duplicates
    assert (one.kind, one.seconds) == ("compiled twice", 15.0)


def test_a_failure_has_its_class_code_and_advice() -> None:
    (one,) = report(sample(), 0.0).failures
    assert (one.key, one.kind, one.code) == (C, "deterministic", "NCC_EOOM001")
    assert "smaller batch" in one.advice


def test_a_compile_killed_from_outside_is_reported_as_such() -> None:
    failed = ev.CompileFailed(module=A, pid=1, at=T0 + 5, message="compiler died", exit_status=-9)
    (one,) = report(made([failed]), 0.0).failures
    assert one.kind == "environment"


def test_time_that_hits_saved_rests_on_what_is_remembered() -> None:
    run = made(hit(A, 10, 1), hit(B, 10, 2))
    assert reported(report(run, 0.0), "saved").provenance is Provenance.UNKNOWN
    saved = reported(report(run, 0.0, memory={A: Remembered(seconds=300.0)}), "saved")
    assert (saved.value, saved.provenance) == (300.0, Provenance.ESTIMATED)
    assert "1 of 2" in saved.note


def test_memory_peaks_by_core_and_kind() -> None:
    first, second = report(sample(), 0.0).memory
    assert (first.peak, first.kinds, second.peak) == (5 << 20, {"parameters": 1 << 20}, 2 << 20)


def test_cost_follows_the_price() -> None:
    view = report(made(compiled(A, 10, 0, 1800), until=3600.0), 0.0, prices=Prices(per_hour=20.0))
    assert (reported(view, "cost").value, reported(view, "compile_cost").value) == (20.0, 10.0)


def test_the_figures_that_people_ask_for_say_how_they_are_known() -> None:
    view = report(sample(), 0.0, memory={B: Remembered(seconds=20.0), C: Remembered(seconds=5.0)})
    assert all(one.provenance is not Provenance.UNKNOWN for one in view.metrics if one.value is not None)
    assert all(one.note for one in view.metrics)
    assert "1 wait for another's compile (10.0 s)" in view.headline[-1]
    nothing = reported(report(made(compiled(A, 10, 0, 20)), 0.0), "saved")
    assert (nothing.provenance, nothing.note) == (Provenance.UNKNOWN, "no graph came from the cache alone")


def test_lock_waits_slowest_compiles_memory_over_time_and_environment_are_reported() -> None:
    run = sample()
    run.apply(ev.HostSampled(memory_total=64 << 30, memory_used=8 << 30, at=T0 + 30))
    view = report(run, 0.0)
    (wait,) = view.waits
    assert (wait.key, wait.waits, wait.longest_seconds, wait.total_seconds) == (B, 1, 10.0, 10.0)
    drawn = {chart.heading: chart.svg for chart in charts(view)}
    slow = re.findall(r"<title>(MODULE_\d+).*?: ([\d.]+ s)</title>", drawn["Slowest compiles"])
    assert [seconds for _, seconds in slow] == ["20.0 s", "20.0 s", "10.0 s", "8.0 s"]
    assert {"Compiles at once", "Memory of the compilers", "Host memory in use", "Memory per core"} <= set(drawn)
    assert [(step.time - T0, step.value) for step in view.compile_memory][:2] == [(0, 1 << 30), (10, 2 << 30)]
    assert {"command": "python train.py", "torch": "2.13"}.items() <= dict(view.environment).items()


def test_a_graph_has_a_row_with_its_duration_ranks_result_size_flags_and_attempts() -> None:
    described = ev.GraphDescribed(module=A, pid=10, rank=3, operators=7, graph_bytes=4096, at=T0)
    run = made([described], compiled(A, 10, 0, 20), compiled(A, 11, 30, 40))
    view = report(run, 0.0, memory={A: Remembered(flags=("--target=trn1",))})
    (table,) = [table for table in tables(view) if table.heading == "Graphs"]
    row = {column.title: column.text(table.rows[0]) for column in table.columns}
    assert row == row | {
        "graph": A,
        "result": "compiled",
        "compile": "10.0 s",
        "rank": "3",
        "compiles": "2",
        "graph size": "4.0 KiB",
        "peak memory": "1.0 GiB",
        "operators": "7",
        "flags": "--target=trn1",
    }


def test_the_longest_bars_are_drawn_also_where_many_are_equal() -> None:
    """A log with whole seconds has thousands of compiles that took one of few durations."""
    many = [compiled(f"MODULE_{number:016x}+aaaaaaaa", 10, number, number + 1) for number in range(BARS_DRAWN + 40)]
    long = compiled(A, 11, 0, 500)
    view = report(made(*many, long, until=9000.0), T0 + 9000)
    timeline = next(chart for chart in charts(view) if chart.heading == "Timeline")
    assert timeline.svg.count("<rect") == BARS_DRAWN
    assert "done, 8 m 20 s" in timeline.svg
    assert "short bars not drawn" in timeline.note


def test_the_loss_of_a_run_that_resumed_is_drawn_over_all_its_steps() -> None:
    before = [event for step in range(0, 101, 10) for event in stepped(step, step + 1)]
    after = [event for step in range(0, 51, 10) for event in stepped(step, 200 + step, loss=0.5)]
    view = report(made(before, after, until=300.0), T0 + 300)
    (chart,) = [chart for chart in charts(view) if chart.heading == "Loss by step"]
    ticks = re.findall(r'class="tick"[^>]*>([^<]*)<', chart.svg)
    assert (ticks[0], ticks[-1]) == ("0", "100")
    places = [float(pair.partition(",")[0]) for pair in re.search(r'points="([^"]*)"', chart.svg)[1].split()]  # type: ignore[index]
    assert len(set(places)) == 11, "each step has a place of its own"


def test_a_curve_of_many_steps_ends_with_the_last_value() -> None:
    events = [event for step in range(2 * POINTS + 2) for event in stepped(step, step, loss=1.0 + step)]
    view = report(made(events, until=3000.0), T0 + 3000)
    (series,) = [one for one in view.series if one.by_step]
    assert len(series.points) <= POINTS + 1
    assert (series.points[0].time, series.points[-1].time) == (0.0, 2.0 * POINTS + 1)
    assert series.points[-1].value == 1.0 + 2 * POINTS + 1


def test_a_bar_carries_as_much_of_its_name_as_has_room() -> None:
    def drawn(seconds: float) -> list[str]:
        bar = BarShape(0.0, seconds, "done", "hover", "a name of twenty-six letter")
        return re.findall(r'class="label"[^>]*>([^<]*)<', lanes(Axis(0.0, 100.0), [("rank 0", [bar])]))

    assert drawn(40.0) == ["a name of twenty-six letter"]
    assert drawn(15.0) == ["a name of twenty…"]
    assert drawn(5.0) == []


def test_training_is_what_lies_between_its_reports_without_compiles() -> None:
    view = report(made(stepped(1, 10), compiled(A, 10, 20, 30), stepped(2, 50)), 0.0)
    assert view.training == ((T0 + 10, T0 + 20), (T0 + 30, T0 + 50))


def test_five_lines_at_the_top_whatever_happened() -> None:
    for run in (sample(), made(), made(hit(A, 1, 1))):
        view = report(run, 0.0)
        assert len(view.headline) == 5
        assert all(line.endswith(".") for line in view.headline)


def test_graphs_that_were_only_extracted_are_counted_once_each_and_stand_in_the_five_lines() -> None:
    reported = [ev.GraphExtracted(module=module, pid=pid, at=T0 + 1) for module in (A, B) for pid in (10, 11)]
    view = report(made(reported), 0.0)
    assert next(one.value for one in view.metrics if one.name == "extracted") == 2
    assert "2 graphs were extracted, to be compiled beforehand." in view.headline


def test_a_compile_without_a_known_time_is_in_no_sum_and_said_so() -> None:
    view = report(made([ev.CompileFailed(module=A, message="broken")]), 0.0)
    assert reported(view, "compile_wall").provenance is Provenance.UNKNOWN
    assert any("without any time" in note for note in view.notes)


@pytest.mark.parametrize(
    "events", [[ev.CompilerPassed()], [ev.CompileBegan(module=A)], [ev.CompileFailed(module=A, message="broken")]]
)
def test_a_compile_that_no_line_dates_has_no_time_in_any_view(events: list[ev.AnyEvent]) -> None:
    run = made(events)
    closing, card, view = summary(run, T0 + 100), overview(run, T0 + 100).compile, report(run, T0 + 100)
    assert (closing.compile_seconds, closing.compile_share) == (card.seconds, card.share) == (None, None)
    assert reported(view, "compile_wall").value is reported(view, "compile_share").value is None
    assert "compile time —" in summary_text(closing, "")


def test_a_graph_whose_compile_failed_is_a_miss_and_is_not_counted_as_compiled() -> None:
    run = made(compiled(A, 10, 0, 9), [ev.CompileBegan(module=B, at=T0), ev.CompileFailed(module=B, at=T0 + 5)])
    missed = reported(report(run, 0.0), "graphs_missed")
    assert (missed.label, missed.value, overview(run, T0 + 100).compile.done) == ("graphs that missed", 2, 1)


def test_compiles_of_known_length_and_unknown_place_are_added_up_in_every_view() -> None:
    run = made([ev.GraphReported(path=f"/cache/{A}/model.hlo.pb", module=A, ok=True, seconds=225.0)])
    assert summary(run, T0 + 100).compile_sum_seconds == reported(report(run, 0.0), "compile_sum").value == 225.0


class Done(NamedTuple):
    seconds: float | None
    peak_rss_bytes: int | None = None
    attempts: int = 1


def test_compiling_beforehand_is_simulated_longest_first() -> None:
    found = precompiled([Done(seconds) for seconds in (3, 3, 2, 2, 2)], 12.0)
    assert [(one.workers, one.seconds, one.saved_seconds) for one in found] == [
        (1, 12, 0),
        (2, 7, 5),
        (4, 4, 8),
        (8, 3, 9),
    ]
    assert all(one.memory is None for one in found)


def test_compiling_beforehand_takes_the_memory_of_the_largest_side_by_side() -> None:
    found = precompiled([Done(5.0, 10), Done(4.0, 30), Done(3.0, 20)], 12.0, own=3)
    assert [(one.workers, one.memory) for one in found] == [(1, 30), (2, 50), (3, 60)]


def test_waits_that_compiling_beforehand_would_not_have_spared_advise_nothing() -> None:
    waited = [ev.LockWaited(module=A, pid=11, at=T0 + 21, minutes=0.0), *hit(A, 11, 31)]
    alone = report(made(compiled(A, 10, 0, 30), waited), 0.0)
    assert reported(alone, "waiting").value == pytest.approx(10)
    assert [one.saved_seconds for one in alone.precompile] == pytest.approx([1])
    assert alone.recommendations == ()
    elsewhere = report(made(waited), 0.0)
    assert elsewhere.precompile == ()
    assert elsewhere.recommendations == ("Ranks waited 10.0 s for each other's compiles: compile beforehand.",)


def test_of_a_run_with_hits_only_nothing_was_compiled_and_nobody_waited() -> None:
    names = ("compile_wall", "compile_sum", "waiting")
    view = report(made(hit(A, 10, 1), hit(A, 11, 1)), 0.0)
    assert [reported(view, name).text for name in names] == ["0 ms"] * 3
    assert [reported(report(made(), 0.0), name).value for name in names] == [0.0, None, None], "nothing was looked up"
    waited = [ev.LockWaited(module=A, pid=11, minutes=0.0), *hit(A, 11, 31)]
    assert reported(report(made(waited), 0.0), "waiting").value is None, "there was a wait, and nothing dates it"


def test_where_no_job_was_met_the_search_for_one_is_no_time_of_a_run() -> None:
    run = Run()
    for second in range(3):
        run.apply(ev.SourceUnavailable(name="neuron-monitor", reason="not installed", at=T0 + second))
    view = report(run, T0 + 3)
    assert view.headline == ("No job was seen.",)
    assert reported(view, "wall").value is None
    run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=(ev.CoreSample(core=0, memory=1),), at=T0 + 3))
    assert reported(report(run, T0 + 3), "wall").value == 3, "telemetry of devices covers its time"


def test_a_text_without_any_sign_of_a_job_is_questioned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "passwd"
    text.write_text("root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n")
    assert main(["report", str(text)]) == 0
    assert "- The log tells of no compile, no training step, no error and no time" in capsys.readouterr().out
    text.write_text("2026-01-05 10:00:00 step 3 loss 2.5\n")
    assert main(["report", str(text)]) == 0
    assert "may not be that of a job" not in capsys.readouterr().out


def test_nothing_that_was_compiled_is_nothing_to_compile_beforehand() -> None:
    assert precompiled([Done(None), Done(7.0, attempts=0)], 12.0) == ()


def test_the_parts_of_the_wall_time_add_up_to_it() -> None:
    view = report(sample(), 0.0)
    assert {one.name: one.seconds for one in view.parts} == pytest.approx(
        {"compiling": 30 + 10 + 8, "waiting": 1, "training": (50 - 35) + 2 + 20, "rest": 4 + 10}
    )
    assert sum(one.seconds for one in view.parts) == pytest.approx(reported(view, "wall").value)


_moments = st.integers(0, 300).map(lambda tenth: T0 + tenth / 10)
_spans = st.lists(
    st.builds(
        lambda start, seconds, kind, graph: Span(
            graph=graph, worker="w", pid=None, rank=None, kind=kind, start=start, end=start + seconds
        ),
        _moments, st.integers(0, 100).map(lambda tenth: tenth / 10), st.sampled_from([SpanKind.COMPILE, SpanKind.WAIT]),
        st.sampled_from([A, B, C]),
    ),
    max_size=30,
)  # fmt: skip


@given(_spans)
def test_the_critical_path_covers_exactly_the_time_in_which_somebody_compiled_or_waited(spans: list[Span]) -> None:
    path = critical_path(spans)
    whole = [(span.start, span.end or span.start) for span in spans]
    assert sum(one.end - one.start for one in path) == pytest.approx(union_seconds(whole), abs=1e-3)
    assert all(a.end <= b.start + 1e-6 for a, b in pairwise(path))


@given(_spans)
def test_concurrency_ends_at_zero_and_never_exceeds_the_number_of_spans(spans: list[Span]) -> None:
    steps = concurrency(spans)
    assert all(0 <= step.value <= len(spans) for step in steps)
    assert not steps or steps[-1].value == 0


@given(_spans, _spans)
def test_time_without_holes_and_the_holes_make_up_the_whole(spans: list[Span], others: list[Span]) -> None:
    whole = [(span.start, span.end or span.start) for span in spans]
    holes = [(span.start, span.end or span.start) for span in others]
    left = without(whole, holes)
    assert union_seconds([*left, *holes]) == pytest.approx(union_seconds([*whole, *holes]), abs=1e-3)
    assert union_seconds(left) == pytest.approx(sum(end - start for start, end in left), abs=1e-3)
    assert merged(left) == left


@given(event_lists)
def test_any_events_give_a_report(events: list[ev.AnyEvent]) -> None:
    from neuron_top.report.html import html
    from neuron_top.report.markdown import markdown
    from neuron_top.run.model import Run

    run = Run()
    for event in events:
        run.apply(event)
    view = report(run, end_of(run))
    assert html(view).startswith("<!DOCTYPE html>")
    assert markdown(view).startswith("# ")


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_reports_of_real_logs_count_what_was_counted_there(name: str) -> None:
    path = corpus("logs", name)
    expected = json.loads(Path(path).with_suffix(".expect.json").read_text())
    run = read_logs([str(path)], 3600.0)
    view = report(run, end_of(run))
    assert reported(view, "hits").value == expected.get("hits", 0)
    if not expected.get("compile_report"):  # a report's failures are the run's too, though no ERROR line reports them
        by_status = path.read_bytes().count(b"Compiler status ERROR")  # `errors` counts those with a command line
        given_up = expected.get("gave_up", 0) if not expected.get("errors") else 0  # without the line of its failure
        native = path.read_bytes().count(b"Compilation error occurred on Neuron")  # counted apart in the tally
        assert reported(view, "failures").value == expected.get("errors", 0) + by_status + given_up + native
    assert reported(view, "cached_failures").value == expected.get("failed_hits", 0)
    assert reported(view, "graphs_hit").value <= len(expected.get("modules_hit", []))
    assert sorted(line.key for line in view.graphs if line.hits) == sorted(
        graph.key for graph in run.compiles.graphs.values() if graph.hits
    )
    for module, seconds in (expected.get("compile_durations_s") or {}).items():
        line = next(line for line in view.graphs if line.key == module)
        assert line.seconds == pytest.approx(seconds, abs=0.01)
        assert line.provenance is Provenance.MEASURED


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_no_report_of_a_real_log_denies_what_its_lines_report(name: str) -> None:
    """A log whose compiler passed, failed or ended with an error is never told as one in which nothing happened."""
    run = read_logs([str(corpus("logs", name))], 3600.0)
    view = report(run, end_of(run))
    if run.compiles.counts.passes or run.compiles.totals.misses:
        assert "Nothing was compiled" not in " ".join(view.headline)
    counts = run.compiles.counts
    if any(counts.exit_codes) or counts.error_codes or run.compiles.totals.failures or run.job.errors:
        assert not view.headline[-1].startswith("No compile failed")
    if not any(line.attempts and line.seconds for line in view.graphs):
        assert view.precompile == ()
    assert sum(one.seconds for one in view.parts) == pytest.approx(reported(view, "wall").value or 0.0, abs=1e-3)


def test_a_comparison_says_which_run_failed_and_why() -> None:
    from neuron_top.report import comparison as drawn
    from neuron_top.run.model import Run
    from neuron_top.views.compare import compare
    from neuron_top.views.multi_compare import multi_compare

    fine, failed = report(Run(), 1.0), failed_log().read(report)
    view = compare(fine, failed)
    assert view.answer[0].startswith("B failed: the compiler rejected a graph: [NCC_EVRF031]")
    assert (view.a_diagnosis, view.b_diagnosis) == (None, failed.diagnosis)
    assert "B failed: the compiler rejected a graph" in drawn.markdown(view)
    many = multi_compare([failed, fine, fine])
    assert "failed: the compiler rejected a graph" in many.answer[0]
    assert many.rows[0].diagnosis == failed.diagnosis


def test_each_error_counts_once_also_those_that_are_not_listed() -> None:
    run = Run()
    run.apply(ev.ErrorRaised(at=T0, exception="ValueError", message="bad", rank=0))
    run.apply(ev.WorkerDied(at=T0 + 1, rank=0, exit_code=1))
    view = report(run, T0 + 2)
    assert [(line.kind, line.text) for line in view.errors] == [
        ("process died", "exit status 1"), ("exception", "ValueError: bad"),
    ]  # fmt: skip
    assert view.headline[-1] == "2 errors in the output."
    for number in range(300):
        run.apply(ev.ErrorRaised(at=T0 + number, exception="ValueError", message=f"bad {number}", rank=0))
    assert report(run, T0 + 400).headline[-1] == "302 errors in the output."


def test_a_point_that_stands_alone_in_its_curve_is_seen() -> None:
    drawn = lines(Axis(0.0, 10.0), [("core 0", [(5.0, 1.0)])], str)
    (path,) = re.findall(r'<polyline[^>]* points="([^"]*)"', drawn)
    left, right = ([float(number) for number in place.split(",")] for place in path.split())
    assert right[0] - left[0] >= 4
    assert left[1] == right[1]
