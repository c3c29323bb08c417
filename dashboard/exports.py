"""Exports of tables as CSV and Parquet."""

from __future__ import annotations

import csv
import io
from functools import cache
from importlib.util import find_spec
from typing import Any

from dash import html

from neuron_top.dashboard.components import attributes
from neuron_top.errors import NothingToShow

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_links(table: str) -> list[Any]:
    """Export links; `neurontop.js` adds the prefix and the run of the page's address to them.

    A link to Parquet is among them where pyarrow is installed.
    """
    return [
        html.A(
            kind.upper(),
            href=f"api/{table}.{kind}",
            className="export",
            **attributes(data_export=f"api/{table}.{kind}"),
        )
        for kind in (("csv", "parquet") if _can_write_parquet() else ("csv",))
    ]


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    """RFC 4180, UTF-8. A text that a spreadsheet would take for a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out)
    names = list(rows[0]) if rows else []
    writer.writerow(names)
    writer.writerows([[_safe(row[name]) for name in names] for row in rows])
    return out.getvalue().encode("utf-8", "surrogateescape")


def _safe(value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        value = " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    """One row group, types as the values have them. Raises NothingToShow without pyarrow."""
    if not _can_write_parquet():
        raise NothingToShow(
            "Parquet needs pyarrow, which is not installed: `pip install 'neuron-top[parquet]'`, or take the CSV"
        )
    import pyarrow as pa  # type: ignore[import-untyped]  # carries no types
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


@cache
def _can_write_parquet() -> bool:
    return find_spec("pyarrow") is not None
