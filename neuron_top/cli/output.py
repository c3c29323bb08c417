"""Output of commands: data on stdout, messages on stderr, JSON on request."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NoReturn, TextIO

import msgspec

from neuron_top.escapes import PLAIN, shortened, visible, visible_lines

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_UNSEEN = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")
"""Characters that control a terminal or are invisible, and surrogates of names that are no UTF-8."""

_NOT_ASCII = re.compile("[^\0-\x7f]")


def fill_closed_streams() -> None:
    """Put /dev/null in the place of a closed standard input or error. Otherwise the next file that is opened would get
    its descriptor, and what is written to that. `sys.stdin` stays None, which shows that it was closed."""
    for number in (0, 2):
        try:
            os.fstat(number)
        except OSError:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, number)
            if nothing == number:
                os.set_inheritable(number, True)
            else:
                os.close(nothing)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (it is the process's own stream)


def prepare_streams() -> None:
    """Have stdout and stderr write in ASCII what their encoding lacks, which in a locale without UTF-8 is an error."""
    codecs.register_error("neurontop", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_utf8(stream):
            stream.reconfigure(errors="neurontop")


def _spelled(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    plain = problem.object[problem.start : problem.end].translate(PLAIN)
    return plain.encode("ascii", "backslashreplace").decode(), problem.end


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8")


def write_json(text: str) -> None:
    """A JSON document on stdout; escaped where stdout's encoding is not UTF-8, so that it reads as the same value."""
    if not _is_utf8(sys.stdout):
        text = _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)
    sys.stdout.write(text)


def write_html(text: str) -> None:
    """An HTML document on stdout, with references to what stdout's encoding lacks."""
    if not _is_utf8(sys.stdout):
        text = text.encode("ascii", "xmlcharrefreplace").decode()
    sys.stdout.write(text)


def print_json(value: object) -> None:
    """One JSON document on stdout, keys in the order of the value, two blanks of indent."""
    write_json(json_text(value, indent=2) + "\n")


def print_json_of(documents: Mapping[str, object], names: Sequence[str]) -> None:
    """The document of the only name that was given; of several names an object of those there are, by name."""
    if len(set(names)) > 1:
        print_json(documents)
    else:
        for document in documents.values():
            print_json(document)


def print_json_line(value: object) -> None:
    """One JSON document on one line, flushed: for streams."""
    write_json(json_text(value) + "\n")
    sys.stdout.flush()


def json_text(value: object, indent: int = -1) -> str:
    """A JSON document, keys in the order of the value; `indent` below zero: on one line."""
    try:
        document = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(_finite(msgspec.to_builtins(value)), indent=indent if indent >= 0 else None, allow_nan=False)
    text = (document if indent < 0 else msgspec.json.format(document, indent=indent)).decode()
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _finite(value: object) -> object:
    """The value with null for numbers that JSON cannot write, as msgspec does it."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(each) for name, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
        case _:
            return value


def print_text(text: str) -> None:
    """Text on stdout, flushed; control characters in it are escaped."""
    sys.stdout.write(f"{visible_lines(text)}\n")
    sys.stdout.flush()


def log_stderr(text: str) -> None:
    """A message on stderr in one write, so that no other output is mixed into it; control characters are escaped.

    If it cannot be written (a full disk, a reader that is gone), the command goes on and gives the same result.
    """
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{visible_lines(text)}\n")
        sys.stderr.flush()


def standard_input_bytes() -> IO[bytes] | None:
    """The process's standard input; None if it was closed."""
    return sys.stdin.buffer if sys.stdin is not None else None


def storable_name(name: str) -> str:
    """A file name as text for JSON: bytes that are no UTF-8 become visible escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


class Parser(argparse.ArgumentParser):
    """An argument parser whose messages escape control characters: a shell's `*` passes names that others chose.

    Its message about missing arguments does not name those that may be left out.
    """

    def add_argument(self, *names: Any, **given: Any) -> argparse.Action:
        """As argparse's, but an argument that takes any number of values is not required."""
        action = super().add_argument(*names, **given)
        if action.nargs in (argparse.ZERO_OR_MORE, argparse.REMAINDER):
            action.required = False
        return action

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help. Raises OSError if it cannot be written, which argparse would ignore."""
        if file is not None:
            super().print_help(file)
            return
        sys.stdout.write(self.format_help())
        sys.stdout.flush()

    def error(self, message: str) -> NoReturn:
        """Print argparse's message, with what was probably meant, and exit with status 2."""
        from neuron_top.cli.usage_hints import with_hint  # only where something is wrong

        super().error(visible_lines(with_hint(self, message)))


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse would find out the width by shutil, even if no help is printed; and it
    would leave descriptions and usage lines as they are written, which a narrow terminal breaks inside of words."""

    def __init__(self, prog: str, **given: Any) -> None:
        super().__init__(prog, **{"width": terminal_width() - 2, **given})

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from neuron_top.cli.help_layout import fit  # only where help is printed

        return super()._fill_text(fit(text, width + 2 - len(indent)), width, indent)

    def _format_usage(self, usage: str | None, *others: Any) -> str:
        from neuron_top.cli.help_layout import fit_usage

        return fit_usage(super()._format_usage(usage, *others), self._width + 2)


def terminal_width() -> int:
    """Columns, as `shutil.get_terminal_size` says, without importing shutil, which also loads modules for archives."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


def broken_text(text: str, column: int, begins: int | None = None) -> str:
    """A text, broken between words on a terminal that is too narrow for it; further lines begin at `column`.

    `begins`: the column at which its first line is printed, by default the same.
    """
    begins = column if begins is None else begins
    width = max(column + 20, terminal_width())
    if begins + len(text) <= width or not sys.stdout.isatty():
        return text
    import textwrap  # where there is such a text

    lines = textwrap.wrap(
        text, width, initial_indent=" " * begins, subsequent_indent=" " * column,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return "\n".join(lines)[begins:]


def colors_wanted() -> bool:
    """Color only for a terminal, and never when NO_COLOR is set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_LEAST_NAME = 16
"""Characters that are left of a name where a terminal is narrow."""
_LEAST_TEXT = 24
"""Columns that a table's last text gets beside the others where a terminal is narrow."""
_GAP = 2
_INDENT = 4


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = (), *, names: int | None = None
) -> str:
    """Aligned columns of text, each cell one safe line; the columns in `right` are right-aligned (numbers).

    On a terminal on which the rows would not fit, `names` is a column whose long cells are shortened; columns in which
    nothing is known are left out, and what still does not fit goes on below its row.
    """
    lines = [list(header), *(list(map(visible, row)) for row in rows)]
    width = terminal_width()
    if _total(widths := _widths(lines)) <= width or not sys.stdout.isatty():
        return "\n".join(_aligned(line, widths, right) for line in lines)
    from neuron_top.units import UNKNOWN  # where a terminal is narrow; help needs none

    known = [column for column in range(len(header)) if {line[column] for line in lines[1:]} - {"", UNKNOWN}]
    lines = [[line[column] for column in known] for line in lines]
    widths, right = _widths(lines), [known.index(column) for column in right if column in known]
    if names in known:
        name = known.index(names)
        room = widths[name] - (_total(widths) - width)
        if _LEAST_NAME <= room < widths[name]:
            for line in lines:
                line[name] = shortened(line[name], room)
            widths = _widths(lines)
    return _folded(lines, widths, right)


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, cells)) for cells in zip(*lines, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _aligned(line: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    return (
        (" " * _GAP)
        .join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        .rstrip()
    )


def _folded(lines: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[int]) -> str:
    """Rows. Of one that is too long the last columns begin a further line; its last text is broken between words."""
    parts: list[list[int]] = [[]]
    end = 0
    for column, width in enumerate(widths):
        least = min(width, _LEAST_TEXT) if column == len(widths) - 1 else width
        if parts[-1] and end + least > terminal_width():
            parts.append([])
            end = _INDENT
        parts[-1].append(column)
        end += width + _GAP
    text = []
    for line in lines:
        whole = _aligned(line, widths, right)
        if len(whole) <= terminal_width():
            text.append(whole)
            continue
        for number, columns in enumerate(parts):
            indent = _INDENT if number else 0
            begins = indent + sum(widths[column] + _GAP for column in columns[:-1])
            cells = [line[column] for column in columns]
            if columns[-1] == len(widths) - 1:
                cells[-1] = broken_text(cells[-1], begins)
            if any(cells):
                places = [place for place, column in enumerate(columns) if column in right]
                text.append(" " * indent + _aligned(cells, [widths[column] for column in columns], places))
    return "\n".join(text)
