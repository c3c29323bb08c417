"""Tells whether PyTorch's own code alone generates a graph's code, or the script's too.

Inductor can be extended from outside: lowerings, decompositions, patterns, code generators, kernels in Python for
PyTorch's operators. What the script registers there has no name that another process could trust, and a compile process
does not have it. `foreign` finds such code; graphs that use it are compiled in the job. PyTorch's own functions can be
registered in another place too (`make_fallback`); `handling` lists, for one operator, what is registered where.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx
from torch.library import Library

OWN_NAMESPACES = ("aten", "prims")
_OWN_KEYS = ("Meta", "CompositeExplicitAutograd", "BackendSelect", "Conjugate", "Negative", "CUDA", "MPS")
"""Dispatch keys for which PyTorch itself registers kernels of its operators in Python."""
_RULES_OF_VMAP = ("torch._functorch.predispatch", "torch._functorch.vmap")
_PASSES = "torch._inductor.fx_passes."
_DEPTH = 5
_PLAIN = (str, int, float, bool, type(None))


class _Judged:
    """Remembers a judgment of each object; the object is kept alive, so that its id is not reused."""

    def __init__(self, judge: Callable[[Any, int], Any]) -> None:
        self._judge = judge
        self._answers: dict[int, tuple[Any, Any]] = {}

    def __call__(self, item: Any) -> Any:
        found = self._answers.get(id(item))
        if found is None:
            found = self._answers[id(item)] = (item, self._judge(item, _DEPTH))
        return found[1]


_passes: tuple[int, list[tuple[str, Any]]] = (0, [])
_tables: tuple[tuple[int, ...], str] = ((), "")


def foreign() -> str:
    """The script's code that takes part in every compile here, in words; empty where there is none."""
    return next(_found(), "")


def _found() -> Iterator[str]:
    kernels = frozenset(filter(_replaces, torch.library._impls))
    if kernels and (replaced := kernels - _registered_by_pytorch(kernels, len(sys.modules))):
        yield f"the script replaces kernels of PyTorch: {min(replaced)}"
    for name, function in _decompositions().items():
        if not own(function) and _of_pytorch(name):
            yield f"the script decomposes {name} in its own way"
    for name, function in _lowerings().items():
        if not own(function) and _of_pytorch(name):
            yield f"the script lowers {name} in its own way"
    for name, function in list(_layout_constraints().items()):
        if not own(function) and _of_pytorch(name):
            yield f"the script chooses the strides that {name} is called with"
    for place, patterns in _pattern_passes():
        for entries in patterns.patterns.values():
            if not all(own(entry) for entry in entries):
                yield f"the script adds a pattern to {place}"
    yield from _backends()


def _replaces(kernel: str) -> bool:
    """Whether a kernel of `torch.library`, as namespace/operator/key, replaces one that PyTorch has in C++."""
    return kernel.startswith("aten/") and kernel.rsplit("/", 1)[1] not in _OWN_KEYS


@functools.lru_cache(maxsize=1)
def _registered_by_pytorch(kernels: frozenset[str], modules: int) -> frozenset[str]:
    """Kernels of libraries that PyTorch's modules hold. `modules`: their number, as more may come with an import.

    PyTorch 2.14 replaces `aten::to_dense` for two keys as it is imported, others come with the first use of `vmap`.
    Each process of this version has the same.
    """
    own_modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "torch"]
    libraries = {item for module in own_modules for item in list(vars(module).values()) if type(item) is Library}
    return kernels & {kernel for library in libraries for kernel in library._op_impls}


def rules_of_vmap() -> set[str]:
    """The kernels that PyTorch itself registers for `vmap`, at its first use: they shape a trace, no compile.

    A script can replace them unnoticed; the graph that they trace to is hashed node by node.
    """
    libraries = (getattr(sys.modules.get(name), "VMAP_DECOMPOSITIONS_LIB", None) for name in _RULES_OF_VMAP)
    return {kernel for library in libraries if library is not None for kernel in library._op_impls}


def _backends() -> Iterator[str]:
    from torch._inductor.codegen import common

    for device, codegen in common.device_codegens.items():
        if not all(own(part) for part in vars(codegen).values() if part is not None):
            yield f"the script generates code for {device} in its own way"
    for device, graph_pass in getattr(common, "custom_backend_passes", {}).items():
        if graph_pass is not None:
            yield f"a pass of the script changes the graphs for {device}"
    for device, config in getattr(common, "custom_backend_codegen_configs", {}).items():
        if config is not None:
            yield f"the code generator for {device} has a configuration of its own"


def handling(operator: Any) -> str:
    """How the compiler decomposes and lowers an operator, as text that is the same in every process.

    An operator without a lowering gets the same text as one that was given the fallback beforehand. Its tags say, among
    other things, which strides it may be called with. One with a side effect is called even if its result is unused.
    """
    lowering = _lowerings().get(operator)
    lowered = "fallback" if _falls_back(lowering) else description(lowering)
    decomposition = _decompositions().get(operator)
    decomposed = description(decomposition) if decomposition is not None else ""
    kept = "side effect" if operator in fx.node._side_effectful_functions else ""
    return " ".join(filter(None, (str(lowered), decomposed, kept, *sorted(map(str, getattr(operator, "tags", ()))))))


def is_fallback(operator: Any) -> bool:
    """Whether compiled code calls the operator itself, as nothing is registered to decompose or lower it."""
    return _falls_back(_lowerings().get(operator)) and operator not in _decompositions()


def _falls_back(lowering: Any) -> bool:
    return bool(getattr(lowering, "_is_fallback_handler", lowering is None))


def tables() -> str:
    """A digest of how all operators of PyTorch are handled, for a trace whose operators are not known yet."""
    global _tables
    lowerings, decompositions = _lowerings(), _decompositions()
    present = (*map(id, lowerings.values()), *map(id, decompositions.values()))
    if _tables[0] != present:
        lines = sorted(f"{name} {handling(name)}" for name in {*lowerings, *decompositions} if _of_pytorch(name))
        _tables = (present, hashlib.sha256("\n".join(lines).encode()).hexdigest())
    return _tables[1]


def _judge(item: Any, depth: int) -> bool:
    if not _from_torch(item):
        return False
    return depth == 0 or all(_judge(part, depth - 1) for part in _parts(item))


def _from_torch(item: Any) -> bool:
    module = getattr(item, "__module__", None) or type(item).__module__
    return str(module).partition(".")[0] in ("torch", "builtins", "functools", "operator", "math", "_operator", "sympy")


def _parts(item: Any) -> Iterator[Any]:
    """The functions that `item` wraps, closes over, or holds."""
    if isinstance(item, functools.partial):
        yield from (item.func, *(part for part in (*item.args, *item.keywords.values()) if callable(part)))
    for cell in getattr(item, "__closure__", None) or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        if callable(content) and not isinstance(content, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            yield content
    if type(item).__module__ == "torch._inductor.pattern_matcher":
        yield from (part for part in vars(item).values() if callable(part))


def _describe(item: Any, depth: int) -> str:
    if isinstance(item, _PLAIN):
        return repr(item)
    if isinstance(item, enum.Enum):
        return str(item)
    if isinstance(item, (torch._ops.OpOverload, torch._ops.OpOverloadPacket, torch.dtype)):
        return str(item)
    if isinstance(item, functools.partial):
        keywords = sorted(f"{name}={_describe(value, depth - 1)}" for name, value in item.keywords.items())
        return f"partial({', '.join([*(_describe(part, depth - 1) for part in (item.func, *item.args)), *keywords])})"
    place = getattr(item, "__qualname__", None)
    if place is None or depth == 0:
        return type(item).__qualname__
    cells = []
    for cell in getattr(item, "__closure__", None) or ():
        try:
            cells.append(_describe(cell.cell_contents, depth - 1))
        except ValueError:
            cells.append("")
    code = getattr(item, "__code__", None)
    return f"{item.__module__}.{place}{':' + str(code.co_firstlineno) if code else ''}({', '.join(cells)})"


def _decompositions() -> dict[Any, Any]:
    from torch._inductor.decomposition import select_decomp_table

    return select_decomp_table()


def _lowerings() -> dict[Any, Any]:
    from torch._inductor import lowering

    users = getattr(lowering, "user_lowerings", None)
    return {**lowering.lowerings, **users} if users else lowering.lowerings


def _layout_constraints() -> dict[Any, Any]:
    from torch._inductor import lowering

    return lowering._maybe_layout_constraints


def _of_pytorch(operator: Any) -> bool:
    return str(operator).partition(".")[0] in OWN_NAMESPACES


def _pattern_passes() -> list[tuple[str, Any]]:
    """Every collection of patterns in the modules of Inductor's passes, as far as they are imported."""
    global _passes
    if _passes[0] != len(sys.modules):
        modules = [module for name, module in list(sys.modules.items()) if name.startswith(_PASSES)]
        _passes = (len(sys.modules), [(module.__name__, item) for module in modules for item in _collections(module)])
    return _passes[1]


def _collections(module: Any) -> Iterator[Any]:
    from torch._inductor.pattern_matcher import PatternMatcherPass

    for value in list(vars(module).values()):
        held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        yield from (item for item in held if isinstance(item, PatternMatcherPass))


own = _Judged(_judge)
"""Whether a function, class or pattern is PyTorch's, with everything that it holds."""
description = _Judged(_describe)
"""A function of PyTorch as text: its place and what it closes over."""
