"""Pins: patterns of module names that no eviction takes, kept in a file of the state folder.

A pin names a module, a pattern (`MODULE_1234*`) or all modules that a recorded run used; it says who set it, when and
why, and holds for every root. The file is replaced as a whole under a lock, so ten jobs may pin at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from neuron_top.actions.journal.records import user_name
from neuron_top.cache.model.entry import MODULE
from neuron_top.decoders import MALFORMED
from neuron_top.errors import FileMalformed, RefusedForSafety

FILE_NAME = "cache-pins.json"
_IS_PATTERN = re.compile(r"[*?\[]")


class Pin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One pattern of module names. `at` is seconds since the epoch."""

    pattern: str
    why: str = ""
    """`run <id>`, a person's note, or empty."""
    by: str = ""
    at: float = 0.0


def can_match(text: str) -> bool:
    """Whether a pin with this text can name a module, as a whole name or as a pattern."""
    return bool(MODULE.match(text) or _IS_PATTERN.search(text))


_pins = msgspec.json.Decoder(tuple[Pin, ...])  # made once, in one thread: see `cache/scan/index.py`


class Pins:
    """The pins of one state folder."""

    def __init__(self, state: Path) -> None:
        self.path = state / FILE_NAME

    def all(self) -> tuple[Pin, ...]:
        """Every pin, oldest first.

        Raises FileMalformed, RefusedForSafety: pins that cannot be read must not count as none.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as problem:
            raise RefusedForSafety(f"the pins in {self.path} cannot be read ({problem.strerror})") from None
        try:
            return _pins.decode(data)
        except MALFORMED as problem:
            raise FileMalformed(self.path, f"a list of pins ({problem})") from None

    def patterns(self) -> tuple[str, ...]:
        """The patterns alone. Raises as `all` does."""
        return tuple(pin.pattern for pin in self.all())

    def add(self, patterns: Iterable[str], why: str = "") -> list[Pin]:
        """Pin these; returns the pins that are new. Raises FileMalformed, RefusedForSafety."""
        with self._alone():
            before = self.all()
            known = {pin.pattern for pin in before}
            now, who = time.time(), user_name()
            fresh = [
                Pin(pattern=each, why=why, by=who, at=now) for each in dict.fromkeys(patterns) if each not in known
            ]
            self._write((*before, *fresh))
        return fresh

    def remove(self, patterns: Iterable[str]) -> list[Pin]:
        """Remove the pins that equal or match one of `patterns`; returns them. Raises as `add`."""
        wanted = tuple(patterns)
        with self._alone():
            before = self.all()
            gone = [
                pin
                for pin in before
                if pin.pattern in wanted or any(fnmatch.fnmatchcase(pin.pattern, w) for w in wanted)
            ]
            self._write(tuple(pin for pin in before if pin not in gone))
        return gone

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock on the pins. Raises RefusedForSafety if they cannot be written; they are then unchanged."""
        try:
            with contextlib.ExitStack() as stack:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = self.path.with_suffix(".lock")
                handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
                yield
        except OSError as problem:
            raise RefusedForSafety(
                f"nothing was pinned or unpinned: {self.path} cannot be written ({problem.strerror})"
            ) from None

    def _write(self, pins: tuple[Pin, ...]) -> None:
        temporary = self.path.with_suffix(".tmp")  # a fixed name: the lock makes us the only writer
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(pins), indent=2) + b"\n")
        temporary.chmod(0o600)
        temporary.replace(self.path)
