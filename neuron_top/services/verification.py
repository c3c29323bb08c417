"""Verifies cache entries: finds those that a client takes for a hit but cannot load, and what a person should know."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from neuron_top.actions.backends.base import CacheBackend, ignore
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.scan.verify import EntryFinding, FindingLevel

__all__ = ["EntryFinding", "FindingLevel", "Verification", "verify_entries"]


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The checked entries and the findings."""

    entries: tuple[Entry, ...]
    findings: tuple[EntryFinding, ...]

    def count(self, level: FindingLevel) -> int:
        """The number of findings of one level."""
        return sum(finding.level is level for finding in self.findings)

    @property
    def broken(self) -> frozenset[str]:
        """Paths of the entries that are broken."""
        return frozenset(finding.entry.path for finding in self.findings if finding.level is FindingLevel.BROKEN)

    @property
    def warned(self) -> frozenset[str]:
        """Paths of the entries that are not broken but have a warning."""
        return frozenset(finding.entry.path for finding in self.findings) - self.broken


def verify_entries(
    backend: CacheBackend,
    entries: Sequence[Entry],
    *,
    deep: bool,
    watch: Callable[[int, int], None] = ignore,
) -> Verification:
    """Check entries of the newest snapshot of a cache; `deep` reads every byte, and calls `watch` with bytes read, and
    of all."""
    return Verification(entries=tuple(entries), findings=tuple(backend.verify(entries, deep=deep, watch=watch)))
