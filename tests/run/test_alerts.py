"""Alerts: each is raised by its evidence and clears when that is gone."""

from __future__ import annotations

import pytest

from neuron_top.events import (
    AnyEvent,
    CachedFailureHit,
    CacheHit,
    CacheScanned,
    CompileBegan,
    CompileCause,
    CompileCompleted,
    CompileEnded,
    CompileFailed,
    CompileFellBack,
    CoreKind,
    CoreSample,
    CoresSampled,
    DeviceMemoryExhausted,
    ErrorRaised,
    LockWaited,
    LogGeneration,
    ProcessSeen,
    RunFinished,
    RunStarted,
    SourceAvailable,
    SourceUnavailable,
    StepReported,
    TrialRunStarted,
    WorkerDied,
    WorkerFailed,
    WorkerStarted,
)
from neuron_top.run.model import Run
from neuron_top.views.alerts import Alert, alerts

A, B, C = (f"MODULE_{digit * 16}+aaaaaaaa" for digit in "123")


def raised(now: float, *events: AnyEvent) -> dict[str, Alert]:
    run = Run()
    for event in events:
        run.apply(event)
    return {alert.title: alert for alert in alerts(run, now)}


def sampled(at: float, *utilization: float, memory: int = 10) -> CoresSampled:
    cores = tuple(
        CoreSample(core=core, utilization=value, memory=memory, capacity=100) for core, value in enumerate(utilization)
    )
    return CoresSampled(kind=CoreKind.NEURON, cores=cores, at=at, period=1.0)


def test_a_quiet_run_raises_no_alert():
    assert not raised(5.0, RunStarted(run="r", at=0.0), sampled(4.5, 0.9, 0.9), CacheHit(module=A, pid=1, at=1.0))


def test_a_wait_for_a_lock_that_nobody_in_sight_works_on_is_stale_and_clears_with_the_hit():
    waits = (LockWaited(module=A, pid=1, at=180.0, minutes=3.0), LockWaited(module=A, pid=2, at=180.0, minutes=3.0))
    alert = raised(200.0, *waits)["stale lock"]
    assert (alert.severity, alert.since, alert.graph) == ("error", 0.0, A)
    assert "2 workers wait for" in alert.evidence
    assert not raised(200.0, *waits, *(CacheHit(module=A, pid=pid, at=190.0) for pid in (1, 2)))


def test_a_long_wait_for_a_compile_in_progress_is_a_warning_and_a_short_one_is_nothing():
    events = (CompileBegan(module=A, pid=1, at=0.0), LockWaited(module=A, pid=2, at=180.0, minutes=3.0))
    assert raised(200.0, *events)["waiting for a lock"].severity == "warning"
    assert not raised(70.0, CompileBegan(module=A, pid=1, at=0.0), LockWaited(module=A, pid=2, at=60.0, minutes=1.0))


def test_a_killed_compile_says_so_and_clears_when_the_retry_succeeds():
    killed = CompileEnded(
        module=A, pid=1, at=9.0, seconds=8.0, ok=False, cause=CompileCause.KILLED, peak_rss_bytes=1 << 30
    )
    alert = raised(10.0, killed)["compile killed"]
    assert "1.0 GiB" in alert.evidence
    retried = (CompileBegan(module=A, pid=1, at=9.5), CompileEnded(module=A, pid=1, at=12.0, seconds=2.5, ok=True))
    assert "compile failed" in raised(10.0, CompileFailed(module=B, pid=1, at=9.0, message="[NCC_EVRF001] no"))
    assert not raised(13.0, killed, *retried)


def test_a_stored_failure_is_an_alert_until_the_graph_compiles():
    met = CachedFailureHit(module=A, pid=1, at=1.0, message="too many instructions")
    assert "too many instructions" in raised(2.0, met)["cached failure replayed"].evidence
    assert not raised(9.0, met, CompileCompleted(module=A, pid=1, at=8.0, generation=LogGeneration.G3))


def test_little_free_memory_warns_while_it_lasts():
    low = raised(12.5, sampled(10.0, 0.5, memory=95), sampled(11.0, 0.5, memory=96), sampled(12.0, 0.5, memory=97))
    assert low["device memory nearly full"].since == 10.0
    assert not raised(12.5, sampled(11.0, 0.5, memory=96), sampled(12.0, 0.5, memory=50))


def test_a_failed_allocation_is_an_error():
    assert (
        "16.0 GiB"
        in raised(2.0, DeviceMemoryExhausted(requested=1 << 34, at=1.0, core=3))["device memory exhausted"].evidence
    )


def test_graphs_that_keep_appearing_after_warm_up_are_recompiles():
    steps = [StepReported(step=step, at=float(step)) for step in range(1, 6)]
    early = [CompileBegan(module=C, pid=1, at=0.5), CompileEnded(module=C, pid=1, at=0.9, seconds=0.4, ok=True)]
    late = [
        event
        for at, module in ((10.0, A), (12.0, B))
        for event in (
            CompileBegan(module=module, pid=1, at=at),
            CompileEnded(module=module, pid=1, at=at + 1, seconds=1.0, ok=True),
        )
    ]
    assert not raised(20.0, *early, *steps)
    assert not raised(20.0, *early, *steps, *late[:2])  # a single one is the evaluation, most often
    assert raised(20.0, *early, *steps, *late)["graphs compiled during training"].since == 10.0


def test_a_core_that_idles_while_its_peers_work_is_named():
    busy = [sampled(float(at), 0.9, 0.9, 0.9 if at < 20 else 0.0, 0.8) for at in range(100)]
    alert = raised(99.5, *busy)["core idle while its peers work"]
    assert (alert.core, alert.since) == ("/neuron/2", 19.0)
    assert not raised(99.5, *(sampled(float(at), 0.0, 0.0, 0.0, 0.0) for at in range(100)))


def test_a_core_that_idles_after_the_clock_was_set_back_is_named_as_soon_as_any():
    before = [sampled(float(at), 0.9, 0.9, 0.9) for at in range(5000, 5100)]
    after = [sampled(float(at), 0.9, 0.9, 0.0) for at in range(1000, 1100)]
    run = Run()
    for event in (*before, *after[:2]):
        run.apply(event)
    assert [core.smoothed() for core in run.cores.in_order()] == [pytest.approx(0.9), pytest.approx(0.9), 0.0]
    assert raised(1099.5, *before, *after)["core idle while its peers work"].since == 1000.0


def test_workers_stand_for_no_core_beside_neuron_cores_nor_hide_that_their_telemetry_is_lost():
    def workers(at: float) -> CoresSampled:
        waiting = tuple(CoreSample(core=rank, utilization=0.01, memory=10) for rank in range(2))
        return CoresSampled(kind=CoreKind.LOCAL, cores=waiting, at=at, period=1.0)

    both = [event for second in range(100) for event in (workers(float(second)), sampled(float(second), 0.9, 0.9))]
    run = Run()
    for event in both:
        run.apply(event)
    assert [core.kind for core in run.cores.in_order()] == [CoreKind.NEURON] * 2
    assert not raised(99.5, *both)
    silent = raised(160.0, *both, *(workers(float(second)) for second in range(100, 160)))
    assert silent["telemetry lost"].since == 99.0


def test_lost_telemetry_is_reported_while_the_job_runs_and_not_after_it():
    events = (RunStarted(run="r", at=0.0), sampled(1.0, 0.5))
    assert raised(60.0, *events)["telemetry lost"].since == 1.0
    assert not raised(60.0, *events, RunFinished(run="r", exit_code=0, at=2.0))


def test_the_reason_of_lost_telemetry_is_that_of_the_source_that_was_lost():
    def absent(name: str, at: float) -> SourceUnavailable:
        return SourceUnavailable(name=name, reason=f"{name} is absent", at=at)

    available = SourceAvailable(name="neuron-monitor", at=1.0)
    events = (available, absent("sysfs", 1.0), absent("log:x", 1.0), sampled(2.0, 0.5), absent("neuron-monitor", 3.0))
    alert = raised(60.0, RunStarted(run="r", at=0.0), *events, absent("log:y", 5.0))["telemetry lost"]
    assert "neuron-monitor is absent" in alert.evidence


def test_local_workers_that_ended_are_no_loss_of_telemetry():
    sample = CoresSampled(kind=CoreKind.LOCAL, cores=(CoreSample(core=0, utilization=0.5),), at=1.0)
    assert not raised(60.0, sample)
    assert "telemetry lost" in raised(60.0, sample, ProcessSeen(pid=1, role="worker", at=0.0))


def test_graphs_that_fell_back_and_a_cache_switched_off_are_reported():
    assert (
        "dynamic"
        in raised(2.0, CompileFellBack(reason="dynamic shape", at=1.0))["graphs run without our compiler"].evidence
    )
    off = RunStarted(run="r", at=0.0, environment={"NEURON_CC_FLAGS": "--no_cache -O1"})
    assert "the compile cache is not in use" in raised(2.0, off, CompileBegan(module=A, pid=1, at=1.0))
    assert not raised(2.0, off)


def test_a_full_disk_a_trial_run_and_a_dead_worker_are_reported():
    found = raised(
        9.0,
        CacheScanned(root="/c", free=1 << 20, size=1 << 30, at=1.0),
        TrialRunStarted(at=2.0),
        WorkerDied(rank=3, exit_code=1, at=3.0),
        WorkerDied(rank=1, exit_code=-9, signal="SIGKILL", first=True, at=3.1),
    )
    assert [alert.severity for alert in found.values()] == ["error", "error", "info"]
    assert "rank 1 (SIGKILL)" in found["worker died"].evidence


def test_a_worker_of_a_parallel_compile_that_met_an_exception_is_reported_with_it() -> None:
    found = raised(
        9.0,
        WorkerStarted(worker="sub-process 0", pid=1, at=1.0),
        WorkerStarted(worker="sub-process 1", pid=2, at=1.0),
        ErrorRaised(exception="subprocess.CalledProcessError", message="exit status 70", at=2.0),
        WorkerFailed(worker="sub-process 1", pid=2, message="None", at=3.0),
    )
    alert = found["parallel compile worker failed"]
    assert alert.severity == "error"
    assert alert.evidence == ("1 of 2 workers ended by an exception: subprocess.CalledProcessError: exit status 70")
