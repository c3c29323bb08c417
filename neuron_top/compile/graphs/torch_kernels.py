"""Checks whether the kernels of PyTorch's operators are its own, as they were installed.

The dispatcher reports for each kernel in which file it was registered, in Python or in C++, by PyTorch, an extension or
the script. Operators have further kernels in Python themselves (`py_impl`), and rules for modes are in a separate
registry. What an operator dispatched to last is cached in it, and a script can change that, too.

A kernel can also be one of PyTorch's functions that belongs to another operator: `places` tells these apart.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch._C import DispatchKey
from torch._library import simple_registry
from torch._ops import OpOverload, OpOverloadPacket, resolve_key

from neuron_top.compile.graphs import torch_functions
from neuron_top.compile.graphs.own_code import OWN_NAMESPACES

_REGISTERED = re.compile(r"registered at (\S+):\d+")
_SOURCES = re.compile(r"registered at (/.*/)build/aten/src/ATen/RegisterSchema\.cpp:")
_FOR_SCRIPTS = {"aten": ("library.py", "_library/custom_ops.py"), "prims": ("library.py",)}
"""Files of PyTorch that register kernels for a script, by namespace; PyTorch defines `prims` with the second."""
_MADE_BY_PYTHON = 1 << 9
"""Set in `__flags__` of each type that a `class` statement makes (`Py_TPFLAGS_HEAPTYPE` of CPython)."""
_OF_NAMESPACES = ("name", "_dir")
"""Attributes of a namespace of operators that are none of its operators."""

_IN_PYTHON = frozenset(torch_functions.IN_PYTHON)
_IN_C = frozenset(torch_functions.IN_C)

_kernels: list[tuple[OpOverload, Any, Any]] = []
"""The kernels that `places` described."""
_digest = ""


def replaced() -> str:
    """A kernel of one of PyTorch's operators that is not PyTorch's, in words; empty where there is none."""
    return next(_found(), "")


def places() -> str:
    """A digest of which function in Python is a kernel of which operator; the same in all processes of this PyTorch.

    Functions of modules that are imported later are left out, as in `torch_functions.places`.
    """
    global _kernels, _digest
    kernels = [
        (operator, key, kernel)
        for operator in _all_operators()
        for key, kernel in _python_kernels(operator).items()
        if torch_functions.is_described(kernel)
    ]
    if kernels != _kernels:
        _digest = torch_functions.digest(
            f"{operator} {key} {torch_functions.text(kernel)}" for operator, key, kernel in kernels
        )
        _kernels = kernels
    return _digest


def _found() -> Iterator[str]:
    yield from _in_the_dispatcher()
    for namespace in OWN_NAMESPACES:
        yield from _in_another_ones_place(namespace)
    operators = list(_all_operators())
    called = [(operator, function) for operator in operators for function in _called(operator)]
    counts = collections.Counter(id(function) for _, function in called)
    for operator, function in called:
        if not _is_in_c(type(function)) or counts[id(function)] > 1:  # each operator has its own
            yield f"the script replaces what {operator} calls"
    for operator in operators:
        if operator.python_key_table or operator.functorch_table:
            yield f"the script gives {operator} a kernel for a mode"
        if not all(map(torch_functions.own, _python_kernels(operator).values())):
            yield f"the script gives {operator} a kernel of its own"
        cached = operator._dispatch_cache
        if cached and not all(_is_dispatched(operator, key, kernel) for key, kernel in list(cached.items())):
            yield f"the script changes what {operator} dispatches to"
    for name, entry in list(simple_registry.singleton._data.items()):
        if name.partition("::")[0] in OWN_NAMESPACES and not all(map(torch_functions.own, _rules(entry))):
            yield f"the script gives {name} a rule of its own"


def _called(operator: OpOverload) -> Iterable[Any]:
    """The functions through which an operator calls the dispatcher, each once.

    From PyTorch 2.14 on there is a second one, beside a faster one for kernels in Python.
    """
    names = ("_op", "_op_dk", "_cpp_dispatch_handle")
    functions = [function for name in names if (function := getattr(operator, name, None)) is not None]
    return {id(function): function for function in functions}.values()


def _is_in_c(kind: type) -> bool:
    """Whether a function of this type is in C: of one of Python's own types, or of one that PyTorch defines in C.

    PyTorch 2.14 has such a type for operators whose kernels are in Python, all of `prims` among them.
    """
    return kind in _IN_C or (kind.__module__ == "torch._C" and not kind.__flags__ & _MADE_BY_PYTHON)


def _in_the_dispatcher() -> Iterator[str]:
    names = torch._C._dispatch_get_all_op_names()
    texts = {name: "".join(_texts(names, name)) for name in OWN_NAMESPACES}
    built = _SOURCES.search(texts["aten"])
    if built is None:
        yield "this PyTorch does not tell where its kernels come from"
        return
    python = f"{Path(torch.__file__).parent}/"
    for namespace, text in texts.items():
        for file in sorted(set(_REGISTERED.findall(text))):
            inside = file.removeprefix(python)
            if inside in _FOR_SCRIPTS[namespace] or (inside == file and not file.startswith(built.group(1))):
                yield f"a kernel of {namespace} is registered by {Path(file).name}"


def _texts(names: Iterable[str], namespace: str) -> Iterator[str]:
    yield from map(torch._C._dispatch_dump, (name for name in names if name.startswith(f"{namespace}::")))


def _in_another_ones_place(namespace: str) -> Iterator[str]:
    """What is not PyTorch's operator of that name, where PyTorch's code looks for an operator by its name."""
    for name, packet in list(vars(getattr(torch.ops, namespace)).items()):
        whole = f"{namespace}::{name}"
        if name.startswith("__") or name in _OF_NAMESPACES:
            continue
        if not isinstance(packet, OpOverloadPacket) or packet._qualified_op_name != whole:
            yield f"the script replaces torch.ops.{namespace}.{name}"
            continue
        inside = vars(packet)
        for overload in packet._overload_names:
            place = overload or "default"
            operator = inside.get(place)  # None until somebody asks for it
            if operator is not None and getattr(operator, "_name", "") != ".".join(filter(None, (whole, overload))):
                yield f"the script replaces torch.ops.{namespace}.{name}.{place}"


def _operators(namespace: str) -> Iterator[OpOverload]:
    for packet in list(vars(getattr(torch.ops, namespace)).values()):
        if isinstance(packet, OpOverloadPacket):
            yield from (item for item in list(vars(packet).values()) if isinstance(item, OpOverload))


def _all_operators() -> Iterator[OpOverload]:
    for namespace in OWN_NAMESPACES:
        yield from _operators(namespace)


def _python_kernels(operator: OpOverload) -> dict[Any, Any]:
    """The kernels by dispatch key, and functions in Python in the operator itself, which hide those of its class."""
    attributes = vars(operator)
    if _IN_PYTHON.isdisjoint(map(type, attributes.values())):
        return operator.py_kernels
    own = {name: item for name, item in attributes.items() if type(item) in _IN_PYTHON}
    return {**operator.py_kernels, **own}


def _is_dispatched(operator: OpOverload, key: DispatchKey, kernel: Any) -> bool:
    """Whether an operator dispatches to a kernel for a key, as PyTorch would find it anew."""
    try:
        found = key if key == DispatchKey.Python else resolve_key(operator, key)
    except (RuntimeError, NotImplementedError):  # it has none
        return False
    expected = operator.py_kernels.get(found, found)
    return kernel is expected or (type(kernel) is DispatchKey and kernel == expected)


def _rules(entry: simple_registry.SimpleOperatorEntry) -> Iterator[Any]:
    yield from entry.torch_dispatch_rules._data.values()
    yield from (kernel.func for kernel in getattr(entry.fake_impl, "kernels", ()))
