"""PyTorch's structured trace is read as it is written, cut anywhere, broken anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.events import (
    AnyEvent,
    BackwardCompiled,
    CompilePhaseEnded,
    FrameCompileBegan,
    FrameCompiled,
    FrameRecompiled,
    GraphBroken,
    GraphCaptured,
    LineMalformed,
    RunFinished,
    RunStarted,
    TorchCacheLookedUp,
    TritonKernelsCompiled,
    decode,
    encode,
)
from neuron_top.ingest.run_loader import read_logs
from neuron_top.parsers import torch_trace
from neuron_top.parsers.torch_trace import TorchTraceReader
from neuron_top.run.model import Run
from neuron_top.views.torch_trace import torch_view
from tests.torch_trace.traces import START, WHOLE, artifact, context, phase, record


def read(text: str | bytes, rank: int | None = None) -> list[AnyEvent]:
    reader = TorchTraceReader("torch-trace:x", rank)
    data = text.encode() if isinstance(text, str) else text
    return [*reader.feed(data), *reader.flush()]


Kind = TypeVar("Kind")


def only(events: list[AnyEvent], kind: type[Kind]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def test_a_frame_has_its_function_its_times_and_its_clock_in_utc() -> None:
    events = read(WHOLE)
    (began,) = only(events, FrameCompileBegan)
    assert (began.function, began.file, began.line, began.compile_id) == (
        "forward",
        "/home/someone/model.py",
        30,
        "0/0",
    )
    assert began.pid == 71
    assert began.at == pytest.approx(START + 0.25)
    (done,) = only(events, FrameCompiled)
    assert (done.seconds, done.inductor_seconds, done.operators, done.failure) == (4.5, 2.5, 12, "")
    assert [(one.phase, one.seconds) for one in only(events, CompilePhaseEnded)] == [
        ("inductor_compile", pytest.approx(2.5))
    ]
    assert only(events, BackwardCompiled)[0].seconds == 1.5
    assert only(events, TritonKernelsCompiled)[0].kernels == 2


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({"backward_cumulative_compile_time_us": 408_537, "inductor_compile_time_s": None}, 0.408537),
        ({"backward_cumulative_compile_time_us": 1_750_000, "inductor_compile_time_s": 1.5}, 1.75),
        ({"inductor_compile_time_s": 1.5}, 1.5),
        ({"backward_cumulative_compile_time_us": None, "inductor_compile_time_s": None}, None),
    ],
)
def test_a_backward_compile_has_its_time_with_every_back_end(fields: dict[str, object], seconds: float | None) -> None:
    text = record({"bwd_compilation_metrics": {"compile_id": "0/0", **fields}, **context()})
    assert [event.seconds for event in only(read(text), BackwardCompiled)] == [seconds]


def test_breaks_recompiles_and_cache_answers_come_with_their_reasons() -> None:
    events = read(WHOLE)
    (broken,) = only(events, GraphBroken)
    assert broken.place == "/home/someone/model.py:31"
    assert broken.reason.startswith("Failed to trace builtin operator: Dynamo does not know how to trace")
    assert only(events, FrameRecompiled)[0].compile_id == "0/1"
    assert "expected 4, actual 6" in only(events, FrameRecompiled)[0].reasons[0]
    asked = {one.cache: one for one in only(events, TorchCacheLookedUp)}
    assert (asked["aot-autograd"].outcome, asked["aot-autograd"].reason) == ("bypass", "a custom operator")
    assert (asked["fx-graph"].outcome, asked["fx-graph"].key, asked["fx-graph"].saved_seconds) == ("hit", "fabc", 2.5)


def test_the_rank_of_the_record_goes_before_that_of_the_file_name() -> None:
    start = {"dynamo_start": {"stack": []}, **context()}
    assert [event.rank for event in only(read(record({**start, "rank": 3}) + record(start), 1), FrameCompileBegan)] == [
        3,
        1,
    ]


def test_compiled_autograd_has_the_ids_that_pytorch_prints() -> None:
    start = {"dynamo_start": {"stack": []}, "compiled_autograd_id": 2}
    assert only(read(record(start) + record({**start, **context(5, 1)})), FrameCompileBegan)[0].compile_id == "!2"
    assert only(read(record({**start, **context(5, 1)})), FrameCompileBegan)[0].compile_id == "!2/5/1"


@given(cuts=st.lists(st.integers(0, len(WHOLE)), max_size=12))
def test_any_cutting_of_the_same_bytes_gives_the_same_events(cuts: list[int]) -> None:
    data, reader, events = WHOLE.encode(), TorchTraceReader("torch-trace:x"), []
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
        events += reader.feed(data[begin:end])
    assert [*events, *reader.flush()] == read(WHOLE)


@given(st.binary(max_size=400), st.integers(0, len(WHOLE)), st.integers(0, 40))
def test_junk_in_the_middle_never_raises_and_costs_only_what_it_touches(junk: bytes, place: int, gone: int) -> None:
    data = WHOLE.encode()
    events = read(
        data[:place]
        + junk
        + data[place + gone :]
        + b"\n"
        + phase("code_gen", "B", 5).encode()
        + phase("code_gen", "E", 6).encode()
    )
    assert any(isinstance(event, CompilePhaseEnded) and event.phase == "code_gen" for event in events)
    assert [decode(encode(event)) for event in events] == events


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    kind=st.sampled_from(("dynamo_start", "compilation_metrics", "bwd_compilation_metrics", "chromium_event", "str")),
    names=st.sampled_from(("stack", "compile_id", "co_name", "start_time", "graph_op_count", "fail_reason")),
    value=_VALUES,
    payload=_VALUES,
)
def test_values_of_any_kind_where_others_are_expected_never_raise(
    kind: str, names: str, value: object, payload: object
) -> None:
    body = json.dumps(payload) if payload is not None else None
    for about in ({names: value}, value, {"stack": [value]}, {"stack": [{"filename": value, "line": value}]}):
        events = read(record({kind: about, "frame_id": value, "rank": value, "attempt": value}, body))
        run = Run()
        for event in events:
            run.apply(decode(encode(event)))
        torch_view(run, START)


@given(
    _VALUES,
    st.sampled_from(
        (
            "fx_graph_cache_hit",
            "aotautograd_cache_bypass",
            "recompile_reasons",
            "triton_kernel_info",
            "dynamo_graph_break_reason",
        )
    ),
)
def test_artifacts_of_any_content_never_raise(payload: object, name: str) -> None:
    read(artifact(name, json.dumps(payload)))


def test_a_line_without_an_end_is_given_up_once_and_takes_bounded_memory() -> None:
    reader = TorchTraceReader("torch-trace:x")
    line = record({"dynamo_start": {"stack": []}, **context()}).rstrip("\n").encode()
    events = reader.feed(line)
    for _ in range(40):
        events += reader.feed(b"x" * (1 << 18))
    events += reader.feed(b"\n" + phase("code_gen", "B", 1).encode() + phase("code_gen", "E", 2).encode())
    events += reader.flush()
    assert len(only(events, LineMalformed)) == 1
    assert [event.phase for event in only(events, CompilePhaseEnded)] == ["code_gen"]


def test_of_a_payload_that_is_too_long_the_key_is_still_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_trace, "PAYLOAD_BYTES", 4096)
    payload = json.dumps({"key": "fkey", "components": ["y" * 900] * 20}, indent=0)
    (asked,) = only(read(artifact("fx_graph_cache_miss", payload)), TorchCacheLookedUp)
    assert asked.key == "fkey"


def test_the_year_is_found_across_new_year_and_on_a_leap_day() -> None:
    leap = record({"dynamo_start": {"stack": []}, **context()}).replace("V0401 01:33", "V0229 01:33")
    assert only(read(leap), FrameCompileBegan)
    new_year = 1_798_761_600.0  # 2027-01-01 00:00:00 UTC
    event = {"name": "dynamo", "ts": (new_year - 30) * 1e6, "ph": "B", "tid": 0}
    text = record({"chromium_event": {}, **context()}, json.dumps(event)) + record(
        {"dynamo_start": {"stack": []}, **context()}
    )
    text = text.replace("V0401 01:33:20", "V0101 00:59:30", 1).replace("V0401 01:33:20", "V0101 01:00:05", 1)
    (began,) = only(read(text), FrameCompileBegan)
    assert began.at == pytest.approx(new_year + 5.25)


def test_a_trace_goes_on_in_the_new_year() -> None:
    new_year = 1_798_761_600.0  # 2027-01-01 00:00:00 UTC
    began = record({"dynamo_start": {"stack": []}, **context()})
    phases = [
        record(
            {"chromium_event": {}, **context()}, json.dumps({"name": "dynamo", "ts": time * 1e6, "ph": "B", "tid": 0})
        )
        for time in (new_year - 30, new_year + 60)
    ]
    text = phases[0].replace("V0401 01:33:20", "V1231 23:59:30") + began.replace("V0401 01:33:20", "V0101 00:00:05")
    text += phases[1].replace("V0401 01:33:20", "V0101 00:01:00") + began.replace("V0401 01:33:20", "V0101 00:02:00")
    times = [event.at for event in only(read(text), FrameCompileBegan)]
    assert times == [pytest.approx(new_year + 5.25), pytest.approx(new_year + 120.25)]


def test_before_the_first_phase_nothing_says_when_a_record_was_written() -> None:
    (began,) = only(read(record({"dynamo_start": {"stack": []}, **context()})), FrameCompileBegan)
    assert began.at is None


def test_frames_of_our_own_back_end_are_not_counted_twice() -> None:
    from neuron_top.events import GraphDescribed

    run = Run()
    run.apply(RunStarted(run="r", command=("x",), at=START, source="job"))
    run.apply(GraphDescribed(module="MODULE_1+2", pid=71, at=START, source="worker:71"))
    ours = record({"dynamo_start": {"stack": []}, **context()}) + record({"dynamo_output_graph": {}, **context()})
    theirs = ours.replace(" 71 ", " 72 ")
    for event in (*read(ours), *read(theirs)):
        run.apply(event)
    view = torch_view(run, START)
    assert view is not None
    assert (view.summary.graphs, view.summary.graphs_ours, len(run.compiles.graphs)) == (1, 1, 1)
    assert [row.backend for row in view.frames] == ["neurontop", ""]


def test_another_back_end_is_named_only_once_the_compile_is_over() -> None:
    run = Run()
    identity: dict[str, Any] = {"pid": 71, "compile_id": "0/0", "source": "torch-trace:x"}

    def backends() -> list[str]:
        view = torch_view(run, START + 9)
        assert view is not None
        return [row.backend for row in view.frames]

    run.apply(FrameCompileBegan(at=START, **identity))
    run.apply(GraphCaptured(at=START + 1, **identity))
    assert backends() == [""], "Inductor and ours have records only later"
    run.apply(FrameCompiled(began=START, seconds=4.0, at=START + 4, **identity))
    assert backends() == ["other"]


def test_the_back_end_of_a_compile_that_the_job_did_not_finish_is_not_known() -> None:
    run = Run()
    run.apply(RunStarted(run="r", command=("x",), at=START, source="job"))
    run.apply(FrameCompileBegan(at=START + 1, pid=71, compile_id="0/0", source="torch-trace:x"))
    run.apply(RunFinished(run="r", exit_code=1, at=START + 2, source="job"))
    view = torch_view(run, START + 9)
    assert view is not None
    assert [(row.state, row.backend) for row in view.frames] == [("unfinished", "")]


def test_an_artifact_of_ours_that_is_loaded_through_pytorchs_caches_stays_ours() -> None:
    from neuron_top.events import ArtifactLoaded

    run = Run()
    run.apply(RunStarted(run="r", command=("x",), at=START, source="job"))
    for number, outcome in ((0, "hit"), (1, "miss")):
        identity = {"pid": 71, "compile_id": f"{number}/0", "source": "torch-trace:x"}
        run.apply(FrameCompileBegan(at=START + 10 * number, **identity))
        run.apply(GraphCaptured(at=START + 10 * number + 1, **identity))
        run.apply(TorchCacheLookedUp(cache="fx-graph", outcome=outcome, at=START + 10 * number + 2, **identity))
        run.apply(FrameCompiled(began=START + 10 * number, seconds=4.0, at=START + 10 * number + 4, **identity))
        run.apply(BackwardCompiled(began=START + 10 * number + 6, seconds=2.0, **identity))
    run.apply(ArtifactLoaded(module="MODULE_1+2", pid=71, seconds=0.1, at=START + 3, source="worker:71"))
    view = torch_view(run, START + 20)
    assert view is not None
    assert [row.backend for row in view.frames] == ["neurontop", "inductor"]
    assert [(row.cache, row.hit, row.miss) for row in view.summary.caches] == [("fx-graph", 0, 1)]
    assert run.torch.elsewhere() == [(START + 10, START + 14), (START + 16, START + 18)]


def test_one_pid_in_the_traces_of_two_nodes_is_two_processes(tmp_path: Path) -> None:
    names = [tmp_path / node / f"dedicated_log_torch_trace_rank_{rank}_x.log" for rank, node in enumerate("ab")]
    for name in names:
        name.parent.mkdir()
        name.write_text(WHOLE)
    one, both = read_logs([str(names[0])], 3600.0), read_logs([str(name) for name in names], 3600.0)
    alone, together = torch_view(one, START), torch_view(both, START)
    assert alone is not None
    assert together is not None
    assert len(together.frames) == 2 * len(alone.frames)
    assert together.summary.graphs == 2 * alone.summary.graphs
    assert {row.rank for row in together.frames} == {0, 1}
    assert len({row.key for row in together.frames}) == len(together.frames)
    assert len({span.worker for span in both.torch.spans()}) == 2


@pytest.mark.parametrize("moment", [1e24, 1e23, 1e20, 1e300, -1e24, 253402300800e6])
def test_a_phase_of_an_impossible_time_sets_no_clock_and_never_raises(moment: float) -> None:
    impossible = record({"chromium_event": {}}, json.dumps({"ts": moment, "name": "dynamo", "ph": "B", "tid": 1}))
    frame = record({"compilation_metrics": {"start_time": moment}, "frame_id": 0, "frame_compile_id": 0})
    events = read(impossible + frame + WHOLE)
    assert only(events, FrameCompiled)[0].began is None
    assert [event.at for event in only(events, FrameCompileBegan)] == [pytest.approx(START + 0.25)]


def test_phases_of_ever_more_threads_take_bounded_memory() -> None:
    reader = TorchTraceReader("torch-trace:x")
    for thread in range(15_000):
        begun = {"ts": START * 1e6, "name": "dynamo", "ph": "B", "tid": thread}
        reader.feed(record({"chromium_event": {}}, json.dumps(begun)).encode())
    assert len(reader._phases) <= 10_000


def test_a_phase_that_has_ended_is_forgotten() -> None:
    reader = TorchTraceReader("torch-trace:x")
    reader.feed((phase("dynamo", "B", 1.0) + phase("dynamo", "E", 2.0)).encode())
    assert len(reader.flush()) == 1
    assert reader._phases == {}
