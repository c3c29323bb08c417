"""Textual's driver for Linux, whose writer outlives the terminal.

Textual writes from a thread with a short queue. When the terminal is gone a write fails, the thread ends, and the full
queue then blocks the program for ever, so that it could not even leave its screen.
"""

from __future__ import annotations

import contextlib
from typing import IO, Any, cast

from textual.drivers.linux_driver import LinuxDriver


class LastingDriver(LinuxDriver):
    """What cannot be written because nobody reads any more is dropped."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._file = cast("Any", _Lasting(cast("IO[str]", self._file)))


class _Lasting:
    """The part of a text file that the driver uses."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._file.flush()
