"""What the compile wrapper, its cache and the compiler say. Field meanings: specs of the log formats G0-G3."""

from __future__ import annotations

from enum import StrEnum

from neuron_top.events.base import Event, LogEvent, OpenEnum


class LogGeneration(OpenEnum):
    """The format that a line of the compile wrapper is written in."""

    UNKNOWN = ""
    """No header stood in front of it."""
    G0 = "G0"
    G1 = "G1"
    G2 = "G2"
    """With a tag, the cache path and a start line."""
    G3 = "G3"
    """Since the end of 2025: no tag, a completion line, and no start line but in the logs of our own component."""
    NATIVE = "native"
    """Of TorchNeuron, PyTorch's native back end: its cache and its lines are its own."""


class CompileLogEvent(LogEvent, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """A line of the compile wrapper or of its cache.

    `module` is the key as printed (`MODULE_<graph>+<flags>`, or without flags in the oldest format).
    """

    module: str | None = None
    generation: LogGeneration = LogGeneration.UNKNOWN
    graph: str | None = None
    """The graph's own id, where the cache's key (`module`) is another: NATIVE only."""


class CachePathAnnounced(CompileLogEvent, frozen=True, kw_only=True):
    """A lookup began; `path` is what the user configured, verbatim."""

    path: str


class CacheMissed(CompileLogEvent, frozen=True, kw_only=True):
    """A miss was announced (oldest format and NATIVE: the others compile without saying so)."""

    root: str | None = None
    compiler: str | None = None


class CacheHit(CompileLogEvent, frozen=True, kw_only=True):
    """A cached artifact was used; `neff` is its path as printed."""

    neff: str = ""
    root: str | None = None
    compiler: str | None = None


class CachedFailureHit(CompileLogEvent, frozen=True, kw_only=True):
    """The cache holds a failure for this graph. `message` quotes the stored compiler text."""

    root: str | None = None
    compiler: str | None = None
    message: str = ""
    retrying: bool = False


class CompileStarted(CompileLogEvent, frozen=True, kw_only=True):
    """The compiler was called."""

    target: str | None = None
    workdir: str | None = None
    command: str = ""


class CompilerProgress(CompileLogEvent, frozen=True, kw_only=True):
    """Progress dots: one at once, then about one each 20 s and compiler."""

    dots: int = 1


class CompilerPassed(CompileLogEvent, frozen=True, kw_only=True):
    """`Compiler status PASS`: names no graph; with several compilers only a counter."""


class CompileCompleted(CompileLogEvent, frozen=True, kw_only=True):
    """A graph was compiled and stored (G3's completion line; G0's exit line, then without a module)."""


class CompileFailed(CompileLogEvent, frozen=True, kw_only=True):
    """A compile failed just now. `code` is the compiler's bracketed code, `exit_status` its exit status."""

    message: str = ""
    code: str | None = None
    exit_status: int | None = None


class CompileGaveUp(CompileLogEvent, frozen=True, kw_only=True):
    """The wrapper stopped retrying."""

    path: str = ""
    retries: int = 0

    @property
    def message(self) -> str:
        """What stands for the compiler's message where that was not printed."""
        return f"given up after {self.retries} retries; the compiler's message was not printed"


class LockWaited(CompileLogEvent, frozen=True, kw_only=True):
    """Another process holds the entry's lock; `minutes` waited so far, None where the line is cut."""

    path: str = ""
    minutes: float | None = None
    compiler: str | None = None
    root: str | None = None
    broken: bool = False
    """The wait ended in vain, and the waiter removed the lock, whoever held it: NATIVE only."""


class GraphExtracted(CompileLogEvent, frozen=True, kw_only=True):
    """A graph was stored for a later compile; nothing was compiled."""

    path: str = ""
    root: str | None = None
    compiler: str | None = None


class HubMissed(CompileLogEvent, frozen=True, kw_only=True):
    """The Hugging Face hub cache does not hold `file` of this entry. Not a local miss."""

    file: str = ""
    repo: str = ""
    compiler: str | None = None


class GraphDescribed(Event, frozen=True, kw_only=True):
    """What a graph is, reported by our own backend from inside the job."""

    module: str
    pid: int | None = None
    rank: int | None = None
    direction: str = ""
    """`forward`, `backward`, `inference`."""
    operators: int | None = None
    op_counts: dict[str, int] = {}
    """How many of each operator, the commonest only."""
    inputs: tuple[str, ...] = ()
    """Shapes as text, `f32[8,128]`."""
    graph_bytes: int | None = None
    flags: tuple[str, ...] = ()
    compiler: str | None = None


class WaitBegan(Event, frozen=True, kw_only=True):
    """Our compile component began to wait for another process that compiles the graph, or fetches it.

    What comes next says how the wait ended: a hit, a stored failure, or a compile by the process that waited.
    """

    module: str
    pid: int | None = None
    rank: int | None = None


class CompileRequested(Event, frozen=True, kw_only=True):
    """Our compile component asked its compiler for a compile; the seconds of its end count from here.

    `CompileBegan` follows once a process works on it. The first compile of a job waits until its compile server has
    imported PyTorch.
    """

    module: str
    pid: int | None = None
    rank: int | None = None


class CompileBegan(Event, frozen=True, kw_only=True):
    """A compiler process began the compile (exact, unlike what log lines allow)."""

    module: str
    pid: int | None = None
    rank: int | None = None
    compiler_pid: int | None = None
    inside_job: bool = False
    """In older recordings: the graph could not be serialized for a compile process; the job's own compiled it."""


class CompileCause(StrEnum):
    """Why a compile of our component ended without an artifact."""

    NONE = ""
    """It did not: it ended well."""
    KILLED = "killed"
    """By a signal from outside, for the second time: it is not tried again by this process."""
    RETRIED = "retried"
    """Killed, and compiled once more."""
    INTERRUPTED = "interrupted"
    DISK_FULL = "disk full"
    ELSEWHERE = "elsewhere"
    """It says nothing of the graph, which is compiled without the cache or by the node that now has its claim."""
    NO_COMPILER = "no compiler"
    """The compiler is not there, or lacks a part."""
    ERROR = "error"
    """The compiler rejected the graph."""

    @classmethod
    def _missing_(cls, value: object) -> CompileCause:
        return cls.ERROR  # the word of another version

    @property
    def is_last_word(self) -> bool:
        """False where the graph is compiled again, here or elsewhere."""
        return self not in (
            CompileCause.RETRIED,
            CompileCause.INTERRUPTED,
            CompileCause.DISK_FULL,
            CompileCause.ELSEWHERE,
        )


class CompileEnded(Event, frozen=True, kw_only=True):
    """Our compile component finished one graph. `seconds` is measured; `peak_rss_bytes` of the compile process."""

    module: str
    pid: int | None = None
    rank: int | None = None
    seconds: float
    ok: bool
    artifact_bytes: int | None = None
    peak_rss_bytes: int | None = None
    cause: CompileCause = CompileCause.NONE


class ArtifactLoaded(Event, frozen=True, kw_only=True):
    """A cached artifact was loaded into the job; `seconds` is measured."""

    module: str
    pid: int | None = None
    rank: int | None = None
    seconds: float
    waited_seconds: float = 0.0


class GraphMeasured(Event, frozen=True, kw_only=True):
    """A row of TorchNeuron's table of graphs. `module` is the graph's own id; `at` is when its lowering began.

    `compile_seconds` 0: this process did not compile it, it came from a cache or from another thread.
    """

    module: str
    pid: int | None = None
    rank: int | None = None
    name: str = ""
    model: str = ""
    operators: int | None = None
    collectives: bool | None = None
    pass_seconds: float | None = None
    lower_seconds: float | None = None
    compile_seconds: float


class GraphReused(Event, frozen=True, kw_only=True):
    """A compiled graph served an equal block of the model: it was called with parameters that are new to it.

    Our own backend reports the first block and each further one. With regional compilation a block is compiled once,
    and the others need no lookup.
    """

    module: str
    pid: int | None = None
    rank: int | None = None
    blocks: int
    """Sets of parameters so far, in this process."""


class CompileFellBack(Event, frozen=True, kw_only=True):
    """A graph ran without our compiler (`reason`): counted, because it is slow."""

    pid: int | None = None
    rank: int | None = None
    reason: str = ""


class CompilerStageFinished(LogEvent, frozen=True, kw_only=True):
    """The compiler finished a stage (its own log, or a chatty console)."""

    stage: str
    seconds: float


class CompilerExited(LogEvent, frozen=True, kw_only=True):
    """The compiler's own log ended: `Subcommand returned with exitcode=N`."""

    code: int


class CompilerVersionSeen(LogEvent, frozen=True, kw_only=True):
    """The compiler printed its version."""

    version: str


class CompilerErrorSeen(LogEvent, frozen=True, kw_only=True):
    """A bracketed compiler error code, wherever it stood; `text` is the message behind it."""

    code: str
    text: str = ""
