"""The fold: of the events of one node, those that only repeat each other become one event with a count.

Pure: time comes in with the events. A run that gets the folded events has the same totals as one that gets all
of them (`tests/run/test_fold.py` tries every kind of event). Three rules ensure that:

1. The first event of a kind passes, and so does every failure, error and alert, every change of state, and whatever has
   no clock of its own if the clock matters.
2. A lookup is folded only if nothing else can follow from it: the last event about its graph was the same answer, and
   its process has no compile, wait or unanswered lookup that this line could end.
3. Before an event passes, what was folded about its graph is reported, and so is when its process last printed a line.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import msgspec

from neuron_top.events import (
    AnyEvent,
    CacheHit,
    CachePathAnnounced,
    CompileFamily,
    CompilerProgress,
    ComponentEvent,
    EventsFolded,
    Foldable,
    GraphExtracted,
    GraphReported,
    HubMissed,
    LineMalformed,
    LineMarked,
    LockWaited,
    LogEvent,
    LogGeneration,
    OutputGrew,
    ParallelFamily,
    ProcessExited,
    ProcessSeen,
    RunFinished,
    RunStarted,
    RuntimeLogged,
    StepReported,
    StepTime,
    WorkerHeard,
)
from neuron_top.run.lookups import worker_key
from neuron_top.run.training import WARM_REPORTS

WINDOWS = (5.0, 10.0, 20.0, 40.0, 60.0)
"""Seconds until a folded event is reported: if it goes on, ever more rarely, down to once a minute."""
MOST_PAIRS = 500_000
"""Most pairs of graph and process that are remembered, and most distinct kinds; beyond, everything passes."""
MOST_STEPS = 512
"""Most step times in one event."""
_Lookup = CacheHit | GraphExtracted


class _Folding(msgspec.Struct):
    """Events that are being folded into one."""

    last: Foldable
    opened: float
    window: int = 0
    """Index into WINDOWS."""
    count: int = 0
    first: float | None = None
    latest: float | None = None
    longest_minutes: float | None = None
    steps: dict[tuple[int | None, int], StepTime] = {}

    def add(self, event: Foldable) -> None:
        self.count += 1
        if event.at is not None:
            self.first = event.at if self.first is None else min(self.first, event.at)
            self.latest = event.at if self.latest is None else max(self.latest, event.at)
        if isinstance(event, StepReported):
            if event.step is not None and len(self.steps) < MOST_STEPS:
                step_time = StepTime(event.rank, event.step, event.time, event.step_seconds, event.at is None)
                self.steps[event.rank, event.step] = step_time
            event = _newest_fields(self.last, event) if self.count > 1 else event
        elif isinstance(event, LockWaited) and event.minutes is not None:
            self.longest_minutes = max(self.longest_minutes or 0.0, event.minutes)
        elif isinstance(event, OutputGrew) and event.seen is None and self.count > 1:
            event = msgspec.structs.replace(event, seen=self.last.seen)
        self.last = event

    def event(self) -> AnyEvent:
        """The event that stands for all of them."""
        last = self.last
        # A single lookup is sent as a count too: `WorkerHeard` reports its process.
        if self.count == 1 and not isinstance(last, _Lookup | CachePathAnnounced | LockWaited):
            return last
        return EventsFolded(
            at=last.at,
            seen=last.seen,
            source=last.source,
            node=last.node,
            last=last,
            count=self.count,
            first=self.first,
            latest=self.latest,
            longest_minutes=self.longest_minutes,
            steps=tuple(self.steps.values()) if self.count > 1 else (),
        )

    def due(self, now: float) -> AnyEvent:
        """The event that stands for all of them; empties the fold."""
        event = self.event()
        self.count, self.longest_minutes, self.steps, self.opened = 0, None, {}, now
        self.first = self.latest = None
        self.window = min(self.window + 1, len(WINDOWS) - 1)
        return event


class Fold:
    """Takes a node's events one by one, and returns those to report, in an order that keeps their meaning."""

    def __init__(self) -> None:
        self._foldings: dict[Hashable, _Folding] = {}
        self._of_graph: dict[str, set[Hashable]] = {}
        """Graph → keys of what is being folded about it."""
        self._met: set[Hashable] = set()
        """Kinds of which the first event has passed."""
        self._answers: dict[str, set[Hashable]] = {}
        """Graph → answers about it that passed since anything else was reported about it."""
        self._busy: dict[str, float] = {}
        """Process → last time of its compile, wait or lookup that a line of it could end."""
        self._never: set[str] = set()
        """Processes whose lookups are never folded."""
        self._waiting: set[tuple[str, str]] = set()
        """(graph, process) of waits that are going on."""
        self._waited: set[tuple[str, str]] = set()
        """(graph, process) of waits that no hit has ended."""
        self._folded_pairs: dict[tuple[str, str], WorkerHeard] = {}
        """(graph, process) whose last lookup was reported only as part of a fold → what reports it by itself."""
        self._own_pairs: set[tuple[str, str]] = set()
        """(graph, process) of events that were sent by themselves."""
        self._unclaimed: set[str] = set()
        """Graphs with a compile of an unknown process: the next process that is named takes it over."""
        self._spoke: dict[str, LogEvent] = {}
        """Process → its last folded line since one of its lines passed."""
        self._clocks: dict[str, LogEvent] = {}
        """Log → its folded line with the newest clock reading, if none with a newer one has passed."""
        self._steps = 0
        """How many step reports passed since the last event that decides what they mean."""

    def add(self, event: AnyEvent, now: float, *, known: bool = False) -> list[AnyEvent]:
        """Take one event; returns what to send now, in order. `known`: it was sent before, and is only remembered."""
        key = self._key(event)
        full = len(self._folded_pairs) + len(self._met) > MOST_PAIRS
        if key is None or full or not isinstance(event, Foldable):
            return [*self._before(event, now), *([] if known else [event])]
        if known:
            self._remember(event, key)
            return []
        folding = self._foldings.get(key)
        if folding is None:
            folding = self._foldings[key] = _Folding(event, now)
        elif not folding.count:
            folding.opened = now
        folding.add(event)
        self._remember(event, key)
        return []

    def flush(self, now: float, *, everything: bool = False) -> list[AnyEvent]:
        """What has waited long enough to be sent; with `everything`, all. To be called about once a second."""
        due = []
        for key, folding in list(self._foldings.items()):
            waited = now - folding.opened
            if folding.count and (everything or waited >= WINDOWS[folding.window] or waited < 0):
                due.append(folding.due(now))
            elif not folding.count and waited >= WINDOWS[-1]:
                del self._foldings[key]
                for keys in self._of_graph.values():
                    keys.discard(key)
        return due

    def pending(self) -> list[AnyEvent]:
        """What would be sent now of what waits; it stays."""
        return [folding.event() for folding in self._foldings.values() if folding.count]

    # --- what may be folded ---

    def _key(self, event: AnyEvent) -> Hashable | None:
        """The key under which the event is folded; None if it must pass."""
        match event:
            case CacheHit() | GraphExtracted() | CachePathAnnounced():
                return self._lookup(event)
            case LockWaited():
                known = event.module is not None and (event.module, worker_key(event)) in self._waiting
                return ("waited", event.module) if known and event.at is not None else None
            case StepReported():
                return "step" if self._steps >= WARM_REPORTS else None
            case OutputGrew():
                says_more = event.closed or event.written is not None or event.end == 0
                return None if says_more else self._repeated(event)
            case LineMarked() | RuntimeLogged():
                return None if event.level.is_error else self._repeated(event)
            case LineMalformed():
                return self._repeated(event)
            case _:
                return None

    def _repeated(self, event: AnyEvent) -> Hashable | None:
        """The kind of an event; None if it is the first of its kind."""
        kind = _kind(event)
        return kind if kind in self._met else None

    def _lookup(self, event: CacheHit | GraphExtracted | CachePathAnnounced) -> Hashable | None:
        worker = worker_key(event)
        ends_compiles = event.pid is not None or isinstance(event, GraphExtracted)
        if event.at is None or worker in self._never or (ends_compiles and worker in self._busy):
            return None
        if isinstance(event, CachePathAnnounced):
            # See `CacheAnswers.path_announced`.
            proves_misses = event.generation == LogGeneration.G1 and event.module is None
            return None if proves_misses else self._repeated(event)
        if event.module is None:
            return None
        key, pair = _answer(event), (event.module, worker)
        met = pair in self._own_pairs or pair in self._folded_pairs
        takes_over = event.module in self._unclaimed and not met
        settled = key in self._answers.get(event.module, ())
        return key if settled and not takes_over and pair not in self._waited else None

    def _remember(self, event: Foldable, key: Hashable) -> None:
        if not isinstance(event, LogEvent):
            return
        if isinstance(event, _Lookup | CachePathAnnounced | LockWaited):
            self._spoke[worker_key(event)] = event
        if isinstance(event, _Lookup | LockWaited) and event.module is not None:
            self._of_graph.setdefault(event.module, set()).add(key)
            if isinstance(event, _Lookup):
                self._folded_pairs[event.module, worker_key(event)] = _looked_up(event)
        clock = self._clocks.get(event.source)
        if event.at is not None and (clock is None or event.at >= (clock.at or 0.0)):
            self._clocks[event.source] = event

    # --- what passes ---

    def _before(self, event: AnyEvent, now: float) -> list[AnyEvent]:
        """The events to report before one that passes; remembers what is needed of it."""
        due: list[AnyEvent] = []
        if isinstance(event, ParallelFamily | RunStarted | RunFinished):
            due = self.flush(now, everything=True)
            self._answers, self._steps = {}, 0
            self._waiting = set() if isinstance(event, RunFinished) else self._waiting
        if isinstance(event, CompileFamily | GraphReported | ProcessSeen):
            due += self._before_graph(event, now)
        if isinstance(event, OutputGrew) and (grown := self._foldings.get(_kind(event))) is not None and grown.count:
            due.append(grown.due(now))
        due += self._speaker(event)
        self._after(event)
        return due

    def _before_graph(self, event: CompileFamily | GraphReported | ProcessSeen, now: float) -> list[AnyEvent]:
        if event_module(event) is None and not isinstance(event, CompilerProgress | CachePathAnnounced):
            self._answers = {}
            return self.flush(now, everything=True)
        keys = self._of_graph.pop(event_module(event) or "", set())
        foldings = [self._foldings[key] for key in keys if key in self._foldings]
        return [folding.due(now) for folding in foldings if folding.count]

    def _speaker(self, event: AnyEvent) -> Iterator[AnyEvent]:
        """The events that report when the event's process, and its log, were last heard of in folded lines."""
        if not isinstance(event, LogEvent | ComponentEvent):
            return
        worker, module = worker_key(event), event_module(event)
        pair = (module or "", worker)
        spoke = self._spoke.pop(worker, None)
        answered = self._folded_pairs.pop(pair, None)
        if answered is not None:
            self._own_pairs.add(pair)
            yield answered
        if spoke is not None:
            yield _heard(spoke)
        if isinstance(event, LogEvent):
            clock = self._clocks.get(event.source)
            if clock is not None and event.at is None:
                yield msgspec.structs.replace(_heard(clock), of_log=True)
            if clock is not None and (event.at is None or event.at >= (clock.at or 0.0)):
                del self._clocks[event.source]

    def _after(self, event: AnyEvent) -> None:
        """Remember what passes."""
        if (kind := _kind(event)) is not None:
            self._met.add(kind)
        if isinstance(event, StepReported):
            self._steps += 1
        elif isinstance(event, ProcessExited):
            self._waiting = {pair for pair in self._waiting if pair[1] != f"{event.node}/{event.pid}"}
        if isinstance(event, ProcessSeen | GraphReported) and event.module is not None:
            self._answers.pop(event.module, None)
            self._unclaimed.add(event.module)
        elif isinstance(event, CompileFamily):
            self._compile_passed(event)

    def _compile_passed(self, event: CompileFamily) -> None:
        if isinstance(event, CompilerProgress | HubMissed) or not isinstance(event, LogEvent | ComponentEvent):
            return
        worker, module = worker_key(event), event_module(event)
        if isinstance(event, CachePathAnnounced):
            if event.generation == LogGeneration.G1 and module is None:
                self._never.add(worker)
            return
        if module is None:
            self._busy[worker] = float("inf")
            return
        claims = module in self._unclaimed and (module, worker) not in self._own_pairs
        self._unclaimed.discard(module if claims else "")
        if claims and not isinstance(event, CacheHit):  # the process continues the compile that it took over
            self._busy[worker] = float("inf")
        self._own_pairs.add((module, worker))
        if not isinstance(event, LockWaited | GraphExtracted):
            self._waiting.discard((module, worker))
        if isinstance(event, CacheHit):
            self._waited.discard((module, worker))
        if isinstance(event, _Lookup):
            if event.at is not None and event.at > self._busy.get(worker, event.at) and not claims:
                del self._busy[worker]
            self._answers.setdefault(module, set()).add(_answer(event))
            return
        self._answers.pop(module, None)
        if isinstance(event, LockWaited):
            self._waiting.add((module, worker))
            self._waited.add((module, worker))
        elif isinstance(event, ComponentEvent):
            self._never.add(worker)
        else:
            self._busy[worker] = max(
                self._busy.get(worker, 0.0), event.time if event.time is not None else float("inf")
            )


def event_module(event: AnyEvent) -> str | None:
    """The graph that an event names; None if it names none."""
    module: str | None = getattr(event, "module", None)
    return module


def _answer(event: _Lookup) -> Hashable:
    return type(event).__name__, event.module, event.root, event.compiler


def _kind(event: AnyEvent) -> Hashable | None:
    """What events have in common that only repeat each other; None if each says something of its own."""
    match event:
        case OutputGrew():
            return "grew", event.path
        case LineMalformed():
            return "malformed", event.family
        case LineMarked():
            return "marked", event.level, event.text
        case RuntimeLogged():
            return "runtime", event.level, event.component, event.function, event.text, event.status
        case CachePathAnnounced():
            return "path", event.path
        case _:
            return None


def _heard(spoke: LogEvent) -> WorkerHeard:
    """Reports when a process last printed a line."""
    return WorkerHeard(
        at=spoke.at, seen=spoke.seen, source=spoke.source, node=spoke.node, pid=spoke.pid, rank=spoke.rank
    )


def _looked_up(event: _Lookup) -> WorkerHeard:
    """Reports a lookup of a process. It may have printed other lines since then, and those may have been sent."""
    heard = _heard(event)
    return msgspec.structs.replace(heard, module=event.module, extracted=isinstance(event, GraphExtracted), of_log=True)


def _newest_fields(older: AnyEvent, newer: StepReported) -> StepReported:
    """A step report in which each field has its newest value."""
    kept = {name: getattr(older, name) for name in _STEP_FIELDS if getattr(newer, name) is None}
    if not newer.throughput_unit and isinstance(older, StepReported):
        kept["throughput_unit"] = older.throughput_unit
    return msgspec.structs.replace(newer, **kept)


_STEP_FIELDS = ("step", "total_steps", "epoch", "loss", "learning_rate", "throughput", "step_seconds")
