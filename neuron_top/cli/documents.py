"""Documents that commands write: their format and where they go."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from neuron_top.cli.output import json_text, log_stderr, write_html, write_json
from neuron_top.errors import UsageError
from neuron_top.services import reports
from neuron_top.views.report import Report

FORMATS = ("html", "md", "json")
_DEVICES = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders in which only the system makes anything."""
_SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


def add_output(parser: argparse.ArgumentParser) -> None:
    """The options that say in which form and where to."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, help="html, md or json (default: by the name given with -o, or md)")
    form.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (written atomically); - or none: stdout")


def chosen_format(arguments: argparse.Namespace) -> str:
    """The format that was asked for, else by the file's suffix, else Markdown. Raises UsageError for another suffix."""
    suffix = Path(arguments.output).suffix.lower() if arguments.output else ""
    if arguments.format is None and suffix and suffix not in _SUFFIXES:
        raise UsageError(
            f"cannot write {suffix} files: give {arguments.output} the ending .html, .md or .json, or say which of "
            "them it is with --format"
        )
    return str(arguments.format or _SUFFIXES.get(suffix, "md"))


def render(view: Report | reports.Compared, form: str) -> str:
    """The document in one of FORMATS."""
    if form == "json":
        return json_text(view, indent=2) + "\n"
    return reports.html(view) if form == "html" else reports.markdown(view)


def write(text: str, form: str, path: str | None) -> None:
    """A document in one of FORMATS to standard output, or to a file, whole or not at all. Raises UsageError.

    A device (`/dev/stdout`, `/dev/fd/63`) is written to: root would put a file in its place. Elsewhere no link and no
    pipe is followed, which somebody else may have put there.
    """
    if path is None or path == "-":
        {"html": write_html, "json": write_json}.get(form, sys.stdout.write)(text)
        return
    target = Path(path)
    if not target.name:
        raise UsageError(f"cannot write {path or 'to an empty name'}: name a file")
    try:
        if target.parent in _DEVICES:
            target.write_text(text, encoding="utf-8")
        else:
            _replace(target, text)
    except OSError as problem:
        raise UsageError(f"cannot write {path}: {problem.strerror or problem}") from None
    log_stderr(f"neurontop: wrote {path}")


def _replace(target: Path, text: str) -> None:
    # Two processes that write the same file do not collide, and in a shared folder nobody can put a link at our name.
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.partial")
    try:
        with beside.open("x", encoding="utf-8") as file:
            file.write(text)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
