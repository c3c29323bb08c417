"""Autograd: checkpointing, functions and operators of the script, hooks, higher orders, optimizers in the graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from tests.compat.programs import Compiler


def _model() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3))


def _gradients(model: nn.Module) -> list[Any]:
    return [value.grad for value in model.parameters()]


def training_step(compiler: Compiler) -> Any:
    model = _model()
    loss = compiler(lambda x: model(x).square().mean())(torch.randn(5, 6))
    loss.backward()
    return loss, _gradients(model)


def checkpointed(compiler: Compiler) -> Any:
    model = _model()
    out = compiler(lambda x: checkpoint(model, x, use_reentrant=False).sum())(torch.randn(5, 6))
    out.backward()
    return out, _gradients(model)


def checkpointed_dropout(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3))
    out = compiler(lambda x: checkpoint(model, x, use_reentrant=False).sum())(torch.randn(5, 6))
    out.backward()
    return out, _gradients(model)


def checkpointed_selectively(compiler: Compiler) -> Any:
    model = _model()

    def policy(_: Any, operator: Any, *args: Any, **kwargs: Any) -> Any:
        keep = operator is torch.ops.aten.mm.default
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

    def contexts() -> Any:
        return create_selective_checkpoint_contexts(policy)

    def program(x: Any) -> Any:
        return checkpoint(model, x, use_reentrant=False, context_fn=contexts).sum()

    out = compiler(program)(torch.randn(5, 6))
    out.backward()
    return out, _gradients(model)


class Scaled(torch.autograd.Function):
    """A gradient of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, given: Any) -> Any:
        (x,) = ctx.saved_tensors
        return given * 3 * x


class Twice(torch.autograd.Function):
    """One with setup_context."""

    @staticmethod
    def forward(x: Any, factor: Any) -> Any:
        return x * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx: Any, given: Any) -> Any:
        return given * ctx.factor * 2, None


def autograd_function(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)
    out = compiler(lambda v: Scaled.apply(v).cos())(x)
    out.sum().backward()
    return out, x.grad


def autograd_function_with_context(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)
    out = compiler(lambda v: Twice.apply(v, 4.0).cos())(x)
    out.sum().backward()
    return out, x.grad


@torch.library.custom_op("neurontop_compat::scaled_sine", mutates_args=())
def _scaled_sine(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.sin(x) * factor


@_scaled_sine.register_fake
def _(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.empty_like(x)


def _save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.factor = inputs[1]


_scaled_sine.register_autograd(
    lambda ctx, given: (given * ctx.saved_tensors[0].cos() * ctx.factor, None), setup_context=_save
)


@torch.library.custom_op("neurontop_compat::fill", mutates_args=("x",))
def _fill(x: torch.Tensor, value: float) -> None:
    x.fill_(value)


def custom_operator(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)
    out = compiler(lambda v: _scaled_sine(v * 2, 1.5).relu())(x)
    out.sum().backward()
    return out, x.grad


def custom_operator_that_mutates(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        y = x.clone()
        _fill(y, 2.0)
        return x + y

    return compiler(program)(torch.randn(6))


def triton_style_operator(compiler: Compiler) -> Any:
    library = torch.library.Library("neurontop_compat_old", "FRAGMENT")
    if not hasattr(torch.ops.neurontop_compat_old, "plus_one"):
        library.define("plus_one(Tensor x) -> Tensor")
        library.impl("plus_one", lambda x: x + 1, "CompositeImplicitAutograd")
    result = compiler(lambda x: torch.ops.neurontop_compat_old.plus_one(x) * 2)(torch.randn(4))
    library._destroy()
    return result


def tensor_hook(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)

    def program(v: Any) -> Any:
        y = v.sin()
        y.register_hook(lambda given: given * 2)
        return y.square().sum()

    out = compiler(program)(x)
    out.backward()
    return out, x.grad


def module_hooks(compiler: Compiler) -> Any:
    model = _model()
    model[0].register_forward_hook(lambda module, given, out: out * 2)
    model[2].register_forward_pre_hook(lambda module, given: (given[0] + 1,))
    out = compiler(model)(torch.randn(5, 6))
    out.sum().backward()
    return out, _gradients(model)


def gradient_inside(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)

    def program(v: Any) -> Any:
        y = v.sin().square().sum()
        (given,) = torch.autograd.grad(y, v)
        return given * 2

    return compiler(program)(x)


def double_backward_outside(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)
    y = compiler(lambda v: (v * 3).sum())(x)
    (given,) = torch.autograd.grad(y, x, retain_graph=True)
    return y, given, torch.autograd.grad(y, x)


def detached_parts(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)
    out, fixed = compiler(lambda v: (v.sin() * v.detach(), v.cos().detach()))(x)
    out.sum().backward()
    return out, fixed, x.grad


def no_grad_inside(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)

    def program(v: Any) -> Any:
        with torch.no_grad():
            scale = v.norm()
        return v / scale

    out = compiler(program)(x)
    out.sum().backward()
    return out, x.grad


def autocast(compiler: Compiler) -> Any:
    model = _model()

    def program(x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x).float().sum()

    out = compiler(program)(torch.randn(5, 6))
    out.backward()
    return out, _gradients(model)


def autocast_outside(compiler: Compiler) -> Any:
    model = _model()
    compiled = compiler(model)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = compiled(torch.randn(5, 6)).float().sum()
    out.backward()
    return out, _gradients(model)


def _optimized(compiler: Compiler, kind: Any, **options: Any) -> Any:
    model = _model()
    optimizer = kind(model.parameters(), lr=0.05, **options)
    x = torch.randn(5, 6)

    def step() -> None:
        optimizer.step()

    compiled = compiler(step)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        compiled()
    return list(model.parameters())


def optimizer_sgd(compiler: Compiler) -> Any:
    return _optimized(compiler, torch.optim.SGD, momentum=0.9)


def optimizer_adam(compiler: Compiler) -> Any:
    return _optimized(compiler, torch.optim.Adam)


def optimizer_adamw_foreach(compiler: Compiler) -> Any:
    return _optimized(compiler, torch.optim.AdamW, foreach=True, weight_decay=0.1)


def optimizer_rmsprop(compiler: Compiler) -> Any:
    return _optimized(compiler, torch.optim.RMSprop)


def optimizer_adagrad(compiler: Compiler) -> Any:
    return _optimized(compiler, torch.optim.Adagrad)


def optimizer_with_scheduler(compiler: Compiler) -> Any:
    model = _model()
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.05), capturable=False, foreach=True)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=3)
    x = torch.randn(5, 6)

    def step() -> None:
        optimizer.step()
        scheduler.step()

    compiled = compiler(step)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        compiled()
    return list(model.parameters())


def whole_step_compiled(compiler: Compiler) -> Any:
    model = _model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    compiled = compiler(step)
    return [compiled(torch.ones(5, 6)) for _ in range(3)], list(model.parameters())


def compiled_autograd(compiler: Compiler) -> Any:
    model = _model()
    if compiler.backend == "eager":
        out = model(torch.ones(5, 6)).sum()
        out.backward()
        return out, _gradients(model)
    out = compiler(model)(torch.ones(5, 6)).sum()
    with torch._dynamo.compiled_autograd._enable(compiler):
        out.backward()
    return out, _gradients(model)


def saved_tensor_hooks(compiler: Compiler) -> Any:
    x = torch.randn(6, requires_grad=True)

    def program(v: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
            return v.sin().square().sum()

    out = compiler(program)(x)
    out.backward()
    return out, x.grad


def forward_mode(compiler: Compiler) -> Any:
    import torch.autograd.forward_ad as forward

    def program(x: Any, t: Any) -> Any:
        with forward.dual_level():
            return forward.unpack_dual(forward.make_dual(x, t).sin()).tangent

    return compiler(program)(torch.randn(4), torch.randn(4))


PROGRAMS = tuple(
    name
    for name, value in list(vars().items())
    if getattr(value, "__module__", "") == __name__ and not name.startswith("_") and not isinstance(value, type)
)
