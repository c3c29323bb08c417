"""What torch.compile did in plain PyTorch processes, from their structured traces.

This is separate from `run.compiles`, which counts the graphs of the back end `neurontop`. A frame that went to that
back end is marked here (`backend`), so that no total counts a graph twice.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import assert_never

import msgspec

from neuron_top.events import (
    ArtifactLoaded,
    BackwardCompiled,
    CompileBegan,
    CompilePhaseEnded,
    FrameCompileBegan,
    FrameCompiled,
    FrameRecompiled,
    GraphBroken,
    GraphCaptured,
    GraphDescribed,
    TorchCacheLookedUp,
    TorchTraceFamily,
    TritonKernelsCompiled,
)
from neuron_top.events.torch_trace import TorchCache, TorchCacheOutcome
from neuron_top.run.graph import AttemptOutcome
from neuron_top.run.spans import Interval, Span, SpanKind, insert

FRAMES_KEPT = 2000
BREAKS_KEPT = 500
MOMENTS_KEPT = 8000
"""Most moments that are kept per process; a frame has a few."""
INDUCTOR_PHASES = frozenset(("inductor_compile", "fx_codegen_and_compile"))


class FrameCompile(msgspec.Struct, kw_only=True):
    """One compile of one frame in one process. Seconds and counts; None is unknown."""

    node: str
    pid: int | None
    compile_id: str
    worker: str = ""
    """The process: `<node>/<pid>`, with `#2` appended for the second trace in which that pid occurs."""
    rank: int | None = None
    function: str = ""
    file: str = ""
    line: int | None = None
    began: float | None = None
    ended: float | None = None
    seconds: float | None = None
    backward_seconds: float | None = None
    backward_spans: tuple[tuple[float, float], ...] = ()
    """When its backward graph was compiled, if the trace dates that."""
    phases: dict[str, float] = {}
    operators: int | None = None
    guards: int | None = None
    attempts: int = 1
    graphs: int = 0
    breaks: int = 0
    recompiled: tuple[str, ...] = ()
    """Why it was compiled again; empty the first time."""
    caches: dict[TorchCache, dict[TorchCacheOutcome, int]] = {}
    """Answers by cache (`fx-graph`, `aot-autograd`) and outcome."""
    triton_kernels: int = 0
    inductor: bool = False
    """Whether Inductor took part: the trace has a phase of it, or a lookup in its cache."""
    failure: str = ""


class Break(msgspec.Struct, kw_only=True):
    """A place where graphs break, and why."""

    place: str
    reason: str
    times: int = 0
    functions: dict[str, int] = {}


class TorchCacheAnswers(msgspec.Struct, kw_only=True):
    """Answers of one of PyTorch's caches over the run."""

    hit: int = 0
    miss: int = 0
    bypass: int = 0
    disabled: int = 0
    saved_seconds: float = 0.0
    """Compile time that hits saved, as PyTorch recorded it."""
    reasons: dict[str, int] = {}
    """Why lookups were bypassed."""


class OurGraphs(msgspec.Struct, kw_only=True):
    """What the back end `neurontop` said about one process."""

    inside: bool = False
    """Whether it compiled inside the process, so that Inductor's records there are its own."""
    moments: list[float] = []
    """When it was given a graph, began to compile it or loaded it, in order."""

    def between(self, start: float | None, end: float | None) -> bool:
        """Whether one of its moments lies in this span; `end` None: the span goes on."""
        if start is None:
            return False
        first = bisect_left(self.moments, start)
        return first < len(self.moments) and (end is None or self.moments[first] <= end)


class TorchTraceTracker:
    """Frames by process and compile id, in the order in which they were first met, and totals over all of them.

    A process writes one trace, so the same pid in two traces is that of two processes: on two nodes, or one after the
    other.
    """

    def __init__(self) -> None:
        self.frames: dict[str, FrameCompile] = {}
        self.breaks: dict[tuple[str, str], Break] = {}
        self.caches: dict[TorchCache, TorchCacheAnswers] = {}
        self.phases: dict[str, tuple[int, float]] = {}
        """Phase → (how often it occurred, its seconds); phases nest."""
        self.met = 0
        """How many frame compiles were begun; may be more than `frames` keeps."""
        self.graphs = 0
        self.graph_breaks = 0
        self.recompiles = 0
        self.failures = 0
        self.ours: dict[str, OurGraphs] = {}
        """Process (`<node>/<pid>`) that uses the back end `neurontop` → what that reported."""
        self._compiled_before: list[Interval] = []
        self._traced_before: list[Interval] = []
        """The intervals of frames that are no longer kept: of other back ends, and of ours."""
        self._traces: dict[tuple[str, int | None], dict[str, str]] = {}
        """(node, pid) → trace → name of the worker."""

    def add_backend_event(self, event: GraphDescribed | CompileBegan | ArtifactLoaded) -> None:
        """Our own back end reported a graph: its frames in that process are counted elsewhere."""
        if event.pid is not None:
            known = self.ours.setdefault(f"{event.node}/{event.pid}", OurGraphs())
            known.inside = known.inside or (isinstance(event, CompileBegan) and event.inside_job)
            if event.at is not None and len(known.moments) < MOMENTS_KEPT:
                insort(known.moments, event.at)

    def is_ours(self, frame: FrameCompile) -> bool:
        """Whether the frame's graphs went to the back end `neurontop`.

        PyTorch's caches load an artifact of ours, and then report Inductor; so the time decides.
        """
        known = self.ours.get(f"{frame.node}/{frame.pid}")
        return known is not None and (known.inside or not frame.inductor or known.between(frame.began, frame.ended))

    def elsewhere(self) -> list[Interval]:
        """When PyTorch compiled with other back ends than ours, as far as its trace dates it."""
        return [*self._compiled_before, *_intervals(self.spans())]

    def traced(self) -> list[Interval]:
        """When it worked on graphs for our own back end: see `tracing`."""
        return [*self._traced_before, *_intervals(self.tracing())]

    def spans(self) -> list[Span]:
        """The same of the frames that are kept, with who compiled what: forward, then backward, in which process."""
        frames = (frame for frame in self.frames.values() if frame.graphs and not self.is_ours(frame))
        return [span for frame in frames for span in _spans(frame, SpanKind.COMPILE)]

    def tracing(self) -> list[Span]:
        """When PyTorch worked on graphs for our own back end, from capture to loaded code.

        This includes compiles and waits, which are known more exactly from the back end itself.
        """
        frames = (frame for frame in self.frames.values() if frame.graphs and self.is_ours(frame))
        return [span for frame in frames for span in _spans(frame, SpanKind.TRACE)]

    def apply(self, event: TorchTraceFamily) -> None:
        """Take one event into account."""
        if isinstance(event, CompilePhaseEnded):
            times, seconds = self.phases.get(event.phase, (0, 0.0))
            self.phases[event.phase] = (times + 1, seconds + event.seconds)
        elif isinstance(event, TorchCacheLookedUp):
            self._asked(event)
        if event.compile_id and (not isinstance(event, CompilePhaseEnded) or self._key(event) in self.frames):
            # a frame that Dynamo looks at and skips has phases, and nothing else
            self._in_frame(self._frame(event), event)

    def _in_frame(self, frame: FrameCompile, event: TorchTraceFamily) -> None:
        match event:
            case FrameCompileBegan():
                _began(frame, event)
            case GraphCaptured():
                self.graphs += 1
                frame.graphs += 1
            case FrameCompiled():
                self._compiled(frame, event)
            case BackwardCompiled():
                frame.backward_seconds = _added(frame.backward_seconds, event.seconds)
                if event.began is not None and event.seconds is not None:
                    frame.backward_spans += ((event.began, event.began + event.seconds),)
            case GraphBroken():
                self._broken(frame, event)
            case FrameRecompiled():
                self.recompiles += not frame.recompiled
                frame.recompiled = event.reasons or ("no reason given",)
            case TorchCacheLookedUp():
                answers = frame.caches.setdefault(event.cache, {})
                answers[event.outcome] = answers.get(event.outcome, 0) + 1
                frame.inductor = frame.inductor or event.cache == TorchCache.FX_GRAPH
            case CompilePhaseEnded():
                frame.phases[event.phase] = frame.phases.get(event.phase, 0.0) + event.seconds
                frame.inductor = frame.inductor or event.phase in INDUCTOR_PHASES
            case TritonKernelsCompiled():
                frame.triton_kernels += event.kernels
            case _:
                assert_never(event)

    def _frame(self, event: TorchTraceFamily) -> FrameCompile:
        key = self._key(event)
        frame = self.frames.get(key)
        if frame is None:
            if len(self.frames) >= FRAMES_KEPT:
                self._drop(self.frames.pop(next(iter(self.frames))))
            worker = self._worker(event)
            frame = FrameCompile(node=event.node, pid=event.pid, compile_id=event.compile_id, worker=worker)
            self.frames[key] = frame
            self.met += 1
        frame.rank = event.rank if event.rank is not None else frame.rank
        frame.attempts = max(frame.attempts, (event.attempt or 0) + 1)
        return frame

    def _drop(self, frame: FrameCompile) -> None:
        """Keep of a frame when it was compiled: of many ranks, the newest frames are few of all."""
        if frame.graphs:
            before = self._traced_before if self.is_ours(frame) else self._compiled_before
            for interval in _intervals(_spans(frame, SpanKind.COMPILE)):
                insert(before, interval)

    def _key(self, event: TorchTraceFamily) -> str:
        return f"{self._worker(event)}/{event.compile_id}"

    def _worker(self, event: TorchTraceFamily) -> str:
        traces = self._traces.setdefault((event.node, event.pid), {})
        if event.source not in traces:
            name = f"{event.node}/{event.pid}"
            traces[event.source] = f"{name}#{len(traces) + 1}" if traces else name
        return traces[event.source]

    def _compiled(self, frame: FrameCompile, event: FrameCompiled) -> None:
        _name(frame, event)
        frame.began = event.began if event.began is not None else frame.began
        frame.ended, frame.seconds = event.at, event.seconds
        frame.operators, frame.guards = event.operators, event.guards
        frame.inductor = frame.inductor or bool(event.inductor_seconds)
        self.failures += bool(event.failure) and not frame.failure
        frame.failure = event.failure

    def _broken(self, frame: FrameCompile, event: GraphBroken) -> None:
        self.graph_breaks += 1
        frame.breaks += 1
        key = (event.place, event.reason)
        known = self.breaks.get(key)
        if known is None and len(self.breaks) < BREAKS_KEPT:
            known = self.breaks[key] = Break(place=event.place, reason=event.reason)
        if known is not None:
            known.times += 1
            known.functions[frame.function] = known.functions.get(frame.function, 0) + 1

    def _asked(self, event: TorchCacheLookedUp) -> None:
        answers = self.caches.setdefault(event.cache, TorchCacheAnswers())
        match event.outcome:
            case TorchCacheOutcome.HIT:
                answers.hit += 1
            case TorchCacheOutcome.MISS:
                answers.miss += 1
            case TorchCacheOutcome.BYPASS:
                answers.bypass += 1
                if event.reason in answers.reasons or len(answers.reasons) < BREAKS_KEPT:
                    answers.reasons[event.reason] = answers.reasons.get(event.reason, 0) + 1
            case _:
                answers.disabled += 1
        answers.saved_seconds += event.saved_seconds or 0.0


def _began(frame: FrameCompile, event: FrameCompileBegan) -> None:
    _name(frame, event)
    frame.began = event.at if frame.began is None else frame.began


def _added(sum_so_far: float | None, seconds: float | None) -> float | None:
    return sum_so_far if seconds is None else (sum_so_far or 0.0) + seconds


def _name(frame: FrameCompile, event: FrameCompileBegan | FrameCompiled) -> None:
    frame.function, frame.file = event.function or frame.function, event.file or frame.file
    frame.line = event.line if event.line is not None else frame.line


def _intervals(spans: Iterable[Span]) -> Iterator[Interval]:
    return ((span.start, span.end) for span in spans if span.end is not None)


def _spans(frame: FrameCompile, kind: SpanKind) -> Iterator[Span]:
    forward = (frame.began, frame.ended)
    named = [(f"{frame.function} {frame.compile_id}".strip(), forward)]
    named += [(f"{named[0][0]}, backward", span) for span in frame.backward_spans]
    for name, (start, end) in named:
        if start is not None and end is not None:
            yield Span(
                graph=name,
                worker=frame.worker,
                pid=frame.pid,
                rank=frame.rank,
                kind=kind,
                start=start,
                end=end,
                outcome=AttemptOutcome.FAILED if frame.failure else AttemptOutcome.DONE,
                by_pytorch=True,
            )
