"""What the caches of this machine hold of one graph."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_top.cache import roots
from neuron_top.cache.scan import catalog
from neuron_top.cache.scan.contents import Contents
from neuron_top.errors import NeuronTopError
from neuron_top.settings import Settings
from neuron_top.views.operators import Operators, operators


def operators_of(settings: Settings, module: str, named: Iterable[str] = ()) -> Operators | None:
    """The operators of a graph, from its entry in the named caches or any of this machine; None without one."""
    here = (root.path for root in roots.find() if root.kind == roots.NEURON)
    for root in dict.fromkeys((*named, *here)):
        try:
            snapshot = catalog.open_root(root, settings.state_path)
        except NeuronTopError:
            continue
        for entry in snapshot.find(module):
            if (graph := Contents(snapshot.root, entry).nodes()) is not None:
                return operators(graph, f"{snapshot.root}/{entry.path}")
    return None
