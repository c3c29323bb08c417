"""The tables that tell in a report of a fleet's job who compiled, who waited, and what was compiled again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from neuron_top.report.table import ReportColumn, ReportTable
from neuron_top.views.blame.records import Blame
from neuron_top.views.blame.text import (
    ADVICE,
    GRAPH_COLUMNS,
    REPEATED_COLUMNS,
    graph_cells,
    headline,
    notes,
    repeated_cells,
)


def blame_tables(blame: Blame | None) -> list[ReportTable]:
    """None where the report is of no fleet's job."""
    if blame is None:
        return []
    return [
        ReportTable(
            "Who compiled, who waited", _SUMS, tuple(headline(blame)), " ".join(f"{one}." for one in notes(blame))
        ),
        ReportTable(
            "Graphs by what they cost the fleet", _GRAPHS, blame.graphs, "Core-hours of compiling and waiting."
        ),
        ReportTable("Compiled again though another node had it", _REPEATED, blame.repeated),
    ]


def _columns(titles: Sequence[str], cells: Callable[[Any], Sequence[str]]) -> tuple[ReportColumn, ...]:
    return tuple(ReportColumn(title, partial(_cell, cells, number)) for number, title in enumerate(titles))


def _cell(cells: Callable[[Any], Sequence[str]], number: int, row: Any) -> str:
    return cells(row)[number]


_SUMS = _columns(("", "what it cost"), lambda row: row)
_GRAPHS = _columns(GRAPH_COLUMNS, graph_cells)
_REPEATED = _columns((*REPEATED_COLUMNS, "what to do"), lambda row: (*repeated_cells(row), ADVICE.get(row.because, "")))
