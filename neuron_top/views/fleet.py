"""A fleet for screens: jobs, nodes with the worst, median and spread of their cores, and the top of any metric.

Everything is made from the rows that agents keep in the database; none of it grows with the number of cores. No average
stands alone: a node shows its worst core by name, a job its worst node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest

import msgspec

from neuron_top.errors import NothingToShow, UsageError
from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.natural_order import natural_key
from neuron_top.run.state import ENDED, JobState
from neuron_top.store.fleet_records import JobRecord, NodeNow, NodeRecord, Spread
from neuron_top.store.records import rows_named
from neuron_top.views.metric import Unit, value_text
from neuron_top.views.spread import median_of, outlier_distance
from neuron_top.views.states import ended_state, job_text


class NodeReporting(StrEnum):
    """Whether a node is heard from."""

    REPORTING = "reporting"
    SILENT = "silent"
    ENDED = "ended"
    """Its part of the job ended, and its agent with it."""


class FleetMetric(msgspec.Struct, frozen=True):
    """A number of a node that nodes can be ranked, colored and compared by."""

    name: str
    title: str
    unit: Unit
    worst_is_high: bool
    help: str
    words: tuple[str, ...] = ()
    """What its values 0, 1, … are called, where they are no amounts."""

    def text(self, value: float | None) -> str:
        """The value, for people."""
        if self.words and value is not None:
            return self.words[int(value)]
        return value_text(value, self.unit)


PHASES = ("past compiles", "extracting", "compiling", "waiting")
"""Of the compiles of a job, the one that holds up others last."""
_PHASE_OF: dict[str, float] = {JobState.EXTRACTING: 1.0, JobState.COMPILING: 2.0, JobState.LOCK_WAIT: 3.0}
METRICS = (
    FleetMetric("utilization", "utilization", Unit.SHARE, False, "share of time that cores are busy"),
    FleetMetric("memory", "memory", Unit.BYTES, True, "device memory of a core in use"),
    FleetMetric("step_seconds", "seconds a step", Unit.SECONDS, True, "duration of a training step"),
    FleetMetric("graphs_left", "graphs left", Unit.COUNT, True, "graphs that are not compiled yet"),
    FleetMetric("worst_wait", "longest wait", Unit.SECONDS, True, "longest wait for a compile of somebody else's"),
    FleetMetric(
        "compile_phase", "compile phase", Unit.COUNT, True, "how far a node is from the end of its compiles", PHASES
    ),
    FleetMetric("clock_offset", "clock offset", Unit.SECONDS, True, "distance of the node's clock from the database's"),
)
"""The metrics of a fleet's pages; the first one is the default."""
WORST_IS_HIGH = frozenset(metric.name for metric in METRICS if metric.worst_is_high)
"""Names of the metrics of which the highest core is the worst; of all others it is the lowest."""


def metric_named(name: str) -> FleetMetric:
    """The metric of this name. Raises UsageError."""
    found = next((metric for metric in METRICS if metric.name == name), None)
    if found is None:
        raise UsageError(f"no metric {name!r} of nodes; known: {', '.join(metric.name for metric in METRICS)}")
    return found


class CoreSpread(msgspec.Struct, frozen=True, kw_only=True):
    """A metric over the cores of a node; a metric of the node itself has one value three times."""

    low: float
    median: float
    high: float
    worst: float
    worst_core: str = ""
    """Which core is the worst one; "" where the metric is the node's own."""


class NodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One node now, as its agent of a job reports it. Seconds, bytes, shares; None unknown."""

    node: str
    cluster: str
    job: str
    other_jobs: tuple[str, ...]
    """Other jobs whose agents report from this node, the newest first."""
    state: NodeReporting
    phase: str
    """What it does, by its agent: extracting, compiling, training, …; "" unknown."""
    seen: float
    """When its agent was last heard from, by the database's clock."""
    silent_seconds: float
    step: int | None
    step_seconds: float | None
    graphs_left: int | None
    worst_wait: float | None
    clock_offset: float | None
    metrics: dict[str, CoreSpread]
    attributes: dict[str, str | int | float | bool | None]
    notes: dict[str, int]
    """What its agent counted of itself: dropped, spooled, …"""
    version: str
    address: str
    """Where its agent answers; "" where it does not."""
    slow: bool
    """Its steps take far longer than the median node's of its job."""

    def worst(self, metric: str) -> float | None:
        """The worst value of a metric."""
        spread = self.metrics.get(metric)
        return spread.worst if spread is not None else None


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """One job over its nodes."""

    job: str
    name: str
    cluster: str
    state: JobState
    state_text: str
    nodes: int
    """Nodes that ever reported to it."""
    reporting: int
    ended: int
    phases: dict[str, int]
    """How many of its nodes are in each phase."""
    phase: str
    """The phase of most of its nodes; "" unknown."""
    step: int | None
    """The least advanced node's."""
    last_step: int | None
    """The most advanced node's."""
    graphs_left: int | None
    """The most that a node of it has left."""
    worst_wait: float | None
    worst_wait_node: str
    slow_nodes: tuple[str, ...]
    started: float | None
    finished: float | None
    exit_code: int | None
    events: int

    @property
    def goes_on(self) -> bool:
        """Whether the job has not ended, as far as any node reported."""
        return self.state not in ENDED


class FleetPage(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs and nodes at one moment."""

    now: float
    jobs: tuple[JobRow, ...]
    nodes: tuple[NodeRow, ...]
    """Each once, with the newest job whose agent reports from it, else with the one that was heard from last."""
    agents: tuple[NodeRow, ...]
    """Each node once for each job that it works for, or worked for a moment ago."""

    @property
    def silent(self) -> tuple[NodeRow, ...]:
        """Nodes that should report and do not."""
        return tuple(node for node in self.nodes if node.state is NodeReporting.SILENT)


class TopRow(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a ranking."""

    node: str
    job: str
    value: float
    median: float
    core: str
    text: str
    """The value, for people."""


def fleet_page(
    now: float, jobs: Sequence[JobRecord], records: Sequence[NodeRecord], nows: Sequence[NodeNow]
) -> FleetPage:
    """Everything in one: jobs with the newest first, nodes by name. `now`: the database's clock."""
    ended = {job.run for job in jobs if job.finished is not None}
    places = {job.run: place for place, job in enumerate(jobs)}
    slow = _slow_nodes(nows)
    told: dict[str, list[NodeNow]] = {}
    for one in nows:
        told.setdefault(one.node, []).append(one)
    by_node: list[list[NodeRow]] = []
    for record in sorted(records, key=lambda one: natural_key(one.node)):
        rows = [_node_row(now, record, one, ended, slow) for one in _of_node(record, told.get(record.node, []))]
        rows.sort(key=lambda row: (places.get(row.job, len(places)), row.job))
        by_node.append(_with_each_other(rows))
    by_job = _by_job(by_node)
    states = {job.run: _job_state(now, job, by_job.get(job.run, [])) for job in jobs}
    by_node = [[_with_end_of_job(row, states.get(row.job)) for row in rows] for rows in by_node]
    by_job = _by_job(by_node)
    return FleetPage(
        now=now,
        jobs=tuple(_job_row(job, states[job.run], by_job.get(job.run, [])) for job in jobs),
        nodes=tuple(map(_shown, by_node)),
        agents=tuple(row for rows in by_node for row in rows),
    )


def _by_job(by_node: Iterable[Sequence[NodeRow]]) -> dict[str, list[NodeRow]]:
    found: dict[str, list[NodeRow]] = {}
    for rows in by_node:
        for row in rows:
            found.setdefault(row.job, []).append(row)
    return found


def _of_node(record: NodeRecord, told: list[NodeNow]) -> list[NodeNow]:
    """What a node's agents reported; the one that described it last may not have done so yet."""
    if told and (not record.job or any(one.job == record.job for one in told)):
        return told
    unknown = NodeNow(node=record.node, at=record.seen, job=record.job, clock_offset=record.clock_offset)
    return [*told, unknown]


def _with_each_other(rows: Sequence[NodeRow]) -> list[NodeRow]:
    """The rows of a node, each with the jobs of the others. One that is gone may have left its address to the next."""
    going_on = [row for row in rows if row.state is NodeReporting.REPORTING]
    addresses = {row.address for row in going_on}
    return [
        msgspec.structs.replace(
            row,
            other_jobs=tuple(other.job for other in going_on if other is not row),
            address="" if row.state is not NodeReporting.REPORTING and row.address in addresses else row.address,
        )
        for row in rows
    ]


def _shown(rows: Sequence[NodeRow]) -> NodeRow:
    """Of the rows of a node, in the order of their jobs, the one that stands for it, with what is wrong with any."""
    going_on = [row for row in rows if row.state is NodeReporting.REPORTING]
    if len(going_on) < 2:
        return going_on[0] if going_on else max(rows, key=lambda row: row.seen)
    notes: Counter[str] = Counter()
    for row in going_on:
        notes.update(row.notes)
    return msgspec.structs.replace(going_on[0], slow=any(row.slow for row in going_on), notes=dict(notes))


def _with_end_of_job(node: NodeRow, job_state: JobState | None) -> NodeRow:
    """The nodes of a job that finished, all of them as finished: in most jobs only one rank logs the end."""
    if job_state is JobState.FINISHED and node.phase == JobState.CUT_OFF:
        return msgspec.structs.replace(node, phase=JobState.FINISHED)
    return node


def of_job(page: FleetPage, name: str) -> FleetPage:
    """Only the one job that `name` stands for (see `rows_named`). Raises NothingToShow."""
    jobs = rows_named(page.jobs, name, lambda job: (job.job, job.name))
    if len(jobs) > 1:
        raise NothingToShow(f"{len(jobs)} jobs begin with {name!r}: {', '.join(job.job for job in jobs[:5])}")
    if not jobs:
        raise NothingToShow(f"no job {name!r}; `neurontop fleet jobs` lists them")
    nodes = tuple(node for node in page.agents if node.job == jobs[0].job)
    return FleetPage(now=page.now, jobs=tuple(jobs), nodes=nodes, agents=nodes)


def only_nodes(page: FleetPage, names: Collection[str]) -> FleetPage:
    """The page with only these nodes."""
    nodes, agents = (tuple(row for row in rows if row.node in names) for rows in (page.nodes, page.agents))
    return FleetPage(now=page.now, jobs=page.jobs, nodes=nodes, agents=agents)


def shown_job(page: FleetPage, name: str | None) -> JobRow:
    """The job of this name (see `of_job`), else the newest one that goes on, else the newest. Raises NothingToShow."""
    if name is not None:
        return of_job(page, name).jobs[0]
    found = next((job for job in page.jobs if job.goes_on), next(iter(page.jobs), None))
    if found is None:
        raise NothingToShow("no job has reported yet; start `neurontop agent` beside one on each of its nodes")
    return found


def _node_row(
    now: float, record: NodeRecord, latest: NodeNow, ended: set[str], slow: frozenset[tuple[str, str]]
) -> NodeRow:
    has_ended, silent = latest.ended or latest.job in ended, now - latest.at > SILENT_SECONDS
    return NodeRow(
        node=record.node,
        cluster=record.cluster,
        job=latest.job,
        other_jobs=(),
        state=NodeReporting.ENDED if has_ended else NodeReporting.SILENT if silent else NodeReporting.REPORTING,
        phase=latest.phase,
        seen=latest.at,
        silent_seconds=max(0.0, now - latest.at),
        step=latest.step,
        step_seconds=latest.step_seconds,
        graphs_left=latest.graphs_left,
        worst_wait=latest.worst_wait,
        clock_offset=latest.clock_offset,
        metrics=_metrics(latest),
        attributes=dict(record.attributes),
        notes=dict(latest.notes),
        version=record.version if latest.version is None else latest.version,
        address=record.address if latest.address is None else latest.address,
        slow=(latest.job, record.node) in slow,
    )


def _metrics(latest: NodeNow) -> dict[str, CoreSpread]:
    """What is known, by name; of the node's own numbers one value stands for all three."""
    own = {
        "step_seconds": latest.step_seconds,
        "graphs_left": latest.graphs_left,
        "worst_wait": latest.worst_wait,
        "clock_offset": abs(latest.clock_offset) if latest.clock_offset is not None else None,
        "compile_phase": _PHASE_OF.get(latest.phase, 0.0) if latest.phase else None,
    }
    spreads = {name: _core_spread(name, spread) for name, spread in latest.metrics.items() if name not in own}
    for name, value in own.items():
        if value is not None:
            spreads[name] = CoreSpread(low=value, median=value, high=value, worst=value)
    return spreads


def _core_spread(name: str, spread: Spread) -> CoreSpread:
    return CoreSpread(
        low=spread.low,
        median=spread.median,
        high=spread.high,
        worst=spread.high if name in WORST_IS_HIGH else spread.low,
        worst_core=str(spread.worst_core) if spread.worst_core is not None else "",
    )


def _slow_nodes(nows: Iterable[NodeNow]) -> frozenset[tuple[str, str]]:
    """Jobs with nodes whose steps take far longer than the median node's of the job; of three nodes at least."""
    jobs: dict[str, dict[str, float]] = {}
    for now in nows:
        if now.step_seconds is not None:
            jobs.setdefault(now.job, {})[now.node] = now.step_seconds
    return frozenset((job, node) for job, times in jobs.items() for node in slow_of(times))


def slow_of(times: Mapping[str, float]) -> list[str]:
    """The names whose times are far above the median, by the median distance from it, which outliers cannot stretch."""
    if len(times) < 3:
        return []
    middle = median_of(times.values())
    limit = middle + outlier_distance(times.values(), middle)
    return [name for name, value in times.items() if value > limit]


def worst_nodes(nows: Sequence[NodeNow], count: int) -> list[str]:
    """At most this many nodes of a job: slow ones, then alternately those with the least busy and the fullest core."""
    slow = slow_of({now.node: now.step_seconds for now in nows if now.step_seconds is not None})
    idle = [(now.metrics["utilization"].low, now.node) for now in nows if "utilization" in now.metrics]
    full = [(-now.metrics["memory"].high, now.node) for now in nows if "memory" in now.metrics]
    by_turns = (node for pair in zip_longest(sorted(idle), sorted(full)) for _, node in filter(None, pair))
    return list(dict.fromkeys((*slow, *by_turns)))[:count]


def _job_row(job: JobRecord, state: JobState, nodes: Sequence[NodeRow]) -> JobRow:
    phases = Counter(node.phase for node in nodes if node.phase)
    steps = [node.step for node in nodes if node.step is not None]
    waits = [(node.worst_wait, node.node) for node in nodes if node.worst_wait is not None]
    worst_wait, waiter = max(waits, default=(None, ""))
    return JobRow(
        job=job.run,
        name=job.name,
        cluster=job.cluster,
        state=state,
        state_text=job_text(state, exit_code=job.exit_code),
        nodes=job.nodes,
        reporting=sum(node.state is NodeReporting.REPORTING for node in nodes),
        ended=job.ended,
        phases=dict(phases.most_common()),
        phase=phases.most_common(1)[0][0] if phases else "",
        step=min(steps, default=None),
        last_step=max(steps, default=None),
        graphs_left=max((node.graphs_left for node in nodes if node.graphs_left is not None), default=None),
        worst_wait=worst_wait,
        worst_wait_node=waiter,
        slow_nodes=tuple(node.node for node in nodes if node.slow),
        started=job.started,
        finished=job.finished,
        exit_code=job.exit_code,
        events=job.events,
    )


def _job_state(now: float, job: JobRecord, nodes: Sequence[NodeRow]) -> JobState:
    if job.finished is not None:
        return ended_state(job.exit_code, job.last_phases)
    phases = {node.phase for node in nodes}
    if phases and phases <= ENDED:
        return ended_state(None, phases)  # as its logs told; its agents go on
    if now - job.touched > SILENT_SECONDS and not any(node.state is NodeReporting.REPORTING for node in nodes):
        return JobState.CUT_OFF
    return JobState.RUNNING


def sorted_nodes(nodes: Sequence[NodeRow], metric: FleetMetric | None) -> tuple[NodeRow, ...]:
    """Silent nodes first, then the worst by a metric, those that do not report it last; without one by name.

    Of nodes that are as bad, the slow ones are first.
    """
    if metric is None:
        return tuple(sorted(nodes, key=lambda node: natural_key(node.node)))
    return tuple(sorted(_ranked(nodes, metric), key=lambda node: node.state is not NodeReporting.SILENT))


def _ranked(nodes: Sequence[NodeRow], metric: FleetMetric) -> list[NodeRow]:
    """Nodes with the worst by a metric first; those that do not report it are last."""

    def place(node: NodeRow) -> tuple[bool, float, bool]:
        worst = node.worst(metric.name)
        return worst is None, 0.0 if worst is None else -worst if metric.worst_is_high else worst, not node.slow

    return sorted(sorted(nodes, key=lambda node: natural_key(node.node)), key=place)


def top(page: FleetPage, metric: FleetMetric, count: int = 10) -> tuple[TopRow, ...]:
    """The worst nodes by a metric, the worst first; nodes that do not report it are left out. Of several jobs of a
    node the worst one counts."""
    living = [row for row in page.agents if row.state is NodeReporting.REPORTING]
    others = [row for row in page.nodes if row.state is not NodeReporting.REPORTING]
    ranked: dict[str, NodeRow] = {}
    for row in _ranked([*living, *others], metric):
        ranked.setdefault(row.node, row)
    reported = [(node, node.metrics.get(metric.name)) for node in [*ranked.values()][:count]]
    return tuple(
        TopRow(
            node=node.node,
            job=node.job,
            value=spread.worst,
            median=spread.median,
            core=spread.worst_core,
            text=metric.text(spread.worst),
        )
        for node, spread in reported
        if spread is not None
    )
