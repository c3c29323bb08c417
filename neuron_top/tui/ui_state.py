"""What the screens were like when the program was left, kept in a small file, so that the next start looks the same.

A file that cannot be read or understood is ignored; so is a failure to write it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from neuron_top import private_files
from neuron_top.decoders import MALFORMED
from neuron_top.errors import RefusedForSafety
from neuron_top.plain_files import read_plain

FILE_NAME = "screen.json"


class TableState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the rows of one screen were arranged."""

    column: str = ""
    """Title of the column that they were sorted by; "" for their own order."""
    reverse: bool = False
    filter: str = ""
    folded: tuple[str, ...] = ()
    """Keys of the groups that were folded."""
    flat: bool = False
    """Shown without groups."""


class UiState(msgspec.Struct, frozen=True, kw_only=True):
    """Names of the screen and the theme (empty: the defaults), and how each screen's rows were arranged."""

    screen: str = ""
    theme: str = ""
    tables: dict[str, TableState] = {}
    """By screen."""


def load(folder: Path) -> UiState:
    """Read the state from the state folder; an empty state where that cannot be read."""
    try:
        return msgspec.json.decode(read_plain(folder / FILE_NAME), type=UiState)
    except (OSError, *MALFORMED):
        return UiState()


def save(folder: Path, state: UiState) -> None:
    """Write the state, replacing the file at once or not at all."""
    with contextlib.suppress(OSError, RefusedForSafety):
        private_files.make_folder(folder)
        private_files.replace_file(folder / FILE_NAME, msgspec.json.encode(state))
