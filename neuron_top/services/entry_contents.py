"""Reads the files of cache entries: artifact, graph, log, operators. Imported only where an entry is read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from neuron_top.actions.backends import CacheBackend
from neuron_top.cache import roots
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.scan import catalog
from neuron_top.cache.scan.contents import Contents, File, LocalGraph, Neff
from neuron_top.errors import NeuronTopError
from neuron_top.parsers.hlo import HloSummary
from neuron_top.settings import Settings
from neuron_top.views.operators import Operators, operators

__all__ = ["Contents", "File", "HloSummary", "LocalGraph", "Neff", "contents_of", "operators_of"]


@contextlib.contextmanager
def contents_of(backend: CacheBackend, entry: Entry) -> Iterator[Contents]:
    """The contents of an entry; an entry in a bucket is read from a temporary copy."""
    with backend.local_copy(entry) as (folder, local):
        yield Contents(folder, local)


def operators_of(settings: Settings, module: str, named: Iterable[str] = ()) -> Operators | None:
    """The operators of a graph, from its entry in the named caches or any of this machine; None if there is none."""
    here = (root.path for root in roots.find() if root.kind is roots.CacheKind.NEURON)
    for root in dict.fromkeys((*named, *here)):
        try:
            snapshot = catalog.open_root(root, settings.state_path)
        except NeuronTopError:
            continue
        for entry in snapshot.find(module):
            if (graph := Contents(snapshot.root, entry).nodes()) is not None:
                return operators(graph, f"{snapshot.root}/{entry.path}")
    return None
