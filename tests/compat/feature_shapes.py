"""Sizes that change: dynamic, marked, bounded, depending on data; scalars as arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.compat.programs import Compiler


def _sizes(compiled: Any, *sizes: int) -> list[Any]:
    return [compiled(torch.linspace(0, 1, size * 3).reshape(size, 3)) for size in sizes]


def dynamic(compiler: Compiler) -> Any:
    return _sizes(compiler(lambda x: torch.softmax(x * 2, -1).sum(0) + x.shape[0], dynamic=True), 2, 5, 9)


def dynamic_after_a_change(compiler: Compiler) -> Any:
    return _sizes(compiler(lambda x: (x @ x.T).relu().sum(1)), 2, 5, 9)


def dynamic_training(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Linear(3, 5), nn.LayerNorm(5), nn.GELU())
    compiled = compiler(model, dynamic=True)
    outs = []
    for out in (compiled(torch.ones(size, 3)) for size in (2, 5, 9)):
        out.square().sum().backward()
        outs.append(out)
    return outs, [value.grad for value in model.parameters()]


def marked(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: x.sin() * x.shape[0] + x.mean(0))
    outs = []
    for size in (3, 7, 11):
        x = torch.linspace(0, 1, size * 2).reshape(size, 2)
        torch._dynamo.mark_dynamic(x, 0)
        outs.append(compiled(x))
    return outs


def marked_with_bounds(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: x.cumsum(0) * x.shape[0])
    outs = []
    for size in (4, 8, 16):
        x = torch.linspace(0, 1, size * 2).reshape(size, 2)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
        outs.append(compiled(x))
    return outs


def marked_unbacked(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: (x * 2).sum(-1))
    outs = []
    for size in (4, 8):
        x = torch.linspace(0, 1, size * 2).reshape(size, 2)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        outs.append(compiled(x))
    return outs


def marked_static(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: x.sin() + x.shape[0], dynamic=True)
    outs = []
    for size in (3, 7):
        x = torch.ones(size, 2)
        torch._dynamo.mark_static(x, 0)
        outs.append(compiled(x))
    return outs


def size_of_data(compiler: Compiler) -> Any:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        return compiler(lambda x: x[x > 0.3].sin() * 2)(torch.linspace(0, 1, 7))


def nonzero(compiler: Compiler) -> Any:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        return compiler(lambda x: x.nonzero().float() + 1)(torch.tensor([0.0, 1.0, 2.0, 0.0]))


def item_as_size(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        n = x.item()
        torch._check(n >= 0)
        torch._check(n < 100)
        return torch.ones(n).sin() * n

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        return compiler(program)(torch.tensor(5))


def item_as_number(compiler: Compiler) -> Any:
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        return compiler(lambda x, y: x * y.item() + 1)(torch.randn(4), torch.tensor(2.5))


def repeat_interleave(compiler: Compiler) -> Any:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        return compiler(lambda x, n: torch.repeat_interleave(x, n) * 2)(torch.randn(3), torch.tensor([1, 2, 3]))


def split_by_size(compiler: Compiler) -> Any:
    return _sizes(compiler(lambda x: [part.sum() for part in x.split(2)], dynamic=True), 4, 6)


def integers(compiler: Compiler) -> Any:
    compiled = compiler(lambda x, n: x * n + n)
    return [compiled(torch.ones(3), n) for n in (2, 3, 5, 7)]


def floats(compiler: Compiler) -> Any:
    compiled = compiler(lambda x, n: x * n + n)
    return [compiled(torch.ones(3), n) for n in (2.5, 3.5, 0.1)]


def dynamic_strides(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: x.t().contiguous().sin() + 1, dynamic=True)
    return [compiled(torch.ones(a, b)[:, : b - 1]) for a, b in ((3, 4), (5, 9))]


def dynamic_convolution(compiler: Compiler) -> Any:
    model = nn.Conv2d(2, 3, 3)
    compiled = compiler(model, dynamic=True)
    with torch.no_grad():
        return [compiled(torch.ones(n, 2, 8, 8 + n)) for n in (2, 3)]


def dynamic_reshape(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: x.view(x.shape[0] // 2, 2, -1).sum(1), dynamic=True)
    return _sizes(compiled, 4, 8, 10)


def dynamic_cond(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        return torch.cond(x.sum() > 3, lambda v: v.sin(), lambda v: v.cos(), (x,))

    return _sizes(compiler(program, dynamic=True), 2, 4, 8)


def dynamic_sources(compiler: Compiler) -> Any:
    with torch.compiler.config.patch(dynamic_sources="L['x']"):
        compiled = compiler(lambda x: x.sum(0) * x.shape[0])
        return _sizes(compiled, 2, 4, 8)


PROGRAMS = tuple(
    name
    for name, value in list(vars().items())
    if getattr(value, "__module__", "") == __name__ and not name.startswith("_")
)
