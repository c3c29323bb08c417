"""Reads Inductor's cache (PyTorch's own), and never changes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top.cache import inductor, roots
from neuron_top.cache.inductor import KINDS, InductorEntry
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.units import count_text

__all__ = ["KINDS", "InductorCache", "InductorEntry", "InductorTotals", "is_inductor_cache", "totals"]


class InductorTotals(msgspec.Struct, kw_only=True):
    """Sums of the entries of one kind. Bytes are disk blocks."""

    entries: int = 0
    bytes: int = 0
    files: int = 0


class InductorCache:
    """One cache of Inductor."""

    def __init__(self, given: str | None = None) -> None:
        """`given`: its folder; None: the one that a job started here would use. Raises NothingToShow."""
        self.root = str(Path(given).absolute()) if given is not None else _in_force()

    def entries(self) -> list[InductorEntry]:
        """All entries, by kind and key; empty if the cache cannot be read."""
        return inductor.entries(self.root)

    def find(self, text: str) -> InductorEntry:
        """The one entry with `text` in its key. Raises NothingToShow for none, UsageError for several."""
        matches = [entry for entry in self.entries() if text in entry.key]
        if not matches:
            raise NothingToShow(f"no entry of {self.root} has {text!r} in its key")
        if len(matches) > 1:
            raise UsageError(f"{count_text(len(matches))} entries have {text!r} in their key; give more of it")
        return matches[0]

    @staticmethod
    def files(entry: InductorEntry) -> list[tuple[str, int]]:
        """(path below the entry, length) of each of its files, by path."""
        return sorted(inductor.files(entry))


def is_inductor_cache(folder: str) -> bool:
    """Whether a folder looks like Inductor's cache."""
    return inductor.is_inductor(folder)


def totals(entries: Iterable[InductorEntry]) -> dict[str, InductorTotals]:
    """Kind → its sums, for kinds that have entries."""
    sums = {kind: InductorTotals() for kind in KINDS}
    for entry in entries:
        kind = sums[entry.kind]
        kind.entries += 1
        kind.bytes += entry.bytes
        kind.files += entry.files
    return {kind: each for kind, each in sums.items() if each.entries}


def _in_force() -> str:
    for root in roots.find():
        if root.kind is roots.CacheKind.INDUCTOR:
            return root.path
    raise NothingToShow("no Inductor cache here: TORCHINDUCTOR_CACHE_DIR is not set and its default is not there")
