"""The entry point that PyTorch imports when a script names `backend="neurontop"`; starts the compile server early.

PyTorch tells a back end nothing before the first graph is captured, but imports its entry point when the name is looked
up. By the time the script has built its model and captured its first graph, the server has imported PyTorch.
"""

from __future__ import annotations

from typing import Any

from torch._dynamo.backends import registry

from neuron_top.without_gc import without_gc

with without_gc(for_good=True):  # most of what it imports is PyTorch's
    from neuron_top.compile.torch import backend

_NAME = "neurontop"


class _Registered(dict[str, Any]):
    """PyTorch's table of back ends by name, in which ours may be registered more than once.

    Threads that look a name up at the same time all load and register its entry point, and PyTorch raises
    AssertionError for all but the first; for that, it asks this table whether the name is taken.
    """

    def __contains__(self, name: object) -> bool:
        return name != _NAME and super().__contains__(name)


registry._COMPILER_FNS = _Registered(registry._COMPILER_FNS)

neurontop = backend.neurontop
backend.prepare()
