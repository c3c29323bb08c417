"""`model.graph.json`: a description of a graph that can be read without running code."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import torch
from torch import fx

NODES_KEPT = 5000
"""The most operators that a description lists, which keeps the file below half a megabyte."""
_LISTED = 16
_SHORT = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "b8",
}


class GraphDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph is: its direction (`forward`, `backward`, `inference`), size, operators, shapes."""

    module: str
    direction: str
    operators: int
    operator_counts: dict[str, int]
    inputs: tuple[str, ...]
    """Shapes as text: `f32[8,128]`, `f32[s0,128]`, `SymInt`."""
    outputs: tuple[str, ...]
    torch: str
    compiler: str = ""
    nodes: tuple[tuple[str, str, str], ...] = ()
    """Each operator in order: its name, the shapes of its result, the numbers and words among its arguments. A
    structural comparison of two graphs reads this. At most the first NODES_KEPT."""


def describe(gm: fx.GraphModule, *, module: str, direction: str, compiler: str) -> GraphDescription:
    """Describe a traced graph."""
    counts = Counter(_name(node.target) for node in gm.graph.nodes if node.op.startswith("call_"))
    outputs = next(iter(reversed(gm.graph.nodes))).args[0]
    return GraphDescription(
        module=module,
        direction=direction,
        operators=sum(counts.values()),
        operator_counts=dict(counts.most_common()),
        inputs=tuple(shape_text(node.meta.get("val")) for node in gm.graph.find_nodes(op="placeholder")),
        outputs=tuple(_output_texts(outputs)),
        torch=str(torch.__version__),
        compiler=compiler,
        nodes=tuple(itertools.islice(_nodes(gm), NODES_KEPT)),
    )


def _nodes(gm: fx.GraphModule) -> Iterator[tuple[str, str, str]]:
    for node in gm.graph.nodes:
        if node.op.startswith("call_"):
            yield _name(node.target), _result_text(node.meta.get("val")), _numbers(node)


def _result_text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"({', '.join(shape_text(one) for one in value[:_LISTED])})"
    return shape_text(value)


def _numbers(node: fx.Node) -> str:
    """Scalar arguments, such as learning rates, epsilons, sizes and modes."""
    plain = (int, float, str, bool, torch.dtype)
    found = []
    for place, value in [*enumerate(node.args), *node.kwargs.items()]:
        items = value if isinstance(value, (list, tuple)) else (value,)
        numbers = [repr(item) for item in items[:_LISTED] if isinstance(item, plain)]
        if numbers:
            found.append(f"{place}={','.join(numbers)}")
    return " ".join(found)[:200]


def shape_text(value: Any) -> str:
    """`f32[8,128]` for a tensor, the type's name for anything else."""
    if isinstance(value, torch.Tensor):
        dtype = _SHORT.get(value.dtype, str(value.dtype).removeprefix("torch."))
        return f"{dtype}[{','.join(map(str, value.shape))}]"
    return type(value).__name__


def _output_texts(outputs: Any) -> Sequence[str]:
    items = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    return [shape_text(item.meta.get("val") if isinstance(item, fx.Node) else item) for item in items]


def _name(target: Any) -> str:
    return str(target) if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", str(target))
