"""What the screen was like when it was left: kept in a small file, so that the next start looks the same.

A file that cannot be read, or says what this program does not know, is as good as none; one that cannot be written is
no reason to complain at the end of the day.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from neuron_top import private_files
from neuron_top.errors import RefusedForSafety

FILE_NAME = "screen.json"


class Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the rows of one screen were arranged."""

    column: str = ""
    """Title of the column that they were sorted by; "" for their own order."""
    reverse: bool = False
    filter: str = ""
    folded: tuple[str, ...] = ()
    """Keys of the groups that were folded."""
    flat: bool = False
    """Shown without groups."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """Names of a screen and of a theme; "" where the start decides."""

    screen: str = ""
    theme: str = ""
    tables: dict[str, Kept] = {}
    """By screen."""


def recall(folder: Path) -> Remembered:
    """What was remembered in the state folder; nothing where that cannot be read."""
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=Remembered)
    except (OSError, RecursionError, msgspec.DecodeError):
        return Remembered()


def remember(folder: Path, what: Remembered) -> None:
    """Keep it, replacing the file at once or not at all."""
    scratch = folder / f"{FILE_NAME}.new"
    with contextlib.suppress(OSError, RefusedForSafety):
        private_files.make_folder(folder)
        with open(private_files.open_file(scratch, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(msgspec.json.encode(what))
        scratch.replace(folder / FILE_NAME)
