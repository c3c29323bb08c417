"""A process that runs one `Program` after the other: what would be found in the cache, what Inductor generates.

`python -m tests.adversary.pair_worker` reads a JSON line per task and answers with one. Two kinds of task:

- `keys`: the names of the program's graphs in our cache (nothing is compiled: as in a trial run), or that they stay in
  the job, and a digest of the source text that Inductor generates for the same program (its C++ compiler is not run).
- `run`: the program through our backend with the real cache, and with `backend="inductor"` without any: both results.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import msgspec
import torch
import torch._inductor.config as inductor_config
from torch._inductor.custom_graph_pass import CustomGraphPass, CustomPartitionerFn
from torch._inductor.graph import GraphLowering

from neuron_top.compile.torch import backend, loading
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from tests.adversary.pair_programs import Program

_COMMENT = re.compile(r"^\s*#.*$|\s+#.*$", re.MULTILINE)
_MACHINE = re.compile(r"/[\w./-]+/\w{2}/c?\w{40,}\.\w+|\b0x[0-9a-f]{6,}\b|\b7f[0-9a-f]{10}\b")


class Adds(CustomGraphPass):
    """Adds a number to every result: never the same as without."""

    def __init__(self, amount: float, identity: bytes | None) -> None:
        self.amount, self.identity = amount, identity

    def __call__(self, graph: torch.fx.Graph) -> None:
        output = next(iter(reversed(graph.nodes)))
        with graph.inserting_before(output):
            results = tuple(self._added(graph, item) for item in output.args[0])
        output.args = (results,)

    def _added(self, graph: torch.fx.Graph, item: Any) -> Any:
        value = item.meta.get("val") if isinstance(item, torch.fx.Node) else None
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or item.op == "placeholder":
            return item
        node = graph.call_function(torch.ops.aten.add.Tensor, (item, self.amount))
        node.meta.update(item.meta)
        return node

    def uuid(self) -> bytes | None:
        return self.identity


class Partitioner(CustomPartitionerFn):
    """PyTorch's default one under another name."""

    def __call__(self, gm: Any, joint_inputs: Any, **kwargs: Any) -> Any:
        from torch._functorch.partitioners import default_partition

        return default_partition(gm, joint_inputs, **kwargs)

    def uuid(self) -> bytes:
        return b"default"


def main() -> None:
    """Serve until end of input."""
    warnings.simplefilter("ignore")
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    tasks = {"keys": keys, "run": run}
    for line in sys.stdin:
        task = json.loads(line)
        program = msgspec.convert(task["program"], Program)
        print(json.dumps(tasks[task["task"]](program)), file=replies)


def keys(program: Program) -> dict[str, Any]:
    """`{"keys", "source"}`: see above; the kind of error where a program does not compile."""
    with _in_force(program):
        return {"keys": _keys(program), "source": _source(program)}


def run(program: Program) -> dict[str, Any]:
    """`{"ours", "theirs"}`: results as text, or the kind of error."""
    with _in_force(program):
        with _without_caches():
            theirs = _result(program, "inductor")
        return {"ours": _result(program, "neurontop"), "theirs": theirs}


def _keys(program: Program) -> str:
    found: list[str] = []

    def extract(_wrapper: Wrapper, graph: Any) -> bool:
        found.append(graph.key.name)
        return False

    environ = mock.patch.dict(os.environ, {"NEURON_EXTRACT_GRAPHS_ONLY": "1"})
    with environ, mock.patch.object(Wrapper, "extract", extract), _noting(found):
        problem = _attempt(lambda: _called(program, "neurontop"))
    return "|".join(found) or problem


@contextlib.contextmanager
def _noting(found: list[str]) -> Iterator[None]:
    """What stays in the job is shared with nobody: it gets a name of its own."""

    def fell_back(*_: Any) -> None:
        found.append(f"in the job {os.urandom(8).hex()}")

    with mock.patch.object(backend, "_fell_back", fell_back):
        yield


def _source(program: Program) -> str:
    found: list[str] = []

    class _Nothing:
        __file__, call, recursively_apply_fns = "", staticmethod(lambda *_: None), staticmethod(lambda *_: None)

    def compile_to_module(graph: GraphLowering) -> Any:
        code, _ = graph.codegen_with_cpp_wrapper() if graph.cpp_wrapper else graph.codegen()
        found.append(_plain(code.value) + _constants(graph))
        return _Nothing

    with mock.patch.object(GraphLowering, "compile_to_module", compile_to_module), _without_caches():
        problem = _attempt(lambda: _called(program, "inductor"))
    return hashlib.sha256("".join(found).encode()).hexdigest() if found else problem


def _plain(source: str) -> str:
    """The code that runs: without comments, names of files, and the benchmark with its examples at the end."""
    return _MACHINE.sub("", _COMMENT.sub("", source.partition("\ndef get_args():")[0]))


def _constants(graph: GraphLowering) -> str:
    return "".join(f"{name} {_text(value)}" for name, value in sorted(graph.constants.items()))


def _without_caches() -> contextlib.AbstractContextManager[Any]:
    return torch.compiler.config.patch(force_disable_caches=True)


def _result(program: Program, backend: str) -> str:
    found: list[str] = []
    problem = _attempt(lambda: found.append(_called(program, backend)))
    return found[0] if found else problem


def _attempt(work: Callable[[], Any]) -> str:
    torch._dynamo.reset()
    loading.compile_begins()
    try:
        work()
    except Exception as problem:
        traceback.print_exc()
        return f"failed: {type(problem).__name__}"
    return "nothing compiled"


def _called(program: Program, backend: str) -> str:
    """Results of a compiled program, gradients included, as text."""
    scope = {"torch": torch, "F": torch.nn.functional}
    body = "".join(f"    {line}\n" for line in program.lines)
    exec(f"def f(x, y):\n{body}    return x, y\n", scope)
    function: Any = scope["f"]
    wanted = dict([_setting(program.option)] if program.option else [])
    if program.mode not in (None, "default"):
        wanted = {**torch._inductor.list_mode_options(program.mode), **wanted}
    compiled = torch.compile(function, backend=backend, options=wanted or None, dynamic=program.dynamic)
    x, y = _inputs(program)
    torch.manual_seed(0)
    results = compiled(x, y)
    grads: list[Any] = []
    if any(item.requires_grad for item in results if item is not None):
        wants = [item for item in (x, y) if item.is_leaf and item.requires_grad]
        total = sum(item.float().nan_to_num().sum() for item in results if item.requires_grad)
        grads = list(torch.autograd.grad(total, wants, allow_unused=True)) if wants else []
    return " ".join(_text(item) for item in (*results, *grads))


def _text(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return str(value)
    numbers = value.detach().to(torch.complex128 if value.is_complex() else torch.float64).flatten().tolist()
    return f"{value.dtype}{tuple(value.shape)}{value.stride()}:{','.join(f'{number:.4g}' for number in numbers)}"


def _inputs(program: Program) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    dtype = getattr(torch, program.dtype)
    x = _laid_out(program, torch.randn(program.shape, dtype=torch.float64).to(dtype))
    y = torch.randn(program.shape, dtype=torch.float64).to(dtype)
    x.requires_grad_(program.requires_grad)
    match program.relation:
        case "same":
            return x, x
        case "view":
            return x, x.detach().view_as(x)
        case "overlapping":
            base = torch.randn(x.numel() + 2, dtype=torch.float64).to(dtype)
            return base[: x.numel()].view(program.shape), base[1 : x.numel() + 1].view(program.shape)
    return x, y


def _laid_out(program: Program, x: torch.Tensor) -> torch.Tensor:
    match program.layout:
        case "transposed":
            return x.transpose(0, -1).contiguous().transpose(0, -1)
        case "offset":
            return torch.cat([x.flatten(), x.flatten()])[1 : x.numel() + 1].view(x.shape)
        case "expanded":
            return x.narrow(0, 0, 1).expand(x.shape)
        case "sliced":
            return torch.stack([x, x], -1)[..., 0]
    return x


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    return name, {"True": True, "False": False}.get(value, None if value == "None" else _number(value))


def _number(value: str) -> Any:
    with contextlib.suppress(ValueError):
        return int(value)
    with contextlib.suppress(ValueError):
        return float(value)
    return value


@contextlib.contextmanager
def _in_force(program: Program) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        if program.variable:
            name, _, value = program.variable.partition("=")
            stack.enter_context(mock.patch.dict(os.environ, {name: value}))
        if program.inductor:
            stack.enter_context(inductor_config.patch(dict([_setting(program.inductor)])))
        functorch = dict([_setting(program.functorch)] if program.functorch else [])
        stack.enter_context(torch._functorch.config.patch(force_non_lazy_backward_lowering=True, **functorch))
        if program.state:
            _STATES[program.state](stack)
        if program.hook:
            _HOOKS[program.hook](stack)
        if program.grad_mode != "grad":
            stack.enter_context(torch.no_grad() if program.grad_mode == "no_grad" else torch.inference_mode())
        if program.autocast:
            stack.enter_context(torch.autocast("cpu", dtype=getattr(torch, program.autocast)))
        yield


def _setter(read: Callable[[], Any], write: Callable[[Any], Any], value: Any) -> Callable[[contextlib.ExitStack], None]:
    def arrange(stack: contextlib.ExitStack) -> None:
        stack.callback(write, read())
        write(value)

    return arrange


def _attribute(holder: Any, name: str, value: Any) -> Callable[[contextlib.ExitStack], None]:
    return _setter(lambda: getattr(holder, name), lambda new: setattr(holder, name, new), value)


def _precision(backend: str, operation: str, value: str) -> Callable[[contextlib.ExitStack], None]:
    return _setter(
        lambda: torch._C._get_fp32_precision_getter(backend, operation),
        lambda new: torch._C._set_fp32_precision_setter(backend, operation, new),
        value,
    )


_STATES: dict[str, Callable[[contextlib.ExitStack], None]] = {
    "threads=1": _setter(torch.get_num_threads, torch.set_num_threads, 1),
    "deterministic": _setter(torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms, True),
    "matmul=high": _setter(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "high"),
    "matmul=medium": _setter(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "medium"),
    "mkldnn off": _attribute(torch.backends.mkldnn, "enabled", False),
    "default float64": _setter(torch.get_default_dtype, torch.set_default_dtype, torch.float64),
    "denormals": _setter(lambda: False, torch.set_flush_denormal, True),
    "conv ieee": _precision("cuda", "conv", "ieee"),
    "mkldnn bf16": _precision("mkldnn", "matmul", "bf16"),
    "fast path off": _setter(torch.backends.mha.get_fastpath_enabled, torch.backends.mha.set_fastpath_enabled, False),
    "reduced precision": _attribute(torch.backends.cuda.matmul, "allow_bf16_reduced_precision_reduction", False),
    "flash off": _setter(torch.backends.cuda.flash_sdp_enabled, torch.backends.cuda.enable_flash_sdp, False),
}


def _configured(**fields: Any) -> Callable[[contextlib.ExitStack], None]:
    return lambda stack: stack.enter_context(inductor_config.patch(fields))


def _lowered(stack: contextlib.ExitStack) -> None:
    from torch._inductor import lowering

    before = lowering.lowerings[torch.ops.aten.add.Tensor]
    stack.enter_context(mock.patch.dict(lowering.lowerings))
    lowering.register_lowering(torch.ops.aten.add.Tensor)(lambda a, b, **rest: before(before(a, b, **rest), 1))


def _fallback(stack: contextlib.ExitStack) -> None:
    from torch._inductor import lowering

    stack.enter_context(mock.patch.dict(lowering.lowerings))
    for name in ("fallbacks", "needs_realized_inputs"):
        stack.enter_context(mock.patch.object(lowering, name, type(getattr(lowering, name))(getattr(lowering, name))))
    for operator in (torch.ops.aten.mul.Tensor, torch.ops.aten.sin.default, torch.ops.aten.exp.default):
        lowering.make_fallback(operator, warn=False, override_decomp=True)


def _decomposed(stack: contextlib.ExitStack) -> None:
    from torch._inductor.decomposition import decompositions

    stack.enter_context(mock.patch.dict(decompositions))
    decompositions[torch.ops.aten.mul.Tensor] = lambda a, b: torch.ops.aten.div.Tensor(a, 1 / b if b else 1)


def _pattern(stack: contextlib.ExitStack) -> None:
    from torch._inductor.fx_passes import post_grad
    from torch._inductor.pattern_matcher import Arg, CallFunction, register_graph_pattern

    patterns = post_grad.pass_patterns[0].patterns
    before = {key: list(entries) for key, entries in patterns.items()}
    stack.callback(lambda: (patterns.clear(), patterns.update(before)))

    @register_graph_pattern(CallFunction(torch.ops.aten.sin.default, Arg()), pass_dict=post_grad.pass_patterns[0])
    def cosine(match: Any, x: Any) -> None:
        match.output_node().target = torch.ops.aten.cos.default


def _kernel(stack: contextlib.ExitStack) -> None:
    library = torch.library.Library("aten", "IMPL")
    stack.callback(library._destroy)
    library.impl("erfinv", lambda x: torch.zeros_like(x), "CPU")


_HOOKS: dict[str, Callable[[contextlib.ExitStack], Any]] = {
    "pass 11": _configured(post_grad_custom_post_pass=Adds(11.0, b"11")),
    "pass 12": _configured(post_grad_custom_pre_pass=Adds(12.0, b"12")),
    "pass without uuid": _configured(joint_custom_post_pass=Adds(13.0, None)),
    "function": _configured(pre_grad_custom_pass=lambda graph: None),
    "lowering": _lowered,
    "fallback": _fallback,
    "decomposition": _decomposed,
    "pattern": _pattern,
    "partitioner": _configured(custom_partitioner_fn=Partitioner()),
    "kernel": _kernel,
}

if __name__ == "__main__":
    main()
