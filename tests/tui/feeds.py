"""Feeds that stand still, made of events: what a screen shows is then known to the last cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from neuron_top import events as ev
from neuron_top.pipeline.feed import LogLine
from neuron_top.run.model import Run

View = TypeVar("View")
START = 1_790_000_000.0


class StillFeed:
    """A run at one moment. `push` adds events and tells the screen, as a live feed does."""

    def __init__(self, events: Iterable[ev.AnyEvent] = (), now: float = START, lines: Sequence[LogLine] = ()) -> None:
        self.run, self.now, self.lines = Run(), now, list(lines)
        self.started = self.stopped = 0
        self._changed: Callable[[], None] = lambda: None
        for event in events:
            self.run.apply(event)

    def start(self, changed: Callable[[], None]) -> None:
        self.started += 1
        self._changed = changed

    def stop(self) -> None:
        self.stopped += 1

    def read(self, view: Callable[[Run, float], View]) -> View:
        return view(self.run, self.now)

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        wanted = [line for line in self.lines if source is None or line.source == source]
        return wanted[-count:]

    def push(self, *events: ev.AnyEvent, now: float | None = None) -> None:
        """Things happen."""
        for event in events:
            self.run.apply(event)
        self.now = now if now is not None else self.now
        self._changed()


def job(at: float = START) -> list[ev.AnyEvent]:
    """A started job of four workers."""
    command = ("torchrun", "--nproc_per_node=4", "train_bert_tp.py", "--tensor_parallel_size", "2")
    return [
        ev.RunStarted(run="20260921-101500-bert", name="bert-tp", command=command, at=at, pid=4000, world_size=4,
                      node="trn1"),
        *(ev.ProcessSeen(pid=4001 + rank, role="worker", rank=rank, local_rank=rank, world_size=4, at=at, node="trn1")
          for rank in range(4)),
    ]  # fmt: skip


def samples(count: int, seconds: int, at: float = START, capacity: int | None = 16 * 1024**3) -> list[ev.AnyEvent]:
    """`count` cores sampled once a second, each a little different from its neighbour."""
    made: list[ev.AnyEvent] = []
    for second in range(seconds):
        cores = tuple(
            ev.CoreSample(
                core=core,
                utilization=((core * 7 + second * 3) % 101) / 100,
                memory=(4 + core % 9) * 1024**3 + second * 1024**2,
                capacity=capacity,
                device=core // 2,
                pid=4001 + core,
                process="train_bert_tp.py",
                kinds={"tensors": (3 + core % 7) * 1024**3, "model_code": 512 * 1024**2, "constants": 256 * 1024**2},
            )
            for core in range(count)
        )
        made.append(ev.CoresSampled(kind="neuron", cores=cores, period=1.0, at=at + second, node="trn1"))
    return made


def workers(seconds: int, at: float = START) -> list[ev.AnyEvent]:
    """Four local workers as cores, without a capacity, with their own account of memory."""
    mib = 1024**2
    kinds = {
        "parameters": 90 * mib,
        "gradients": 90 * mib,
        "optimizer": 180 * mib,
        "activations": 40 * mib,
        "rest": 110 * mib,
    }
    made: list[ev.AnyEvent] = []
    for second in range(seconds):
        cores = tuple(
            ev.CoreSample(core=rank, rank=rank, pid=4001 + rank, utilization=0.5 + 0.1 * rank + 0.01 * (second % 9),
                          memory=(520 + 30 * rank) * mib, peak=(600 + 30 * rank) * mib, process="python", kinds=kinds)
            for rank in range(4)
        )  # fmt: skip
        made.append(ev.CoresSampled(kind="local", cores=cores, period=1.0, at=at + second, node="trn1"))
    made.append(ev.HostSampled(cpu=0.71, memory_used=9 * 1024**3, memory_total=24 * 1024**3, at=at + seconds))
    return made


def module(number: int) -> str:
    """A cache key as the wrapper prints it."""
    return f"MODULE_{10**18 + number * 7919 * 10**11}+a1b2c3d4"


def compiles(at: float = START) -> list[ev.AnyEvent]:
    """Two graphs from the cache, one compiled, one failed, one compiling, one waited for."""
    common = {"pid": 4001, "rank": 0, "node": "trn1", "generation": "G3"}
    return [
        ev.CachePathAnnounced(path="/var/tmp/neuron-compile-cache", at=at + 1, **common),
        ev.CacheHit(module=module(1), at=at + 2, **common),
        ev.CacheHit(module=module(2), at=at + 3, **common),
        ev.CompileBegan(module=module(3), at=at + 4, pid=4001, rank=0, node="trn1"),
        ev.CompileEnded(module=module(3), at=at + 16, seconds=12.0, ok=True, pid=4001, rank=0, node="trn1",
                        artefact_bytes=3_400_000, peak_rss_bytes=900_000_000),
        ev.CompileBegan(module=module(4), at=at + 17, pid=4002, rank=1, node="trn1"),
        ev.CompileFailed(module=module(4), at=at + 30, pid=4002, rank=1, node="trn1", exit_status=-9,
                         message="[F137] neuronx-cc was forcibly killed", code="F137"),
        ev.CompileBegan(module=module(5), at=at + 31, pid=4003, rank=2, node="trn1"),
        ev.LockWaited(module=module(5), at=at + 40, pid=4004, rank=3, node="trn1", minutes=1.0, path="/cache/x.lock"),
        ev.LockWaited(module=module(6), at=at + 41, pid=4001, rank=0, node="trn1", minutes=2.0, path="/cache/y.lock"),
    ]  # fmt: skip


def steps(count: int, at: float = START) -> list[ev.AnyEvent]:
    """Steps printed once a second, with a falling loss."""
    return [
        ev.StepReported(step=step, total_steps=200, loss=10.5 / (1 + step / 20), throughput=31.5 + step % 3,
                        throughput_unit="seq/s", step_seconds=0.98, learning_rate=1e-4, at=at + step, rank=0)
        for step in range(1, count + 1)
    ]  # fmt: skip


_TEXTS = (
    ("", "Running: torchrun --nproc_per_node=4 train_bert_tp.py"),
    ("event", "INFO ||NEURON_CACHE||: Compile cache path: /var/tmp/neuron-compile-cache"),
    ("warning", "UserWarning: dynamic shapes make the graph recompile"),
    ("event", "step 41/200 loss 3.4426 throughput 32.5 seq/s"),
    ("error", "ERROR ||NEURON_CC_WRAPPER||: [F137] neuronx-cc was forcibly killed"),
    ("", "progress ␛[2J bar of some library"),
)
LINES = [LogLine(source="job", offset=80 * index, text=text, level=level) for index, (level, text) in enumerate(_TEXTS)]
