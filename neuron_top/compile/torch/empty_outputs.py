"""Runs a graph that was only extracted: it gives tensors of the right form, and computes nothing.

No collective runs, so no rank waits for another, and the job reaches its next graph (the backward one, the
optimizer's) in the time it takes to fill memory with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import fx


def empty_runner(gm: fx.GraphModule) -> Callable[[list[Any]], list[Any]]:
    """A stand-in for the compiled `gm`: takes its arguments, returns outputs of their shapes, strides and dtypes.

    Outputs that are inputs are passed on as they are. Symbolic sizes are taken from the arguments.
    """
    placeholders = list(gm.graph.find_nodes(op="placeholder"))
    outputs = next(iter(reversed(gm.graph.nodes))).args[0]

    def run(arguments: list[Any]) -> list[Any]:
        given = dict(zip(placeholders, arguments, strict=True))
        sizes = _symbol_values(given)
        return [_output(item, given, sizes) for item in outputs]

    return run


def _output(item: Any, given: Mapping[fx.Node, Any], sizes: Mapping[sympy.Symbol, sympy.Integer]) -> Any:
    if not isinstance(item, fx.Node):
        return item
    if item in given:
        return given[item]
    value = item.meta.get("val")
    if isinstance(value, torch.Tensor):
        return _zeros(value, sizes)
    return _number(value, sizes)


def _zeros(like: torch.Tensor, sizes: Mapping[sympy.Symbol, sympy.Integer]) -> torch.Tensor:
    shape = [_number(size, sizes) for size in like.shape]
    if like.layout != torch.strided:
        return torch.zeros(shape, dtype=like.dtype, device=like.device, layout=like.layout)
    stride = [_number(size, sizes) for size in like.stride()]
    return torch.empty_strided(shape, stride, dtype=like.dtype, device=like.device).zero_()


def _number(value: Any, sizes: Mapping[sympy.Symbol, sympy.Integer]) -> Any:
    if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return value
    result = value.node.expr.xreplace(dict(sizes))
    if result.free_symbols:
        return value.node.hint  # a size that only the computation would give
    return value.node.pytype(result)


def _symbol_values(given: Mapping[fx.Node, Any]) -> dict[sympy.Symbol, sympy.Integer]:
    """The values of the symbols in the graph's inputs, taken from the arguments."""
    values: dict[sympy.Symbol, sympy.Integer] = {}
    for node, argument in given.items():
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt):
            _learn(values, value, argument)
        elif isinstance(value, torch.Tensor) and isinstance(argument, torch.Tensor):
            for symbolic, actual in zip(value.shape, argument.shape, strict=True):
                _learn(values, symbolic, actual)
    return values


def _learn(values: dict[sympy.Symbol, sympy.Integer], symbolic: Any, actual: Any) -> None:
    if isinstance(symbolic, torch.SymInt) and symbolic.node.expr.is_Symbol:
        values[symbolic.node.expr] = sympy.Integer(int(actual))
