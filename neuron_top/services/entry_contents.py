"""What the files of one cache entry hold: artifact, graph and log. Loaded only where one entry is read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from neuron_top.actions.backends import CacheBackend
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.scan.contents import Contents, File, LocalGraph, Neff
from neuron_top.parsers.hlo import HloSummary

__all__ = ["Contents", "File", "HloSummary", "LocalGraph", "Neff", "contents_of"]


@contextlib.contextmanager
def contents_of(backend: CacheBackend, entry: Entry) -> Iterator[Contents]:
    """The contents of an entry; of a bucket's, from a copy that is gone afterwards."""
    with backend.local_copy(entry) as (folder, local):
        yield Contents(folder, local)
