"""Renames process groups inside a graph so that the names are the same on all ranks that do the same work.

PyTorch numbers the groups of a job (`'3'`, `'4'`, …) and writes the number into each collective of a graph. Replicas of
a model therefore have graphs that differ in nothing but these numbers, and each would be compiled on its own.
`canonicalize` names the groups by the pattern of their ranks, and registers the new name in this process for the same
group. Compiled code looks its group up by name when it runs, so one artifact serves all. A job that ends its groups and
makes others under the same numbers goes on with the functions that it has, and PyTorch forgets every name when the
groups end. So the new name is registered again for each run (`naming`).

A name is made of the distances between the group's ranks and, where several groups look alike, of their order of
appearance in this process: `{0,1}` and `{2,3}` are both `neurontop:0,1:0`. In one process a name stands for exactly
one group at a time, the one that the graph named, so sharing can never send data to another group.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import fx
from torch._C._distributed_c10d import (
    HashStore,
    ProcessGroup,
    _register_process_group,
    _resolve_process_group,
    _unregister_process_group,
)
from torch.distributed.distributed_c10d import GroupName

from neuron_top.compile.graphs import copying
from neuron_top.compile.graphs.torch_settings import INDUCTOR

_PREFIX = "neurontop:"
_NAMESPACES = ("_c10d_functional", "_c10d_functional_autograd", "_dtensor")
_ARGUMENT = "group_name"
_BY_RANK = "aten_distributed_optimizations.allow_comms_decompositions"
"""The setting of that pass (PyTorch 2.13)."""
_BY_MEMORY = "_micro_pipeline_tp"
"""The setting of a pass that joins collectives and products where the job has said that a group shares memory."""

_owners: dict[str, str] = {}
"""Canonical name → name of the group in this process."""
_lock = threading.Lock()
_stand_ins: list[ProcessGroup] = []
"""Keeps these groups alive: PyTorch's registry holds them weakly."""


def canonicalize(graph: fx.GraphModule) -> dict[str, str]:
    """Rename the groups in the collectives of `graph`, in place; returns canonical name → name in this process.

    Names of groups that this process does not know stay as they are. Subgraphs are renamed too.
    """
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return {}
    renamed: dict[str, str] = {}
    for part in copying.parts(graph):
        changed = False
        for node, actual in _collectives(part.graph):
            if (name := _canonical_name(actual)) is not None:
                renamed[name], changed = actual, True
                node.update_arg(_place(node.target), name)
        if changed:
            part.recompile()
    return renamed


def naming(renamed: Mapping[str, str], run: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """`run` of a graph that `canonicalize` renamed: at each call its names refer to the groups it was traced with."""
    if not renamed:
        return run

    def named(arguments: list[Any]) -> Any:
        with _lock:
            for name, actual in renamed.items():
                _register(name, actual)
        return run(arguments)

    return named


def reason_to_stay(settings: Mapping[str, Any]) -> str:
    """Why graphs are compiled in the job under these settings; empty where they need not be.

    One pass of Inductor (`decomp_comms`) makes code for the rank that compiles. In a compile process the stand-in for a
    group always says rank 0, but all ranks share what is compiled. Another pass (`micro_pipeline_tp_pass`) does nothing
    for a stand-in, as nobody told PyTorch that its ranks share memory.
    """
    if settings["config"][INDUCTOR].get(_BY_RANK):
        return "collectives are replaced by what the rank computes that compiles"
    if settings["config"][INDUCTOR].get(_BY_MEMORY):
        return "collectives are joined with products if the memory of the job's groups is shared"
    return ""


def register_stand_ins(graph: fx.GraphModule) -> bool:
    """Register stand-ins for the groups of `graph` in its compile process; they know their size and nothing else.

    Inductor asks for the size of a group while it compiles, and there is no job here to ask. Returns whether there are
    any. If Inductor asks them for anything else, the compile fails.
    """
    names = {name for part in copying.parts(graph) for _, name in _collectives(part.graph) if name.startswith(_PREFIX)}
    for name in names:
        group = ProcessGroup(HashStore(), 0, name.count(",") + 1)
        _stand_ins.append(group)
        _register_process_group(GroupName(name), group)
    return bool(names)


def _collectives(graph: fx.Graph) -> Iterator[tuple[fx.Node, str]]:
    for node in graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace in _NAMESPACES:
            place = _place(node.target)
            if 0 <= place < len(node.args) and isinstance(name := node.args[place], str):
                yield node, name


def _place(target: Any) -> int:
    """Position of the operator's argument for the group's name (tracing passes it by position); -1 if there is none."""
    names = [argument.name for argument in target._schema.arguments]
    return names.index(_ARGUMENT) if _ARGUMENT in names else -1


def _canonical_name(actual: str) -> str | None:
    """The canonical name of the group `actual` in this process, which is registered; None for an unknown group."""
    pattern = _pattern(actual)
    if pattern is None:
        return None
    with _lock:
        for number in range(len(_owners) + 1):
            name = f"{_PREFIX}{pattern}:{number}"
            owner = _owners.get(name)
            if owner in (None, actual) or _pattern(str(owner)) != pattern:
                _owners[name] = actual
                _register(name, actual)
                return name
    raise AssertionError("one more name than groups is always free")


def _pattern(actual: str) -> str | None:
    """Distances of the group's ranks from its first one, as `0,1`; None if there is no such group, or no longer."""
    try:
        ranks = torch.distributed.get_process_group_ranks(_resolve(actual))
    except (RuntimeError, KeyError, ValueError):
        return None
    return ",".join(str(rank - ranks[0]) for rank in ranks)


def _resolve(name: str) -> torch.distributed.ProcessGroup:
    return _resolve_process_group(GroupName(name))


def _register(name: str, actual: str) -> None:
    """Add `name` as another name of the group `actual` to PyTorch's registry, which holds groups weakly."""
    group = _resolve(actual)
    try:
        if _resolve(name) is group:
            return
    except RuntimeError:
        pass  # the name is not registered yet, or its group is gone
    _unregister_process_group(GroupName(name))
    _register_process_group(GroupName(name), group)
