"""Copies a captured graph, around the same constants.

PyTorch's own ways to copy a GraphModule register its tensors as buffers, and AOTAutograd makes inputs of buffers: code
compiled from such a copy expects arguments that nobody passes. Here a constant stays what it was, a plain attribute.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import fx


def copied(gm: fx.GraphModule) -> fx.GraphModule:
    """A copy of the module around the same constants; its nodes (and those of its subgraphs) may be changed freely."""
    graph = fx.Graph()
    graph.output(graph.graph_copy(gm.graph, {}))
    for ours, theirs in zip(graph.nodes, gm.graph.nodes, strict=True):
        ours.meta = dict(theirs.meta)
    copy = fx.GraphModule(torch.nn.Module(), fx.Graph())
    for name in dict.fromkeys(str(node.target) for node in gm.graph.find_nodes(op="get_attr")):
        value = operator.attrgetter(name)(gm)
        _put(copy, name, copied(value) if isinstance(value, fx.GraphModule) else value)
    copy.graph = graph
    return copy


def parts(gm: fx.GraphModule) -> Iterator[fx.GraphModule]:
    """The graph and its subgraphs."""
    return (module for module in gm.modules() if isinstance(module, fx.GraphModule))


def constants(gm: fx.GraphModule) -> list[tuple[str, str, torch.Tensor]]:
    """Each tensor that is not an input: path of the (sub)graph that refers to it, its name there, the tensor."""
    found = []
    for path, module in gm.named_modules():
        if isinstance(module, fx.GraphModule):
            for name in dict.fromkeys(str(node.target) for node in module.graph.find_nodes(op="get_attr")):
                value = operator.attrgetter(name)(module)
                if isinstance(value, torch.Tensor):
                    found.append((path, name, value))
    return found


def put_constants(gm: fx.GraphModule, values: Sequence[tuple[str, str, torch.Tensor]]) -> None:
    """Put back what `constants` found, in a graph of the same shape."""
    for path, name, value in values:
        _put(gm.get_submodule(path), name, value)


def _put(root: torch.nn.Module, name: str, value: Any) -> None:
    """Set `name`, which may be dotted, below `root`, without registering it."""
    *path, last = name.split(".")
    for part in path:
        if part not in root._modules:
            root.add_module(part, torch.nn.Module())
        root = root._modules[part]  # type: ignore[assignment]  # added above
    if isinstance(value, torch.nn.Module):
        root.add_module(last, value)
    else:
        root._buffers.pop(last, None)
        object.__setattr__(root, last, value)
