"""Runs, caches and fleets in a notebook: pandas tables and plotly figures. `neuron_top.open_run("last")`.

Every column has one type whatever the data (pandas' nullable ones: a missing value is unknown, never 0), every time
is UTC, sizes are bytes and durations seconds unless a column's text says otherwise. What stands here is public: names
of functions, tables and columns change with a major version only. Tables need pandas, which the extra `[notebook]`
brings (without it they raise neuron_top.errors.UsageError); figures do not.
"""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from neuron_top.errors import UsageError
from neuron_top.services import tables as service
from neuron_top.settings import Settings, load
from neuron_top.views.alerts import Alert, alerts
from neuron_top.views.entries import EntryRow
from neuron_top.views.fleet import FleetPage, JobRow, NodeRow
from neuron_top.views.graphs import GraphRow
from neuron_top.views.tables import (
    CompileRow,
    EventTables,
    LookupCount,
    MemoryKindRow,
    SampleRow,
    StepRow,
    WaitRow,
    compile_rows,
    graph_rows,
    lookup_counts,
    wait_rows,
)

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go  # type: ignore[import-untyped]

    from neuron_top.views.model import Run

__all__ = ["CacheTables", "FleetTables", "RunTables", "open_cache", "open_fleet", "open_run"]

_MOMENTS = frozenset({"time", "start", "end", "since", "used", "seen", "started", "finished"})
"""Columns that hold moments."""
_GRAPH_COLUMNS = (
    "key", "module", "state", "seconds", "precision", "hits", "misses", "failures", "wait_seconds", "rank", "workers",
    "direction", "operators", "graph_bytes", "artifact_bytes", "compiler", "message",
)  # fmt: skip
_ENTRY_COLUMNS = (
    "root", "compiler", "module", "state", "bytes", "artifact_bytes", "used", "age", "compile_seconds", "flags", "lock",
    "failure", "advice",
)  # fmt: skip
_JOB_COLUMNS = (
    "job", "name", "cluster", "state", "started", "finished", "exit_code", "nodes", "reporting", "ended", "phase",
    "step", "graphs_left", "worst_wait", "worst_wait_node", "events",
)  # fmt: skip
_NODE_COLUMNS = (
    "node", "cluster", "job", "state", "phase", "seen", "silent_seconds", "step", "step_seconds", "graphs_left",
    "worst_wait", "clock_offset", "slow", "version",
)  # fmt: skip
_KEY_COLUMNS = ("node", "root", "key", "state", "bytes", "compiler", "seen", "program")
_ALERT_COLUMNS = ("kind", "severity", "since", "title", "evidence", "next_step", "graph", "core")


def open_run(name: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = "last") -> RunTables:
    """A run as tables. `name`: `last`, `last~`, a recording's id or name, a log file, or several log files of one run.

    Raises neuron_top.errors.NothingToShow for a name that is neither, UsageError for a file that cannot be read.
    """
    names = [os.fspath(name)] if isinstance(name, str | os.PathLike) else [os.fspath(each) for each in name]
    return RunTables(*service.load_run(names, load()[0]))


def open_cache(root: str | os.PathLike[str] | None = None) -> CacheTables:
    """A compile cache as a table. `root`: a folder or `s3://bucket/prefix`; by default the one that a job would use.

    Raises neuron_top.errors.NothingToShow for a cache that is not there.
    """
    return CacheTables(*service.cache_entries(None if root is None else os.fspath(root), load()[0]))


def open_fleet(store: str | None = None) -> FleetTables:
    """The jobs and nodes of a fleet. `store`: its database, `postgresql://[user@]host/database`; by default the
    setting `store` (a password stands in ~/.pgpass or PGPASSWORD).

    Raises neuron_top.errors.UsageError where none is named, StoreUnusable where it does not answer.
    """
    settings = load({} if store is None else {"store": store})[0]
    return FleetTables(settings, *service.fleet_now(settings))


class RunTables:
    """One run. Each table is made when it is first asked for; the run is the one of the moment it was opened."""

    def __init__(self, run: Run, events: EventTables) -> None:
        self._run, self._events = run, events
        self._end = service.end_of(run)

    def __repr__(self) -> str:
        counts = f"{len(self._graph_rows)} graphs, {len(self._events.samples)} samples"
        return f"<run {self._run.job.run or 'of a log'}: {counts}>"

    @cached_property
    def _graph_rows(self) -> Sequence[GraphRow]:
        return graph_rows(self._run, self._end)

    @cached_property
    def graphs(self) -> pd.DataFrame:
        """A row per graph: state, `seconds` of its newest compile and how they are `known`, counts of lookups."""
        return _frame(self._graph_rows, GraphRow, _GRAPH_COLUMNS)

    @cached_property
    def lookups(self) -> pd.DataFrame:
        """A row per graph, worker and `result` (hit, miss, cached failure, extracted) with its `count`."""
        return _frame(lookup_counts(self._run), LookupCount)

    @cached_property
    def compiles(self) -> pd.DataFrame:
        """A row per call of the compiler: `start`, `end`, `seconds`, `outcome`, `peak_rss` and `artifact` in bytes."""
        return _frame(compile_rows(self._run), CompileRow)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """A row per wait for another's lock, `seconds`."""
        return _frame(wait_rows(self._run, self._end), WaitRow)

    @cached_property
    def samples(self) -> pd.DataFrame:
        """A row per core and sample: `utilization` and `power` as shares 0…1, `memory` and `capacity` in bytes."""
        return _frame(self._events.samples, SampleRow)

    @cached_property
    def memory_kinds(self) -> pd.DataFrame:
        """A row per core, sample and kind of memory, `bytes`."""
        return _frame(self._events.memory_kinds, MemoryKindRow)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row per report of a training step; those with `extracting` were printed while nothing was computed."""
        return _frame(self._events.steps, StepRow)

    @cached_property
    def alerts(self) -> pd.DataFrame:
        """The alerts that hold at the end of the run, worst first."""
        return _frame(alerts(self._run, self._end), Alert, _ALERT_COLUMNS)

    def plot_compiles(self, theme: str = "light") -> go.Figure:
        """Who compiled and who waited when: a lane per worker, in the colors of the screens."""
        from neuron_top.dashboard.chart_colors import chart_colors
        from neuron_top.dashboard.compile_figures import lanes
        from neuron_top.views.cache_lookups import cache_lookups
        from neuron_top.views.timeline import timeline

        view = timeline(self._run, self._end)
        return _drawn(lanes(view, cache_lookups(self._run, self._end), chart_colors(theme)).figure)

    def plot_memory(self, theme: str = "light") -> go.Figure:
        """Memory of each core over time, in the colors of the screens."""
        from neuron_top.dashboard.chart_colors import chart_colors
        from neuron_top.dashboard.memory_figures import lines
        from neuron_top.views.memory import memory_table

        return _drawn(lines(memory_table(self._run, self._end), chart_colors(theme)))

    def plot_loss(self, theme: str = "light") -> go.Figure:
        """The loss by step, every value that was printed, in the colors of the screens."""
        from neuron_top.dashboard.chart_colors import chart_colors
        from neuron_top.dashboard.figures import empty, layout

        colors = chart_colors(theme)
        printed = [
            (row.step, row.loss)
            for row in self._events.steps
            if not row.extracting and row.loss is not None and row.step is not None
        ]
        if not printed:
            return _drawn(empty(colors, "no loss was printed"))
        trace = {
            "type": "scatter",
            "mode": "lines",
            "name": "loss",
            "x": [step for step, _ in printed],
            "y": [loss for _, loss in printed],
            "line": {"color": colors.accent},
        }
        return _drawn(
            {"data": [trace], "layout": layout(colors, 320, xaxis={"type": "linear", "title": {"text": "step"}})}
        )


class CacheTables:
    """One compile cache as it was when it was opened."""

    def __init__(self, root: str, rows: Sequence[EntryRow]) -> None:
        self.root = root
        self._rows = rows

    def __repr__(self) -> str:
        return f"<cache {self.root}: {len(self._rows)} entries>"

    @cached_property
    def entries(self) -> pd.DataFrame:
        """A row per entry: `state`, `bytes` on disk, `used` (when) and `age` in seconds since, `compile_seconds`."""
        return _frame(self._rows, EntryRow, _ENTRY_COLUMNS)

    def plot_sizes(self, theme: str = "light") -> go.Figure:
        """What takes the space: a treemap by compiler, state and entry, in the colors of the screens."""
        from neuron_top.dashboard.cache_figures import treemap
        from neuron_top.dashboard.chart_colors import chart_colors

        return _drawn(treemap(list(self._rows), chart_colors(theme)))


class FleetTables:
    """A fleet as it was when it was opened."""

    def __init__(self, settings: Settings, page: FleetPage, keys: Sequence[service.NodeKey]) -> None:
        self._settings, self._page, self._keys = settings, page, keys

    def __repr__(self) -> str:
        return f"<fleet: {len(self._page.jobs)} jobs, {len(self._page.nodes)} nodes>"

    def open_run(self, job: str) -> RunTables:
        """A job over all its nodes, by its id, a unique prefix of it, or its name.

        Raises neuron_top.errors.NothingToShow where there is none.
        """
        return RunTables(*service.load_job(job, self._settings))

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """A row per job, the newest first: nodes that ever reported, that still do and that ended; `worst_wait` in
        seconds."""
        return _frame(self._page.jobs, JobRow, _JOB_COLUMNS)

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """A row per node: when its agent was last `seen`, what it does, `clock_offset` in seconds."""
        return _frame(self._page.nodes, NodeRow, _NODE_COLUMNS)

    @cached_property
    def entries(self) -> pd.DataFrame:
        """A row per node and cache entry: `key` is the graph's, `program` a digest of the graph without its ranks."""
        return _frame(self._keys, service.NodeKey, _KEY_COLUMNS)


def _frame(rows: Sequence[msgspec.Struct], kind: type[msgspec.Struct], names: Sequence[str] = ()) -> pd.DataFrame:
    """The rows with a column per field, typed by the fields: also where there is no row, or nothing but None."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise UsageError("tables need pandas: pip install 'neuron-top[notebook]'") from None
    hints = typing.get_type_hints(kind)
    return pd.DataFrame(
        {
            name: _column([getattr(row, name) for row in rows], "moment" if name in _MOMENTS else _dtype(hints[name]))
            for name in names or kind.__struct_fields__
        }
    )


def _column(values: list[Any], dtype: str) -> pd.Series[Any]:
    import pandas as pd

    if dtype == "moment":
        moments = pd.to_datetime(pd.Series(values, dtype="Float64"), unit="s", utc=True, errors="coerce")
        return moments.astype("datetime64[ns, UTC]")  # pandas chooses a unit by the values
    if dtype == "string":
        values = [value.value if isinstance(value, Enum) else value for value in values]
    return pd.Series(values, dtype=dtype)


def _dtype(hint: Any) -> str:
    """The pandas type of a field, from its annotation."""
    kinds = [each for each in typing.get_args(hint) if each is not types.NoneType] or [hint]
    return {bool: "boolean", int: "Int64", float: "Float64"}.get(kinds[0], "string")


def _drawn(figure: dict[str, Any]) -> go.Figure:
    import plotly.graph_objects as go

    return go.Figure(figure)
