"""Pins: patterns of module names that no eviction takes, kept in a file of the state folder.

A pin names a module, a pattern (`MODULE_1234*`) or all modules that a recorded run used; it says who set it, when and
why, and holds for every root. The file is replaced as a whole under a lock, so ten jobs may pin at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top.actions.journal.records import user_name
from neuron_top.actions.module_patterns import IS_PATTERN, matcher
from neuron_top.cache.model.entry import MODULE
from neuron_top.store.state_file import StateFile

FILE_NAME = "cache-pins.json"


class Pin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One pattern of module names. `at` is seconds since the epoch."""

    pattern: str
    why: str = ""
    """`run <id>`, a person's note, or empty."""
    by: str = ""
    at: float = 0.0


def can_match(text: str) -> bool:
    """Whether a pin with this text can name a module, as a whole name or as a pattern."""
    return bool(MODULE.match(text) or IS_PATTERN.search(text))


_pins = msgspec.json.Decoder(tuple[Pin, ...])  # made once, in one thread: see `cache/scan/index.py`


class Pins:
    """The pins of one state folder."""

    def __init__(self, state: Path) -> None:
        self._file = StateFile(state / FILE_NAME, _pins, (), "a list of pins")

    @property
    def path(self) -> Path:
        """The file of the pins."""
        return self._file.path

    def all(self) -> tuple[Pin, ...]:
        """Every pin, oldest first.

        Raises FileMalformed, RefusedForSafety: pins that cannot be read must not count as none.
        """
        return self._file.read()

    def patterns(self) -> tuple[str, ...]:
        """The patterns alone. Raises as `all` does."""
        return tuple(pin.pattern for pin in self.all())

    def add(self, patterns: Iterable[str], why: str = "") -> list[Pin]:
        """Pin these; returns the pins that are new. Raises FileMalformed, RefusedForSafety."""
        wanted, now, who = dict.fromkeys(patterns), time.time(), user_name()
        fresh: list[Pin] = []

        def added(before: tuple[Pin, ...]) -> tuple[Pin, ...]:
            known = {pin.pattern for pin in before}
            fresh[:] = (Pin(pattern=each, why=why, by=who, at=now) for each in wanted if each not in known)
            return (*before, *fresh)

        self._file.change(added)
        return fresh

    def remove(self, patterns: Iterable[str]) -> list[Pin]:
        """Remove the pins that equal or match one of `patterns`; returns them. Raises as `add`."""
        wanted = frozenset(patterns)
        matches = matcher(wanted)
        gone: list[Pin] = []

        def left(before: tuple[Pin, ...]) -> tuple[Pin, ...]:
            stays: list[Pin] = []
            gone.clear()
            for pin in before:
                is_named = pin.pattern in wanted or matches(pin.pattern)
                (gone if is_named else stays).append(pin)
            return tuple(stays)

        self._file.change(left)
        return gone
