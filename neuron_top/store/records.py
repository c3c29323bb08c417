"""Typed rows of the store."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


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


def chosen(records: Sequence[RunRecord], name: str) -> RunRecord | None:
    """The recording with this id, the newest of this name, or the only one whose id begins with it; None if none.

    `records`: newest first.
    """
    for matches in (
        [record for record in records if record.id == name],
        [record for record in records if record.name == name and name],
        [record for record in records if name and record.id.startswith(name)],
    ):
        if matches:
            return matches[0] if len(matches) == 1 or matches[0].name == name else None
    return None


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
