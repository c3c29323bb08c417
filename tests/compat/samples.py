"""A sample of one of PyTorch's operator databases as a program: forward, and backward where that is supported."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch.utils import _pytree as pytree

from tests.compat import programs
from tests.compat.programs import Compiler, Program


def of(op: Any, dtype: torch.dtype, place: int) -> Program:
    """The sample number `place` of an OpInfo. Raises LookupError where it has fewer."""
    backward = dtype.is_floating_point and op.supports_autograd

    def given() -> Any:
        torch.manual_seed(place)
        found = next(
            itertools.islice(op.sample_inputs(programs.device(), dtype, requires_grad=backward), place, None), None
        )
        if found is None:
            raise LookupError("the database has no such sample")
        return found

    given()

    def program(compiler: Compiler) -> Any:
        sample = given()

        def function(value: Any, args: Any, kwargs: Any) -> Any:
            return op(value, *args, **kwargs)

        torch.manual_seed(0)
        out = compiler(function)(sample.input, sample.args, sample.kwargs)
        return out, _gradients(out, (sample.input, sample.args, sample.kwargs)) if backward else None

    return program


def _gradients(out: Any, given: Any) -> Any:
    """By the sum of everything that has a gradient."""
    leaves = [leaf for leaf in pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    outs = [part for part in pytree.tree_leaves(out) if isinstance(part, torch.Tensor) and part.requires_grad]
    if not leaves or not outs:
        return None
    total = sum((part.abs() if part.is_complex() else part).sum() for part in outs)
    return torch.autograd.grad(total, leaves, allow_unused=True)
