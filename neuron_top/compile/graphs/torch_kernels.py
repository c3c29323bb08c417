"""Checks whether the kernels of PyTorch's operators are its own, as they were installed.

The dispatcher reports for each kernel in which file it was registered, in Python or in C++, by PyTorch, an extension or
the script. Operators have further kernels in Python themselves (`py_impl`), and rules for modes are in a separate
registry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch._library import simple_registry
from torch._ops import OpOverload, OpOverloadPacket

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


def replaced() -> str:
    """A kernel of one of PyTorch's operators that is not PyTorch's, in words; empty where there is none."""
    return next(_found(), "")


def _found() -> Iterator[str]:
    yield from _in_the_dispatcher()
    for namespace in OWN_NAMESPACES:
        yield from _in_another_ones_place(namespace)
        for operator in _operators(namespace):
            if not _is_in_c(type(operator._op)):
                yield f"the script replaces what {operator} calls"
            if operator.py_kernels and not all(map(torch_functions.own, operator.py_kernels.values())):
                yield f"the script gives {operator} a kernel of its own"
    for name, entry in list(simple_registry.singleton._data.items()):
        if name.partition("::")[0] in OWN_NAMESPACES and not all(map(torch_functions.own, _rules(entry))):
            yield f"the script gives {name} a rule of its own"


def _is_in_c(kind: type) -> bool:
    """Whether a function of this type is in C: of one of Python's own types, or of one that PyTorch defines in C.

    PyTorch 2.14 has such a type for operators whose kernels are in Python, all of `prims` among them.
    """
    return kind in torch_functions.IN_C or (kind.__module__ == "torch._C" and not kind.__flags__ & _MADE_BY_PYTHON)


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


def _rules(entry: simple_registry.SimpleOperatorEntry) -> Iterator[Any]:
    yield from entry.torch_dispatch_rules._data.values()
    yield from (kernel.func for kernel in getattr(entry.fake_impl, "kernels", ()))
