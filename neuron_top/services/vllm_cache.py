"""Reads vLLM-Neuron's compile cache: its entries with state, and which of them other nodes can fetch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from neuron_top.cache import vllm_neuron
from neuron_top.cache.vllm_neuron import VllmEntry, VllmState
from neuron_top.errors import NothingToShow, UsageError

__all__ = ["ListedEntry", "VllmCache", "VllmState", "is_vllm_cache", "sums"]

REMOTE = "NEURON_LIBTORCH_REMOTE_CACHE"


class ListedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry, and whether the remote tier has all of it: None if no remote tier is named, or this is it."""

    entry: VllmEntry
    promoted: bool | None


class VllmCache:
    """One tier of the cache: the local one of a machine, or the remote one that machines share."""

    def __init__(self, root: str, environ: Mapping[str, str] = os.environ) -> None:
        self.root = str(Path(root).absolute())
        self.remote = environ.get(REMOTE) or None

    def entries(self) -> list[ListedEntry]:
        """All entries, by key."""
        there: set[str] | None = None
        if self.remote is not None and os.path.realpath(self.remote) != os.path.realpath(self.root):
            there = {entry.key for entry in vllm_neuron.entries(self.remote) if entry.state is VllmState.COMPLETE}
        return [
            ListedEntry(entry=entry, promoted=None if there is None else entry.key in there)
            for entry in vllm_neuron.entries(self.root)
        ]

    def find(self, text: str) -> ListedEntry:
        """The one entry with `text` in its key. Raises NothingToShow for none, UsageError for several."""
        matches = [each for each in self.entries() if text in each.entry.key]
        if not matches:
            raise NothingToShow(f"no entry of {self.root} has {text!r} in its key")
        if len(matches) > 1:
            raise UsageError(f"{len(matches)} entries have {text!r} in their key; give more of it")
        return matches[0]


def is_vllm_cache(folder: str) -> bool:
    """Whether a folder looks like vLLM-Neuron's cache."""
    return vllm_neuron.is_vllm_neuron(folder)


def sums(entries: Iterable[ListedEntry]) -> dict[VllmState, tuple[int, int]]:
    """State → number of entries, and their bytes."""
    found: dict[VllmState, tuple[int, int]] = {}
    for each in entries:
        count, size = found.get(each.entry.state, (0, 0))
        found[each.entry.state] = count + 1, size + each.entry.bytes
    return found
