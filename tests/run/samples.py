"""Short ways to make events for tests of the run, the store and the views; module keys are invented."""

from __future__ import annotations

from hypothesis import strategies as st

from neuron_top import events as ev
from neuron_top.events.diagnosis import LastWait
from neuron_top.events.levels import LogLevel

A = "MODULE_1111111111111111+aaaaaaaa"
B = "MODULE_2222222222222222+aaaaaaaa"
C = "MODULE_3333333333333333+bbbbbbbb"

_times = st.one_of(st.none(), st.integers(0, 4000).map(lambda tenth: 1_700_000_000 + tenth / 10))
_pids = st.sampled_from([None, 10, 11, 12])
_modules = st.sampled_from([A, B, C])
_maybe_modules = st.sampled_from([A, B, C, None])
_head = {"at": _times, "seen": _times, "source": st.sampled_from(["log:a", "log:b"])}
_line = {**_head, "pid": _pids, "rank": st.sampled_from([None, 0, 1])}
_wrapper = {**_line, "module": _maybe_modules, "generation": st.sampled_from(["G0", "G1", "G2", "G3"])}
# Lines report at most nine digits of minutes: no event has one that is infinite.
st.register_type_strategy(
    LastWait, st.builds(LastWait, minutes=st.floats(0, 600), since=st.one_of(st.none(), st.floats(0, 2e9)))
)
_seconds = st.floats(0, 1000, allow_nan=False)
_shares = st.one_of(st.none(), st.floats(0, 1))
_bytes = st.one_of(st.none(), st.integers(0, 1 << 40))

core_samples = st.builds(ev.CoreSample, core=st.integers(0, 3), utilization=_shares, memory=_bytes, capacity=_bytes,
                         peak=_bytes, pid=_pids)  # fmt: skip

any_event = st.one_of(
    st.builds(ev.CachePathAnnounced, path=st.just("/cache"), **_wrapper),
    st.builds(ev.CacheMissed, **_wrapper),
    st.builds(ev.CacheHit, **_wrapper),
    st.builds(ev.CachedFailureHit, message=st.just("stored"), retrying=st.booleans(), **_wrapper),
    st.builds(ev.CompileStarted, **_wrapper),
    st.builds(ev.CompilerProgress, dots=st.integers(1, 9), **_head),
    st.builds(ev.CompilerPassed, **_head),
    st.builds(ev.CompileCompleted, **_wrapper),
    st.builds(ev.CompileFailed, message=st.just("broken"), exit_status=st.sampled_from([None, 70, -9]), **_wrapper),
    st.builds(ev.LockWaited, minutes=st.one_of(st.none(), st.floats(0, 600)), **_wrapper),
    st.builds(ev.GraphExtracted, **_wrapper),
    st.builds(ev.HubMissed, file=st.just("model.neff"), **_wrapper),
    st.builds(ev.GraphDescribed, module=_modules, pid=_pids, graph_bytes=_bytes, **_head),
    st.builds(ev.WaitBegan, module=_modules, pid=_pids, **_head),
    st.builds(ev.CompileRequested, module=_modules, pid=_pids, **_head),
    st.builds(ev.CompileBegan, module=_modules, pid=_pids, compiler_pid=_pids, **_head),
    st.builds(ev.CompileEnded, module=_modules, pid=_pids, seconds=_seconds, ok=st.booleans(), **_head),
    st.builds(ev.ArtifactLoaded, module=_modules, pid=_pids, seconds=_seconds, waited_seconds=_seconds, **_head),
    st.builds(ev.ArtifactFetched, module=_modules, pid=_pids, place=st.just("s3://b"), bytes=st.integers(0, 9),
              total_bytes=st.just(9), seconds=_seconds, ended=st.booleans(), **_head),
    st.builds(ev.GraphReused, module=_modules, pid=_pids, blocks=st.integers(1, 40), **_head),
    st.builds(ev.CompileFellBack, reason=st.just("dynamic shape"), **_head),
    st.builds(ev.TrialRunStarted, **_line),
    st.builds(ev.GraphsListed, paths=st.just(("/c/x",)), **_line),
    st.builds(ev.WorkerStarted, worker=st.just("0"), **_line),
    st.builds(ev.QueueCounted, remaining=st.integers(0, 9), locked=st.just(0), failed=st.just(0), done=st.just(1),
              total=st.just(9), **_line),
    st.builds(ev.GraphReported, path=st.just("/c/x"), module=_maybe_modules, ok=st.one_of(st.none(), st.booleans()),
              seconds=st.one_of(st.none(), _seconds), **_line),
    st.builds(ev.SummaryReported, total=st.integers(0, 9), **_line),
    st.builds(ev.StepReported, step=st.one_of(st.none(), st.integers(0, 999)), loss=st.one_of(st.none(), _seconds),
              throughput=st.one_of(st.none(), _seconds), **_line),
    st.builds(ev.WorkerDied, exit_code=st.sampled_from([None, 1, -9]), **_line),
    st.builds(ev.ErrorRaised, exception=st.just("ValueError"), **_line),
    st.builds(ev.CoresSampled, kind=st.just(ev.CoreKind.LOCAL),
              cores=st.lists(core_samples, max_size=4).map(tuple), **_head),
    st.builds(ev.HostSampled, cpu=_shares, memory_used=_bytes, **_head),
    st.builds(ev.WorkerMemoryReported, pid=st.sampled_from([10, 11]), kinds=st.just({"rest": 5}),
              gpu=st.sampled_from([None, ev.GpuMemory(name="G", index=0, memory=9, kinds={"rest": 9})]), **_head),
    st.builds(ev.DeviceMemoryExhausted, requested=_bytes, **_line),
    st.builds(ev.SourceUnavailable, name=st.just("monitor"), reason=st.just("not installed"), **_head),
    st.builds(ev.EntryChanged, root=st.just("/cache"), compiler=st.just("c"), module=_modules,
              state=st.sampled_from([None, "done"]), **_head),
    st.builds(ev.CacheScanned, root=st.just("/cache"), states=st.just({"done": 3}), free=_bytes, **_head),
    st.builds(ev.RunStarted, run=st.just("r"), name=st.just("job"), **_head),
    st.builds(ev.RunFinished, run=st.just("r"), exit_code=st.sampled_from([0, 1, -2]), **_head),
    st.builds(ev.ProcessSeen, pid=st.sampled_from([10, 11, 12]), role=st.sampled_from(["worker", "compiler"]),
              rank=st.sampled_from([None, 0, 1]), module=_maybe_modules, started=_times, **_head),
    st.builds(ev.ProcessExited, pid=st.sampled_from([10, 11, 12]), exit_code=st.sampled_from([None, 0, 1]), **_head),
    st.builds(ev.LineMarked, level=st.sampled_from([LogLevel.ERROR, LogLevel.WARNING]),
              text=st.text(max_size=20), **_line),
    st.builds(ev.OutputGrew, path=st.just("/log"), end=st.integers(0, 9999), **_head),
)  # fmt: skip
event_lists = st.lists(any_event, max_size=60)

_trace = {**_head, "pid": _pids, "compile_id": st.sampled_from(["0/0", "1/0"])}
other_events = st.one_of(
    st.builds(ev.CompileGaveUp, path=st.just("/c/x"), retries=st.just(3), **_wrapper),
    st.builds(ev.CompilerStageFinished, stage=st.just("walrus"), seconds=_seconds, **_line),
    st.builds(ev.CompilerExited, code=st.sampled_from([0, 70]), **_line),
    st.builds(ev.CompilerVersionSeen, version=st.just("2.21"), **_line),
    st.builds(ev.CompilerErrorSeen, code=st.just("NCC_EBVF030"), **_line),
    st.builds(ev.WorkerFinished, worker=st.just("0"), tasks=st.just(1), **_line),
    st.builds(ev.WorkerFailed, worker=st.just("0"), message=st.just("broken"), **_line),
    st.builds(
        ev.CheckpointReported,
        path=st.sampled_from(["", "/out/checkpoint-4"]),
        step=st.sampled_from([None, 4]),
        finished=st.booleans(),
        **_line,
    ),
    st.builds(ev.TrainingFactReported, name=st.just("batch size"), value=st.sampled_from(["1", "2"]), **_line),
    st.builds(ev.GraphMetricsReported, compiled=st.integers(0, 9), **_line),
    st.builds(
        ev.RuntimeLogged,
        level=st.sampled_from([LogLevel.INFO, LogLevel.WARNING, LogLevel.ERROR]),
        text=st.just("nec"),
        **_line,
    ),
    st.builds(ev.NeffMemoryReported, name=st.just("a.neff"), total=_bytes, **_line),
    st.builds(ev.ExecutionsCounted, pid=_pids, statuses=st.just({"completed": 3}), **_head),
    st.builds(ev.NeuronProcessesSampled, processes=st.just(()), **_head),
    st.builds(ev.DevicesFound, devices=st.just((ev.Device(index=0),)), **_head),
    st.builds(ev.HardwareErrorsCounted, device=st.just(0), counts=st.just({"mem_ecc": 1}), **_head),
    st.builds(ev.CoreCountersRead, device=st.just(0), physical=st.just(0), counts=st.just({"success": 1}), **_head),
    st.builds(ev.SourceAvailable, name=st.just("monitor"), **_head),
    st.builds(ev.LineMalformed, family=st.sampled_from(["wrapper", "runtime"]), text=st.just("x"), **_line),
    st.builds(ev.SourceRotated, path=st.just("/log"), **_head),
    st.builds(ev.FrameCompileBegan, function=st.just("f"), **_trace),
    st.builds(ev.GraphCaptured, **_trace),
    st.builds(ev.FrameCompiled, function=st.just("f"), seconds=_seconds, **_trace),
    st.builds(ev.BackwardCompiled, seconds=_seconds, **_trace),
    st.builds(ev.GraphBroken, place=st.just("a.py:1"), reason=st.just("print"), **_trace),
    st.builds(ev.FrameRecompiled, reasons=st.just(("shape",)), **_trace),
    st.builds(ev.TorchCacheLookedUp, cache=st.just("fx-graph"), outcome=st.sampled_from(["hit", "miss"]), **_trace),
    st.builds(ev.CompilePhaseEnded, phase=st.just("dynamo"), seconds=_seconds, **_trace),
    st.builds(ev.TritonKernelsCompiled, kernels=st.just(2), **_trace),
    st.builds(ev.JobDiagnosed, **_head),
    st.builds(ev.GraphMeasured, module=_modules, pid=_pids, compile_seconds=_seconds, **_head),
    st.builds(ev.RuntimeAdvised, text=st.just("a larger page"), device=st.just(0), **_line),
    st.builds(ev.FunctionRecompiled, function=st.just("f"), reason=st.sampled_from(["", "shape"]), **_line),
    st.builds(ev.ClockMeasured, offset_seconds=st.just(0.25), **_head),
    st.builds(ev.NodeDescribed, attributes=st.just({"instance": "trn1.32xlarge"}), **_head),
    st.builds(ev.AgentStopped, **_head),
)
"""The kinds that `any_event` leaves out."""

_clocked = {"at": st.integers(0, 4000).map(lambda tenth: 1_700_000_000 + tenth / 10), "seen": _times}
_line_of_a_rank = {
    **_clocked, "source": st.just("log:a"), "pid": st.sampled_from([None, 10, 11, 12, 13]), "rank": st.just(None),
}  # fmt: skip
_look_up = {**_line_of_a_rank, "module": st.sampled_from([A, B]), "generation": st.sampled_from(["G2", "G3"])}
repeating_event = st.one_of(
    st.builds(ev.CacheHit, **_look_up),
    st.builds(ev.CacheHit, **_look_up),
    st.builds(ev.GraphExtracted, **_look_up),
    st.builds(ev.LockWaited, minutes=st.one_of(st.none(), st.floats(0, 600)), **_look_up),
    st.builds(ev.CachePathAnnounced, path=st.just("/cache"), **(_look_up | {"module": st.none()})),
    st.builds(ev.StepReported, step=st.one_of(st.none(), st.integers(0, 9)), loss=st.one_of(st.none(), _seconds),
              **_line_of_a_rank),
    st.builds(ev.LineMarked, level=st.just(LogLevel.WARNING), text=st.sampled_from(["a", "b"]), **_line_of_a_rank),
    st.builds(ev.OutputGrew, path=st.just("/log"), end=st.integers(0, 9999), **_head),
)  # fmt: skip
"""What a fold is for, with few values, so that much repeats."""
