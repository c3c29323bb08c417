"""In which order a table's rows stand: a click on a column's head changes it, and the address keeps it as `sort`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

_FALLS = "-"
"""Stands before the name of a column whose highest value comes first."""


class TableOrder(NamedTuple):
    """The column by whose values rows are sorted; "" leaves them as they are."""

    column: str = ""
    falls: bool = False

    @property
    def text(self) -> str:
        """As in the address."""
        return f"{_FALLS if self.falls else ''}{self.column}"

    def after(self, column: str, *, falls_first: bool) -> TableOrder:
        """The order after a click on the head of a column: by it, the other way round, then as at first."""
        if self.column != column:
            return TableOrder(column, falls_first)
        return TableOrder(column, not falls_first) if self.falls == falls_first else AS_GIVEN


AS_GIVEN = TableOrder()
Row = TypeVar("Row")


def order_of(state: Mapping[str, str], default: TableOrder = AS_GIVEN) -> TableOrder:
    """The order that an address names."""
    text = state.get("sort", "")
    return TableOrder(text.removeprefix(_FALLS), text.startswith(_FALLS)) if text else default


def in_order(rows: Iterable[Row], order: TableOrder, columns: Mapping[str, Callable[[Row], Any]]) -> list[Row]:
    """The rows sorted by a column, those without a value last. `columns`: what each is sorted by."""
    every, value = list(rows), columns.get(order.column)
    if value is None:
        return every
    known = sorted((row for row in every if value(row) is not None), key=value, reverse=order.falls)
    return [*known, *(row for row in every if value(row) is None)]
