"""Order of a table's rows: sort, filter and cursor, independent of drawing.

Rows keep their place while a person looks at them: as long as a row is chosen, the order stays as it is, new rows come
in at the end (of their group, in a tree), and the cursor stays with its row, not with its line. Letting go (escape)
sorts again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


class Order(Generic[Row]):
    """The rows of a table in the order in which they are shown."""

    def __init__(self, key: Callable[[Row], Hashable]) -> None:
        """`key` gives a row's identity, stable from one view to the next."""
        self.key = key
        self._sort: Callable[[Row], Any] | None = None
        self._reverse = False
        self.keep: Callable[[Row], bool] | None = None
        """Whether a row is shown; None shows all."""
        self.group: Callable[[Row], Any] | None = None
        """Tells a row's place in a tree (its head's place, then whether it is below it); it outranks every sort."""
        self._all: dict[Hashable, Row] = {}
        self._placed: list[Hashable] = []
        self.chosen: Hashable | None = None

    @property
    def rows(self) -> list[Row]:
        """What is shown, top to bottom."""
        return [self._all[key] for key in self._placed]

    def __len__(self) -> int:
        return len(self._placed)

    def part(self, first: int, count: int) -> list[Row]:
        """So many rows from one line on."""
        return [self._all[key] for key in self._placed[first : first + count]]

    @property
    def total(self) -> int:
        """Rows there are, shown or filtered away."""
        return len(self._all)

    @property
    def index(self) -> int | None:
        """Line of the chosen row, None when none is chosen."""
        return self._placed.index(self.chosen) if self.chosen in self._placed else None

    @property
    def current(self) -> Row | None:
        """The chosen row."""
        return self._all.get(self.chosen) if self.index is not None else None

    def take(self, rows: Iterable[Row], *, arrange: bool = False) -> None:
        """Rows of a newer view; `arrange`: in their order, even while a row is chosen."""
        self._all = {self.key(row): row for row in rows}
        self._place(held=not arrange and self.chosen in self._all)
        if self.chosen not in self._placed:
            self.chosen = None

    def sort_by(self, sort: Callable[[Row], Any] | None, reverse: bool) -> None:
        """Another order, at once, even while a row is chosen."""
        self._sort, self._reverse = sort, reverse
        self._place(held=False)

    def filter_by(self, keep: Callable[[Row], bool] | None) -> None:
        """Show only the rows for which `keep` holds."""
        self.keep = keep
        self._place(held=False)
        if self.chosen not in self._placed:
            self.chosen = None

    def move(self, by: int) -> None:
        """Choose the row `by` lines away (the first, or from below the last, when none is chosen)."""
        if not self._placed:
            return
        start = self.index
        target = (0 if by > 0 else len(self._placed) - 1) if start is None else start + by
        self.choose(target)

    def choose(self, index: int) -> None:
        """Choose a row by its line; beyond the ends, the last one."""
        if self._placed:
            self.chosen = self._placed[max(0, min(index, len(self._placed) - 1))]

    def release(self) -> bool:
        """Clear the chosen row and sort again; False if none was chosen."""
        if self.chosen is None:
            return False
        self.chosen = None
        self._place(held=False)
        return True

    def _place(self, held: bool) -> None:
        keep, sort = self.keep, self._sort
        keys = list(self._all) if keep is None else [key for key, row in self._all.items() if keep(row)]
        if held:
            known = set(keys)
            placed = [key for key in self._placed if key in known]
            fresh = known.difference(placed)
            self._placed = self._grouped(placed + [key for key in keys if key in fresh])
            return
        if sort is not None:
            values = {key: value for key in keys if (value := sort(self._all[key])) is not None}
            known_first = sorted(values, key=values.__getitem__, reverse=self._reverse)
            keys = known_first + [key for key in keys if key not in values]
        self._placed = self._grouped(keys)

    def _grouped(self, keys: list[Hashable]) -> list[Hashable]:
        group = self.group
        if group is None:
            return keys
        groups: dict[Any, list[Hashable]] = {}
        for key in keys:
            groups.setdefault(group(self._all[key]), []).append(key)
        return [key for place in sorted(groups) for key in groups[place]]
