"""Textual's driver for Linux, changed so that its writer outlives the terminal.

Textual writes from a thread with a short queue. When the terminal is gone a write fails, the thread ends, and the full
queue then blocks the program for ever, so that it could not even leave its screen.

It also waits a tenth of a second after escape, which might begin the bytes of another key; but such bytes arrive
together. And it draws on standard error, which somebody may have sent to a file: with `2>/dev/null` nothing was shown.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import sys
from codecs import getincrementaldecoder
from io import TextIOWrapper
from typing import Any, cast

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

_READ_BYTES = 4096
_LOOK_SECONDS = 0.1
_SLACK_SECONDS = 0.002
ESCAPE_SECONDS = 0.01
"""The same wait as tmux's; ESCDELAY (milliseconds) overrides it, for a terminal behind a slow line."""


class LastingDriver(LinuxDriver):
    """Draws on standard output, drops what cannot be written since the terminal is gone, reports a lone escape soon."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if "ESCDELAY" not in os.environ:
            constants.ESCAPE_DELAY = ESCAPE_SECONDS  # type: ignore[misc]
        self._file = cast("Any", _Lasting(cast("TextIOWrapper", sys.__stdout__)))

    def _sigtstp_application(self, *_: object) -> None:
        """Stop as Ctrl-Z does, also when the signal comes from outside: Textual stops its own process alone, and what
        must not go on without it (`while_stopped`) would."""
        self._loop.call_soon_threadsafe(self._app.action_suspend_process)

    def run_input_thread(self) -> None:
        """As Textual's, but after each read it checks again once an escape has been alone for long enough."""
        parser = XTermParser()
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            wait = _LOOK_SECONDS
            while not self.exit_event.is_set():
                ready = selector.select(wait)
                wait = constants.ESCAPE_DELAY + _SLACK_SECONDS if ready else _LOOK_SECONDS
                data = os.read(self.fileno, _READ_BYTES) if ready else b""
                if ready and not data:  # the terminal is gone, which ends the program elsewhere
                    self.exit_event.wait(_LOOK_SECONDS)
                for event in (*parser.feed(decode(data)), *parser.tick()) if data else parser.tick():
                    self.process_message(event)


class _Lasting:
    """The part of a text file that the driver uses."""

    def __init__(self, file: TextIOWrapper) -> None:
        file.reconfigure(errors="backslashreplace")  # as standard error has it: a terminal may not know a character
        self._file = file

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._file.flush()
