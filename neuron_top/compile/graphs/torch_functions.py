"""Checks whether PyTorch's functions in Python are its own, as they were installed.

Where a trace is skipped, nothing would show that a script changed PyTorch's tracing code. So every function in
PyTorch's modules and classes is looked at: the file that its code comes from, and that of the functions it closes over.
`replaced` names the first one that is not PyTorch's. A script can also replace one of PyTorch's functions by another of
PyTorch's: `places`, a digest of which function is where in the modules that trace, and which one it closes over,
differs then, and it holds what their code does: a process may have changed it before it looked.

That code also uses functions, floating-point numbers and types of elements from Python's modules (`math.pi`) and from
`torch` itself. So these are looked at in the same way. Integers, truth values and texts in modules are not seen, since
PyTorch keeps counters and states there, too; settings are in every key.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import importlib.util
import itertools
import marshal
import operator
import os
import sys
import sysconfig
import types
import unittest.mock
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

_PACKAGES = frozenset(
    (
        *("torch", "torchgen", "functorch", "triton", "numpy", "sympy", "mpmath", "networkx", "jinja2", "fsspec"),
        *("filelock", "packaging", "tqdm", "typing_extensions", "neuron_top"),
    )
)
"""Packages that code in PyTorch's modules comes from: PyTorch, its dependencies, and this backend."""
_INDUCTOR = "torch._inductor."
"""Modules that compile, which happens in another process: in the job they are checked only where they take part in the
trace."""
_GENERATED = "torch._inductor.runtime.compile_tasks."
"""Modules that hold generated code."""
_TRACING = (
    *("torch._decomp", "torch._dispatch", "torch._functorch", "torch._guards", "torch._higher_order_ops"),
    *("torch._inductor.compile_fx", "torch._inductor.decomposition", "torch._inductor.fx_passes"),
    *("torch._inductor.fx_utils", "torch._inductor.pattern_matcher", "torch._inductor.utils", "torch._library"),
    *("torch._meta_registrations", "torch._ops", "torch._prims", "torch._prims_common", "torch._refs"),
    *("torch._subclasses", "torch._tensor", "torch._C._nn", "torch.autograd", "torch.functional", "torch.fx"),
    *("torch.nn.functional", "torch.overrides"),
)
"""Modules, with what is below them, that `places` describes."""
_OF_PYTHON = frozenset(
    ("builtins", "cmath", "collections", "copy", "functools", "itertools", "math", "numbers", "operator")
)
"""Modules of Python whose functions and numbers the code that traces computes with."""
_BUILTINS = (
    *("abs", "all", "any", "bool", "callable", "complex", "dict", "divmod", "enumerate", "filter", "float"),
    *("frozenset", "getattr", "hasattr", "hash", "id", "int", "isinstance", "issubclass", "iter", "len", "list"),
    *("map", "max", "min", "next", "pow", "property", "range", "repr", "reversed", "round", "set", "setattr"),
    *("slice", "sorted", "str", "sum", "super", "tuple", "type", "zip"),
)
"""What it uses of `builtins`. Jobs add names there and replace others, such as `print` in all ranks but the first."""
_TRACING_PREFIXES = tuple(f"{name}." for name in _TRACING)
_REGISTRIES = frozenset(("copy.dispatch_table", "copy._deepcopy_dispatch", "copy._copy_dispatch"))
"""Tables in which libraries register how values of their own types are copied."""
_FILLED_LATER = frozenset(
    (
        "torch._inductor.pattern_matcher._known_precompiled_patterns",
        "torch._inductor.utils._registered_caches",
        "torch.autograd.profiler._cupti_monitor_module",
    )
)
"""What PyTorch sets at the first trace or later and no trace reads: a process that skips the trace would differ."""
_OF_ANNOTATIONS = ("typing", "typing_extensions", "types", "collections.abc")
"""Modules of types whose objects stand for types."""
_DEPTH = 5
_HOLDS_ONE = (staticmethod, classmethod, types.MethodType)
_CACHED = type(functools.cache(len))
IN_PYTHON = (types.FunctionType, functools.partial, property, _CACHED, *_HOLDS_ONE)
"""Types of functions in Python."""
IN_C = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType)
"""Types of functions and methods in C, which a script cannot make."""
_FUNCTIONS = frozenset((*IN_PYTHON, *IN_C))
_VALUES = (float, complex, torch.dtype, torch.layout, torch.memory_format)
"""Types of values that a trace writes into a graph, and that no counter or state has."""
_CALL_ANOTHER = (
    *(unittest.mock.Base, operator.attrgetter, operator.itemgetter, operator.methodcaller),
    *(torch.nn.Module, torch.jit.ScriptFunction),
)
"""Types of Python and PyTorch whose objects do what the script says."""
_LIBRARY = ("<frozen ", sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
"""Prefixes of the paths of Python's own modules."""

_own: dict[int, types.FunctionType] = {}
"""Functions that were found to be PyTorch's, by id; kept alive, so that their ids are not reused."""
_contents: dict[str, list[Any]] = {"__code__": [], "__defaults__": [], "__kwdefaults__": []}
"""Code and defaults of each of them at that time."""
_cells: list[tuple[types.FunctionType, types.CellType, Any]] = []
"""Each of them that closes over a function, the cell that holds that one, and what it held at that time."""
_seen: dict[tuple[str, int], list[Any]] = {}
"""The contents of each namespace when it was last checked; kept alive, so that ids are not reused."""
_looked_at: dict[type, bool] = {}
_called: dict[type, bool] = {}
_tracing: list[str] = []
"""The modules that `places` describes: those imported when it was first called."""
_digest = ""
_checksums: dict[int, int] = {}
"""Checksums of code by its id, until a digest is made."""


def replaced(*, compiling: bool = False) -> str:
    """A function in PyTorch's modules that is not PyTorch's, in words; empty where there is none.

    `compiling`: also in the modules that compile, for the process that does it.
    """
    global _digest
    looked_through = _is_of_torch if compiling else _is_looked_through
    if changed := _changed():
        return f"the script changes {_name(changed)}"
    for place, identity, names in _namespaces(_modules(looked_through), looked_through):
        values = list(names.values())
        if _are_same(values, _seen.get((place, identity))):
            continue
        _digest = ""
        traces = _traces(place) and identity == id(sys.modules.get(place))
        is_class = type(names) is types.MappingProxyType
        for name, item in names.items():
            if _is_looked_at(type(item)) and not own(item) and not (compiling and _is_generated(item)):
                if is_class and not _is_mentioned(name):  # a method of a library's own, in a class of PyTorch
                    continue
                return f"the script replaces a function in {place}: {_name(item)}"
            if traces and not _is_of_packages(item):
                return f"the script replaces a class or an object in {place}: {_name(item)}"
        _seen[place, identity] = values
    return ""


def places() -> str:
    """A digest of which function is where in the modules that trace, as `replaced` saw them.

    It is the same in all processes of this PyTorch. Modules that are imported after the first call are left out, since
    a process that traces imports more of them.
    """
    global _digest
    if not _digest:
        if not _tracing:
            _tracing.extend(name for name, _ in _modules(_is_looked_through) if _traces(name))
        modules = [(name, sys.modules[name]) for name in _tracing if name in sys.modules]
        namespaces = _namespaces(modules, _is_looked_through)
        described = ((place, names) for place, _, names in namespaces if place not in _FILLED_LATER)
        _digest = digest(line for place, names in described for line in _lines(place, names))
    return _digest


def digest(lines: Iterable[str]) -> str:
    """A digest of lines in any order, in which functions stand as `text` describes them."""
    whole = "\n".join(sorted(lines))
    _checksums.clear()
    return hashlib.sha256(whole.encode()).hexdigest()


def is_described(function: Any) -> bool:
    """Whether a function is of one of the modules that `places` describes."""
    if isinstance(function, functools.partial):
        return is_described(function.func)
    names = getattr(function, "__globals__", {})  # what it says of its own module can be that of an operator
    return names.get("__name__", getattr(function, "__module__", "")) in _tracing


def own(item: Any) -> bool:
    """Whether the code of a function, and of the functions that it refers to, is from PyTorch's files."""
    plain = type(item) is types.FunctionType and item.__closure__ is None
    new = {id(part): part for part in ((item,) if plain else _parts(item, _DEPTH)) if id(part) not in _own}
    if not all(isinstance(part, types.FunctionType) and _is_own_code(part) for part in new.values()):
        return False
    _own.update(new)
    for name, before in _contents.items():
        before += map(operator.attrgetter(name), new.values())
    _cells.extend((part, cell, held) for part in new.values() for cell, held in _held_functions(part))
    return True


@functools.cache
def _is_mentioned(name: str) -> bool:
    """Whether PyTorch may use an attribute of this name: Python's own names, and those that stand in its code.

    Libraries put methods of their own into PyTorch's classes (transformers puts `smart_apply` into `Module`), which no
    trace calls. Reads the code of all imported modules of PyTorch, in about 0.1 s.
    """
    if name.startswith("__") or not name.isidentifier():
        return True
    word = name.encode()
    for module, of in list(sys.modules.items()):
        file = getattr(of, "__file__", None) if module.partition(".")[0] == "torch" else None
        if file and file.startswith("/") and file.endswith(".py"):  # `torch.ops` has no file of its own
            try:
                if word in Path(file).read_bytes():
                    return True
            except OSError:
                return True
    return False


def _is_generated(item: Any) -> bool:
    """Whether a function is PyTorch's but for code that was made from text, as Inductor makes methods of its classes.

    Which text that was is not known.
    """
    return all(
        own(part) or (isinstance(part, types.FunctionType) and part.__code__.co_filename.startswith("<"))
        for part in _parts(item, _DEPTH)
    )


def _parts(item: Any, depth: int) -> Iterator[Any]:
    """The functions that an item consists of, and callables in it that do not consist of PyTorch's functions."""
    if isinstance(item, types.FunctionType):
        yield item
        held = _closure(item) if depth else ()
    elif isinstance(item, _HOLDS_ONE):
        held = (item.__func__,)
    elif isinstance(item, property):
        held = tuple(part for part in (item.fget, item.fset, item.fdel) if part is not None)
    elif isinstance(item, functools.partial):
        held = (item.func, *item.args, *item.keywords.values())
    elif isinstance(item, _CACHED):
        held = (item.__wrapped__,)
    else:
        held = ()
        if _is_looked_at(type(item)):
            yield item
    for part in held:
        yield from _parts(part, depth - 1)


def _changed() -> Any:
    """A function that has changed since it was found to be PyTorch's, or None."""
    for name, before in _contents.items():
        now = list(map(operator.attrgetter(name), _own.values()))
        if not _are_same(now, before):
            return next(itertools.compress(_own.values(), map(operator.is_not, now, before)))
    return next((function for function, cell, held in _cells if _content(cell) is not held), None)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _are_same(values: Sequence[Any], before: Sequence[Any] | None) -> bool:
    return before is not None and len(values) == len(before) and all(map(operator.is_, values, before))


def _modules(looked_through: Callable[[str], bool]) -> list[tuple[str, types.ModuleType]]:
    imported = list(sys.modules.items())
    return [(name, of) for name, of in imported if looked_through(name) and isinstance(of, types.ModuleType)]


@functools.cache
def _is_of_torch(module: str) -> bool:
    return module.partition(".")[0] == "torch" and not module.startswith(_GENERATED)


@functools.cache
def _is_looked_through(module: str) -> bool:
    return module in _OF_PYTHON or (_is_of_torch(module) and (not module.startswith(_INDUCTOR) or _traces(module)))


@functools.cache
def _traces(module: str) -> bool:
    return module == "torch" or module in _OF_PYTHON or f"{module}.".startswith(_TRACING_PREFIXES)


def _namespaces(
    modules: Iterable[tuple[str, types.ModuleType]], looked_through: Callable[[str], bool]
) -> Iterator[tuple[str, int, Mapping[Any, Any]]]:
    """The contents of modules, of PyTorch's classes there, and of the tables of the modules that trace.

    Each with its place and an identity: several classes of PyTorch have the same name.
    """
    seen: set[int] = set()
    for place, module in modules:
        names = dict(vars(module))
        if place == "builtins":
            names = {name: names[name] for name in _BUILTINS if name in names}
        yield place, id(module), names
        for item in [item for item in names.values() if issubclass(type(item), type) and id(item) not in seen]:
            seen.add(id(item))
            home = str(vars(item).get("__module__"))
            if looked_through(home):
                yield f"{home}.{item.__qualname__}", id(item), vars(item)
        if _traces(place):
            for name, table in [(name, item) for name, item in names.items() if isinstance(item, (dict, list, tuple))]:
                if not name.startswith("__") and f"{place}.{name}" not in _REGISTRIES:
                    yield f"{place}.{name}", id(module), _entries(table)


def _entries(table: Mapping[Any, Any] | Sequence[Any]) -> dict[Any, Any]:
    """The values of a table by key or position; in a table of rows also the values of each row."""
    found = dict(table if isinstance(table, Mapping) else enumerate(table))
    for key, row in [(key, item) for key, item in found.items() if isinstance(item, (list, tuple))]:
        place = key if type(key) in (str, int) else _name(key)
        found |= {f"{place}.{number}": part for number, part in enumerate(row)}
        del found[key]
    return found


def _is_looked_at(kind: type) -> bool:
    """Whether objects of this type are functions, or callable and not PyTorch's."""
    answer = _looked_at.get(kind)
    if answer is None:
        can_be_called = "__call__" in dir(kind) and not issubclass(kind, type)
        calls_another = issubclass(kind, _CALL_ANOTHER) or kind.__module__.partition(".")[0] == "numpy"
        answer = kind in IN_PYTHON or (can_be_called and (calls_another or not _is_package(kind.__module__)))
        _looked_at[kind] = answer
    return answer


def _is_of_packages(item: Any) -> bool:
    """Whether a class, or that of an object, is PyTorch's, Python's or of a package that both need.

    A method is bound to an object. If that is a model or a tensor, what it does depends on numbers of the script.
    """
    if isinstance(item, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
        return not isinstance(item.__self__, (torch.nn.Module, torch.Tensor, torch.Generator))
    if isinstance(item, torch._ops._OpNamespace):
        return getattr(torch.ops, item.name, None) is item
    if type(item) is types.ModuleType:
        name = item.__name__
        if sys.modules.get(name) is item or name.startswith("torch._C."):  # those are in no table of modules
            return True
        return any(item is module for module in list(sys.modules.values()))  # some give themselves another name
    kind = item if isinstance(item, type) else type(item)
    return kind is not types.SimpleNamespace and _is_package(kind.__module__)


def _closure(function: types.FunctionType) -> tuple[Any, ...]:
    held = []
    for cell in function.__closure__ or ():
        try:
            part = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        if type(part) in (dict, list, tuple):
            held += [item for item in (part.values() if type(part) is dict else part) if _is_looked_at(type(item))]
        elif _is_looked_at(type(part)):
            held.append(part)
    return tuple(held)


def _held_functions(function: types.FunctionType) -> list[tuple[types.CellType, Any]]:
    """The cells of a function's closure that hold functions, with those."""
    held = [(cell, _content(cell)) for cell in function.__closure__ or ()]
    return [(cell, content) for cell, content in held if type(content) in _FUNCTIONS]


def _is_own_code(function: types.FunctionType) -> bool:
    file = function.__code__.co_filename
    if file.startswith("<") and not file.startswith("<frozen "):  # generated methods of dataclasses and named tuples
        name = str(function.__globals__.get("__name__"))
        return _is_package(name) or name.startswith("namedtuple_")
    return _is_own_file(file) and _has_own_names(function)


def _has_own_names(function: types.FunctionType) -> bool:
    """Whether a function finds names in its module, as it does unless somebody made it of another one's code."""
    names = function.__globals__
    module = sys.modules.get(str(names.get("__name__")))
    return type(module) is not types.ModuleType or vars(module) is names


@functools.cache
def _is_own_file(file: str) -> bool:
    of_python = file.startswith(_LIBRARY) and "-packages" not in file
    return of_python or file.startswith(_folders())


def _is_package(module: str | None) -> bool:
    root = str(module).partition(".")[0]
    return root in _PACKAGES or root in sys.stdlib_module_names


@functools.cache
def _folders() -> tuple[str, ...]:
    specs = filter(None, map(importlib.util.find_spec, _PACKAGES))
    places = [place for spec in specs for place in spec.submodule_search_locations or filter(None, [spec.origin])]
    return tuple(place if place.endswith(".py") else place + os.sep for place in places)


def _lines(place: str, names: Mapping[Any, Any]) -> Iterator[str]:
    for name, item in names.items():
        kind = type(item)
        if kind in _VALUES:
            described = repr(item)
        elif issubclass(kind, enum.Enum):
            described = f"{kind.__qualname__}.{item.name}"
        elif kind in IN_PYTHON or kind in IN_C or issubclass(kind, type) or _can_be_called(kind):
            described = text(item)
        elif issubclass(kind, types.ModuleType) and item.__name__ != f"{place}.{name}":  # those come with an import
            described = f"module {item.__name__}"
        else:
            continue
        if (full := f"{place}.{_key(name)}") not in _FILLED_LATER:
            yield f"{full} {described}"


def _key(name: Any) -> str:
    """The name of an attribute or the key of an entry, as text that is the same in every process."""
    if type(name) in (str, int):
        return str(name)
    return repr(name) if type(name) in _VALUES else _name(name)


def _can_be_called(kind: type) -> bool:
    answer = _called.get(kind)
    if answer is None:
        answer = _called[kind] = "__call__" in dir(kind) and kind.__module__ not in _OF_ANNOTATIONS
    return answer


def text(item: Any) -> str:
    """A function as text that is the same in every process: place, functions that it closes over, defaults."""
    if isinstance(item, types.FunctionType):
        defaults = _default((item.__defaults__, sorted((item.__kwdefaults__ or {}).items())))
        return f"{_place(item, _DEPTH)} {defaults}"
    if isinstance(item, _HOLDS_ONE):
        return text(item.__func__)
    if isinstance(item, functools.partial):
        arguments = [*item.args, *itertools.chain(*sorted(item.keywords.items()))]
        return f"partial {text(item.func)} {' '.join(map(_argument, arguments))}"
    if isinstance(item, _CACHED):
        return f"cached {text(item.__wrapped__)}"
    if isinstance(item, property):
        return f"property {text(item.fget)} {text(item.fset)}"
    return f"{getattr(item, '__module__', '')}.{_name(item)}"


def _argument(value: Any) -> str:
    return text(value) if type(value) in _FUNCTIONS else _default(value)


def _place(function: types.FunctionType, depth: int) -> str:
    code = function.__code__
    checksum = _checksums.get(id(code))
    if checksum is None:
        checksum = _checksums[id(code)] = _checksum(code)
    place = f"{function.__module__}.{function.__qualname__}:{code.co_firstlineno} {checksum}"
    if depth and function.__closure__:
        for _, held in _held_functions(function):
            place += f" {_place(held, depth - 1) if type(held) is types.FunctionType else _name(held)}"
    return place


def _checksum(code: types.CodeType) -> int:
    """A checksum of code that is the same in every process: this version of the format has no references."""
    return zlib.crc32(marshal.dumps(code, 2))


def _default(value: Any) -> str:
    """The text of a default: plain values as they are, others by their type."""
    if isinstance(value, (tuple, list)):
        return f"{type(value).__qualname__}({', '.join(map(_default, value))})"
    return repr(value) if isinstance(value, (str, int, *_VALUES)) else type(value).__qualname__


def _name(item: Any) -> str:
    return str(getattr(item, "__qualname__", None) or type(item).__qualname__)
