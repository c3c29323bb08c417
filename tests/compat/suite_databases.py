"""PyTorch's other databases, those that a wheel ships: modules, higher-order and custom operators, functions."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from tests.compat import programs, samples
from tests.compat.programs import Compiler, Program


def _operators() -> Mapping[str, Any]:
    from torch.testing._internal.autograd_function_db import autograd_function_db
    from torch.testing._internal.custom_op_db import custom_op_db
    from torch.testing._internal.hop_db import hop_db

    found = {"higher_order": hop_db, "custom": custom_op_db, "function": autograd_function_db}
    return {f"{kind}.{op.formatted_name}": op for kind, db in found.items() for op in db}


def _modules() -> Mapping[str, Any]:
    from torch.testing._internal.common_modules import module_db

    return {f"module.{info.formatted_name}.{mode}": info for info in module_db for mode in ("train", "eval")}


def _optimizers() -> Mapping[str, Any]:
    from torch.testing._internal.common_optimizers import optim_db

    return {f"optimizer.{info.optim_cls.__name__}": info for info in optim_db}


@functools.cache
def _known() -> Mapping[str, Any]:
    return {**_operators(), **_modules(), **_optimizers()}


def names() -> Sequence[str]:
    """Database and name."""
    return list(_known())


def build(name: str) -> Program:
    """The first sample of it."""
    info = _known()[name]
    if name.startswith("module."):
        return _module(info, training=name.endswith(".train"))
    if name.startswith("optimizer."):
        return _optimizer(info)
    return samples.of(info, torch.float32, 0)


def _module(info: Any, *, training: bool) -> Program:
    def program(compiler: Compiler) -> Any:
        torch.manual_seed(0)
        given = info.module_inputs_func(
            info, device=programs.device(), dtype=torch.float32, requires_grad=training, training=training
        )
        sample = next((one for one in given if one.forward_input is not None), None)
        if sample is None:
            raise LookupError("the database has no such sample")
        args, kwargs = sample.constructor_input.args, sample.constructor_input.kwargs
        model = info.module_cls(*args, **kwargs).train(training).to(programs.device())
        torch.manual_seed(0)
        with torch.set_grad_enabled(training):
            out = compiler(model)(*sample.forward_input.args, **sample.forward_input.kwargs)
        if training:
            parts = [part for part in torch.utils._pytree.tree_leaves(out) if isinstance(part, torch.Tensor)]
            parts = [part for part in parts if part.requires_grad]
            if parts:
                sum(part.sum() for part in parts).backward()
        return out, [value.grad for value in model.parameters()]

    return program


def _optimizer(info: Any) -> Program:
    def program(compiler: Compiler) -> Any:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Linear(8, 3)).to(programs.device())
        parameters = [value for value in model.parameters() if value.ndim == 2 or info.optim_cls.__name__ != "Muon"]
        chosen = next(iter(info.optim_inputs_func(device=programs.device())))
        optimizer = info.optim_cls(parameters, **chosen.kwargs)
        x = torch.randn(5, 6).to(programs.device())

        def step() -> None:
            optimizer.step(lambda: model(x).square().mean()) if info.step_requires_closure else optimizer.step()

        compiled = compiler(step)
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            compiled()
        return list(model.parameters())

    return program
