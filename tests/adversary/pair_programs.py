"""Small programs for PyTorch's compiler, made from a seed, and the same programs with exactly one thing changed.

A program is a `Program`: lines of Python over the tensors `x` and `y`, the form of both, and what is in force while it
is compiled. `changed` gives one with a single field, or a single part of a line, replaced.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

CONSTANTS = ("0", "0.0", "-0.0", "1", "1.0", "True", "2", "2.0", "3", "0.5", "-1", "1e-3", "float('inf')")
DTYPES = ("float32", "float64", "bfloat16", "float16")
SHAPES = ((4, 4), (4, 8), (8, 4), (16, 16), (3, 5), (1, 4), (32,), (2, 3, 4))
LAYOUTS = ("contiguous", "transposed", "offset", "expanded", "sliced")
RELATIONS = ("apart", "same", "view", "overlapping")
OPERATORS = ("sin", "cos", "tanh", "exp", "abs", "neg", "sigmoid", "relu", "sqrt", "floor", "sign", "erf", "square")
TEMPLATES = (
    "x = torch.{op}(x)",
    "x = x + {c}",
    "x = x * {c}",
    "x = {c} - x",
    "x = x - y",
    "x = y - x",
    "x = x / (y.abs() + {p})",
    "x = torch.where(x > {c}, x, y)",
    "x = torch.where(y > {c}, y, x)",
    "x = x.clamp(min={c})",
    "x = torch.maximum(x, y) * {c}",
    "x = torch.softmax(x, {d})",
    "x = x.sum({d}, keepdim=True) + x",
    "x = x.mean({d}, keepdim=True) * y",
    "x = x.amax({d}, keepdim=True) - x",
    "x = torch.cat([x, y], {d}).narrow({d}, 0, x.shape[{d}])",
    "x = torch.roll(x, {i}, {d})",
    "x = x + torch.full_like(x, {c})",
    "x = x + torch.tensor({c}, dtype=x.dtype)",
    "x = x * torch.tensor([{p}, {p}, {i}], dtype=x.dtype).sum()",
    "x = F.gelu(x, approximate={g})",
    "x = F.layer_norm(x, x.shape[-1:], eps={p})",
    "x = F.leaky_relu(x, {p})",
    "x = x.std({d}, correction={z}, keepdim=True) + x",
    "x = torch.cumsum(x, {d})",
    "x = x.to(torch.{t}).to(y.dtype)",
    "x = x.transpose(0, -1).transpose(0, -1) + {c}",
    "x = x ** {i}",
    "x = torch.matmul(x, x.transpose(-1, -2)).sum() * {c} + x",
    "x = x.masked_fill(y > {c}, {i})",
    "x = x.flip({d}) + {i}",
    "x = F.dropout(x, 0.5, training={b}) + y",
    "x = torch.arange(x.shape[-1], dtype=x.dtype) * {c} + x",
)
FILLINGS = {
    "op": OPERATORS,
    "c": CONSTANTS,
    "p": ("0.5", "1.0", "1", "0.25", "1e-5"),
    "i": ("1", "2", "3"),
    "z": ("0", "1"),
    "d": ("0", "-1"),
    "g": ("'none'", "'tanh'"),
    "t": ("float32", "float64", "float16", "bfloat16"),
    "b": ("True", "False"),
}
OPTIONS = (
    "epilogue_fusion=False", "max_fusion_size=1", "inplace_buffers=False", "fallback_random=True", "nan_asserts=True",
    "size_asserts=False", "cpp.simdlen=1", "cpp.threads=1", "cpp.dynamic_threads=True", "cpp.min_chunk_size=1",
    "emulate_precision_casts=True", "split_reductions=False", "pattern_matcher=False", "realize_reads_threshold=1",
    "unroll_reductions_threshold=1", "allow_buffer_reuse=False", "comment_origin=True", "keep_output_stride=False",
    "cpp.enable_tiling_heuristics=False", "use_post_grad_passes=False", "joint_graph_constant_folding=False",
    "online_softmax=False", "implicit_fallbacks=False", "disable_cpp_codegen=True", "cpp.use_decompose_tanh=True",
)  # fmt: skip
FUNCTORCH = ("cse=False", "aggressive_recomputation=True", "activation_memory_budget=0.5", "recompute_views=True",
             "treat_parameters_as_free_to_save=False", "functionalize_rng_ops=True")  # fmt: skip
STATES = ("threads=1", "deterministic", "matmul=high", "matmul=medium", "mkldnn off", "default float64", "denormals",
          "conv ieee", "mkldnn bf16", "fast path off", "reduced precision", "flash off")  # fmt: skip
HOOKS = ("pass 11", "pass 12", "pass without uuid", "function", "lowering", "fallback", "decomposition", "pattern",
         "partitioner", "kernel")  # fmt: skip
VARIABLES = ("CPATH=/nonexistent", "CXX=g++", "TRITON_INTERPRET=1", "TORCHINDUCTOR_VEC_ISA_OK=1")


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """What is compiled, for what, under what."""

    lines: tuple[str, ...]
    shape: tuple[int, ...] = (4, 4)
    dtype: str = "float32"
    layout: str = "contiguous"
    relation: str = "apart"
    """Of `y` to `x`."""
    requires_grad: bool = False
    grad_mode: str = "grad"
    autocast: str = ""
    dynamic: bool | None = False
    mode: str | None = None
    option: str = ""
    inductor: str = ""
    functorch: str = ""
    state: str = ""
    hook: str = ""
    variable: str = ""


def program(dice: random.Random) -> Program:
    """One out of many millions; half of them plain tensors under PyTorch's defaults."""
    lines = tuple(filled(dice.choice(TEMPLATES), dice) for _ in range(dice.randint(1, 3)))
    if dice.random() < 0.5:
        return Program(lines=lines, shape=dice.choice(SHAPES))
    return Program(
        lines=lines,
        shape=dice.choice(SHAPES),
        dtype=dice.choice(DTYPES),
        layout=dice.choice(LAYOUTS),
        relation=dice.choice(RELATIONS),
        requires_grad=dice.random() < 0.4,
        dynamic=dice.choice((False, False, True, None)),
    )


def filled(template: str, dice: random.Random) -> str:
    """A line, with the template kept behind it, so that one of its parts can be changed later."""
    return template.format(**{name: dice.choice(values) for name, values in FILLINGS.items()}) + f"  # {template}"


def _line(kind: Callable[[str, random.Random], str]) -> Callable[[Program, random.Random], Program]:
    def change(program: Program, dice: random.Random) -> Program:
        place = dice.randrange(len(program.lines))
        lines = list(program.lines)
        lines[place] = kind(lines[place], dice)
        return msgspec.structs.replace(program, lines=tuple(lines))

    return change


def _other_filling(line: str, dice: random.Random) -> str:
    return filled(line.partition("  # ")[2], dice)


def _other_line(_line: str, dice: random.Random) -> str:
    return filled(dice.choice(TEMPLATES), dice)


def _field(name: str, values: tuple[object, ...]) -> Callable[[Program, random.Random], Program]:
    return lambda program, dice: msgspec.structs.replace(program, **{name: dice.choice(values)})


def _swapped(program: Program, _dice: random.Random) -> Program:
    return msgspec.structs.replace(program, lines=tuple(reversed(program.lines)))


CHANGES: dict[str, Callable[[Program, random.Random], Program]] = {
    "constant or operator": _line(_other_filling),
    "line": _line(_other_line),
    "order": _swapped,
    "shape": _field("shape", SHAPES),
    "dtype": _field("dtype", DTYPES),
    "layout": _field("layout", LAYOUTS),
    "relation": _field("relation", RELATIONS),
    "requires_grad": lambda program, _: msgspec.structs.replace(program, requires_grad=not program.requires_grad),
    "grad mode": _field("grad_mode", ("no_grad", "inference")),
    "autocast": _field("autocast", ("bfloat16", "float16")),
    "dynamic": _field("dynamic", (True, None, False)),
    "mode": _field("mode", ("default", "reduce-overhead")),
    "option": _field("option", OPTIONS),
    "inductor": _field("inductor", OPTIONS),
    "functorch": _field("functorch", FUNCTORCH),
    "state": _field("state", STATES),
    "hook": _field("hook", HOOKS),
    "variable": _field("variable", VARIABLES),
}
_OFTEN = ("constant or operator", "line")
"""What a program is made of varies most: these are chosen as often as all others together."""


def changed(base: Program, dice: random.Random) -> tuple[str, Program]:
    """The name of a change, and `base` with that one thing changed."""
    while True:
        kind = dice.choice(_OFTEN) if dice.random() < 0.5 else dice.choice(tuple(CHANGES))
        other = CHANGES[kind](base, dice)
        if other != base:
            return kind, other
