"""Every event the program knows, and their one union.

Sources and parsers make events, `run.model.Run.apply` adds them up, the store keeps them. A new event is added to its
module and to its family here; `decode` then knows it, and the type checker names the tracker in `run/` that must.
"""

from __future__ import annotations

import msgspec

from neuron_top.decoders import LateDecoder
from neuron_top.escapes import json_bytes
from neuron_top.events.advice import AdviceKind, FunctionRecompiled, RuntimeAdvised
from neuron_top.events.base import Event, LogEvent
from neuron_top.events.cache import (
    ArtifactFetched,
    CacheScanned,
    EntryChanged,
)
from neuron_top.events.compile import (
    ArtifactLoaded,
    CachedFailureHit,
    CacheHit,
    CacheMissed,
    CachePathAnnounced,
    CompileBegan,
    CompileCause,
    CompileCompleted,
    CompileEnded,
    CompileFailed,
    CompileFellBack,
    CompileGaveUp,
    CompileLogEvent,
    CompileRequested,
    CompilerErrorSeen,
    CompilerExited,
    CompilerPassed,
    CompilerProgress,
    CompilerStageFinished,
    CompilerVersionSeen,
    CompileStarted,
    GraphDescribed,
    GraphExtracted,
    GraphMeasured,
    GraphReused,
    HubMissed,
    LockWaited,
    LogGeneration,
    WaitBegan,
)
from neuron_top.events.fleet import AgentStopped, ClockMeasured, NodeDescribed
from neuron_top.events.fold import EventsFolded, Foldable, StepTime, WorkerHeard
from neuron_top.events.job import (
    JobDiagnosed,
    JobFound,
    LineMalformed,
    LineMarked,
    OutputGrew,
    ProcessExited,
    ProcessRole,
    ProcessSeen,
    RecordingCutOff,
    Rotation,
    RunFinished,
    RunStarted,
    SourceRotated,
)
from neuron_top.events.parallel import (
    GraphReported,
    GraphsListed,
    QueueCounted,
    SummaryReported,
    TrialRunStarted,
    WorkerFailed,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.events.runtime import (
    MEMORY_KINDS,
    WORKER_KINDS,
    CoreCountersRead,
    CoreKind,
    CoreSample,
    CoresSampled,
    Device,
    DeviceMemoryExhausted,
    DevicesFound,
    ExecutionsCounted,
    GpuMemory,
    HardwareErrorsCounted,
    HostSampled,
    LoadedModel,
    MemoryRow,
    MemoryScope,
    NeffMemoryReported,
    NeuronProcess,
    NeuronProcessesSampled,
    RuntimeLogged,
    SourceAvailable,
    SourceUnavailable,
    WorkerMemoryReported,
)
from neuron_top.events.torch_trace import (
    BackwardCompiled,
    CompilePhaseEnded,
    FrameCompileBegan,
    FrameCompiled,
    FrameRecompiled,
    GraphBroken,
    GraphCaptured,
    TorchCacheLookedUp,
    TritonKernelsCompiled,
)
from neuron_top.events.training import (
    CheckpointReported,
    ErrorRaised,
    GraphMetricsReported,
    StepReported,
    TrainingFactReported,
    WorkerDied,
)

__all__ = [
    "AdviceFamily",
    "AdviceKind",
    "AgentStopped",
    "AnyEvent",
    "ArtifactFetched",
    "ArtifactLoaded",
    "BackwardCompiled",
    "CachedFailureHit",
    "CacheFamily",
    "CacheHit",
    "CacheMissed",
    "CachePathAnnounced",
    "CacheScanned",
    "ClockMeasured",
    "CheckpointReported",
    "CompileBegan",
    "CompileRequested",
    "ComponentEvent",
    "CompileCompleted",
    "CompilerProgress",
    "CompileCause",
    "CompileEnded",
    "CompileFailed",
    "CompileFamily",
    "CompileFellBack",
    "CompileGaveUp",
    "CompileLogEvent",
    "CompilePhaseEnded",
    "CompilerErrorSeen",
    "CompilerExited",
    "CompilerPassed",
    "CompilerStageFinished",
    "CompilerVersionSeen",
    "CompileStarted",
    "CoreCountersRead",
    "CoreSample",
    "CoreKind",
    "CoresSampled",
    "decode",
    "Device",
    "DeviceMemoryExhausted",
    "DevicesFound",
    "encode",
    "EntryChanged",
    "ErrorRaised",
    "Event",
    "EventsFolded",
    "ExecutionsCounted",
    "Foldable",
    "FoldFamily",
    "FrameCompileBegan",
    "FrameCompiled",
    "FrameRecompiled",
    "FunctionRecompiled",
    "GraphBroken",
    "GraphCaptured",
    "GpuMemory",
    "GraphDescribed",
    "GraphExtracted",
    "GraphMeasured",
    "GraphMetricsReported",
    "GraphReported",
    "GraphReused",
    "GraphsListed",
    "HardwareErrorsCounted",
    "HostSampled",
    "HubMissed",
    "JobDiagnosed",
    "JobFamily",
    "JobFound",
    "LineMalformed",
    "LineMarked",
    "LoadedModel",
    "LockWaited",
    "LogEvent",
    "LogGeneration",
    "MEMORY_KINDS",
    "MemoryRow",
    "MemoryScope",
    "NeffMemoryReported",
    "NeuronProcess",
    "NodeDescribed",
    "NodeFamily",
    "NeuronProcessesSampled",
    "OutputGrew",
    "ParallelFamily",
    "ProcessExited",
    "ProcessRole",
    "ProcessSeen",
    "QueueCounted",
    "RecordingCutOff",
    "RunFinished",
    "RunStarted",
    "RuntimeFamily",
    "RuntimeAdvised",
    "RuntimeLogged",
    "SourceAvailable",
    "Rotation",
    "SourceRotated",
    "SourceUnavailable",
    "StepReported",
    "StepTime",
    "SummaryReported",
    "TorchCacheLookedUp",
    "TorchTraceFamily",
    "TrainingFactReported",
    "TrainingFamily",
    "TrialRunStarted",
    "TritonKernelsCompiled",
    "WORKER_KINDS",
    "WaitBegan",
    "WorkerDied",
    "WorkerFailed",
    "WorkerFinished",
    "WorkerHeard",
    "WorkerMemoryReported",
    "WorkerStarted",
]

CompileFamily = (
    CachePathAnnounced
    | CacheMissed
    | CacheHit
    | CachedFailureHit
    | CompileStarted
    | CompilerProgress
    | CompilerPassed
    | CompileCompleted
    | CompileFailed
    | CompileGaveUp
    | LockWaited
    | GraphExtracted
    | HubMissed
    | GraphDescribed
    | WaitBegan
    | CompileRequested
    | CompileBegan
    | CompileEnded
    | ArtifactLoaded
    | CompileFellBack
    | GraphReused
    | GraphMeasured
    | CompilerStageFinished
    | CompilerExited
    | CompilerVersionSeen
    | CompilerErrorSeen
)
ComponentEvent = (
    GraphDescribed
    | WaitBegan
    | CompileRequested
    | CompileBegan
    | CompileEnded
    | ArtifactLoaded
    | GraphReused
    | GraphMeasured
)
"""What a process reports about one graph beside its log lines, as our own compile component does."""
ParallelFamily = (
    TrialRunStarted
    | GraphsListed
    | WorkerStarted
    | WorkerFinished
    | WorkerFailed
    | QueueCounted
    | GraphReported
    | SummaryReported
)
TrainingFamily = (
    StepReported | TrainingFactReported | CheckpointReported | WorkerDied | ErrorRaised | GraphMetricsReported
)
RuntimeFamily = (
    RuntimeLogged
    | DeviceMemoryExhausted
    | NeffMemoryReported
    | CoresSampled
    | HostSampled
    | ExecutionsCounted
    | NeuronProcessesSampled
    | WorkerMemoryReported
    | DevicesFound
    | HardwareErrorsCounted
    | CoreCountersRead
    | SourceAvailable
    | SourceUnavailable
)
CacheFamily = EntryChanged | CacheScanned | ArtifactFetched
JobFamily = (
    RunStarted
    | RunFinished
    | RecordingCutOff
    | JobFound
    | JobDiagnosed
    | ProcessSeen
    | ProcessExited
    | LineMalformed
    | LineMarked
    | SourceRotated
    | OutputGrew
)
TorchTraceFamily = (
    FrameCompileBegan
    | GraphCaptured
    | FrameCompiled
    | BackwardCompiled
    | GraphBroken
    | FrameRecompiled
    | TorchCacheLookedUp
    | CompilePhaseEnded
    | TritonKernelsCompiled
)
FoldFamily = EventsFolded | WorkerHeard
AdviceFamily = RuntimeAdvised | FunctionRecompiled
NodeFamily = ClockMeasured | NodeDescribed | AgentStopped
AnyEvent = (
    CompileFamily
    | ParallelFamily
    | TrainingFamily
    | RuntimeFamily
    | CacheFamily
    | JobFamily
    | TorchTraceFamily
    | FoldFamily
    | AdviceFamily
    | NodeFamily
)

_decoder: LateDecoder[AnyEvent] = LateDecoder(AnyEvent)


def encode(event: Event) -> bytes:
    """One line of JSON, without a line end; the field `type` names the event.

    Of a file whose name is no UTF-8 the name is escaped, as `escapes.name_text` does.
    """
    return json_bytes(event)


def decode_lines(data: bytes) -> list[AnyEvent]:
    """The events of many lines; raises as `decode`."""
    try:
        return _decoder.decode_lines(data)
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None


def decode(data: bytes | str) -> AnyEvent:
    """The event that `encode` wrote. Raises msgspec.ValidationError or msgspec.DecodeError on anything else."""
    try:
        return _decoder.decode(data)
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None
