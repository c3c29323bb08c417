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
_USAGE_PART = re.compile(r"\[[^\]]*\](?: \.\.\.)?|\S+")


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
    """A usage line that is written by hand, broken between its parts."""
    head, _, rest = usage.partition(" [")
    if len(usage.rstrip()) <= width or not rest:
        return usage
    indent = " " * (len(head) + 1)
    lines = [head]
    for part in _USAGE_PART.findall(f"[{rest.rstrip()}"):
        if len(lines[-1]) + 1 + len(part) <= width or lines[-1] == indent.rstrip():
            lines[-1] += f" {part}"
        else:
            lines.append(f"{indent}{part}")
    return "\n".join(lines) + usage[len(usage.rstrip()) :]


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
