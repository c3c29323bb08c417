"""Columns of every table: none is cut in a terminal of 80 columns or more, and a sorted one still has its name."""

from __future__ import annotations

import msgspec
import pytest
from rich.style import Style

from neuron_top.tui.panels import core_rows, entry_rows, fleet, graphs
from neuron_top.tui.screens import runs
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.tui.widgets.table import Column, column_widths, wrapped
from neuron_top.views.core_metrics import CORE_METRICS
from neuron_top.views.fleet import METRICS
from neuron_top.views.graphs import graph_table

from . import feeds

MARKS = Column("", 1, lambda row, theme, width: [])
TABLES: dict[str, tuple[Column, ...]] = {
    "graphs": graphs.COLUMNS,
    "graphs of processes without a rank": graphs.columns(
        [msgspec.structs.replace(row, rank=None, ranks=()) for row in feeds.full().read(graph_table).rows]
    ),
    "cores": core_rows.COLUMNS,
    "cores, each metric": (
        *core_rows.COLUMNS,
        *(core_rows.METRIC_COLUMNS[one] for one in CORE_METRICS if one.is_optional),
    ),
    "cores, with errors of the hardware": (*core_rows.COLUMNS, core_rows.ERRORS),
    "entries": entry_rows.columns(lambda key: False, lambda: 1, tree=False),
    "entries by root": entry_rows.columns(lambda key: False, lambda: 1, tree=True),
    "recordings": (MARKS, *runs.COLUMNS),
    **{f"nodes by {metric.name}": fleet.node_columns(metric, frozenset()) for metric in METRICS},
}


@pytest.mark.parametrize("name", TABLES)
def test_no_column_is_cut(name: str) -> None:
    for width in range(80, 261):
        shown = [size + 1 for size in column_widths(TABLES[name], width) if size]
        assert 1 + sum(shown) <= width, width


@pytest.mark.parametrize("name", TABLES)
def test_a_wider_table_has_no_fewer_columns(name: str) -> None:
    counts = [sum(size > 0 for size in column_widths(TABLES[name], width)) for width in range(80, 261)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("name", TABLES)
def test_a_title_has_room_for_the_sign_of_the_order(name: str) -> None:
    assert [column.title for column in TABLES[name] if column.sort and len(column.title) >= column.width] == []


def test_a_narrow_table_of_cores_cuts_no_number() -> None:
    for width in range(56, 80):
        assert 1 + sum(size + 1 for size in column_widths(TABLES["cores"], width) if size) <= width, width


@pytest.mark.parametrize("name", ["graphs", "graphs of processes without a rank"])
def test_a_narrow_table_of_graphs_leaves_out_counts_before_it_cuts_names(name: str) -> None:
    columns, left = TABLES[name], 60 - 2
    for column, size in zip(columns, column_widths(columns, 60), strict=True):
        if column.title == "Graph":
            assert left >= 8 + len("…+a1b2c3d4"), "graphs are told apart by some digits, and the rest is the same"
        left -= size + 1 if size else 0


def test_the_table_of_cores_at_common_widths() -> None:
    def titles(width: int) -> str:
        columns = TABLES["cores, each metric"]
        sizes = column_widths(columns, width)
        return " ".join(column.title for column, size in zip(columns, sizes, strict=True) if size)

    assert titles(80) == "Core Rank Use % Memory Used Last minute"
    assert titles(96) == "Core Rank Use % Memory Used Peak Last minute Power"


@pytest.mark.parametrize(("name", "width"), [("entries by root", 200), ("entries", 260)])
def test_a_wide_table_of_entries_shows_whole_names(name: str, width: int) -> None:
    sizes = column_widths(TABLES[name], width)
    (module,) = [size for column, size in zip(TABLES[name], sizes, strict=True) if column.title == "Module"]
    assert module >= len("MODULE_13038136912272573160+e30acd3a")


def test_what_is_to_be_said_about_a_row_is_broken_between_words_and_only_the_last_line_is_cut() -> None:
    theme, plain = Theme(DARK, UNICODE), Style()
    pieces = [("✗ corrupt", plain), ("  the artifact is damaged · verify it in full, then evict it", plain)]

    def lines(width: int, most: int) -> list[str]:
        return [strip.text.rstrip() for strip in wrapped(theme, pieces, width, most)]

    assert lines(80, 2) == ["✗ corrupt  the artifact is damaged · verify it in full, then evict it"]
    assert lines(40, 2) == ["✗ corrupt  the artifact is damaged ·", "  verify it in full, then evict it"]
    assert lines(30, 2) == ["✗ corrupt  the artifact is", "  damaged · verify it in full…"]
    assert lines(40, 1) == ["✗ corrupt  the artifact is damaged · …"]
    assert all(len(line) <= width for width in range(1, 90) for line in lines(width, 2))


@pytest.mark.parametrize(
    ("name", "title"), [("entries", "Module"), ("entries by root", "Module"), ("recordings", "Name")]
)
def test_a_row_can_be_told_by_its_name_on_fifty_columns(name: str, title: str) -> None:
    columns = TABLES[name]
    at = [column.title for column in columns].index(title)
    for width in range(50, 80):
        widths = column_widths(columns, width)
        left = width - 2 - sum(size + 1 for size in widths[:at] if size)
        assert min(widths[at], left) >= 12
