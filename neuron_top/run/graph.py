"""One graph of a run: which workers looked it up, what was tried, and how surely each duration is known.

Log lines and the side channel of our own compile component report the same compiles, in no fixed order. So nothing here
depends on the order of arrival: the n-th message of each kind about one graph and worker belongs to its n-th attempt,
and the number of attempts is the largest such n. Thus a compile that is reported twice counts once.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.events import CompileCause

LINES_KEPT = 64
"""How many log lines are remembered per graph, the newest ones, so that a screen can show them from the graph's row."""


FOLDED = "several"
"""Stands for the process if only the number of a node's lookups was reported."""


class GraphState(StrEnum):
    """Where a graph stands; the words that screens print."""

    KNOWN = "known"
    EXTRACTED = "extracted"
    WAITING = "waiting"
    COMPILING = "compiling"
    HIT = "hit"
    COMPILED = "compiled"
    FAILED = "failed"
    CACHED_FAILURE = "cached failure"
    INTERRUPTED = "interrupted"


class AttemptOutcome(StrEnum):
    """How one call of the compiler ended."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Precision(StrEnum):
    """How a duration is known."""

    MEASURED = "measured"
    BRACKETED = "bracketed"
    UNKNOWN = "unknown"


class Duration(msgspec.Struct, frozen=True):
    """Seconds, and how they are known. Bracketed seconds are an upper bound; `low` is the lower bound, if known."""

    seconds: float | None = None
    precision: Precision = Precision.UNKNOWN
    low: float | None = None


class Attempt(msgspec.Struct, kw_only=True, gc=False):
    """One call of the compiler. Times are seconds since the epoch; `exact_*`: they are clock readings, not bounds."""

    start: float | None = None
    end: float | None = None
    exact_start: bool = False
    exact_end: bool = False
    seconds: float | None = None
    """As measured by the compiling process; preferred to the difference of the two times."""
    outcome: AttemptOutcome | None = None
    """None while running."""
    listed_as_running: bool = False
    """It is in the tracker's list of its node's running attempts: known without a look through that list."""
    inferred: bool = False
    """The end was inferred from a later line; a line that says how it ended may still correct it."""
    dots: int = 0
    message: str = ""
    code: str | None = None
    exit_status: int | None = None
    cause: CompileCause = CompileCause.NONE
    artifact_bytes: int | None = None
    peak_rss_bytes: int | None = None
    compiler_pid: int | None = None
    inside_job: bool = False

    @property
    def killed(self) -> bool:
        """Whether a signal from outside ended it, most often for want of host memory: `-9`, F137, or our component says
        so."""
        return self.exit_status == -9 or self.code == "F137" or self.cause is CompileCause.KILLED

    @property
    def duration(self) -> Duration:
        """How long it took and how surely that is known."""
        if self.seconds is not None:
            return Duration(self.seconds, Precision.MEASURED)
        if self.start is None or self.end is None or self.end < self.start:
            return Duration()
        exact = self.exact_start and self.exact_end
        low = 20.0 * (self.dots - 1) if self.dots > 1 else None
        return Duration(
            self.end - self.start, Precision.MEASURED if exact else Precision.BRACKETED, None if exact else low
        )


class Wait(msgspec.Struct, kw_only=True, gc=False):
    """One wait of one worker for the lock of an entry."""

    start: float | None = None
    end: float | None = None
    minutes: float | None = None
    """The longest time that it reported itself; None if the line was cut."""
    lines: int = 0
    seconds: float | None = None
    """Measured by our own component."""
    last: float | None = None
    """When the worker last said that it waits."""

    def heard(self, at: float | None) -> None:
        """The wait was reported again. A fold of several processes may carry an earlier time than this process
        reported."""
        if at is not None:
            self.last = at if self.last is None else max(self.last, at)


class Message(StrEnum):
    """What can report an attempt. Each kind is counted by itself; see the module's docstring."""

    MISSED = "missed"
    """A line that announces a miss."""
    STARTED = "started"
    """A line of the compiler's call."""
    REQUESTED = "requested"
    """The side channel of our compile component, when it asks for a compile."""
    BEGAN = "began"
    """The side channel, once a process works on the compile."""
    SEEN = "seen"
    """The process table."""
    FINISHED = "finished"
    """A line that reports the end."""
    ENDED = "ended"
    """The side channel, at the end."""
    REPORTED = "reported"
    """The report of a parallel compile."""
    MEASURED = "measured"
    """TorchNeuron's table of compile times."""
    DERIVED = "derived"
    """Dots or a PASS of a compile whose graph no line has named."""


class WorkerGraph(msgspec.Struct, kw_only=True):
    """What one worker did with one graph."""

    key: str
    """The worker's key, see `lookups.worker_key`."""
    pid: int | None = None
    rank: int | None = None
    node: str = ""
    state: GraphState = GraphState.KNOWN
    since: float | None = None
    hits: int = 0
    hits_seen_to_wait: int = 0
    """Hits after a line that reports a wait."""
    failures_met: int = 0
    retries: int = 0
    extractions: int = 0
    loads: int = 0
    loads_after_wait: int = 0
    """Loads of artifacts that this worker waited for and did not compile, as our own component reports."""
    load_seconds: float = 0.0
    blocks: int | None = None
    """Equal blocks of the model that the compiled graph has served in this worker; None if nobody reported it."""
    attempts: list[Attempt] = []
    waits: list[Wait] = []
    message_counts: dict[Message, int] = {}
    """Messages about attempts so far, by kind."""
    version: int = 0
    """The graph's `version` when this worker's identity, attempts or waits last changed."""

    def attempt(self, kind: Message) -> Attempt:
        """The attempt that this message of `kind` belongs to; a new one if the message is the first about it."""
        count = self.message_counts[kind] = self.message_counts.get(kind, 0) + 1
        while len(self.attempts) < count:
            self.attempts.append(Attempt())
        return self.attempts[count - 1]

    @property
    def hits_after_wait(self) -> int:
        """Hits that came after waiting for another's compile. Lines do not report short waits, but our component
        does."""
        return min(self.hits, self.reported_after_wait)

    @property
    def reported_after_wait(self) -> int:
        """How often lines or our component reported a hit after a wait."""
        return max(self.hits_seen_to_wait, self.loads_after_wait)

    @property
    def reports_its_compiles(self) -> bool:
        """Whether our component reports when compiles of this worker begin and end."""
        return not self.message_counts.keys().isdisjoint((Message.REQUESTED, Message.BEGAN))

    @property
    def open_attempt(self) -> Attempt | None:
        """The attempt that is running; None if none is."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and not last.outcome else None

    @property
    def open_wait(self) -> Wait | None:
        """The wait that is going on; None if none is."""
        last = self.waits[-1] if self.waits else None
        return last if last is not None and last.end is None else None


class LineRef(msgspec.Struct, frozen=True):
    """The place of a log line about a graph."""

    source: str
    offset: int
    time: float | None
    event: str
    """Class name of the event that was made of it."""


class Graph(msgspec.Struct, kw_only=True):
    """Everything known of one graph. `key` is unique in a run; it is the module's name if one was ever reported."""

    key: str
    module: str | None = None
    compiler: str | None = None
    root: str | None = None
    first: float | None = None
    """When the run first heard of it."""
    lasting: GraphState = GraphState.KNOWN
    """The newest state that lasts; while a worker waits or compiles, `state` says that instead."""
    since: float | None = None
    workers: dict[str, WorkerGraph] = {}
    """By worker, in the order in which they first met the graph."""
    direction: str = ""
    operators: int | None = None
    op_counts: dict[str, int] = {}
    """How many of each operator, only the most common ones; empty if nobody reported it."""
    inputs: tuple[str, ...] = ()
    graph_bytes: int | None = None
    flags: tuple[str, ...] = ()
    artifact_bytes: int | None = None
    message: str = ""
    """What the compiler said when it failed, now or (cached failure) in an earlier run."""
    reported_seconds: float | None = None
    """Compile time by the report of a parallel compile."""
    hub_missing: list[str] = []
    lines: list[LineRef] = []
    version: int = 0
    """Grows with every change."""

    def locate(self, root: str | None, compiler: str | None) -> None:
        """Note where its entry lies, as far as an event says."""
        self.root = root or self.root
        self.compiler = compiler or self.compiler

    @property
    def state(self) -> GraphState:
        """Compiling if a worker compiles it, else waiting if one waits, else `lasting`."""
        states = {worker.state for worker in self.workers.values()}
        for active in (GraphState.COMPILING, GraphState.WAITING):
            if active in states:
                return active
        return self.lasting

    @property
    def state_since(self) -> float | None:
        """When `state` began: for an active state, the earliest worker in it."""
        state = self.state
        starts = [m.since for m in self.workers.values() if m.state is state and m.since is not None]
        return min(starts) if starts and state in ACTIVE else self.since

    @property
    def active_worker(self) -> WorkerGraph | None:
        """The worker that compiles (else waits), the one that began first; None when nobody does."""
        state = self.state
        active = [worker for worker in self.workers.values() if worker.state is state]
        return min(active, key=lambda worker: worker.since or 0.0) if state in ACTIVE and active else None

    @property
    def attempts(self) -> list[Attempt]:
        """All attempts of all workers, worker after worker."""
        return [attempt for worker in self.workers.values() for attempt in worker.attempts]

    @property
    def last_attempt(self) -> Attempt | None:
        """The newest attempt by start; the running one if one runs."""
        order = lambda attempt: (not attempt.outcome, attempt.start or attempt.end or 0.0)  # noqa: E731 (for its length)
        return max(self.attempts, key=order, default=None)

    @property
    def duration(self) -> Duration:
        """The duration of the newest finished compile; that in a report if there is no other."""
        finished = [attempt for attempt in self.attempts if attempt.outcome]
        best = max(finished, key=lambda attempt: attempt.end or 0.0).duration if finished else Duration()
        if best.precision is not Precision.MEASURED and self.reported_seconds is not None:
            return Duration(self.reported_seconds, Precision.MEASURED)
        return best

    @property
    def peak_rss_bytes(self) -> int | None:
        """The most memory that one of its compiles took; None if none was measured."""
        peaks = [attempt.peak_rss_bytes for attempt in self.attempts if attempt.peak_rss_bytes is not None]
        return max(peaks, default=None)

    @property
    def block_hits(self) -> int | None:
        """How often an equal block of the model was served by an existing graph; None if nobody reported it."""
        served = [worker.blocks - 1 for worker in self.workers.values() if worker.blocks is not None]
        return sum(served) if served else None

    @property
    def hits(self) -> int:
        """Hits of all workers."""
        return sum(worker.hits for worker in self.workers.values())

    @property
    def hits_after_wait(self) -> int:
        """Hits that came after waiting for another's compile, as far as lines or our component reported it."""
        return min(self.hits, sum(worker.reported_after_wait for worker in self.workers.values()))

    @property
    def misses(self) -> int:
        """Compiles of it that were begun, in all workers."""
        return sum(len(worker.attempts) for worker in self.workers.values())

    @property
    def failures(self) -> int:
        """Compiles that failed in this run; quoted and cached failures are not among them."""
        return sum(attempt.outcome is AttemptOutcome.FAILED for attempt in self.attempts)

    @property
    def failures_met(self) -> int:
        """How often the cache answered with a stored failure."""
        return sum(worker.failures_met for worker in self.workers.values())


ACTIVE = frozenset({GraphState.COMPILING, GraphState.WAITING})
