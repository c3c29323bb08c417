"""What a table of a report is, and what its columns are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec


class ReportColumn(msgspec.Struct, frozen=True):
    """One column: its title, the text of a row's cell, and the value that the cell sorts by (None: by its text)."""

    title: str
    text: Callable[[Any], str]
    sort: Callable[[Any], float | None] | None = None


class ReportTable(msgspec.Struct, frozen=True):
    """A table with its heading; `note` is a sentence below the heading."""

    heading: str
    columns: Sequence[ReportColumn]
    rows: Sequence[Any]
    note: str = ""
