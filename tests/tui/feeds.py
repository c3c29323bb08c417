"""Feeds that stand still, made of events: what a screen shows is then known to the last cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from neuron_top import events as ev
from neuron_top.cache.inductor import InductorEntry
from neuron_top.events.diagnosis import Cause, CauseClass, Confidence, Diagnosis, Evidence, JobEnd
from neuron_top.events.levels import LineLevel
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.run.model import Run
from neuron_top.services.alerts import AlertAct, done
from neuron_top.store.errors import StoreUnusable
from neuron_top.views.alerts import Alert
from neuron_top.views.compare import Comparison, compare
from neuron_top.views.entries import EntryRow, EntryTable
from neuron_top.views.handled_alerts import AlertHistory, noted
from neuron_top.views.miss_explanation import Misses, MissExplanation, MissQuery, MissReason
from neuron_top.views.multi_compare import MultiComparison, multi_compare
from neuron_top.views.other_caches import other_cache
from neuron_top.views.overlay import OverlaidRun, overlaid_run
from neuron_top.views.report import report
from neuron_top.views.runs import RunRow
from neuron_top.views.states import JobState

View = TypeVar("View")
START = 1_790_000_000.0


class StillFeed:
    """A run at one moment. `push` adds events and reports the screen, as a live feed does."""

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

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        return LogPage(lines=(), at={}, ended=True)

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        return LogPage(lines=(), at={}, ended=True)

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        return [line for line in self.lines if (line.source, line.offset) in places]

    def log_state(self) -> str:
        return ""

    def log_chains(self) -> list[LogChain]:
        return [LogChain(files=(source,)) for source in dict.fromkeys(line.source for line in self.lines)]

    def push(self, *events: ev.AnyEvent, now: float | None = None) -> None:
        """Things happen."""
        for event in events:
            self.run.apply(event)
        self.now = now if now is not None else self.now
        self._changed()


class Clock:
    """A replay's clock that writes down what it is reported."""

    start, end, now, speed, paused = 0.0, 100.0, 30.0, 1.0, False

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def skip(self, seconds: float) -> None:
        self.now += seconds


def diagnosed(*, failed: bool = True, source: str = "log:/jobs/train.log", text: str = "") -> ev.JobDiagnosed:
    """What a log says went wrong: a compile that failed, in line 1203."""
    cause = Cause(
        cause_class=CauseClass.COMPILE_ERROR,
        line=1203,
        offset=90_210,
        source=source,
        text=text or "[NCC_EVRF031] sort is not supported for int64",
        count=4,
        ranks=(0, 1),
        confidence=Confidence.HIGH,
        advice="Change the model or the compiler's version; a retry fails again unless one of them changes",
        evidence=(Evidence(1202, "compiling the third graph"), Evidence(1204, "ERROR: neuronx-cc returned 70")),
    )
    end = JobEnd.FAILED if failed else JobEnd.FINISHED
    explained = Diagnosis(failed=failed, recovered=not failed, job_ended=end, causes=(cause,))
    return ev.JobDiagnosed(diagnosis=explained, source=source, seen=START + 120)


def failed_log(*, failed: bool = True, text: str = "") -> StillFeed:
    """A log that nobody writes any more, with the reason why its job died."""
    grown = ev.OutputGrew(
        path="/jobs/train.log", end=99_000, lines=1230, written=START + 60, at=START + 60, seen=START + 7200
    )
    return StillFeed([*steps(20), grown, diagnosed(failed=failed, text=text)], now=START + 7200, lines=LINES)


def job(at: float = START) -> list[ev.AnyEvent]:
    """A started job of four workers."""
    command = ("torchrun", "--nproc_per_node=4", "train_bert_tp.py", "--tensor_parallel_size", "2")
    return [
        ev.RunStarted(
            run="20260921-101500-bert", name="bert-tp", command=command, at=at, pid=4000, world_size=4, node="trn1"
        ),
        *(
            ev.ProcessSeen(pid=4001 + rank, role="worker", rank=rank, local_rank=rank, world_size=4, at=at, node="trn1")
            for rank in range(4)
        ),
    ]


def samples(
    count: int, seconds: int, at: float = START, capacity: int | None = 16 * 1024**3, per_device: int = 2
) -> list[ev.AnyEvent]:
    """`count` cores sampled once a second, each a little different from its neighbor."""
    made: list[ev.AnyEvent] = []
    for second in range(seconds):
        cores = tuple(
            ev.CoreSample(
                core=core,
                utilization=((core * 7 + second * 3) % 101) / 100,
                memory=(4 + core % 9) * 1024**3 + second * 1024**2,
                capacity=capacity,
                device=core // per_device,
                pid=4001 + core,
                process="train_bert_tp.py",
                kinds={"tensors": (3 + core % 7) * 1024**3, "model_code": 512 * 1024**2, "constants": 256 * 1024**2},
            )
            for core in range(count)
        )
        made.append(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=at + second, node="trn1"))
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
            ev.CoreSample(
                core=rank,
                rank=rank,
                pid=4001 + rank,
                utilization=0.5 + 0.1 * rank + 0.01 * (second % 9),
                memory=(520 + 30 * rank) * mib,
                peak=(600 + 30 * rank) * mib,
                process="python",
                kinds=kinds,
            )
            for rank in range(4)
        )
        made.append(ev.CoresSampled(kind=ev.CoreKind.LOCAL, cores=cores, period=1.0, at=at + second, node="trn1"))
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
        ev.CompileEnded(
            module=module(3),
            at=at + 16,
            seconds=12.0,
            ok=True,
            pid=4001,
            rank=0,
            node="trn1",
            artifact_bytes=3_400_000,
            peak_rss_bytes=900_000_000,
        ),
        ev.CompileBegan(module=module(4), at=at + 17, pid=4002, rank=1, node="trn1"),
        ev.CompileFailed(
            module=module(4),
            at=at + 30,
            pid=4002,
            rank=1,
            node="trn1",
            exit_status=-9,
            message="[F137] neuronx-cc was forcibly killed",
            code="F137",
        ),
        ev.CompileBegan(module=module(5), at=at + 31, pid=4003, rank=2, node="trn1"),
        ev.LockWaited(module=module(5), at=at + 40, pid=4004, rank=3, node="trn1", minutes=1.0, path="/cache/x.lock"),
        ev.LockWaited(module=module(6), at=at + 41, pid=4001, rank=0, node="trn1", minutes=2.0, path="/cache/y.lock"),
    ]


def steps(count: int, at: float = START) -> list[ev.AnyEvent]:
    """Steps printed once a second, with a falling loss."""
    return [
        ev.StepReported(
            step=step,
            total_steps=200,
            loss=10.5 / (1 + step / 20),
            throughput=31.5 + step % 3,
            throughput_unit="seq/s",
            step_seconds=0.98,
            learning_rate=1e-4,
            at=at + step,
            rank=0,
        )
        for step in range(1, count + 1)
    ]


_TEXTS = (
    ("", "Running: torchrun --nproc_per_node=4 train_bert_tp.py"),
    ("event", "INFO ||NEURON_CACHE||: Compile cache path: /var/tmp/neuron-compile-cache"),
    ("warning", "UserWarning: dynamic shapes make the graph recompile"),
    ("event", "step 41/200 loss 3.4426 throughput 32.5 seq/s"),
    ("error", "ERROR ||NEURON_CC_WRAPPER||: [F137] neuronx-cc was forcibly killed"),
    ("", "progress ␛[2J bar of some library"),
)
LINES = [
    LogLine(source="job", offset=80 * index, text=text, level=LineLevel(level))
    for index, (level, text) in enumerate(_TEXTS)
]


class StillRuns:
    """Recordings that were made up front."""

    folder = "/home/me/.local/state/neuron-top"

    def __init__(self, runs: tuple[RunRow, ...]) -> None:
        self._runs = runs
        self.played: list[str] = []
        self.deleted: list[str] = []

    def rows(self, limit: int | None = None) -> tuple[RunRow, ...]:
        return self._runs

    def unfinished(self) -> tuple[RunRow, ...]:
        return tuple(row for row in self._runs if row.finished is None)

    def delete(self, run: str) -> int:
        self.deleted.append(run)
        self._runs = tuple(row for row in self._runs if row.id != run)
        return 3_400_000

    def label(
        self,
        run: str,
        *,
        new_name: str | None = None,
        starred: bool | None = None,
        note: str | None = None,
        add_tags: Iterable[str] = (),
        remove_tags: Iterable[str] = (),
    ) -> RunRow:
        row = next(row for row in self._runs if row.id == run)
        changed = msgspec.structs.replace(
            row,
            name=row.name if new_name is None else new_name,
            starred=row.starred if starred is None else starred,
            note=row.note if note is None else note,
            tags=tuple(tag for tag in dict.fromkeys((*row.tags, *add_tags)) if tag not in {*remove_tags}),
        )
        self._runs = tuple(changed if row.id == run else row for row in self._runs)
        return changed

    def overlay(self, names: Iterable[str]) -> tuple[OverlaidRun, ...]:
        training = Run()
        for event in [*job(), *steps(20)]:
            training.apply(event)
        return tuple(overlaid_run(name, name, training) for name in names)

    def replay(self, run: str) -> StillFeed:
        self.played.append(run)
        return StillFeed(job(), now=START + 5)


class StillReports:
    """Compares recordings in which nothing happened."""

    def compare(self, a: str, b: str) -> Comparison:
        reports = [report(Run(), START), report(Run(), START)]
        return msgspec.structs.replace(compare(*reports), a=a, b=b)

    def compare_many(self, names: Sequence[str]) -> MultiComparison:
        return multi_compare([msgspec.structs.replace(report(Run(), START), title=name) for name in names])


class StillMisses:
    """Explains every miss alike."""

    def __init__(self) -> None:
        self.asked: list[MissQuery] = []

    def why(self, asked: MissQuery) -> MissExplanation:
        self.asked.append(asked)
        reason = MissReason(kind="batch size", text="batch 8 here, 4 there", entry="neuronxcc-2.21/x")
        headline = "another batch size was compiled: 8 here, 4 there"
        return MissExplanation(
            module=asked.module, headline=headline, footnote="compared with 5 graphs", reasons=(reason,)
        )

    def misses(self, asked: Sequence[MissQuery]) -> Misses:
        return Misses(met=len(asked), explained=tuple(self.why(one) for one in asked[:2]))

    def misses_of(self, run: str) -> Misses:
        return self.misses([MissQuery(module=f"{module(7)} of {run}")])


class StillCacheListing:
    """Cache entries that were made up front."""

    def __init__(self, entries: EntryTable | None = None) -> None:
        nowhere = (("/var/tmp/neuron-compile-cache", "the SDK's default", False),)
        self._entries = entries or EntryTable(roots=nowhere, rows=())
        self.named: tuple[str, ...] = ()
        """Caches that the screens asked for besides."""

    def also(self, named: Iterable[str]) -> bool:
        self.named = (*self.named, *named)
        return False

    def entries(self, *, refresh: bool = False) -> EntryTable:
        return self._entries


class StillAlerts:
    """A history of alerts that is kept nowhere."""

    def __init__(self) -> None:
        self.kept = AlertHistory()

    def history(self, job: str) -> AlertHistory:
        return self.kept

    def note(self, job: str, found: Sequence[Alert], now: float) -> AlertHistory:
        self.kept = noted(self.kept, job, found, now)
        return self.kept

    def act(self, job: str, act: AlertAct, keys: Sequence[str]) -> AlertHistory:
        self.kept = done(self.kept, job, act, keys)
        return self.kept


class StillServices:
    """What the screens ask, answered with what was made up front."""

    def __init__(self, runs: tuple[RunRow, ...] = (), entries: EntryTable | None = None) -> None:
        self.runs, self.reports, self.misses = StillRuns(runs), StillReports(), StillMisses()
        self.cache_listing = StillCacheListing(entries)
        self.alerts = StillAlerts()

    def close(self) -> None:
        """Nothing was opened."""


class UnreadableRuns(StillRuns):
    """A store that is none."""

    def rows(self, limit: int | None = None) -> tuple[RunRow, ...]:
        raise StoreUnusable(f"{self.folder}/neurontop.db: file is not a database")

    def unfinished(self) -> tuple[RunRow, ...]:
        return self.rows()


class UnreadableCacheListing(StillCacheListing):
    """An index that cannot be read."""

    def entries(self, *, refresh: bool = False) -> EntryTable:
        raise StoreUnusable(f"{StillRuns.folder}/cache-index: permission denied")


class UnreadableMisses(StillMisses):
    """Caches that cannot be read."""

    def misses(self, asked: Sequence[MissQuery]) -> Misses:
        raise StoreUnusable(f"{StillRuns.folder}/cache-index: permission denied")


class UnreadableServices(StillServices):
    """A disk that gives nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.runs, self.misses, self.cache_listing = UnreadableRuns(()), UnreadableMisses(), UnreadableCacheListing()


def recordings() -> tuple[RunRow, ...]:
    """Three recordings: running, finished, failed."""
    command = ("torchrun", "--nproc_per_node=4", "train_bert_tp.py")
    common = {"node": "trn1", "command": command, "folder": "/x", "exit_code": None}
    return (
        RunRow(
            id="20260921-101500-aaaa",
            name="bert-tp",
            state=JobState.RUNNING,
            state_text="running",
            started=START,
            finished=None,
            seconds=50.0,
            compile_share=None,
            hit_rate=None,
            graphs=None,
            events=120,
            bytes=40_000,
            **common,
        ),
        RunRow(
            id="20260920-090000-bbbb",
            name="bert-tp",
            state=JobState.FINISHED,
            state_text="completed",
            started=START - 90_000,
            finished=START - 89_000,
            seconds=1000.0,
            compile_share=0.31,
            hit_rate=0.5,
            graphs=12,
            events=9000,
            bytes=3_400_000,
            **common,
        ),
        RunRow(
            id="20260919-080000-cccc",
            name="llama",
            state=JobState.FAILED,
            state_text="failed (exit status 1)",
            started=START - 190_000,
            finished=START - 189_990,
            seconds=10.0,
            compile_share=0.9,
            hit_rate=0.0,
            graphs=2,
            events=300,
            bytes=300_000,
            **common,
        ),
    )


def catalog() -> EntryTable:
    """Five entries of two compilers in one root."""
    root = "/var/tmp/neuron-compile-cache"

    def row(number: int, state: str, compiler: str, size: int, age: float, **more: object) -> EntryRow:
        fields = {
            "artifact_bytes": size,
            "compile_seconds": 61.0,
            "flags": "--target=trn1",
            "lock": "",
            "failure": "",
            "advice": "",
            "problems": (),
        } | more
        name = module(number)
        return EntryRow(
            key=f"{root}/{compiler}/{name}",
            root=root,
            compiler=compiler,
            module=name,
            state=state,
            bytes=size,
            used=START - age,
            age=age,
            **fields,
        )

    new, old = "neuronxcc-2.21.18209.0+043b1bf7", "neuronxcc-2.15.128.0+56dc5a86"
    return EntryTable(
        roots=((root, "the SDK's default", True),),
        rows=(
            row(1, "hit", new, 3_400_000, 120.0),
            row(2, "hit", new, 2_500_000_000, 3600.0),
            row(
                3,
                "failed",
                new,
                9_000,
                7200.0,
                failure="[F137] neuronx-cc was forcibly killed",
                advice="Compile fewer graphs at a time, then retry.",
            ),
            row(4, "compiling", new, 40_000, 5.0, lock="alive pid 4711 on trn1", compile_seconds=None),
            row(5, "hit", old, 700_000_000, 90 * 86400.0),
        ),
    )


def catalog_beside_inductor() -> EntryTable:
    """The same with PyTorch's own cache on the machine."""
    entries = [
        InductorEntry(kind=kind, key=f"{number}", path="", bytes=size, files=2, changed=START - 60, used=None)
        for number, (kind, size) in enumerate((("fx-graph", 90_000), ("aot-autograd", 50_000), ("code", 3_000_000)))
    ]
    return msgspec.structs.replace(
        catalog(), others=(other_cache("/var/tmp/torchinductor_ubuntu", "its default", entries),)
    )


def full(cores: int = 0) -> StillFeed:
    """A job in the middle of everything: `cores` of a Neuron machine, or four local workers."""
    sampled = samples(cores, 50) if cores else workers(50)
    return StillFeed([*job(), *compiles(), *sampled, *steps(45)], now=START + 50, lines=LINES * 4)
