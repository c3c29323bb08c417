"""Writes the manual page out of the parsers: `python docs/manual.py FILE`, which is `make man`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from argparse_manpage.manpage import Manpage

from neuron_top import __version__
from neuron_top.cli.command_tree import whole_parser


def page() -> str:
    """The page in roff. Examples keep their lines; other text is filled, aligned to the left and never hyphenated."""
    os.environ["COLUMNS"] = "100"  # argparse breaks usage lines by it
    parser = whole_parser()
    parser.description = str(parser.description).partition("\n\n")[0]  # the commands follow as a list
    made = Manpage(parser)
    made.manual, made.source = "neurontop", f"neuron-top {__version__}"
    made.description = parser.description.rstrip(".")
    head, *lines = str(made).splitlines()
    return "\n".join([head, ".ad l", ".nh", *_laid_out(lines)]) + "\n"


def _laid_out(lines: list[str]) -> Iterator[str]:
    for indented, group in groupby(_usage_on_one_line(lines), key=lambda line: line.startswith(" ")):
        block = list(group)
        yield from [".nf", *block, ".fi"] if indented else block


def _usage_on_one_line(lines: list[str]) -> Iterator[str]:
    usage = ""
    for line in lines:
        if usage and line.startswith(" "):
            usage += f" {line.strip()}"
            continue
        if usage:
            yield usage
        usage = line if line.startswith("usage: ") else ""
        if not usage:
            yield line
    if usage:
        yield usage


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
