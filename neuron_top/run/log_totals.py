"""Totals of what a log reports, by graph and by kind, when there is no job to watch. Each rank's message counts."""

from __future__ import annotations

from collections import Counter

from neuron_top.events import (
    AnyEvent,
    CachedFailureHit,
    CacheHit,
    CompileCompleted,
    CompileFailed,
    CompileGaveUp,
    CompileLogEvent,
    CompileStarted,
    DeviceMemoryExhausted,
    ErrorRaised,
    FunctionRecompiled,
    GraphExtracted,
    GraphMeasured,
    LineMarked,
    LockWaited,
    NeffMemoryReported,
    RuntimeAdvised,
    RuntimeLogged,
    StepReported,
    TrainingFactReported,
    TrialRunStarted,
    WorkerDied,
)
from neuron_top.run.advice import AdviceTracker
from neuron_top.run.exhausted import Exhaustions

_MOST_GRAPHS = 100_000
_MOST_ROWS = 1000
_MOST_PROBLEMS = 10_000
_PROBLEM_CHARACTERS = 160


class GraphCounts:
    """What happened to one graph, by occurrence."""

    def __init__(self) -> None:
        self.hits = self.compiled = self.started = self.failed = self.cached_failures = self.extracted = 0
        self.measured = 0
        """How many compiles a table reports."""
        self.longest_wait: float | None = None
        """In seconds."""


class LogTotals:
    """Adds up the events of one log. What is kept is bounded, however long the log."""

    def __init__(self) -> None:
        self.graphs: dict[str, GraphCounts] = {}
        self.failures: Counter[tuple[str | None, bool, str]] = Counter()
        """By module, whether it is a stored failure, and message."""
        self.given_up = 0
        """Compiles that the wrapper gave up without a line that says why; they count as failures, too."""
        self.problems: Counter[str] = Counter()
        self.exhausted = Exhaustions()
        self.programs: dict[str, NeffMemoryReported] = {}
        self.measured_seconds: dict[str, float] = {}
        """Module → seconds of its compile, by a table."""
        self.advice = AdviceTracker()
        self.phases: dict[str, str] = {}
        """Phase that a program timed itself (`Finished building model`, …) → the newest report of it."""
        self.steps = 0
        self.last_step: StepReported | None = None
        self.trial = False
        """Whether steps were printed while graphs were being extracted, so that their numbers mean nothing."""
        self._explained: set[tuple[int | None, str | None]] = set()
        """Process and module of failures after which the wrapper may still say that it gives up."""
        self._dead: set[int | None] = set()
        self._modules: dict[str, str] = {}
        """Graph's own id → the cache's key, where a line reported both."""

    def apply(self, event: AnyEvent) -> None:  # noqa: C901 (one case per event is the point)
        """Take one event into account."""
        self._count_graph(event)
        match event:
            case CompileFailed() | CachedFailureHit():
                self._add_failure(event.module, event.message, is_cached=isinstance(event, CachedFailureHit))
                if isinstance(event, CompileFailed) and len(self._explained) < _MOST_GRAPHS:
                    self._explained.add((event.pid, event.module))
            case CompileGaveUp():
                self._give_up(event)
            case ErrorRaised():
                self._add_problem(f"{event.exception}: {event.message}")
            case LineMarked() if event.level.is_error:
                self._add_problem(event.text)
            case WorkerDied():
                self._add_death(event)
            case RuntimeLogged() if event.level.is_error:
                self._add_problem(f"{event.component}:{event.function} {event.text} {event.status}".rstrip())
            case DeviceMemoryExhausted():
                self.exhausted.add(event)
            case NeffMemoryReported() if len(self.programs) < _MOST_ROWS:
                self.programs[event.name] = event
            case RuntimeAdvised() | FunctionRecompiled():
                self.advice.apply(event)
            case TrainingFactReported() if event.value.endswith(" s") and len(self.phases) < _MOST_ROWS:
                self.phases[event.name] = event.value
            case TrialRunStarted():
                self.trial = True
            case StepReported():
                self.steps += 1
                self.last_step = event if event.loss is not None or self.last_step is None else self.last_step
            case _:
                pass

    def _add_failure(self, module: str | None, message: str, *, is_cached: bool) -> None:
        if len(self.failures) < _MOST_ROWS:
            self.failures[module, is_cached, message] += 1

    def _give_up(self, event: CompileGaveUp) -> None:
        if event.module is None:  # the line was cut
            return
        explained = {(event.pid, event.module), (event.pid, None)} & self._explained
        self._explained -= explained
        if not explained:
            self.given_up += 1
            self._add_failure(event.module, event.message, is_cached=False)
            if event.module in self.graphs:
                self.graphs[event.module].failed += 1

    def _count_graph(self, event: AnyEvent) -> None:
        module = getattr(event, "module", None)
        if isinstance(event, CompileLogEvent) and event.graph is not None and module is not None:
            self._modules[event.graph] = module
        module = self._modules.get(module, module) if module is not None else None
        if module is None or (module not in self.graphs and len(self.graphs) >= _MOST_GRAPHS):
            return
        graph = self.graphs.setdefault(module, GraphCounts())
        match event:
            case CacheHit():
                graph.hits += 1
            case CompileCompleted():
                graph.compiled += 1
            case CompileStarted():
                graph.started += 1
            case GraphMeasured():
                if event.compile_seconds > 0:
                    graph.measured += 1
                    longest = max(self.measured_seconds.get(module, 0.0), event.compile_seconds)
                    self.measured_seconds[module] = longest
            case CompileFailed():
                graph.failed += 1
            case CachedFailureHit():
                graph.cached_failures += 1
            case GraphExtracted():
                graph.extracted += 1
            case LockWaited() if event.minutes is not None:
                graph.longest_wait = max(graph.longest_wait or 0.0, event.minutes * 60)
            case _:
                pass

    def _add_death(self, event: WorkerDied) -> None:
        """A launcher reports one death twice: when it happens, and in its closing report."""
        if event.pid is None or event.pid not in self._dead:
            self._dead.add(event.pid)
            pid = "—" if event.pid is None else event.pid
            self._add_problem(f"worker {pid} died, exit code {event.exit_code} {event.signal}".rstrip())

    def _add_problem(self, text: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems[text[:_PROBLEM_CHARACTERS]] += 1
