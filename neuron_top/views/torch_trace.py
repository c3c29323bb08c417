"""torch.compile of plain PyTorch jobs, arranged: totals, a row per compiled frame, breaks, caches, phases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

import msgspec

from neuron_top.events.torch_trace import TorchCache, TorchCacheOutcome
from neuron_top.run.model import Run
from neuron_top.run.spans import Interval
from neuron_top.run.torch_trace import FrameCompile, TorchCacheAnswers
from neuron_top.units import count_text, counted, duration_text

INDUCTOR, OURS, OTHER = "inductor", "neurontop", "other"
_PHASES = (
    ("bytecode_tracing", "Python code traced"),
    ("create_aot_dispatcher_function", "graphs made and compiled"),
    ("aot_trace_joint_graph", "  forward and backward traced together"),
    ("inductor_compile", "Inductor"),
    ("GraphLowering.run", "  operators turned into loops"),
    ("code_gen", "  code written and loaded"),
    ("async_compile.wait", "  waited for the C++ or Triton compiler"),
    ("async_compile.precompile", "  Triton kernels compiled"),
    ("CachingAutotuner.benchmark_all_configs", "  Triton configurations tried"),
    ("CachingAutotuner.coordinate_descent_tuning", "  Triton configurations refined"),
    ("cudagraphify", "CUDA graphs recorded"),
    ("build_guards", "conditions for a recompile written"),
    ("entire_backward_compile", "backward compiled when first needed"),
)
"""What is shown of the phases, in the order of a compile; indented ones are parts of the one above."""


class FrameState(StrEnum):
    """Where the compile of one frame stands."""

    COMPILING = "compiling"
    COMPILED = "compiled"
    FAILED = "failed"
    UNFINISHED = "unfinished"
    """The job ended first."""


class FrameRow(msgspec.Struct, frozen=True, kw_only=True):
    """One compile of one frame."""

    key: str
    compile_id: str
    """PyTorch's name of the compile, as in the lines that TORCH_LOGS prints: `0/1`."""
    function: str
    place: str
    """`file:line`."""
    state: FrameState
    backend: str
    """`inductor`, `neurontop` (counted with our own graphs) or `other`; "" while it is not known."""
    rank: int | None
    pid: int | None
    began: float | None
    seconds: float | None
    """Compile time, backward included; of one that is compiled now, so far."""
    graphs: int
    breaks: int
    attempts: int
    operators: int | None
    recompiled: tuple[str, ...]
    step: int | None
    """The last training step printed before it began; None before the first."""
    after_warm_up: bool
    """It began after the third step that was reported."""
    spans: tuple[Interval, ...]
    """When it was compiled: forward, then each backward graph when first needed; as far as the trace dates it."""
    fx: str
    """Answers of the FX-graph cache, as `2 hits`; "" when it was not asked."""
    aot: str
    failure: str


class BreakRow(msgspec.Struct, frozen=True, kw_only=True):
    """A place where graphs break."""

    place: str
    reason: str
    times: int
    functions: tuple[str, ...]


class TorchCacheRow(msgspec.Struct, frozen=True, kw_only=True):
    """Answers of one cache; `hit_rate` 0…1 of hits and misses, None when there was neither."""

    cache: TorchCache
    hit: int
    miss: int
    bypass: int
    disabled: int
    hit_rate: float | None
    saved_seconds: float
    bypasses: tuple[tuple[str, int], ...]


class PhaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One phase over all compiles; phases nest, so their seconds do not add up."""

    phase: str
    meaning: str
    times: int
    seconds: float


class TorchSummary(msgspec.Struct, frozen=True, kw_only=True):
    """torch.compile in numbers."""

    compiles: int
    """Frame compiles, recompiles included."""
    compiling: int
    graphs: int
    """Graphs that Dynamo captured for other back ends than `neurontop`."""
    graphs_ours: int
    """Graphs that went to the back end `neurontop`: counted among the run's graphs, not here again."""
    breaks: int
    recompiles: int
    failures: int
    late: int | None
    """Frames compiled after warm-up by other back ends than `neurontop`; None where no training was seen to be warm."""
    seconds: float
    """Compile seconds added up over processes."""
    caches: tuple[TorchCacheRow, ...]
    processes: int = 1
    """Whose counts and seconds are added up."""
    triton_kernels: int = 0
    """Those that Inductor compiled on a GPU, as far as the trace lists them."""


class TorchView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the traces reported."""

    summary: TorchSummary
    frames: tuple[FrameRow, ...]
    breaks: tuple[BreakRow, ...]
    phases: tuple[PhaseRow, ...]


def torch_view(run: Run, now: float) -> TorchView | None:
    """torch.compile in this run; None where no process wrote a trace."""
    ledger = run.torch
    if not ledger.frames and not ledger.caches and not ledger.phases:
        return None
    ended = run.job.finished is not None
    frames = tuple(_row(run, frame, now, ended=ended) for frame in ledger.frames.values())
    breaks = sorted(ledger.breaks.values(), key=lambda one: -one.times)
    return TorchView(
        summary=_summary(run, frames),
        frames=frames,
        breaks=tuple(
            BreakRow(place=one.place, reason=one.reason, times=one.times, functions=tuple(one.functions))
            for one in breaks
        ),
        phases=tuple(
            PhaseRow(phase=name, meaning=meaning, times=ledger.phases[name][0], seconds=ledger.phases[name][1])
            for name, meaning in _PHASES
            if name in ledger.phases
        ),
    )


def torch_summary(run: Run, now: float) -> TorchSummary | None:
    """The numbers alone."""
    view = torch_view(run, now)
    return view.summary if view is not None else None


def _summary(run: Run, frames: tuple[FrameRow, ...]) -> TorchSummary:
    ledger = run.torch
    ours = sum(row.graphs for row in frames if row.backend == OURS)
    loads = _loads_of_ours(run)
    return TorchSummary(
        compiles=ledger.met,
        compiling=sum(row.state is FrameState.COMPILING for row in frames),
        graphs=ledger.graphs - ours,
        graphs_ours=ours,
        breaks=ledger.graph_breaks,
        recompiles=ledger.recompiles,
        failures=ledger.failures,
        late=sum(row.after_warm_up for row in frames if row.graphs and row.backend != OURS)
        if run.training.warm_time is not None
        else None,
        seconds=sum(row.seconds or 0.0 for row in frames),
        caches=tuple(
            _cache_row(name, one, one.hit - loads[name])
            for name, one in sorted(ledger.caches.items())
            if one.hit > loads[name] or one.miss or one.bypass or one.disabled
        ),
        processes=len({(row.rank, row.pid) for row in frames}),
        triton_kernels=sum(frame.triton_kernels for frame in ledger.frames.values()),
    )


def _loads_of_ours(run: Run) -> Counter[TorchCache]:
    """Hits of PyTorch's caches by which our own back end's artifacts were loaded: counted among our hits and misses."""
    found: Counter[TorchCache] = Counter()
    for frame in run.torch.frames.values():
        if frame.caches and run.torch.is_ours(frame):
            found.update({name: answers.get(TorchCacheOutcome.HIT, 0) for name, answers in frame.caches.items()})
    return found


def _cache_row(name: TorchCache, one: TorchCacheAnswers, hits: int) -> TorchCacheRow:
    return TorchCacheRow(
        cache=name,
        hit=hits,
        miss=one.miss,
        bypass=one.bypass,
        disabled=one.disabled,
        hit_rate=hits / (hits + one.miss) if hits + one.miss else None,
        saved_seconds=one.saved_seconds if hits else 0.0,
        bypasses=tuple(sorted(one.reasons.items(), key=lambda item: -item[1])),
    )


def _row(run: Run, frame: FrameCompile, now: float, *, ended: bool) -> FrameRow:
    over, warm = frame.ended is not None, run.training.warm_time
    state = _state(frame, ended=ended)
    seconds = frame.seconds
    if not over and not ended and frame.began is not None:
        seconds = max(0.0, now - frame.began)
    if frame.backward_seconds is not None:
        seconds = (seconds or 0.0) + frame.backward_seconds
    return FrameRow(
        key=f"{frame.worker}/{frame.compile_id}",
        compile_id=frame.compile_id,
        function=frame.function,
        place=f"{frame.file}:{frame.line}" if frame.file and frame.line is not None else frame.file,
        state=state,
        backend=_backend(run, frame, state),
        rank=frame.rank if frame.rank is not None else run.job.rank_of(frame.pid, frame.node),
        pid=frame.pid,
        began=frame.began,
        seconds=seconds,
        graphs=frame.graphs,
        breaks=frame.breaks,
        attempts=frame.attempts,
        operators=frame.operators,
        recompiled=frame.recompiled,
        step=run.training.step_at(frame.began),
        after_warm_up=None not in (warm, frame.began) and (frame.began or 0.0) > (warm or 0.0),
        spans=_spans(frame, now, ended=ended),
        fx=answers_text(frame.caches.get(TorchCache.FX_GRAPH, {})),
        aot=answers_text(frame.caches.get(TorchCache.AOT_AUTOGRAD, {})),
        failure=frame.failure,
    )


def _state(frame: FrameCompile, *, ended: bool) -> FrameState:
    if frame.failure:
        return FrameState.FAILED
    if frame.ended is not None:
        return FrameState.COMPILED
    return FrameState.UNFINISHED if ended else FrameState.COMPILING


def _backend(run: Run, frame: FrameCompile, state: FrameState) -> str:
    """The back end; only a compile that is over is known to have gone to neither Inductor nor ours."""
    if run.torch.is_ours(frame):
        return OURS
    if frame.inductor:
        return INDUCTOR
    return OTHER if state in (FrameState.COMPILED, FrameState.FAILED) else ""


def _spans(frame: FrameCompile, now: float, *, ended: bool) -> tuple[Interval, ...]:
    end = frame.ended if frame.ended is not None or ended else now
    forward = ((frame.began, end),) if frame.began is not None and end is not None and end >= frame.began else ()
    return (*forward, *frame.backward_spans)


def nth_text(compile_id: str) -> str:
    """Which compile of its function it is: `2nd` for `0/1`, as PyTorch counts from 0; another form stays as it is."""
    found = _NTH.fullmatch(compile_id)
    if found is None:
        return compile_id
    number = int(found[1]) + 1
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{count_text(number)}{ending}"


_NTH = re.compile(r"(?:![^/]*/)?\d+/(\d+)(?:_\d+)?")


def answers_text(answers: Mapping[TorchCacheOutcome, int]) -> str:
    """`2 hits, 1 miss`; "" where none was given."""
    return ", ".join(
        f"{answers[one]} {one if answers[one] == 1 else many}" for one, many in _PLURAL.items() if answers.get(one)
    )


_PLURAL = {
    TorchCacheOutcome.HIT: "hits",
    TorchCacheOutcome.MISS: "misses",
    TorchCacheOutcome.BYPASS: "bypasses",
    TorchCacheOutcome.DISABLED: "disabled",
}


def summary_words(one: TorchSummary) -> str:
    """The totals in one line: `4 compiles in 18.5 s, 4 graphs; 2 graph breaks, 2 recompiles`.

    Graphs of our own back end are named apart: `2 compiles in 9.1 s with tracing, 2 graphs by the back end neurontop`;
    without tracing they are the run's own compile time.
    """
    traced = " with tracing" if one.graphs_ours else ""
    words = [f"{counted(one.compiles, 'compile')} in {duration_text(one.seconds)}{traced}"]
    if one.graphs or not one.graphs_ours:
        words.append(counted(one.graphs, "graph"))
    if one.graphs_ours:
        words.append(f"{counted(one.graphs_ours, 'graph')} by the back end neurontop")
    problems = [counted(n, name) for n, name in ((one.breaks, "graph break"), (one.recompiles, "recompile")) if n]
    problems += [f"{count_text(one.failures)} given up"] if one.failures else []
    return ", ".join(words) + (f"; {', '.join(problems)}" if problems else "")


def added_up_words(one: TorchSummary) -> str:
    """As `summary_words`, and of how many processes: several take more seconds together than went by."""
    together = f"; counts and times of {one.processes} processes, added up" if one.processes > 1 else ""
    return f"{summary_words(one)}{together}"


CACHE_NAMES = {
    TorchCache.FX_GRAPH: "Inductor's cache",
    TorchCache.AOT_AUTOGRAD: "AOTAutograd's cache",
    TorchCache.FX_GRAPH_REMOTE: "Inductor's remote cache",
    TorchCache.AOT_AUTOGRAD_REMOTE: "AOTAutograd's remote cache",
}


def cache_name(cache: TorchCache) -> str:
    """A cache of PyTorch by the part of PyTorch that it belongs to; one of another version by its own name."""
    return CACHE_NAMES.get(cache, f"cache {cache}")


def cache_words(row: TorchCacheRow) -> str:
    """`2 hits, 1 miss; 11.1 s saved`."""
    counts = {
        TorchCacheOutcome.HIT: row.hit,
        TorchCacheOutcome.MISS: row.miss,
        TorchCacheOutcome.BYPASS: row.bypass,
        TorchCacheOutcome.DISABLED: row.disabled,
    }
    words = answers_text(counts) or "not asked"
    return words + (f"; {duration_text(row.saved_seconds)} of compiling saved" if row.saved_seconds else "")
