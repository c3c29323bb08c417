"""Control flow as operators of the graph, flex attention, functional transforms."""

from __future__ import annotations

from typing import Any

import torch
from torch import func
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from tests.compat import programs
from tests.compat.programs import Compiler


def cond_forward(compiler: Compiler) -> Any:
    def branch(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda v: v.sin() * 2, lambda v: v.cos() - 1, (x,))

    compiled = compiler(branch)
    return compiled(torch.ones(4, 5)), compiled(-torch.ones(4, 5))


def cond_backward(compiler: Compiler) -> Any:
    weight = torch.randn(5, 5, requires_grad=True)

    def branch(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda v: (v @ weight).sin(), lambda v: (v @ weight).exp(), (x,)).sum()

    loss = compiler(branch)(torch.ones(4, 5))
    loss.backward()
    return loss, weight.grad


def cond_nested(compiler: Compiler) -> Any:
    def inner(v: Any) -> Any:
        return torch.cond(v.mean() > 2, lambda u: u + 1, lambda u: u - 1, (v,))

    def branch(x: Any) -> Any:
        return torch.cond(x.sum() > 0, inner, lambda v: v * 3, (x,))

    compiled = compiler(branch)
    return [compiled(torch.full((3,), value)) for value in (-1.0, 1.0, 3.0)]


def cond_with_constants(compiler: Compiler) -> Any:
    table = torch.arange(4.0)

    def branch(x: Any) -> Any:
        other = torch.tensor([1.0, 2.0, 3.0, 4.0])
        return torch.cond(x.sum() > 0, lambda v: v + table, lambda v: v * table, (x,)) + other

    compiled = compiler(branch)
    return compiled(torch.ones(4)), compiled(-torch.ones(4))


def while_loop_forward(compiler: Compiler) -> Any:
    def count(x: Any) -> Any:
        return while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * 1.5 + i), (torch.tensor(0), x))

    return compiler(count)(torch.ones(3, 4))


def scan_forward(compiler: Compiler) -> Any:
    def combine(carry: Any, x: Any) -> Any:
        return carry * 0.5 + x, (carry + x).sin()

    return compiler(lambda init, xs: scan(combine, init, xs))(torch.zeros(3), torch.randn(6, 3))


def scan_backward(compiler: Compiler) -> Any:
    init, xs = torch.zeros(3, requires_grad=True), torch.randn(6, 3, requires_grad=True)

    def combine(carry: Any, x: Any) -> Any:
        return carry * 0.5 + x.sin(), carry + x

    last, rows = compiler(lambda a, b: scan(combine, a, b))(init, xs)
    (last.sum() + rows.square().sum()).backward()
    return last, rows, init.grad, xs.grad


def associative_scan_forward(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        return associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic")

    return compiler(program)(torch.randn(8, 3))


def map_forward(compiler: Compiler) -> Any:
    return compiler(lambda xs, y: map_over(lambda x, z: x.sin() + z, xs, y))(torch.randn(4, 3), torch.randn(3))


def nested_compile_region(compiler: Compiler) -> Any:
    @torch.compiler.nested_compile_region
    def block(x: Any) -> Any:
        return (x.sin() @ x.T).relu()

    x = torch.randn(4, 4, requires_grad=True)
    out = compiler(lambda v: block(block(v)))(x)
    out.sum().backward()
    return out, x.grad


def flex_attention_plain(compiler: Compiler) -> Any:
    q, k, v = (torch.randn(1, 2, 32, 16) for _ in range(3))
    with torch.no_grad():
        return compiler(flex_attention)(q, k, v)


def flex_attention_score(compiler: Compiler) -> Any:
    q, k, v = (torch.randn(1, 2, 32, 16) for _ in range(3))

    def score(value: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return value + (i - j) * 0.1

    with torch.no_grad():
        return compiler(lambda a, b, c: flex_attention(a, b, c, score_mod=score))(q, k, v)


def flex_attention_mask(compiler: Compiler) -> Any:
    q, k, v = (torch.randn(1, 2, 128, 16) for _ in range(3))
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 128, 128, device=programs.device())
    with torch.no_grad():
        return compiler(lambda a, b, c: flex_attention(a, b, c, block_mask=mask))(q, k, v)


def flex_attention_captured_bias(compiler: Compiler) -> Any:
    q, k, v = (torch.randn(1, 2, 32, 16) for _ in range(3))
    bias = torch.randn(32, 32)

    def score(value: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return value + bias[i, j]

    with torch.no_grad():
        return compiler(lambda a, b, c: flex_attention(a, b, c, score_mod=score))(q, k, v)


def vmap(compiler: Compiler) -> Any:
    return compiler(func.vmap(lambda x, y: (x @ y).sin(), in_dims=(0, None)))(torch.randn(5, 3, 4), torch.randn(4, 2))


def grad(compiler: Compiler) -> Any:
    return compiler(func.grad(lambda x: x.sin().square().sum()))(torch.randn(6))


def grad_of_grad(compiler: Compiler) -> Any:
    return compiler(func.grad(lambda x: func.grad(lambda y: (y**3).sum())(x).sin().sum()))(torch.randn(6))


def jacrev(compiler: Compiler) -> Any:
    return compiler(func.jacrev(lambda x: x.exp().cumsum(0)))(torch.randn(5))


def jacfwd(compiler: Compiler) -> Any:
    return compiler(func.jacfwd(lambda x: x.exp().cumsum(0)))(torch.randn(5))


def hessian(compiler: Compiler) -> Any:
    return compiler(func.hessian(lambda x: (x.sin() * x).sum()))(torch.randn(4))


def jvp(compiler: Compiler) -> Any:
    return compiler(lambda x, t: func.jvp(lambda v: v.sin() * v, (x,), (t,)))(torch.randn(4), torch.randn(4))


def vjp(compiler: Compiler) -> Any:
    def program(x: Any, t: Any) -> Any:
        out, back = func.vjp(lambda v: v.sin() * v, x)
        return out, back(t)

    return compiler(program)(torch.randn(4), torch.randn(4))


def functionalize(compiler: Compiler) -> Any:
    return compiler(func.functionalize(lambda x: x.clone().add_(1).mul_(2)))(torch.randn(4))


def functional_call(compiler: Compiler) -> Any:
    model = torch.nn.Linear(3, 2)
    parameters = {name: value.detach() * 2 for name, value in model.named_parameters()}
    return compiler(lambda p, x: func.functional_call(model, p, (x,)))(parameters, torch.randn(4, 3))


def per_sample_gradients(compiler: Compiler) -> Any:
    model = torch.nn.Linear(3, 1)
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(p: Any, x: Any) -> Any:
        return func.functional_call(model, p, (x,)).square().sum()

    return compiler(func.vmap(func.grad(loss), in_dims=(None, 0)))(parameters, torch.randn(4, 3))


PROGRAMS = tuple(name for name, value in list(vars().items()) if getattr(value, "__module__", "") == __name__)
