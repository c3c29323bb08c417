"""On a GPU only: mixed precision, tensor cores, kernels in Triton, CUDA graphs, streams, host memory."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from tests.compat.programs import Compiler, trained


def _perceptron(*, dropout: float = 0.0) -> nn.Module:
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Dropout(dropout), nn.Linear(128, 32))


def autocast_half(compiler: Compiler) -> Any:
    with torch.autocast("cuda", dtype=torch.float16):
        return trained(compiler, _perceptron(), torch.randn(16, 64))


def autocast_bfloat16(compiler: Compiler) -> Any:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return trained(compiler, _perceptron(), torch.randn(16, 64))


def autocast_inside(compiler: Compiler) -> Any:
    model = _perceptron()

    def step(x: Any) -> Any:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return model(x)

    return compiler(step)(torch.randn(16, 64)), compiler(model)(torch.randn(16, 64))


def gradient_scaler(compiler: Compiler) -> Any:
    model = _perceptron()
    optimizer, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cuda")
    compiled = compiler(model)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = compiled(torch.ones(16, 64)).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
    return losses, list(model.parameters())


def tensor_float_32(compiler: Compiler) -> Any:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        return trained(compiler, _perceptron(), torch.randn(16, 64))
    finally:
        torch.set_float32_matmul_precision(before)


def _attention(compiler: Compiler, *kernels: SDPBackend, dtype: torch.dtype, dropout: float = 0.0) -> Any:
    q, k, v = (torch.randn(2, 4, 64, 32, dtype=dtype, requires_grad=True) for _ in range(3))

    def attend(a: Any, b: Any, c: Any) -> Any:
        return functional.scaled_dot_product_attention(a, b, c, is_causal=True, dropout_p=dropout)

    with sdpa_kernel(list(kernels)):
        out = compiler(attend)(q, k, v)
        out.float().sum().backward()
    return out, q.grad, k.grad, v.grad


def attention_flash(compiler: Compiler) -> Any:
    return _attention(compiler, SDPBackend.FLASH_ATTENTION, dtype=torch.bfloat16)


def attention_flash_with_dropout(compiler: Compiler) -> Any:
    return _attention(compiler, SDPBackend.FLASH_ATTENTION, dtype=torch.float16, dropout=0.2)


def attention_memory_efficient(compiler: Compiler) -> Any:
    return _attention(compiler, SDPBackend.EFFICIENT_ATTENTION, dtype=torch.float32)


def attention_cudnn(compiler: Compiler) -> Any:
    return _attention(compiler, SDPBackend.CUDNN_ATTENTION, dtype=torch.bfloat16)


def attention_math(compiler: Compiler) -> Any:
    return _attention(compiler, SDPBackend.MATH, dtype=torch.float32)


def _flex(compiler: Compiler, **options: Any) -> Any:
    q, k, v = (torch.randn(1, 2, 256, 64, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    out = compiler(lambda a, b, c: flex_attention(a, b, c, **options))(q, k, v)
    out.float().sum().backward()
    return out, q.grad, k.grad, v.grad


def flex_attention_trained(compiler: Compiler) -> Any:
    return _flex(compiler)


def flex_attention_mask_trained(compiler: Compiler) -> Any:
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 256, 256, device="cuda")
    return _flex(compiler, block_mask=mask)


def flex_attention_score_trained(compiler: Compiler) -> Any:
    bias = torch.randn(256, dtype=torch.bfloat16)
    return _flex(compiler, score_mod=lambda score, b, h, i, j: score + bias[j])


@triton.jit
def _scaled_kernel(given, out, count, factor, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    tl.store(out + places, tl.load(given + places, mask=inside) * factor, mask=inside)


_CHOICES = [triton.Config({"BLOCK": size}) for size in (64, 128)]
_chosen_kernel = triton.autotune(_CHOICES, key=["count"])(_scaled_kernel)


def _scaled(x: Any) -> Any:
    out = torch.empty_like(x)
    _scaled_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), 3.0, BLOCK=128)
    return out


def triton_kernel(compiler: Compiler) -> Any:
    return compiler(lambda x: _scaled(x.sin()) + 1)(torch.randn(300))


def triton_kernel_autotuned(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        out = torch.empty_like(x)
        _chosen_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel(), 2.0)
        return out.cos()

    return compiler(program)(torch.randn(300))


@torch.library.triton_op("neurontop_compat::scaled", mutates_args=())
def _scaled_op(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    kernel: Any = torch.library.wrap_triton(_scaled_kernel)
    kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), 3.0, BLOCK=128)
    return out


def triton_operator(compiler: Compiler) -> Any:
    return compiler(lambda x: _scaled_op(x.sin()) + 1)(torch.randn(300))


def dropout(compiler: Compiler) -> Any:
    return trained(compiler, _perceptron(dropout=0.3), torch.randn(16, 64))


def dropout_as_without_a_compiler(compiler: Compiler) -> Any:
    return trained(compiler, _perceptron(dropout=0.3), torch.randn(16, 64), options={"fallback_random": True})


def dropout_repeated(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: functional.dropout(x, 0.5))
    return [compiled(torch.ones(512)) for _ in range(3)]


def matrices_max_autotune(compiler: Compiler) -> Any:
    a, b = torch.randn(256, 256, dtype=torch.bfloat16), torch.randn(256, 256, dtype=torch.bfloat16)
    return compiler(lambda x, y: (x @ y).relu(), mode="max-autotune-no-cudagraphs")(a, b)


def cuda_graphs(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: (x.sin() + 1).cumsum(0), mode="reduce-overhead")
    return [compiled(torch.full((64,), float(turn))).clone() for turn in range(4)]


def cuda_graphs_trained(compiler: Compiler) -> Any:
    model = _perceptron()
    compiled = compiler(model, mode="reduce-overhead")
    losses = []
    for _ in range(4):
        model.zero_grad()
        loss = compiled(torch.ones(16, 64)).square().mean()
        loss.backward()
        losses.append(loss.detach().clone())
    return losses, [value.grad for value in model.parameters()]


def convolution_channels_last(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 3))
    model = model.to(memory_format=torch.channels_last)
    return trained(compiler, model, torch.randn(4, 8, 16, 16).to(memory_format=torch.channels_last))


def convolution_half(compiler: Compiler) -> Any:
    return trained(compiler, nn.Conv2d(8, 16, 3).half(), torch.randn(4, 8, 16, 16).half())


def recurrent_cudnn(compiler: Compiler) -> Any:
    model = nn.LSTM(8, 16, 2)

    def step(x: Any) -> Any:
        return model(x.sin())[0].cos()

    out = compiler(step)(torch.randn(5, 3, 8))
    out.sum().backward()
    return out, [value.grad for value in model.parameters()]


def host_and_gpu(compiler: Compiler) -> Any:
    def program(x: Any, y: Any) -> Any:
        return x.sin() + y.cuda().cos(), (x * 2).cpu() + y

    return compiler(program)(torch.randn(16), torch.randn(16, device="cpu"))


def number_on_the_host(compiler: Compiler) -> Any:
    return compiler(lambda x, scale: x * scale + scale)(torch.randn(16), torch.tensor(2.5, device="cpu"))


def pinned_memory(compiler: Compiler) -> Any:
    given = torch.randn(64, device="cpu").pin_memory()
    return compiler(lambda x: x.to("cuda", non_blocking=True).sin())(given)


def tensors_made_inside(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        return x + torch.arange(16, device="cuda") + torch.full((16,), 2.0, device=x.device), torch.zeros(3)

    return compiler(program)(torch.randn(16))


def streams(compiler: Compiler) -> Any:
    side = torch.cuda.Stream()
    compiled = compiler(lambda x: x.sin().sum())
    with torch.cuda.stream(side):
        out = compiled(torch.randn(64))
    torch.cuda.current_stream().wait_stream(side)
    return out


def reductions_of_many_sizes(compiler: Compiler) -> Any:
    compiled = compiler(lambda x: (x.softmax(-1), x.var(0), x.argmax(), x.sort(-1).values, x.cumsum(-1)))
    return [compiled(torch.randn(rows, columns)) for rows, columns in ((4, 8), (16, 1025), (3, 5000))]


def sizes_marked_dynamic(compiler: Compiler) -> Any:
    model = compiler(_perceptron())
    found = []
    for rows in (5, 17, 130):
        given = torch.randn(rows, 64)
        torch._dynamo.mark_dynamic(given, 0)
        found.append(model(given))
    return found


def embedding_gradient(compiler: Compiler) -> Any:
    model = nn.Sequential(nn.Embedding(100, 32), nn.Linear(32, 8))
    return trained(compiler, model, torch.arange(64) % 7)


def float8_matrices(compiler: Compiler) -> Any:
    one = torch.tensor(1.0)

    def program(x: Any, y: Any) -> Any:
        a, b = x.to(torch.float8_e4m3fn), y.to(torch.float8_e4m3fn)
        return torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    return compiler(program)(torch.randn(32, 64), torch.randn(16, 64))


def _stepped(compiler: Compiler, kind: Any, **options: Any) -> Any:
    model = _perceptron()
    optimizer = kind(model.parameters(), **options)
    model(torch.ones(4, 64)).square().mean().backward()
    compiler(optimizer.step)()
    return list(model.parameters())


def optimizer_fused(compiler: Compiler) -> Any:
    return _stepped(compiler, torch.optim.AdamW, fused=True)


def optimizer_capturable(compiler: Compiler) -> Any:
    return _stepped(compiler, torch.optim.Adam, capturable=True)


def memory_format_of_views(compiler: Compiler) -> Any:
    return compiler(lambda x: (x.transpose(0, 1).contiguous() @ x).permute(1, 0).unsqueeze(0))(torch.randn(32, 48))


def gradient_checkpointing(compiler: Compiler) -> Any:
    from torch.utils.checkpoint import checkpoint

    model = _perceptron(dropout=0.2)
    weights = nn.Linear(64, 64)

    def step(x: Any) -> Any:
        return checkpoint(model, weights(x), use_reentrant=False)

    out = compiler(step)(torch.randn(16, 64))
    out.square().mean().backward()
    return out, [value.grad for value in (*model.parameters(), *weights.parameters())]


def options_cpp_wrapper(compiler: Compiler) -> Any:
    return trained(compiler, _perceptron(), torch.randn(16, 64), options={"cpp_wrapper": True})


def options_of_triton(compiler: Compiler) -> Any:
    options = {"triton.unique_kernel_names": True, "coordinate_descent_tuning": False, "max_fusion_size": 8}
    return trained(compiler, _perceptron(), torch.randn(16, 64), options=options)


def asserted(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        torch._assert_async((x > -100).all())
        return x.sin()

    return compiler(program)(torch.randn(16))


PROGRAMS = tuple(
    name
    for name, value in list(vars().items())
    if getattr(value, "__module__", "") == __name__ and not name.startswith("_") and not isinstance(value, type)
)
