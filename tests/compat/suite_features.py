"""PyTorch's features, each as a small program."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import torch

from tests.compat import (
    feature_autograd,
    feature_control,
    feature_distributed,
    feature_models,
    feature_shapes,
    feature_tensors,
    programs,
)
from tests.compat.programs import Compiler, Program

_MODULES = (feature_control, feature_autograd, feature_models, feature_shapes, feature_tensors, feature_distributed)


def _modules() -> Iterator[ModuleType]:
    yield from _MODULES
    if programs.device() == "cuda":
        yield importlib.import_module("tests.compat.feature_cuda")  # imports Triton, which not every machine has


def _programs() -> Mapping[str, Program]:
    return {
        f"{module.__name__.rpartition('feature_')[2]}.{name}": function
        for module in _modules()
        for name, function in vars(module).items()
        if callable(function) and getattr(function, "__module__", "") == module.__name__ and name in module.PROGRAMS
    }


def names() -> Sequence[str]:
    """Area and name."""
    return list(_programs())


def build(name: str) -> Program:
    """The function of that name, which makes its tensors on the device of the comparison."""

    def program(compiler: Compiler) -> Any:
        with torch.device(programs.device()) if programs.device() != "cpu" else nullcontext():
            return _programs()[name](compiler)

    return program
