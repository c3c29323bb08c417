"""What a program of the comparison is: something that runs once per way to compile, and gives tensors."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch

EAGER = "eager"
_place = ["cpu"]


def device() -> str:
    """Where programs compute: `cpu`, or `cuda` with `--device cuda`."""
    return _place[0]


def compute_on(device: str) -> None:
    """To be called before the first program is built."""
    _place[0] = device


class Compiler(NamedTuple):
    """How a program compiles its functions: not at all (`eager`), or by a backend of torch.compile."""

    backend: str

    def __call__(self, function: Any, **options: Any) -> Any:
        """`function` compiled; `options` are those of torch.compile."""
        return function if self.backend == EAGER else torch.compile(function, backend=self.backend, **options)


Program = Callable[[Compiler], Any]
"""Makes its own inputs, always the same, and gives tensors in tuples, lists and dictionaries."""


class Suite(Protocol):
    """A module of programs: `suite_<name>.py`."""

    def names(self) -> Sequence[str]:
        """Every program; building none of them."""

    def build(self, name: str) -> Program:
        """The program of that name. Raises LookupError where there is none on this machine, with the reason."""


def run(program: Program, backend: str) -> Any:
    """What it gives, as a tree of plain tensors; every run begins from the same seeds and a new Dynamo."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    random.seed(0)
    return plain(program(Compiler(backend)))


def trained(compiler: Compiler, model: torch.nn.Module, *given: Any, **options: Any) -> Any:
    """What a model gives, and the gradients of its parameters for the mean of the squares of the first result."""
    out = compiler(model, **options)(*given)
    first = out[0] if isinstance(out, tuple) else out
    first.float().square().mean().backward()
    return out, [value.grad for value in model.parameters()]


def plain(value: Any) -> Any:
    """Tensors detached, subclasses and sparse ones as dense: what can be written and compared anywhere."""
    if isinstance(value, torch.Tensor):
        return _dense(value.detach())
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (int, float, complex, bool, str, type(None))):
        return value
    return str(type(value))


def _dense(tensor: torch.Tensor) -> Any:
    if tensor.is_nested:
        return [_dense(part) for part in tensor.unbind()]
    if type(tensor) is not torch.Tensor:
        for name in ("full_tensor", "to_plain"):
            if hasattr(tensor, name):
                return _dense(getattr(tensor, name)())
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    return tensor.resolve_conj().resolve_neg().clone()
