"""Modules: weight tying, parametrizations, recurrent nets, attention, normalization, random numbers, modes, options."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations, parametrize, prune

from tests.compat.programs import Compiler, trained


class Tied(nn.Module):
    """One matrix as embedding and output."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(16, 8)
        self.out = nn.Linear(8, 16, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, x: Any) -> Any:
        return self.out(self.embedding(x).tanh())


def weight_tying(compiler: Compiler) -> Any:
    return trained(compiler, Tied(), torch.arange(6))


class Symmetric(nn.Module):
    """A parametrization."""

    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).transpose(-1, -2)


def parametrization(compiler: Compiler) -> Any:
    model = nn.Linear(6, 6)
    parametrize.register_parametrization(model, "weight", Symmetric())
    return trained(compiler, model, torch.randn(4, 6))


def weight_norm(compiler: Compiler) -> Any:
    return trained(compiler, parametrizations.weight_norm(nn.Linear(6, 3)), torch.randn(4, 6))


def spectral_norm(compiler: Compiler) -> Any:
    return trained(compiler, parametrizations.spectral_norm(nn.Linear(6, 3)), torch.randn(4, 6))


def orthogonal(compiler: Compiler) -> Any:
    return trained(compiler, parametrizations.orthogonal(nn.Linear(6, 6)), torch.randn(4, 6))


def pruned(compiler: Compiler) -> Any:
    return trained(compiler, prune.l1_unstructured(nn.Linear(6, 3), "weight", amount=0.5), torch.randn(4, 6))


def batch_norm_buffers(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    return trained(compiler, model, torch.randn(2, 3, 8, 8)), list(model.buffers())


def lstm(compiler: Compiler) -> Any:
    return trained(compiler, nn.LSTM(5, 6, 2), torch.randn(4, 3, 5))


def gru(compiler: Compiler) -> Any:
    return trained(compiler, nn.GRU(5, 6), torch.randn(4, 3, 5))


def transformer_layer(compiler: Compiler) -> Any:
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    return trained(compiler, layer, torch.randn(2, 5, 16))


def transformer_layer_evaluated(compiler: Compiler) -> Any:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    with torch.no_grad():
        return compiler(layer)(torch.randn(2, 5, 16))


def multihead_attention(compiler: Compiler) -> Any:
    model = nn.MultiheadAttention(16, 2)
    x = torch.randn(5, 2, 16)
    return compiler(lambda v: model(v, v, v))(x)


def scaled_dot_product(compiler: Compiler) -> Any:
    q, k, v = (torch.randn(2, 2, 8, 16, requires_grad=True) for _ in range(3))

    def attend(a: Any, b: Any, c: Any) -> Any:
        return functional.scaled_dot_product_attention(a, b, c, is_causal=True)

    out = compiler(attend)(q, k, v)
    out.sum().backward()
    return out, q.grad, k.grad, v.grad


def inference_mode(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)).eval()
    with torch.inference_mode():
        return compiler(model)(torch.randn(4, 6))


def constants(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        return x + torch.tensor([1.0, 2.0, 3.0]) * torch.tensor(2.5) + torch.arange(3) + torch.eye(3)[0]

    return compiler(program)(torch.randn(4, 3))


def random_numbers(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        noise = torch.rand_like(x) + torch.randn(3, 4) + torch.randint(0, 9, (3, 4))
        return x + noise, functional.dropout(x, 0.3)

    return compiler(program)(torch.ones(3, 4))


def random_permutation(compiler: Compiler) -> Any:
    return compiler(lambda x: x[torch.randperm(5)] * torch.bernoulli(x.sigmoid()))(torch.randn(5))


def graph_breaks(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        y = x.sin()
        torch._dynamo.graph_break()
        if y.sum().item() > 0:
            y = y * 2
        return y.cos()

    return compiler(program)(torch.ones(4))


def list_and_dict_outputs(compiler: Compiler) -> Any:
    return compiler(lambda x: {"a": [x + 1, x * 2], "b": (x.sum(), None, 3)})(torch.randn(4))


def output_is_input(compiler: Compiler) -> Any:
    def program(x: Any, y: Any) -> Any:
        return x, y + 1, x.view(2, 3), x

    return compiler(program)(torch.randn(6), torch.randn(2))


def input_mutation(compiler: Compiler) -> Any:
    x, y = torch.randn(6), torch.randn(6)

    def program(a: Any, b: Any) -> Any:
        a.add_(1)
        b.copy_(a)
        return a * b

    return compiler(program)(x, y), x, y


def mutation_of_views(compiler: Compiler) -> Any:
    x = torch.randn(4, 4)

    def program(a: Any) -> Any:
        a[1:3].mul_(2)
        a.t()[0].zero_()
        return a.sum(0)

    return compiler(program)(x), x


def no_tensors(compiler: Compiler) -> Any:
    return compiler(lambda a, b: a * 2 + b)(3, 4.5)


def empty_tensors(compiler: Compiler) -> Any:
    return compiler(lambda x: (x.sin(), x.sum(), torch.cat([x, x])))(torch.empty(0, 3))


def half_precision(compiler: Compiler) -> Any:
    model = nn.Linear(6, 3).half()
    return trained(compiler, model, torch.randn(4, 6).half())


def bfloat16(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU()).bfloat16()
    return trained(compiler, model, torch.randn(4, 6).bfloat16())


def float8(compiler: Compiler) -> Any:
    return compiler(lambda x: x.to(torch.float8_e4m3fn).float() * 2)(torch.randn(4, 4))


def float64(compiler: Compiler) -> Any:
    return trained(compiler, nn.Linear(6, 3).double(), torch.randn(4, 6).double())


def channels_last(compiler: Compiler) -> Any:
    model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    return trained(compiler, model, torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last))


def embedding_bag(compiler: Compiler) -> Any:
    return trained(compiler, nn.EmbeddingBag(10, 4), torch.tensor([1, 2, 3, 4]), torch.tensor([0, 2]))


def _sized(compiler: Compiler, **options: Any) -> Any:
    return trained(compiler, nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), torch.randn(4, 6), **options)


def mode_reduce_overhead(compiler: Compiler) -> Any:
    return _sized(compiler, mode="reduce-overhead")


def mode_max_autotune(compiler: Compiler) -> Any:
    return _sized(compiler, mode="max-autotune")


def mode_max_autotune_no_cudagraphs(compiler: Compiler) -> Any:
    return _sized(compiler, mode="max-autotune-no-cudagraphs")


def options_of_inductor(compiler: Compiler) -> Any:
    return _sized(compiler, options={"epilogue_fusion": True, "max_fusion_size": 3, "cpp.simdlen": 8})


def options_cpp_wrapper(compiler: Compiler) -> Any:
    return _sized(compiler, options={"cpp_wrapper": True})


def options_freezing(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)).eval()
    with torch.no_grad():
        return compiler(model, options={"freezing": True})(torch.randn(4, 6))


def options_fallback_random(compiler: Compiler) -> Any:
    return compiler(lambda x: functional.dropout(x, 0.5) + torch.rand(4), options={"fallback_random": True})(
        torch.ones(4)
    )


def fullgraph(compiler: Compiler) -> Any:
    return _sized(compiler, fullgraph=True)


def compiled_method_of_module(compiler: Compiler) -> Any:
    model = Tied()
    model.forward = compiler(model.forward)
    return model(torch.arange(4))


def recompiles(compiler: Compiler) -> Any:
    compiled = compiler(lambda x, flag: x.sin() if flag else x.cos(), dynamic=False)
    return [compiled(torch.ones(size), flag) for size in (3, 4) for flag in (True, False)]


def quantized_dynamically(compiler: Compiler) -> Any:
    def program(x: Any, w: Any) -> Any:
        scale = x.abs().max() / 127
        q = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()
        return (q @ w) * scale

    return compiler(program)(torch.randn(4, 6), torch.randn(6, 3))


PROGRAMS = tuple(
    name
    for name, value in list(vars().items())
    if getattr(value, "__module__", "") == __name__ and not name.startswith("_") and not isinstance(value, type)
)
