"""Tensors that are not plain: subclasses, complex, sparse, nested, quantized, on another device."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.testing._internal.two_tensor import TwoTensor

from tests.compat.programs import Compiler


def subclass(compiler: Compiler) -> Any:
    x = TwoTensor(torch.randn(4, 3), torch.randn(4, 3))
    out = compiler(lambda v: (v.sin() @ v.T).relu())(x)
    return out.a, out.b


def subclass_training(compiler: Compiler) -> Any:
    x = TwoTensor(torch.randn(4, 3), torch.randn(4, 3)).requires_grad_()
    out = compiler(lambda v: v.sin() * 2)(x)
    out.sum().backward()
    return out.a, out.b, x.grad.a, x.grad.b


def subclass_parameters(compiler: Compiler) -> Any:
    model = nn.Linear(3, 2)
    model.weight = nn.Parameter(TwoTensor(model.weight.detach(), model.weight.detach() * 2))
    out = compiler(model)(torch.randn(4, 3))
    out.sum().backward()
    return out.a, out.b, model.weight.grad.a, model.weight.grad.b


class Named(torch.Tensor):
    """A subclass without a dispatch of its own."""


def subclass_by_function(compiler: Compiler) -> Any:
    return compiler(lambda v: v.sin() + 1)(torch.randn(4).as_subclass(Named)).as_subclass(torch.Tensor)


def masked(compiler: Compiler) -> Any:
    x, keep = torch.randn(4, 3), torch.tensor([[True, False, True]] * 4)
    return compiler(lambda v, m: torch.where(m, v, 0).masked_fill(~m, -1).sum(0))(x, keep)


def complex_numbers(compiler: Compiler) -> Any:
    x = torch.randn(4, 3, dtype=torch.complex64)
    return compiler(lambda v: (v * v.conj()).abs() + torch.view_as_real(v).sum(-1))(x)


def complex_training(compiler: Compiler) -> Any:
    x = torch.randn(4, dtype=torch.complex64, requires_grad=True)
    out = compiler(lambda v: (v * (2 + 1j)).abs().square().sum())(x)
    out.backward()
    return out, x.grad


def fourier(compiler: Compiler) -> Any:
    x = torch.randn(8, requires_grad=True)
    out = compiler(lambda v: torch.fft.irfft(torch.fft.rfft(v) * 2).sum())(x)
    out.backward()
    return out, x.grad


def conjugate_input(compiler: Compiler) -> Any:
    return compiler(lambda v: v * 2 + 1)(torch.randn(4, dtype=torch.complex64).conj())


def negative_view_input(compiler: Compiler) -> Any:
    return compiler(lambda v: v * 2 + 1)(torch.randn(4, dtype=torch.complex64).conj().imag)


def sparse_input(compiler: Compiler) -> Any:
    x = torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse()
    return compiler(lambda a, b: torch.sparse.mm(a, b).sin())(x, torch.randn(2, 3))


def sparse_csr(compiler: Compiler) -> Any:
    x = torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse_csr()
    return compiler(lambda a, b: (a @ b).sin())(x, torch.randn(2, 3))


def sparse_made_inside(compiler: Compiler) -> Any:
    return compiler(lambda x: x.to_sparse().to_dense() + 1)(torch.tensor([[0.0, 1.0], [2.0, 0.0]]))


def sparse_gradients(compiler: Compiler) -> Any:
    model = nn.Embedding(10, 3, sparse=True)
    out = compiler(lambda i: model(i).sum())(torch.tensor([1, 2, 2]))
    out.backward()
    return out, model.weight.grad


def nested_jagged(compiler: Compiler) -> Any:
    x = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged)
    out = compiler(lambda v: (v * 2).sin())(x)
    return list(out.unbind())


def nested_jagged_training(compiler: Compiler) -> Any:
    parts = [torch.randn(2, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)]
    x = torch.nested.as_nested_tensor(parts, layout=torch.jagged)
    out = compiler(lambda v: torch.nn.functional.relu(v) * 2)(x)
    out.values().sum().backward()
    return list(out.unbind()), [part.grad for part in parts]


def nested_strided(compiler: Compiler) -> Any:
    x = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    return compiler(lambda v: v * 2)(x)


def meta_device(compiler: Compiler) -> Any:
    out = compiler(lambda v: (v @ v.T).sum(0))(torch.randn(4, 3, device="meta"))
    return str(out.shape), str(out.device)


def zero_dimensional(compiler: Compiler) -> Any:
    return compiler(lambda a, b: a * b + a.item())(torch.tensor(2.0), torch.tensor(3.0))


def overlapping(compiler: Compiler) -> Any:
    return compiler(lambda v: v.sin() + 1)(torch.randn(1, 4).expand(3, 4))


def unaligned(compiler: Compiler) -> Any:
    return compiler(lambda v: v.sin() + v.cos())(torch.randn(65)[1:])


def as_strided(compiler: Compiler) -> Any:
    return compiler(lambda v: v.as_strided((3, 2), (1, 2), 1) * 2)(torch.randn(12)[2:])


def bits(compiler: Compiler) -> Any:
    return compiler(lambda v: (v << 2) ^ (v & 5) | ~v)(torch.arange(8))


def small_integers(compiler: Compiler) -> Any:
    return compiler(lambda v: (v + 200) * 3 // 2)(torch.arange(100, dtype=torch.uint8))


def wide_unsigned(compiler: Compiler) -> Any:
    return compiler(lambda v: v.to(torch.int64) + 1)(torch.arange(5).to(torch.uint32))


def strings_and_devices(compiler: Compiler) -> Any:
    def program(v: Any, mode: str, device: Any, dtype: Any) -> Any:
        return torch.nn.functional.pad(v.to(device, dtype), (1, 1), mode=mode)

    return compiler(program)(torch.randn(1, 2, 4), "reflect", torch.device("cpu"), torch.float64)


def tensor_attributes_of_objects(compiler: Compiler) -> Any:
    class Box:
        """Holds a tensor."""

        def __init__(self) -> None:
            self.value = torch.ones(3)

    box = Box()

    def program(x: Any) -> Any:
        box.value = box.value + x
        return box.value * 2

    compiled = compiler(program)
    return compiled(torch.ones(3)), compiled(torch.ones(3)), box.value


def numpy_inside(compiler: Compiler) -> Any:
    import numpy as np

    return torch.as_tensor(compiler(lambda a: np.sin(a) + np.arange(4))(np.ones(4)))


def cuda(compiler: Compiler) -> Any:
    if not torch.cuda.is_available():
        raise LookupError("no GPU")
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3)).cuda()
    out = compiler(model)(torch.randn(4, 6, device="cuda"))
    out.square().sum().backward()
    return out.cpu(), [value.grad.cpu() for value in model.parameters()]


PROGRAMS = tuple(
    name
    for name, value in list(vars().items())
    if getattr(value, "__module__", "") == __name__ and not name.startswith("_") and not isinstance(value, type)
)
