"""Pins: the patterns of module names that no eviction takes, set by a person or by the settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from neuron_top.actions.pins import Pin, Pins, can_match
from neuron_top.errors import ReadOnlyMode
from neuron_top.settings import Settings

__all__ = ["Pin", "PinService", "can_match"]


class PinService:
    """The pins of one user. Every method raises FileMalformed or RefusedForSafety if the file of pins cannot be read:
    such pins must not count as none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pins = Pins(settings.state_path)

    def all(self) -> tuple[Pin, ...]:
        """The pins that persons set, oldest first."""
        return self._pins.all()

    def of_settings(self) -> tuple[str, ...]:
        """The patterns of the setting `cache_pins`."""
        return tuple(word for part in self._settings.cache_pins.split(",") if (word := part.strip()))

    def patterns(self) -> tuple[str, ...]:
        """Every pattern that protects modules."""
        return (*self._pins.patterns(), *self.of_settings())

    def add(self, patterns: Iterable[str], why: str = "") -> list[Pin]:
        """Pin these; returns the pins that are new. Raises ReadOnlyMode."""
        self._check_writable()
        return self._pins.add(patterns, why)

    def remove(self, patterns: Iterable[str]) -> list[Pin]:
        """Remove the pins that equal or match one of `patterns`; returns them. Raises ReadOnlyMode."""
        self._check_writable()
        return self._pins.remove(patterns)

    def toggle(self, modules: Collection[str]) -> str:
        """Pin these modules, or unpin them if all are pinned by name; returns a sentence about what was done.

        Raises ReadOnlyMode.
        """
        if set(modules) <= set(self._pins.patterns()):
            return f"{len(self.remove(modules))} unpinned"
        return f"{len(self.add(modules))} pinned"

    def _check_writable(self) -> None:
        if self._settings.read_only:
            raise ReadOnlyMode()
