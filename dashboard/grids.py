"""Columns of the grids, and the grid itself: AG Grid's community edition, rows known by their `id`.

Values are plain numbers, which sort as numbers; how they read is a named format of `neurontop.js`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag  # type: ignore[import-untyped]  # carries no types

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


def number(field: str, head: str, shown: str = "", width: int = 105, **more: Any) -> Column:
    """A column of numbers; `shown`: bytes, seconds, share, date or "" for as they are."""
    format_ = {"valueFormatter": {"function": f"{shown}Text(params.value)"}} if shown else {}
    return (
        {"field": field, "headerName": head, "width": width, "type": "rightAligned", "filter": "agNumberColumnFilter"}
        | format_
        | more
    )


def _wide_enough(one: Column) -> Column:
    """The column, at least as wide as its head; columns share the remaining width."""
    least = max(one["width"], 7 * len(one["headerName"]) + 68)
    return {key: value for key, value in one.items() if value is not None} | {"minWidth": least, "flex": least}


GRAPH_COLUMNS = (
    column("graph", "Graph", 365), column("state", "State", 130),
    number("seconds", "Compile time", "seconds", 130), number("elapsed", "Since", "seconds"),
    number("left", "Left, at most", "seconds", 130),
    number("rank", "Rank", width=95), number("workers", "Workers", width=115), number("hits", "Hits", width=90),
    number("misses", "Compiles", width=115), number("failures", "Failures", width=110),
    number("wait", "Longest wait", "seconds", 135), number("bytes", "Artifact", "bytes"),
    number("operators", "Operators", width=120), column("compiler", "Compiler", 150), column("message", "Failure", 400),
)  # fmt: skip

RUN_COLUMNS = (
    column("star", "★", 60, filter=False), column("name", "Name", 150), column("tags", "Tags", 120),
    column("state", "State", 160), number("started", "Started (UTC)", "date", 185),
    number("seconds", "Wall time", "seconds"), number("compile_share", "Compile share", "share", 125),
    number("hit_rate", "Hit rate", "share", 95), number("graphs", "Graphs", width=90),
    column("note", "Note", 160), number("bytes", "Size", "bytes"), column("node", "Node", 130),
    column("run", "Run", 210), number("events", "Events"), column("command", "Command", 420),
)  # fmt: skip

ENTRY_COLUMNS = (
    column("module", "Module", 360, filter=False), column("state", "State", 130, filter=False),
    column("compiler", "Compiler", 200, filter=False), number("bytes", "Size", "bytes", filter=False),
    number("age", "Unused for", "seconds", 120, filter=False),
    number("seconds", "Compile time", "seconds", 130, filter=False),
    number("artifact", "Artifact", "bytes", filter=False), column("lock", "Lock", 200, filter=False),
    column("failure", "Failure", 260, filter=False), column("advice", "Advice", 240, filter=False),
    column("flags", "Flags", 260, filter=False), column("root", "Root", 220, filter=False),
)  # fmt: skip


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
        "suppressCellFocus": False,
        "ensureDomOrder": True,
        "enableCellTextSelection": True,
        "localeText": {"noRowsToShow": "nothing yet"},
    }
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
