"""Two runs or two caches side by side."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.cli.main import main
from neuron_top.ingest.advised import diagnose
from neuron_top.report.comparison import MOST_ROWS, html, markdown
from neuron_top.report.markdown import markdown as report_markdown
from neuron_top.run.model import Run
from neuron_top.views.compare import Comparison, compare, compare_caches
from neuron_top.views.gate import growth_reasons
from neuron_top.views.multi_compare import multi_compare
from neuron_top.views.report import report
from tests.actions import caches
from tests.builders import neff, write_entry
from tests.report.samples import T0, A, B, C, compiled, hit, made

MIB = 1 << 20


def trained(memory: int, pace: float, *graphs: str) -> Run:
    """A run of two cores with this memory each and so many sequences a second."""
    samples = tuple(
        ev.CoreSample(core=core, memory=memory, kinds={"parameters": memory // 2, "activations": memory // 2})
        for core in (0, 1)
    )
    steps = [
        ev.StepReported(
            step=step, loss=2 / step, throughput=pace, throughput_unit="seq/s", step_seconds=8 / pace, at=T0 + 40 + step
        )
        for step in (1, 2, 3)
    ]
    compiles = [event for number, key in enumerate(graphs) for event in compiled(key, 10, 10 * number, 10 * number + 9)]
    return made(compiles, steps, [ev.CoresSampled(kind=ev.CoreKind.LOCAL, cores=samples, at=T0 + 42)])


@pytest.fixture
def view() -> Comparison:
    one, two = trained(100 * MIB, 10.0, A, B), trained(60 * MIB, 8.0, B, C)
    return compare(report(one, 0.0), report(two, 0.0))


def test_a_comparison_says_how_many_graphs_it_does_not_list(view: Comparison) -> None:
    assert "not listed" not in markdown(view)
    pairs = tuple(msgspec.structs.replace(view.graphs[0], key=f"MODULE_{number}") for number in range(MOST_ROWS + 7))
    many = msgspec.structs.replace(view, graphs=pairs)
    for document in (markdown(many), html(many)):
        assert "7 more are not listed" in document
        assert f"MODULE_{MOST_ROWS - 1}" in document
        assert f"MODULE_{MOST_ROWS}" not in document


def test_it_says_whether_memory_per_core_fell_and_what_that_cost(view: Comparison) -> None:
    assert view.answer[0] == "Peak memory per core fell from 100 MiB to 60.0 MiB (-40 %)."
    assert view.answer[1] == "Throughput fell from 10 seq/s to 8 seq/s (-20 %)."
    assert [(one.kind, one.b) for one in view.memory] == [
        ("total", 60 * MIB),
        ("parameters", 30 * MIB),
        ("activations", 30 * MIB),
    ]


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_diverged_is_no_change_in_percent_and_leaves_a_gap_in_its_curve(loss: float) -> None:
    diverged = made(
        [ev.StepReported(step=step, loss=loss if step > 2 else 5 - step, at=T0 + step) for step in range(4)]
    )
    finite = made([ev.StepReported(step=step, loss=5 - step, at=T0 + step) for step in range(4)])
    for a, b in ((diverged, finite), (finite, diverged)):
        view = compare(report(a, 0.0), report(b, 0.0))
        (pair,) = [pair for pair in view.metrics if pair.name == "loss"]
        assert pair.change is None
        curves = [tag for tag in re.findall(r'points="([^"]*)"', html(view)) if tag]
        assert curves
        assert not any("nan" in points or "inf" in points for points in curves)


def test_throughputs_in_two_units_are_no_rise_or_fall_and_keep_their_units() -> None:
    runs = [
        made([ev.StepReported(step=step, throughput=speed, throughput_unit=unit, at=T0 + step) for step in range(4)])
        for speed, unit in ((10.0, "seq/s"), (8000.0, "tokens/s"))
    ]
    one, two = (msgspec.structs.replace(report(run, 0.0), title=title) for run, title in zip(runs, "ab", strict=True))
    view, several = compare(one, two), multi_compare([one, two, msgspec.structs.replace(one, title="c")])
    assert "Throughput cannot be compared: A's is 10 seq/s, B's 8000 tokens/s." in view.answer
    assert "| throughput | 10 seq/s | 8000 tokens/s |  | measured |" in markdown(view)
    assert [row.throughput_change for row in several.rows] == [None, None, 0.0]
    assert "throughput 8000 tokens/s, that of a 10 seq/s" in several.answer[0]


def on_gpus(memory: int, pace: float) -> Run:
    """The same, of workers that compute on a GPU each."""
    run = trained(100 * MIB, pace, A)
    for core in (0, 1):
        gpu = ev.GpuMemory(name="G", index=core, memory=memory, peak=memory, capacity=1000 * MIB)
        run.apply(ev.WorkerMemoryReported(pid=core + 20, rank=core, gpu=gpu, at=T0 + 43))
    samples = tuple(ev.CoreSample(core=core, pid=core + 20, memory=100 * MIB) for core in (0, 1))
    run.apply(ev.CoresSampled(kind=ev.CoreKind.LOCAL, cores=samples, at=T0 + 44))
    return run


def test_memory_of_a_gpu_and_of_the_host_are_no_rise_or_fall() -> None:
    host, gpu = report(trained(100 * MIB, 10.0, A), 0.0), report(on_gpus(60 * MIB, 8.0), 0.0)
    view = compare(host, gpu)
    assert view.answer[0] == (
        "Peak memory per core cannot be compared: A's is that of the host (100 MiB), B's is that of GPUs (60.0 MiB)."
    )
    assert {pair.change for pair in view.memory} == {None}
    assert "memory of the fullest core" not in [curves.name for curves in view.curves]
    assert growth_reasons(view, gpu, {"max-memory-growth": 0.1}) == ("peak memory per core: not known of both",)
    several = multi_compare([host, gpu])
    assert several.rows[1].memory_change is None
    assert "memory per core 60.0 MiB of GPUs, that of the host there, throughput" in several.answer[0]
    assert "| of |" in report_markdown(gpu)
    assert "| of |" not in report_markdown(host)
    assert (
        compare(gpu, report(on_gpus(30 * MIB, 8.0), 0.0)).answer[0].endswith("fell from 60.0 MiB to 30.0 MiB (-50 %).")
    )


@pytest.mark.parametrize(
    ("first", "second", "reasons"),
    [
        (hit(A, 1, T0), hit(A, 1, T0), ()),
        (
            hit(A, 1, T0),
            compiled(A, 1, T0, T0 + 90),
            ("time spent compiling: grew from nothing to 1 m 30 s, allowed is 10 %",),
        ),
        (compiled(A, 1, T0, T0 + 90), hit(A, 1, T0), ()),
    ],
)
def test_two_runs_that_compiled_nothing_are_alike_and_one_that_did_exceeds_any_growth(
    first: list[ev.AnyEvent], second: list[ev.AnyEvent], reasons: tuple[str, ...]
) -> None:
    one, other = (report(made(events), T0 + 100) for events in (first, second))
    assert growth_reasons(compare(one, other), other, {"max-compile-growth": 0.1}) == reasons


def test_memory_that_is_known_of_one_run_only_keeps_its_curve() -> None:
    known, unknown = report(trained(100 * MIB, 10.0, A), 0.0), report(made([*compiled(A, 10, 0, 9)]), 0.0)
    view = compare(known, unknown)
    assert view.memory_of == ("the host", "")
    assert view.answer[0] == "Peak memory per core is known of one of the two only."
    assert "memory of the fullest core" in [curves.name for curves in view.curves]


def test_one_graph_or_its_regions_are_distinguished_by_operators_and_by_what_equal_blocks_shared() -> None:
    def ran(*operators: int, blocks: int) -> Run:
        keys = (A, B, C)[: len(operators)]
        events = [
            ev.GraphDescribed(module=key, pid=10, operators=count, at=T0)
            for key, count in zip(keys, operators, strict=True)
        ]
        compiles = [event for number, key in enumerate(keys) for event in compiled(key, 10, 9 * number, 9 * number + 5)]
        return made(events, compiles, [ev.GraphReused(module=A, pid=10, blocks=blocks, at=T0 + 30)])

    whole, regions = ran(900, blocks=1), ran(60, 40, blocks=12)
    view = compare(report(whole, 0.0), report(regions, 0.0))
    assert view.answer[-1] == "The number of operators compiled fell from 900 to 100 (-89 %)."
    figures = {one.name: (one.a, one.b) for one in view.metrics}
    assert (figures["graphs_missed"], figures["block_hits"]) == ((1, 2), (0, 11))


def test_graphs_in_common_come_first_and_the_others_are_counted(view: Comparison) -> None:
    assert next(iter(view.graphs)).key == B
    assert (view.only_a, view.only_b) == (1, 1)


def test_both_curves_stand_on_one_axis_from_each_start(view: Comparison) -> None:
    loss = next(one for one in view.curves if one.name == "loss by step")
    assert [point.time for point in loss.a] == [1.0, 2.0, 3.0]
    page = html(view)
    assert page.count("<polyline") >= 4
    assert "Peak memory per core by category" in page
    assert "fell from 100 MiB" in markdown(view)


def log(folder: Path, name: str) -> str:
    place = folder / name
    place.write_text("".join(f"{{'loss': 1.0, 'learning_rate': 0.1, 'epoch': {step}.0}}\n" for step in range(3)))
    return str(place)


def test_thresholds_give_a_reason_a_line_and_status_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    one, two = log(tmp_path, "a.log"), log(tmp_path, "b.log")
    assert main(["compare", one, two]) == 0
    assert capsys.readouterr().out.startswith("# A: a.log · B: b.log")
    assert main(["compare", one, two, "--max-memory-growth", "0.1"]) == 1
    assert "not known of both" in capsys.readouterr().err
    assert main(["compare", one, str(tmp_path)]) == 2
    assert "is no folder, and a run cannot be compared with a cache" in capsys.readouterr().err
    assert main(["compare", "older", "newer"]) == 3
    assert "'older'" in capsys.readouterr().err, "the first that is missing is named"
    assert main(["compare", "-", two]) == 2
    assert capsys.readouterr().err == "neurontop: compare does not read standard input (-); name a file\n"


def test_two_caches_are_compared_by_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    files = {"model.neff": neff(), "model.done": b"", "model.hlo_module.pb": b"x"}
    write_entry(tmp_path / "one", files)
    write_entry(tmp_path / "two", files)
    write_entry(tmp_path / "two", files, graph="f" * 20)
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "two"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["only_a"], found["only_b"], len(found["graphs"])) == (0, 1, 2)
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "two"), "-o", str(tmp_path / "c.html")]) == 0


@pytest.mark.parametrize(
    ("count", "says"), [(1, "1 entry is in both, 0 only in "), (2, "2 entries are in both, 0 only in ")]
)
def test_entries_in_both_caches_are_counted_in_words(count: int, says: str, tmp_path: Path) -> None:
    for number in range(count):
        caches.entry(tmp_path, number)
    snapshot = caches.looked_at(tmp_path)
    (answer,) = compare_caches(snapshot, snapshot).answer
    assert answer.startswith(says)


def test_several_runs_are_one_picture_against_the_first() -> None:
    from neuron_top.report import multi_compare as drawn

    runs = [trained(100 * MIB, 10.0, A), trained(60 * MIB, 8.0, A), trained(40 * MIB, 5.0, A)]
    view = multi_compare([report(run, 0.0) for run in runs])
    assert [row.throughput_change for row in view.rows] == [None, pytest.approx(-0.2), pytest.approx(-0.5)]
    assert [row.memory for row in view.rows] == [100 * MIB, 60 * MIB, 40 * MIB]
    assert drawn.html(view).count("<svg") == 1
    assert "40.0 MiB (-60 %)" in drawn.markdown(view)


def test_what_pytorch_compiled_itself_is_compared_and_is_time_spent_compiling() -> None:
    def plain(*frames: float) -> Run:
        events: list[ev.AnyEvent] = []
        for number, seconds in enumerate(frames):
            identity = {"pid": 10, "compile_id": f"{number}/0", "source": "torch-trace:10"}
            began = T0 + 10 * number
            events += [
                ev.FrameCompileBegan(at=began, **identity),
                ev.GraphCaptured(at=began, **identity),
                ev.TorchCacheLookedUp(cache="fx-graph", outcome="miss", at=began, **identity),
                ev.FrameCompiled(began=began, seconds=seconds, at=began + seconds, **identity),
            ]
        return made(events)

    view = compare(report(plain(30.0), 0.0), report(plain(2.0, 3.0), 0.0))
    assert view.answer == ("Time spent compiling fell from 30.0 s to 5.0 s (-83 %).",)
    reported = {one.name: (one.a, one.b) for one in view.metrics}
    assert reported["compile_share"] == (0.3, 0.05)
    assert reported["torch_graphs"] == (1, 2)
    assert reported["torch_misses"] == (1, 2)
    assert reported["torch_seconds"] == (30, 5)
    assert "PyTorch compiled 1 graph itself, outside the compile cache." in report(plain(30.0), 0.0).headline


def test_runs_that_are_called_the_same_are_told_apart_by_their_begin() -> None:
    one, two = report(trained(100 * MIB, 10.0, A), 0.0), report(trained(60 * MIB, 8.0, A), 0.0)
    later = msgspec.structs.replace(two, start=(two.start or 0.0) + 3600)
    view = compare(one, later)
    assert view.a != view.b
    assert view.a.startswith(f"{one.title}, ")
    assert view.a.endswith(" UTC")
    assert compare(one, msgspec.structs.replace(later, title="wide")).a == one.title, "a name of its own is enough"
    same = multi_compare([one, one, later])
    assert len({row.title for row in same.rows}) == 3


def test_every_failure_is_told_where_runs_are_called_the_same() -> None:
    failed = diagnose(
        b'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: bad\n', "log"
    )
    runs = [
        msgspec.structs.replace(report(trained(MIB, 1.0, A), 0.0), start=T0 + at, diagnosis=failed) for at in (0, 9)
    ]
    told = [line for line in multi_compare(runs).answer if "ValueError: bad" in line]
    assert len(told) == 2
    assert told[0] != told[1]
