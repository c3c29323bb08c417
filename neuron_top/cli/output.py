"""How commands speak: data on stdout, narration on stderr, JSON on request."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec


def print_json(value: Any) -> None:
    """One JSON document on stdout, keys in the order of the value, two blanks of indent."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_json_line(value: Any) -> None:
    """One JSON document on one line, flushed: for streams."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def narrate(text: str) -> None:
    """A line for the person, never for a program; one write, so that nobody else's output stands inside it."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def colours_wanted() -> bool:
    """Colour only for a terminal, and never when NO_COLOR is set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Aligned columns of text; the columns in `right` are right-aligned (numbers)."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
