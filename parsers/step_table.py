"""Reads the tables that training programs print: a heading that names a step or an epoch and a loss, then rows.

`step | loss | sec`, the tabs of a notebook's progress table, columns of spaces as in `epoch  train_loss  valid_loss`.
Only the heading says what the numbers of a row are.
"""

from __future__ import annotations

import re

import msgspec

from neuron_top.late_pattern import late_pattern

LINES_BETWEEN = 200
"""Lines of others, as compiles print them, that may stand between a heading and its row, and between two rows."""
_LONGEST = 300
_MOST_COLUMNS = 16
_STEPS = ("step", "steps", "global step", "iteration", "iter", "batch")
_LOSSES = ("loss", "train loss", "training loss", "avg loss", "average loss", "mean loss")
_NAME = late_pattern(r"[A-Za-z%#][\w %#/.()-]{0,80}")
_GAP = late_pattern(r"\s{2,}")
_WHOLE = late_pattern(r"(\d{1,12})(?:/(\d{1,12}))?")
_NUMBER = late_pattern(r"[+-]?(?:\d{1,15}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?|nan|inf)", re.IGNORECASE)
_VALUE = late_pattern(r"[+-]?\d[\w.,:%/+-]{0,40}|[+-]?(?:nan|inf)|-{1,3}", re.IGNORECASE)


class PrintedStep(msgspec.Struct, frozen=True):
    """A step as a row prints it: the numbers that the heading names, None for those it does not."""

    loss: float
    step: int | None = None
    total_steps: int | None = None
    epoch: float | None = None
    learning_rate: float | None = None


class StepTable(msgspec.Struct, frozen=True):
    """The columns of a heading, by their places."""

    separator: str
    """What stands between two cells: `|`, a tab, or nothing for spaces."""
    columns: int
    loss: int
    step: int | None
    epoch: int | None
    learning_rate: int | None

    @staticmethod
    def of_heading(text: str) -> StepTable | None:
        """The table that begins with this line; None if the line is no heading of steps or epochs with a loss."""
        if len(text) > _LONGEST:
            return None
        separator = "|" if "|" in text else "\t" if "\t" in text else ""
        names = _names(text, separator)
        if not 2 <= len(names) <= _MOST_COLUMNS or not all(map(_NAME.fullmatch, names)):
            return None
        spelled = [name.lower().replace("_", " ") for name in names]
        loss, step, epoch = _place(spelled, _LOSSES), _place(spelled, _STEPS), _place(spelled, ("epoch", "epochs"))
        if loss is None or (step is None and epoch is None):
            return None
        return StepTable(separator, len(names), loss, step, epoch, _place(spelled, ("lr", "learning rate")))

    def row(self, text: str) -> PrintedStep | None:
        """The row that this line is; None if it is none, or if its loss is not known yet."""
        if len(text) > _LONGEST:
            return None
        cells = _cells(text, self.separator) if self.separator else text.split()
        if len(cells) != self.columns or not (self.separator or all(map(_VALUE.fullmatch, cells))):
            return None
        loss, (step, total) = _number(cells[self.loss]), _whole(cells, self.step)
        epoch = _number(cells[self.epoch].partition("/")[0]) if self.epoch is not None else None
        if loss is None or (step is None and self.step is not None) or (epoch is None and self.epoch is not None):
            return None
        rate = _number(cells[self.learning_rate]) if self.learning_rate is not None else None
        return PrintedStep(loss, step, total, epoch, rate)


def _cells(text: str, separator: str) -> list[str]:
    cells = [cell.strip() for cell in text.strip(" ").split(separator)]
    if separator == "|" and len(cells) > 1:  # a table may have bars at its sides
        cells = cells[1 if not cells[0] else 0 : -1 if not cells[-1] else None]
    return cells


def _names(text: str, separator: str) -> list[str]:
    """The names of a heading's columns. A remark may stand two spaces behind a name between bars."""
    if separator:
        return [_GAP.split(cell)[0] for cell in _cells(text, separator)]
    wide_apart = _GAP.split(text.strip())
    words = text.split()
    return wide_apart if len(wide_apart) > 1 else words if any("_" in word for word in words) else []


def _place(names: list[str], wanted: tuple[str, ...]) -> int | None:
    """Where the first of the wanted names stands."""
    return next((names.index(name) for name in wanted if name in names), None)


def _number(cell: str) -> float | None:
    return float(cell) if _NUMBER.fullmatch(cell) else None


def _whole(cells: list[str], place: int | None) -> tuple[int | None, int | None]:
    """(number, total) of a cell like `3` or `3/10`."""
    found = _WHOLE.fullmatch(cells[place]) if place is not None else None
    return (int(found[1]), int(found[2]) if found[2] else None) if found else (None, None)
