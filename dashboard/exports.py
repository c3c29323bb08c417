"""Exports of tables as CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from dash import html

from neuron_top.dashboard.components import attributes
from neuron_top.errors import NothingToShow
from neuron_top.views.core_rows import CoreRow

_NOT_OF_CORES = ("trend", "kinds", "models")
CORE_COLUMNS = tuple(name for name in CoreRow.__struct_fields__ if name not in _NOT_OF_CORES)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


COLUMNS: dict[str, tuple[str, ...]] = {
    "graphs": (
        "id", "graph", "state", "seconds", "precision", "elapsed", "left", "rank", "workers", "lookups", "hits",
        "misses", "failures", "wait", "bytes", "operators", "compiler", "direction", "message",
    ),
    "cores": CORE_COLUMNS,
    "runs": (
        "id", "star", "run", "name", "tags", "note", "node", "state", "reason", "started", "seconds", "graphs",
        "compile_share", "hit_rate", "events", "bytes", "command",
    ),
    "cache": (
        "id", "module", "state", "compiler", "bytes", "artifact", "age", "used", "seconds", "lock", "failure",
        "advice", "flags", "root",
    ),
}  # fmt: skip
"""The columns of each table, which a file without rows has too."""


def export_links(table: str) -> list[Any]:
    """Export links; `neurontop.js` adds the prefix and the run of the page's address to them.

    A link to Parquet is among them where pyarrow is installed.
    """
    return [
        html.A(
            kind.upper(),
            href=f"api/{table}.{kind}",
            className="export",
            title=f"The whole table as {kind.upper()}, whatever the filter shows",
            **attributes(data_export=f"api/{table}.{kind}"),
        )
        for kind in (("csv", "parquet") if _can_write_parquet() else ("csv",))
    ]


def as_csv(rows: list[dict[str, Any]], columns: Sequence[str] = ()) -> bytes:
    """RFC 4180, UTF-8. A text that a spreadsheet would take for a formula gets an apostrophe in front.

    `columns`: those of a table without rows.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    names = list(rows[0]) if rows else columns
    writer.writerow(names)
    writer.writerows([[_safe(row[name]) for name in names] for row in rows])
    return out.getvalue().encode("utf-8", "surrogateescape")


def _safe(value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        value = " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def as_parquet(rows: list[dict[str, Any]], columns: Sequence[str] = ()) -> bytes:
    """One row group, types as the values have them. `columns`: those of a table without rows, which have no type.

    Raises NothingToShow without pyarrow.
    """
    if not _can_write_parquet():
        raise NothingToShow(
            "Parquet needs pyarrow, which is not installed: `pip install 'neuron-top[parquet]'`, or take the CSV"
        )
    import pyarrow as pa  # type: ignore[import-untyped]  # carries no types
    from pyarrow import parquet

    out = io.BytesIO()
    untyped = pa.schema([(name, pa.null()) for name in columns])
    parquet.write_table(pa.Table.from_pylist(rows) if rows else untyped.empty_table(), out)
    return out.getvalue()


@cache
def _can_write_parquet() -> bool:
    return find_spec("pyarrow") is not None
