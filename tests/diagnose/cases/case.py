"""What a case is: a log of our own, and what must be said of it."""

from __future__ import annotations

from typing import NamedTuple

MARK = ">>>"


class Case(NamedTuple):
    """One log and what must be said of it."""

    name: str
    cause_class: str
    """"" = nothing failed."""
    text: str
    ended: str = ""
    """"" = not asked."""
    recovered: bool = False

    @property
    def log(self) -> bytes:
        """The bytes of the log."""
        return self.text.lstrip("\n").replace(MARK, "").encode()

    @property
    def line(self) -> int:
        """The number of the marked line; 0 = none."""
        lines = self.text.lstrip("\n").split("\n")
        return next((number for number, line in enumerate(lines, 1) if MARK in line), 0)
