"""Gives what a forward graph saves for backward the strides that the backward graph was compiled for.

AOTAutograd compiles the backward graph for the strides that PyTorch gives saved tensors, unless the forward compile
reports others. Our forward compile is in another process, is often still running by then, and reports none. Inductor
keeps the strides of outputs, but of a view only their order: a part of a tensor with gaps between its rows can come
back without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sympy  # type: ignore[import-untyped]
import torch
from torch import fx

SHAPES_KEPT = 256
"""The most shapes for which the differing outputs are remembered."""

Stride = tuple[int, ...]


class ExpectedStrides(NamedTuple):
    """Strides by position among a graph's outputs; symbolic if sizes are, with a place to read each symbol from."""

    strides: Mapping[int, tuple[Any, ...]] = {}
    symbols: Mapping[Any, tuple[int, int | None]] = {}
    """The dimension is None where the output is the number itself."""


NOTHING = ExpectedStrides()


def expected_strides(gm: fx.GraphModule) -> ExpectedStrides:
    """The strides of the tensors that a forward graph saves; known while AOTAutograd compiles it."""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return NOTHING
    outputs: Sequence[Any] = gm.graph.output_node().args[0]  # type: ignore[assignment]
    values = [node.meta.get("val") if isinstance(node, fx.Node) else None for node in outputs]
    symbols = _symbols(values)
    strides = {}
    for place, value in enumerate(values):
        if place < context.fw_metadata.num_forward or not isinstance(value, torch.Tensor):
            continue
        if value.layout == torch.strided and value.dim():
            stride = tuple(_expression(step) for step in value.stride())
            if all(symbol in symbols for step in stride for symbol in getattr(step, "free_symbols", ())):
                strides[place] = stride
    used = {symbol for stride in strides.values() for step in stride for symbol in getattr(step, "free_symbols", ())}
    return ExpectedStrides(strides, {symbol: symbols[symbol] for symbol in sorted(used, key=str)})


def _symbols(values: Sequence[Any]) -> dict[Any, tuple[int, int | None]]:
    """Symbol → the position (and dimension) of an output where it stands alone."""
    found: dict[Any, tuple[int, int | None]] = {}
    for place, value in enumerate(values):
        sizes: list[tuple[Any, int | None]] = [(value, None)]
        if isinstance(value, torch.Tensor):
            sizes = [(size, dimension) for dimension, size in enumerate(value.shape)]
        for size, dimension in sizes:
            if isinstance(size, torch.SymInt) and isinstance(_expression(size), sympy.Symbol):
                found.setdefault(_expression(size), (place, dimension))
    return found


def _expression(number: Any) -> Any:
    """A number, or the expression of a symbolic one; reading it adds no guard."""
    return number.node.expr if isinstance(number, torch.SymInt) else number


class SavedStrides:
    """Gives outputs the expected strides. Which outputs differ depends on code and sizes; the first call shows it."""

    def __init__(self, expected: ExpectedStrides) -> None:
        self._expected = expected
        self._different: dict[tuple[int, ...], dict[int, Stride]] = {}

    def applied(self, outputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs; those with other strides are copied."""
        sizes = tuple(_size(outputs[place], dimension) for place, dimension in self._expected.symbols.values())
        different = self._different.get(sizes)
        if different is None:
            if len(self._different) >= SHAPES_KEPT:
                self._different.clear()
            different = self._different[sizes] = self._differing(outputs, sizes)
        if not different:
            return outputs
        changed = list(outputs)
        for place, stride in different.items():
            changed[place] = _with_strides(changed[place], stride)
        return changed

    def _differing(self, outputs: Sequence[Any], sizes: tuple[int, ...]) -> dict[int, Stride]:
        numbers = dict(zip(self._expected.symbols, sizes, strict=True))
        found = {}
        for place, symbolic in self._expected.strides.items():
            stride = tuple(int(step.subs(numbers)) if isinstance(step, sympy.Expr) else step for step in symbolic)
            if _differs(outputs[place], stride):
                found[place] = stride
        return found


def _size(output: Any, dimension: int | None) -> int:
    return int(output if dimension is None else output.shape[dimension])


def same_memory(tensor: torch.Tensor, stride: Sequence[int]) -> bool:
    """Whether these strides describe the tensor's own memory, too: strides of size 1 do not matter."""
    steps = zip(tensor.shape, tensor.stride(), stride, strict=True)
    return all(size == 1 or step == wanted for size, step, wanted in steps)


def _differs(tensor: Any, stride: Stride) -> bool:
    return isinstance(tensor, torch.Tensor) and tensor.numel() > 0 and tensor.stride() != stride


def _with_strides(tensor: torch.Tensor, stride: Stride) -> torch.Tensor:
    if same_memory(tensor, stride):
        return tensor.as_strided(tensor.shape, stride)  # PyTorch's convolutions also look at strides of size 1
    once = tensor
    for dimension, step in enumerate(stride):
        if step == 0:  # all elements share one place in memory, so it is written once
            once = once.narrow(dimension, 0, 1)
    copy = torch.empty_strided(once.shape, stride, dtype=tensor.dtype, device=tensor.device)
    copy.copy_(once)
    return copy.as_strided(tensor.shape, stride)
