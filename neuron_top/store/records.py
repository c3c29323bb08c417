"""Typed rows of the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

Row = TypeVar("Row")


class RunRecord(msgspec.Struct, frozen=True):
    """One recording. Times are seconds since the epoch, None unknown."""

    id: str
    node: str
    name: str
    command: tuple[str, ...]
    directory: str
    pid: int | None
    """Pid of the recording process; None once it has recorded the end of the run."""
    started: float | None
    finished: float | None
    exit_code: int | None
    touched: float
    """Time of the last append."""
    events: int
    bytes: int
    folder: str
    summary: str
    """The closing summary as JSON; "" when none was written."""
    last_phases: tuple[str, ...] = ()
    """The last phases of its nodes, each once, if agents shipped it, all parts ended and nobody saw an exit status."""

    @property
    def open(self) -> bool:
        """Whether no end was recorded: the run goes on, or its recorder died (then `pid` is no longer alive)."""
        return self.finished is None


def rows_named(rows: Sequence[Row], name: str, id_and_name: Callable[[Row], tuple[str, str]]) -> list[Row]:
    """The recordings or jobs that `name` may stand for: the one with this id, else the newest of this name, else all
    whose id begins with it. `rows`: newest first."""
    if not name:
        return []
    named = [(row, *id_and_name(row)) for row in rows]
    with_id = [row for row, run, _name in named if run == name]
    with_name = [row for row, _run, its_name in named if its_name == name]
    return with_id[:1] or with_name[:1] or [row for row, run, _name in named if run.startswith(name)]


def chosen(records: Sequence[RunRecord], name: str) -> RunRecord | None:
    """The one recording that `name` stands for (see `rows_named`); None if there is none, or several."""
    matches = rows_named(records, name, lambda record: (record.id, record.name))
    return matches[0] if len(matches) == 1 else None


class CompileRecord(msgspec.Struct, frozen=True):
    """One measured compile, a basis of estimates."""

    module: str
    node: str
    run: str
    compiler: str
    graph_bytes: int | None
    operators: int | None
    seconds: float
    peak_rss: int | None
    finished: float
    op_counts: dict[str, int] = {}
    """The number of each operator; empty if not reported."""
