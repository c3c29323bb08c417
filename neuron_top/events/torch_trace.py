"""What PyTorch's structured trace (TORCH_TRACE) reports of torch.compile in one process.

A frame is a Python function that Dynamo compiles; `compile_id` names one compile of it as PyTorch prints it (`2/1`:
frame 2, compiled for the second time; `!0/2/1` under compiled autograd). Ids count per process, so `pid` belongs to
them. Field meanings: torch/_logging/_internal.py, torch/_dynamo/utils.py (CompilationMetrics), torch/_inductor.
"""

from __future__ import annotations

from neuron_top.events.base import Event, Moment, OpenEnum


class TorchCache(OpenEnum):
    """A compile cache of PyTorch. A remote one, which machines share, is asked if the local one has nothing; its hits
    also count as hits of the local lookup."""

    FX_GRAPH = "fx-graph"
    """Inductor's."""
    AOT_AUTOGRAD = "aot-autograd"
    FX_GRAPH_REMOTE = "fx-graph remote"
    AOT_AUTOGRAD_REMOTE = "aot-autograd remote"


REMOTE_CACHES = frozenset({TorchCache.FX_GRAPH_REMOTE, TorchCache.AOT_AUTOGRAD_REMOTE})
"""Those that machines share."""


class TorchCacheOutcome(OpenEnum):
    """The outcome of a lookup in a compile cache of PyTorch."""

    HIT = "hit"
    MISS = "miss"
    BYPASS = "bypass"
    """The graph cannot be cached."""
    DISABLED = "disabled"


class TorchTraceEvent(Event, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """A record of the trace. `attempt`: Dynamo starts anew after a graph break, counted from 0."""

    pid: int | None = None
    rank: int | None = None
    compile_id: str = ""
    attempt: int | None = None


class FrameCompileBegan(TorchTraceEvent, frozen=True, kw_only=True):
    """Dynamo began to compile a frame."""

    function: str = ""
    file: str = ""
    line: int | None = None


class GraphCaptured(TorchTraceEvent, frozen=True, kw_only=True):
    """Dynamo handed a graph to the back end. A frame in which nothing is left to compile has none."""


class FrameCompiled(TorchTraceEvent, frozen=True, kw_only=True):
    """A frame's compile ended; seconds as PyTorch measured them, None where it did not."""

    function: str = ""
    file: str = ""
    line: int | None = None
    began: Moment | None = None
    seconds: float | None = None
    backend_seconds: float | None = None
    inductor_seconds: float | None = None
    operators: int | None = None
    guards: int | None = None
    cache_size: int | None = None
    """Earlier compiles of this code that are kept."""
    failure: str = ""
    """Why it failed; "" if it did not."""


class BackwardCompiled(TorchTraceEvent, frozen=True, kw_only=True):
    """The backward graph of a frame was compiled when it was first needed."""

    began: Moment | None = None
    seconds: float | None = None


class GraphBroken(TorchTraceEvent, frozen=True, kw_only=True):
    """Dynamo came to code that it cannot trace, and ended the graph there. `place` is `file:line` of user code."""

    place: str = ""
    reason: str = ""


class FrameRecompiled(TorchTraceEvent, frozen=True, kw_only=True):
    """A frame is compiled again because the guards of its earlier compiles failed."""

    reasons: tuple[str, ...] = ()


class TorchCacheLookedUp(TorchTraceEvent, frozen=True, kw_only=True):
    """A lookup in one of PyTorch's own compile caches."""

    cache: TorchCache
    outcome: TorchCacheOutcome
    key: str = ""
    reason: str = ""
    """Why a graph cannot be cached."""
    saved_seconds: float | None = None


class CompilePhaseEnded(TorchTraceEvent, frozen=True, kw_only=True):
    """A phase of a compile ended. Phases nest: their seconds do not add up to a whole."""

    phase: str
    """As PyTorch calls it: `dynamo`, `inductor_compile`, `async_compile.wait`, …"""
    seconds: float


class TritonKernelsCompiled(TorchTraceEvent, frozen=True, kw_only=True):
    """Triton kernels of a graph were compiled (CUDA); `kernels` counts those that the trace lists."""

    kernels: int = 0
