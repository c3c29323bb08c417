"""A run of two ranks, told in events: times count from T0, module keys are invented."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_top import events as ev
from neuron_top.run.model import Run

T0 = 1_700_000_000.0
A = "MODULE_1111111111111111+aaaaaaaa"
A2 = "MODULE_1111111111111111+bbbbbbbb"
B = "MODULE_2222222222222222+aaaaaaaa"
C = "MODULE_3333333333333333+aaaaaaaa"
D = "MODULE_4444444444444444+aaaaaaaa"


def compiled(module: str, pid: int, start: float, end: float, *, ok: bool = True) -> list[ev.AnyEvent]:
    """A compile that our component measured."""
    return [
        ev.CompileBegan(module=module, pid=pid, at=T0 + start),
        ev.CompileEnded(module=module, pid=pid, at=T0 + end, seconds=end - start, ok=ok, peak_rss_bytes=1 << 30),
    ]


def hit(module: str, pid: int, at: float) -> list[ev.AnyEvent]:
    """A hit."""
    return [ev.CacheHit(module=module, pid=pid, at=T0 + at, generation=ev.LogGeneration.G3)]


def stepped(step: int, at: float, loss: float = 1.0) -> list[ev.AnyEvent]:
    """A progress line."""
    return [ev.StepReported(step=step, loss=loss, throughput=10.0, throughput_unit="seq/s", at=T0 + at)]


def made(*groups: Iterable[ev.AnyEvent], until: float = 100.0) -> Run:
    """A run that began at T0 and ended `until` seconds later."""
    run = Run()
    run.apply(ev.RunStarted(run="r1", name="sample", command=("python", "train.py"), at=T0, versions={"torch": "2.13"}))
    for group in groups:
        for event in group:
            run.apply(event)
    run.apply(ev.RunFinished(run="r1", exit_code=0, at=T0 + until))
    return run


def sample() -> Run:
    """Overlapping compiles, a hit, a wait, a failure, a late compile, the same graph under other flags, memory."""
    memory = [
        ev.CoresSampled(
            kind=ev.CoreKind.LOCAL,
            at=T0 + 30 + second,
            cores=(
                ev.CoreSample(core=0, memory=(1 + second) << 20, capacity=64 << 20, kinds={"parameters": 1 << 20}),
                ev.CoreSample(core=1, memory=2 << 20, capacity=64 << 20),
            ),
        )
        for second in range(5)
    ]
    return made(
        compiled(A, 10, 0, 20),
        compiled(B, 11, 10, 30),
        [ev.LockWaited(module=B, pid=10, at=T0 + 21, minutes=0.0), *hit(B, 10, 31)],
        hit(C, 10, 32),
        stepped(1, 35),
        stepped(2, 36),
        stepped(3, 37),
        compiled(D, 10, 50, 60),
        compiled(A2, 11, 62, 70),
        [ev.CompileFailed(module=C, pid=12, at=T0 + 80, message="[NCC_EOOM001] does not fit", code="NCC_EOOM001")],
        stepped(20, 90),
        memory,
    )
