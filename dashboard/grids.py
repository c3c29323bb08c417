"""Columns of the grids, and the grid itself: AG Grid's community edition, rows known by their `id`.

Values are plain numbers, which sort as numbers; how they read is a named format of `neurontop.js`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag  # type: ignore[import-untyped]  # carries no types

from neuron_top.views.words import TERMS

Column = dict[str, Any]


def column(field: str, head: str, width: int = 110, **more: Any) -> Column:
    """A column of text."""
    return {
        "field": field,
        "headerName": head,
        "width": width,
        "filter": "agTextColumnFilter",
        "tooltipField": field,
    } | more


def key(field: str, head: str, width: int, **more: Any) -> Column:
    """A column of keys of graphs, without the prefix that all have."""
    return column(field, head, width, valueFormatter={"function": "keyText(params.value)"}, **more)


def number(field: str, head: str, shown: str = "", width: int = 105, **more: Any) -> Column:
    """A column of numbers; `shown`: bytes, seconds, used, share, minute or "" for as they are."""
    format_ = {"valueFormatter": {"function": f"{shown}Text(params.value, params.data)"}} if shown else {}
    return (
        {"field": field, "headerName": head, "width": width, "type": "rightAligned", "filter": "agNumberColumnFilter"}
        | format_
        | more
    )


_CELL_MARGINS, _FILTER_BUTTON = 18, 34
"""Pixels of a column beside its head's words; the first goes with `--ag-cell-horizontal-padding` in neurontop.css."""


def _wide_enough(one: Column) -> Column:
    """The column, at least as wide as its head, else as its `minWidth` or width; columns share the remaining width, by
    their `flex` if they have one."""
    room = _CELL_MARGINS + (0 if one.get("suppressHeaderFilterButton") else _FILTER_BUTTON)
    head = 7 * len(one["headerName"]) + room
    least, usual = max(one["minWidth" if "minWidth" in one else "width"], head), max(one["width"], head)
    return {"flex": usual, **{key: value for key, value in one.items() if value is not None}, "minWidth": least}


def _explained(one: Column, word: str) -> Column:
    """The column with the definition of a word in its head."""
    return one | {"headerTooltip": TERMS[word], "headerName": f"{one['headerName']} ?"}


def _narrow(one: Column) -> Column:
    """The column without a filter of its own: the page has a search over all columns."""
    return one | {"suppressHeaderFilterButton": True}


GRAPH_COLUMNS = tuple(
    _narrow(one)
    for one in (
        column("active", "Order", 0, hide=True, sort="asc"),
        key("graph", "Graph", 210, minWidth=100), column("state", "State", 100, minWidth=84),
        _explained(number("seconds", "Compile time", "seconds", 120, minWidth=80), "compile time"),
        number("elapsed", "Elapsed", "seconds", 95, minWidth=76),
        _explained(number("left", "Time left", "seconds", 105, minWidth=76), "time left"),
        column("who", "Worker", 125, minWidth=112),
        _explained(number("lookups", "Lookups", width=100, minWidth=70), "lookup"),
        _explained(number("hits", "Hits", width=70, minWidth=50), "hit"),
        _explained(number("misses", "Misses", width=80, minWidth=60), "miss"),
        number("failures", "Failures", width=85, minWidth=70),
        _explained(number("wait", "Waited", "seconds", 90, minWidth=76), "waited"),
        _explained(number("bytes", "Artifact", "bytes", 100, minWidth=76), "artifact"),
        column("message", "Failure", 150, flex=260),
    )
)  # fmt: skip
"""Columns that fit into 1024 pixels (on narrower screens without those that `grids.js` names); operators, compiler and
the rest are in the drawer of a graph."""

RUN_COLUMNS = tuple(
    _narrow(one)
    for one in (
        column("star", "★", 34, filter=False), column("name", "Name", 140, minWidth=100),
        column("tags", "Tags", 90, minWidth=54), column("state", "State", 175, minWidth=100),
        column("reason", "Why", 150, minWidth=120, flex=450),
        number("started", "Started (UTC)", "minute", 135, sort="desc"),
        number("seconds", "Wall time", "seconds", 90, minWidth=81),
        number("compile_share", "Compile share", "share", 120, minWidth=116),
        number("hit_rate", "Hit rate", "share", 80, minWidth=74), number("graphs", "Graphs", width=80, minWidth=64),
        column("note", "Note", 105, minWidth=54), number("bytes", "Size", "bytes", 90, minWidth=72),
        column("node", "Node", 90, minWidth=56),
    )
)  # fmt: skip
"""What fits into 1024 pixels with every label filled in, the newest run first: words that are cut are whole on hover;
the command stands below the table, all of it in the exports."""

ENTRY_COLUMNS = tuple(
    _narrow(one)
    for one in (
        key("module", "Module", 160, filter=False, flex=345, minWidth=140),
        number("bytes", "Size", "bytes", 85, filter=False, sort="desc"),
        column("state", "State", 90, filter=False, minWidth=60),
        number("age", "Used", "used", 106, filter=False),
        number("seconds", "Compile time", "seconds", 126, filter=False),
        column("compiler", "Compiler", 200, filter=False, flex=240, minWidth=90),
        number("artifact", "Artifact", "bytes", 88, filter=False),
        column("lock", "Lock", 100, filter=False, minWidth=64),
        column("failure", "Failure", 150, filter=False, minWidth=80),
    )
)  # fmt: skip
"""Columns that fit into 1024 pixels, the largest entry first, with the size visible on a phone too; the rest is in the
drawer of an entry."""


def grid(
    identity: str,
    columns: Sequence[Column],
    label: str,
    *,
    height: int = 420,
    infinite: bool = False,
    many: bool = False,
) -> Any:
    """A grid. `infinite`: rows are asked for as they scroll into sight; `many`: several can be selected."""
    options: dict[str, Any] = {
        "rowSelection": {
            "mode": "multiRow" if many else "singleRow",
            "checkboxes": many,
            "headerCheckbox": many and not infinite,
            "enableClickSelection": not many,
        },
        "tooltipShowDelay": 400,
        "animateRows": False,
        "suppressColumnMoveAnimation": True,
        "suppressCellFocus": False,
        "ensureDomOrder": True,
        "enableCellTextSelection": True,
        "localeText": {"noRowsToShow": "no rows"},
    }
    if many:
        options["selectionColumnDef"] = {"headerName": "✓", "headerTooltip": "selected"}
    if infinite:
        options |= {
            "rowClassRules": {"group-row": "params.data && params.data.group"},
            "cacheBlockSize": 200,
            "maxBlocksInCache": 20,
            "infiniteInitialRowCount": 200,
            "maxConcurrentDatasourceRequests": 1,
        }
    return dag.AgGrid(
        id=identity,
        columnDefs=[_wide_enough(one) for one in columns],
        defaultColDef={"sortable": True, "resizable": True, "filter": True},
        dashGridOptions=options,
        rowModelType="infinite" if infinite else "clientSide",
        getRowId="params.data.id",
        enableEnterpriseModules=False,
        dangerously_allow_code=False,
        className="ag-theme-quartz ag-neurontop",
        style={"height": f"{height}px", "width": "100%"},
    )
