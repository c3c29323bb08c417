"""Rows of the store as typed values."""

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
    """The recording process while it records; None once it said that the run ended."""
    started: float | None
    finished: float | None
    exit_code: int | None
    touched: float
    """Last append."""
    events: int
    bytes: int
    folder: str
    summary: str
    """The closing summary as JSON; "" when none was written."""

    @property
    def open(self) -> bool:
        """Whether no end was recorded: it runs, or its recorder died (then `pid` is no longer alive)."""
        return self.finished is None


def chosen(records: Sequence[RunRecord], name: str) -> RunRecord | None:
    """The recording of this id, the newest of this name, or the only one whose id begins so; None if none.

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
    """One measured compile, the ground of estimates."""

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
    """How many of each operator; empty where nobody reported it."""
