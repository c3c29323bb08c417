"""Lays out the raw text of help (descriptions, examples, tables of commands) for terminals narrower than its lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

_EXPLANATION_COLUMNS = 30
"""Below so many columns, what explains an example stands on lines of its own."""
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
_STATUS = re.compile(r"(?<=[:;·] )(\d+) ")
"""An exit status stays on the line of its first word."""
_ALTERNATIVE = re.compile(r"(?<=[,|])(?=\S)|(?<=\| )")
"""Where a part of a usage line may be broken."""


class Row(NamedTuple):
    """A line of an indented block: a command or a name, and its explanation; `column`: where that began, if any."""

    indent: int
    name: str
    column: int
    explanation: str


def fit(text: str, width: int) -> str:
    """The text with no line longer than `width`, except a command that is longer by itself: it is to be copied.

    Prose is filled; an explanation beside a name stays in its column where that leaves room. Text that fits stays.
    """
    lines = text.splitlines()
    if all(len(line) <= width for line in lines):
        return text
    fitted: list[str] = []
    for kind, group in groupby(lines, key=lambda line: "blank" if not line.strip() else line[0] == " "):
        block = list(group)
        if kind == "blank":
            fitted += block
        elif kind:
            fitted += _fitted_rows(_rows(block), width)
        else:
            fitted += _filled(" ".join(block), width, 0)
    return "\n".join(fitted)


def fit_usage(usage: str, width: int) -> str:
    """A usage line broken between its parts. argparse breaks lines within a group, and leaves lines too long that are
    written by hand or have a part that is longer than the terminal."""
    words = usage.split()
    if len(" ".join(words)) <= width:
        return usage
    parts = _usage_parts(words)
    options = next((index for index, part in enumerate(parts) if part[0] in "[(-<"), len(parts))
    head = " ".join(parts[:options])
    column = len(head) + 1
    if any(column + len(part) > width for part in parts[options:]):
        column = len("usage: ")
    lines = [head]
    for part in parts[options:]:
        if len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines += _broken(part, width, column)
    return "\n".join(lines) + usage[len(usage.rstrip()) :]


def _broken(part: str, width: int, column: int) -> Iterator[str]:
    """A part on lines of its own; one that is longer than a line is broken between its alternatives."""
    line = " " * column
    for piece in _ALTERNATIVE.split(part):
        if len(line) + len(piece.rstrip()) > width and line.strip():
            yield line.rstrip()
            line = " " * (column + 1)
        line += piece
    yield line


def _usage_parts(words: Sequence[str]) -> list[str]:
    """What is in brackets is a part, as is an option with its value, and `...` belongs to the part before."""
    parts: list[str] = []
    depth = 0
    for word in words:
        is_value = bool(parts) and parts[-1][0] == "-" and " " not in parts[-1] and word[0] not in "[(-<"
        if depth or word == "..." or is_value or parts[-1:] == ["--"]:
            parts[-1] += f" {word}"
        else:
            parts.append(word)
        depth += sum(map(word.count, "[(")) - sum(map(word.count, ")]"))
    return parts


def _rows(block: Sequence[str]) -> list[Row]:
    """A line that is indented further than the first one goes on with the explanation of the line before."""
    first = len(block[0]) - len(block[0].lstrip())
    rows: list[Row] = []
    for line in block:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        gap = _GAP.search(line, indent)
        if indent > first and gap is None and rows:
            last = rows[-1]
            rows[-1] = last._replace(column=last.column or indent, explanation=f"{last.explanation} {text}".strip())
        elif gap is None:
            rows.append(Row(indent, text, 0, ""))
        else:
            rows.append(Row(indent, line[indent : gap.start()], gap.end(), line[gap.end() :]))
    return rows


def _fitted_rows(rows: Sequence[Row], width: int) -> Iterator[str]:
    column = max((row.column for row in rows), default=0)
    beside = column + _EXPLANATION_COLUMNS <= width
    for row in rows:
        name = " " * row.indent + row.name
        if beside and row.explanation:
            first, *further = textwrap.wrap(row.explanation, width - row.column, break_on_hyphens=False)
            yield f"{name:<{row.column}}{first}"
            yield from (f"{'':<{row.column}}{line}" for line in further)
        else:
            yield name
            yield from _filled(row.explanation, width, row.indent + 4)


def _filled(text: str, width: int, indent: int) -> list[str]:
    margin = " " * indent
    lines = textwrap.wrap(
        _STATUS.sub("\\1\xa0", text), max(width, indent + 20), initial_indent=margin, subsequent_indent=margin,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace("\xa0", " ") for line in lines]
