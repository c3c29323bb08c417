"""A request to stop that a thread can wait for together with files and pipes."""

from __future__ import annotations

import os
import select
import weakref


class StopRequest:
    """Made by any thread, at any time, any number of times; from then on its descriptor is readable, for ever.

    The descriptor is closed with the object, and not before: the request may come when the thread has ended already.
    """

    def __init__(self) -> None:
        self._number = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        # Not at exit: a thread that nobody stopped may still wait for it then.
        weakref.finalize(self, os.close, self._number).atexit = False
        self._is_made = False

    def is_made(self) -> bool:
        """Whether it was made."""
        return self._is_made

    def fileno(self) -> int:
        """The descriptor to wait for, as `select` asks for it."""
        return self._number

    def make(self) -> None:
        """Make the request."""
        self._is_made = True
        os.eventfd_write(self._number, 1)

    def wait(self, seconds: float) -> None:
        """Return when the request was made, or after so many seconds."""
        poll = select.poll()
        poll.register(self._number, select.POLLIN)
        poll.poll(seconds * 1000)
