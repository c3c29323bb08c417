"""Handles inputs that are neither tensors nor numbers: device meshes, process groups, other objects of the job.

AOTAutograd hands them to a graph when a tensor subclass that passes through carries them (DTensor its mesh), and the
forward graph returns them for the backward one. The compiled code does nothing with them, and they cannot be sent to
another process; so they are cut out of the graph and put back around its artifact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import torch
from torch import fx

from neuron_top.compile.graphs.hashing import NotCacheable, kind_of

_PLAIN = (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool, bool, int, float)


class Cut(msgspec.Struct, frozen=True):
    """Maps arguments and results between a graph and the same graph without its opaque values."""

    kept: tuple[int, ...]
    """Positions of the arguments that remain."""
    passed: tuple[int | None, ...]
    """Per result: the position of the argument that it is; None if the graph computes it."""

    def around(self, run: Callable[[list[Any]], Sequence[Any]]) -> Callable[[list[Any]], list[Any]]:
        """`run` on the remaining graph, as a function of all arguments with all results."""

        def whole(arguments: list[Any]) -> list[Any]:
            through = [None if place is None else arguments[place] for place in self.passed]
            results = iter(run([arguments[place] for place in self.kept]))
            return [next(results) if place is None else through[at] for at, place in enumerate(self.passed)]

        return whole

    def without_passed(self, results: Sequence[int]) -> list[int]:
        """Where these results, which the graph computes, stand among those that remain."""
        computed = [place for place, at in enumerate(self.passed) if at is None]
        return [computed.index(place) for place in results]


def cut_opaque(gm: fx.GraphModule) -> Cut | None:
    """Remove opaque placeholders, and results that return them, from `gm` in place; None where there are none.

    Raises NotCacheable where a node computes with one.
    """
    placeholders = list(gm.graph.find_nodes(op="placeholder"))
    opaque = {node: place for place, node in enumerate(placeholders) if _is_opaque(node.meta.get("val"))}
    if not opaque:
        return None
    output = next(iter(reversed(gm.graph.nodes)))
    for node in opaque:
        if any(user is not output for user in node.users):
            raise NotCacheable(f"the graph computes with an object of the job ({kind_of(node.meta.get('val'))})")
    results = output.args[0]
    passed = tuple(opaque.get(item) if isinstance(item, fx.Node) else None for item in results)
    output.args = (type(results)(item for item, place in zip(results, passed, strict=True) if place is None),)
    for node in opaque:
        gm.graph.erase_node(node)
    gm.recompile()
    return Cut(tuple(place for place, node in enumerate(placeholders) if node not in opaque), passed)


def _is_opaque(value: Any) -> bool:
    return value is not None and not isinstance(value, _PLAIN)
