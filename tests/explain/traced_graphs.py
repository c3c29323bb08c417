"""A training step traced by PyTorch: the graphs that its compiler would be given, and cases made from two of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

from neuron_top.compile.graphs import description
from neuron_top.explain.miss_causes import Explanation
from tests.builders import neff, write_entry
from tests.explain.one_change_cases import FLAGS, NOW, OLD, Case, found

Graphs = Mapping[str, description.GraphDescription]
Change = tuple[str, str, str, Any, Any]
"""(what was changed, the answer that is right, which graph missed, the job before, the job now)"""


def step_graphs(step: Callable[..., Any], sample: Sequence[Any], update: Callable[[], None] | None = None) -> Graphs:
    """The graphs of one step: `forward`, `backward`, `optimizer`, and `clip` where something precedes the update.

    `step` gives the loss, or the loss and more. A second graph of the same direction is `forward 2`.
    """
    met: dict[str, description.GraphDescription] = {}

    def keep(direction: str) -> Any:
        def compiler(gm: Any, _inputs: Any) -> Any:
            count = sum(name.partition(" ")[0] == direction for name in met)
            name = f"{direction} {count + 1}" if count else direction
            met[name] = description.describe(gm, module="MODULE_0", direction=direction, compiler="")
            return make_boxed_func(gm.forward)

        return compiler

    backend = aot_autograd(
        fw_compiler=keep("forward"), bw_compiler=keep("backward"), inference_compiler=keep("inference")
    )
    given = torch.compile(step, backend=backend, dynamic=False)(*sample)
    (given[0] if isinstance(given, tuple) else given).backward()
    if update is not None:
        torch.compile(update, backend=backend, dynamic=False)()
    *before, last = [met.pop(name) for name in tuple(met) if name.startswith("inference")] or [None]
    return {**met, **({"clip": before[0]} if before else {}), **({"optimizer": last} if last is not None else {})}


def fresh() -> None:
    """The same numbers and nothing compiled, whatever was traced before."""
    torch.manual_seed(0)
    torch._dynamo.reset()


def cases(changes: Sequence[Change], graphs: Callable[[Any], Graphs]) -> Iterator[Case]:
    """A case of each change; a job that several begin from is traced once."""
    known = functools.cache(graphs)
    for name, expected, which, before, now in changes:
        yield Case(f"{name} ({which})", expected, _case(known, before, now, which))


def _case(graphs: Callable[[Any], Graphs], before: Any, now: Any, which: str) -> Callable[[Path], Explanation]:
    """The cache holds all graphs of the job as it was; the graph that is looked for is one of the job as it is."""

    def build(root: Path) -> Explanation:
        for number, (direction, described) in enumerate(graphs(before).items(), 1):
            local_entry(root, described, 10 * number + (direction == which), OLD)
        return found(root, local_entry(root, graphs(now)[which], 2, NOW))

    return build


def local_entry(root: Path, described: Any, number: int, age: float) -> str:
    """A usable entry of a local graph; returns its module."""
    data = msgspec.json.encode(described)
    files = {"model.fxgraph": data * 2, "model.graph.json": data, "model.neff": neff(), "model.done": b""}
    graph = f"{number:018x}ab"  # hexadecimal, as this client's keys are
    return write_entry(root, files, compiler="inductor-2.13.0", graph=graph, flags=FLAGS, age=age).name
