"""Computes the hash of a graph: equal if the generated code would be equal, different if anything differs.

A wrong hit is the worst defect a compile cache can have, so the rule is: exactly what is sent to the compiler is
hashed. `strip_unserialized` strips a graph to that, and `describe_exactly` writes all of it as canonical text: every
node's operator, arguments with their types, metadata of its value (shape, stride, dtype, device), constants by content,
symbolic sizes with their hints, ranges and guards, and the compiler settings in force. Names of nodes and places in the
user's source stay out; order counts. Anything that cannot be described exactly raises `NotCacheable`, and the graph is
compiled without the cache.
"""

from __future__ import annotations

import builtins
import hashlib
import math
import operator
import struct
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from sympy.logic.boolalg import BooleanAtom  # type: ignore[import-untyped]
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensorMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._sympy.singleton_int import SingletonInt

from neuron_top.compile.graphs import copying, own_code, script_operators, torch_functions

_FORMAT = "neuron-top graph 2"
_ALIGNMENT = 64
"""Bytes; the largest alignment that vector instructions and memory transactions can require."""
_DISPATCHES = "boolean_dispatch.<locals>.fn"
"""Name of the functions of `torch.nn.functional` that call one of two functions, by an argument (`max_pool2d`)."""
_UNCOMPILED = "fallback_to_eager"
"""Annotation (`torch.fx.traceback.annotate`) of a part of the script that is to call PyTorch's own kernels."""
_STREAM = "stream"
"""Annotation of PyTorch's own: the stream of a GPU that an operator is to run on."""
_FUNCTION_MODULES = (operator, math, builtins, torch, torch.ops.higher_order)


class NotCacheable(Exception):
    """The graph holds something that has no exact description, so it has no key."""


def strip_unserialized(gm: fx.GraphModule) -> None:
    """Strip `gm` (and its subgraphs), in place, of all metadata that `describe_exactly` does not read.

    Only each node's value is left, and that it is to call PyTorch's own kernel. Marks for the partitioner are no longer
    needed; stack traces and module names only become comments in generated code.

    Raises NotCacheable for a graph that runs on streams of its own: they are objects of the job.
    """
    for module in copying.parts(gm):
        module.meta.clear()
        for node in module.graph.nodes:
            annotated = node.meta.get("custom") or {}
            if _STREAM in annotated:
                raise NotCacheable("the script runs a part of the graph on a stream of its own")
            kept = {"val": node.meta["val"]} if "val" in node.meta else {}
            if annotated.get(_UNCOMPILED):
                kept["custom"] = {_UNCOMPILED: True}
            node.meta.clear()
            node.meta.update(kept)


def digest_graph(gm: fx.GraphModule, inputs: Sequence[Any], settings: Mapping[str, Any]) -> str:
    """The 64 digits of this graph with these compiler settings; its key keeps the first 20. Raises NotCacheable."""
    return hashlib.sha256("\n".join(describe_exactly(gm, inputs, settings)).encode()).hexdigest()


def describe_exactly(gm: fx.GraphModule, inputs: Sequence[Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Lines of canonical text: everything that is hashed. Raises NotCacheable."""
    yield _FORMAT
    yield f"torch {torch.__version__} {torch.version.git_version}"
    yield f"settings {exactly(dict(settings), {})}"
    yield from _graph_lines(gm, "")
    exact = any("as_strided" in str(node.target) for part in copying.parts(gm) for node in part.graph.nodes)
    for item in inputs:
        place = _offset(item, exact) if isinstance(item, torch.Tensor) else ""
        yield f"input {described(item)} {place}"
    yield from _symbol_lines(gm, inputs)


def _graph_lines(gm: fx.GraphModule, indent: str) -> Iterator[str]:
    places = {node: place for place, node in enumerate(gm.graph.nodes)}
    for node, place in places.items():
        arguments = f"{exactly(node.args, places)} {exactly(node.kwargs, places)}"
        yield f"{indent}{place} {node.op} {_target(node)} {arguments} -> {described(node.meta.get('val'))}"
        if (node.meta.get("custom") or {}).get(_UNCOMPILED):
            yield f"{indent}  {_UNCOMPILED}"
        if node.op == "get_attr":
            yield from _attribute_lines(gm, node, indent + "  ")


def _attribute_lines(gm: fx.GraphModule, node: fx.Node, indent: str) -> Iterator[str]:
    value = operator.attrgetter(str(node.target))(gm)
    if isinstance(value, fx.GraphModule):
        yield f"{indent}subgraph"
        yield from _graph_lines(value, indent)
    elif isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
        yield f"{indent}constant {described(value)} {_content(value)}"
    else:
        raise NotCacheable(f"the graph holds an object of type {type(value).__qualname__}")


def _target(node: fx.Node) -> str:
    target = node.target
    if node.op in ("placeholder", "output", "get_attr"):
        return node.op  # names are not part of a graph's meaning; attributes are described by content
    if node.op != "call_function":
        raise NotCacheable(f"the graph calls {node.op} {target!r}")
    if reason := script_operators.reason_to_stay(node):
        raise NotCacheable(reason)
    if isinstance(target, torch._ops.OpOverload):
        return _operator(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        if "triton" in str(target):
            raise NotCacheable("the graph calls a Triton kernel of the script's own")
        if not target.cacheable():
            raise NotCacheable(f"PyTorch cannot save code that calls {target}")
        if FunctionalTensorMode not in getattr(target, "python_key_table", (FunctionalTensorMode,)):
            raise NotCacheable(f"PyTorch cannot trace code that calls {target} once more")  # a compile process does
        return f"higher order {target}"
    return function_name(target)


def _operator(target: torch._ops.OpOverload) -> str:
    return f"{target._schema} {own_code.handling(target)}"


def function_name(target: Any) -> str:
    """A function of Python or PyTorch, by its module and name. Raises NotCacheable for one that only the script has."""
    module, name = getattr(target, "__module__", None) or "", getattr(target, "__qualname__", "")
    if isinstance(target, types.FunctionType) and name == _DISPATCHES and torch_functions.own(target):
        return f"function {module}.{target.__name__}, {_dispatched(target)}"
    root = module.lstrip("_").partition(".")[0]
    known = root in {known.__name__.partition(".")[0] for known in _FUNCTION_MODULES} and "<" not in name and name
    if not known or not _is_what_it_says(target):
        raise NotCacheable(f"the graph calls a function that only this script knows: {target!r}")
    return f"function {module}.{name}"


def _dispatched(target: types.FunctionType) -> str:
    """The parts of a function that calls one of two others: the deciding argument and both. Raises NotCacheable.

    Both must be the very functions that their module and name lead to, not copies with other defaults or globals.
    """
    held = [cell.cell_contents for cell in target.__closure__ or ()]
    if not all(_stands_where_it_says(part) for part in held if callable(part)):
        raise NotCacheable(f"the graph calls a function that only this script knows: {target!r}")
    parts = zip(target.__code__.co_freevars, held, strict=True)
    return ", ".join(f"{name} {function_name(part) if callable(part) else exactly(part, {})}" for name, part in parts)


def _is_what_it_says(target: Any) -> bool:
    """Whether a function is the one of PyTorch or Python that its module and name lead to.

    `functools.wraps` gives a function the module and name of the function that it wraps: that of a script, and one that
    PyTorch itself makes (`torch.no_grad()(silu)`, `torch.func.grad(silu)`), is not what its name says.
    """
    if isinstance(target, types.FunctionType):
        return torch_functions.own(target) and _stands_where_it_says(target)
    if isinstance(target, torch_functions.IN_C):
        return True  # no script defines a C function, and their names do not always lead back to them
    return _stands_where_it_says(target)


def _stands_where_it_says(target: Any) -> bool:
    found: Any = sys.modules.get(getattr(target, "__module__", None) or "")
    for part in getattr(target, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is target


def exactly(value: Any, places: Mapping[fx.Node, int]) -> str:
    """An argument as text that distinguishes all that the compiler could distinguish: `1`, `1.0` and `True` differ.

    `places` numbers the nodes that it may refer to. Raises NotCacheable.
    """
    if type(value) in _PLAIN:
        return f"{type(value).__name__}:{value!r}"
    match value:
        case float():
            return f"float:{_number(value)}"
        case complex():
            return f"complex:{_number(value.real)},{_number(value.imag)}"
        case fx.Node():
            return f"%{places[value]}"
        case tuple() | list():
            return f"{_sequence_name(value)}({', '.join(exactly(item, places) for item in value)})"
        case dict():
            return (
                "dict("
                + ", ".join(sorted(f"{exactly(k, places)}={exactly(v, places)}" for k, v in value.items()))
                + ")"
            )
        case set() | frozenset():
            return f"{type(value).__name__}({', '.join(sorted(exactly(item, places) for item in value))})"
        case slice():
            return f"slice({', '.join(exactly(part, places) for part in (value.start, value.stop, value.step))})"
        case torch.SymInt() | torch.SymFloat() | torch.SymBool():
            return f"{type(value).__name__}:{value.node.expr}"
        case torch.dtype() | torch.device() | torch.layout() | torch.memory_format():
            return f"{type(value).__name__}:{value}"
        case torch._ops.OpOverload():
            return f"operator {_operator(value)}"
    raise NotCacheable(f"a value of type {type(value).__module__}.{type(value).__qualname__} has no exact description")


_PLAIN = (type(None), bool, int, str, bytes, range, type(Ellipsis))


def _sequence_name(value: Sequence[Any]) -> str:
    return "list" if isinstance(value, list) else f"tuple {type(value).__name__}"


def _number(value: float) -> str:
    """A float as text; for NaN all bits, since its sign can be copied to another number."""
    return value.hex() if value == value else struct.pack(">d", value).hex()


def described(value: Any) -> str:
    """What the compiler sees of a value: of a tensor, everything but its content. Raises NotCacheable."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return f"{type(value).__name__}:{value.node.expr}"
    if isinstance(value, (tuple, list)):
        return f"{_sequence_name(value)}({', '.join(map(described, value))})"
    if value is None or isinstance(value, (bool, int, float, str)):
        return exactly(value, {})
    raise NotCacheable(f"the graph holds an object of the job ({kind_of(value)})")


def kind_of(value: Any) -> str:
    """The name of an object's type; for a FakeScriptObject, that of the group or mesh it stands for in a trace."""
    stands_for = getattr(value, "script_class_name", None)
    return str(stands_for).rpartition(".")[2] if stands_for else type(value).__qualname__


def _tensor(tensor: torch.Tensor) -> str:
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter, FakeTensor):
        raise NotCacheable(f"one of its tensors is of the class {type(tensor).__qualname__}")
    strides = _sizes(tensor.stride()) if tensor.layout == torch.strided else ""
    marks = (tensor.requires_grad, tensor.is_conj(), tensor.is_neg(), tensor.is_quantized, tensor.is_mkldnn)
    return f"{tensor.dtype}{_sizes(tensor.shape)}{strides} {tensor.device} {tensor.layout} {marks}"


def _offset(tensor: torch.Tensor, exact: bool) -> str:
    """Where a tensor begins in its storage. Code addresses inputs from their own start, so only alignment counts."""
    offset = tensor.storage_offset() if tensor.layout == torch.strided else 0
    if exact or not isinstance(offset, int):
        return f"at {_size(offset)}"
    return f"aligned {offset * tensor.element_size() % _ALIGNMENT}"


def _sizes(sizes: Sequence[Any]) -> str:
    return "[" + ",".join(map(_size, sizes)) + "]"


def _size(size: Any) -> str:
    return str(size.node.expr) if isinstance(size, torch.SymInt) else str(size)


def _content(tensor: torch.Tensor) -> str:
    """Digest of a constant's values as raw bytes: `-0.0` and `0.0` differ, and so do two kinds of NaN."""
    if tensor.layout != torch.strided or tensor.is_mkldnn or tensor.is_quantized:
        raise NotCacheable("a constant is not a plain dense tensor")
    with _disable_current_modes():  # AOTAutograd's modes would take the constant for a tensor of its trace
        plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().flatten()
        return hashlib.sha256(plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b"").hexdigest()


def _symbol_lines(gm: fx.GraphModule, inputs: Sequence[Any]) -> Iterator[str]:
    """Hints, ranges and guards of the symbolic sizes: the compiler specializes code on all of them."""
    environment = shape_environment(inputs) or shape_environment(
        [node.meta.get("val") for node in gm.graph.find_nodes(op="placeholder")]
    )
    if environment is None:
        return
    hints = symbol_hints(environment)
    for symbol, hint in sorted(hints.items(), key=lambda item: str(item[0])):
        if isinstance(hint, SingletonInt):
            raise NotCacheable("PyTorch cannot save the sizes of nested tensors")
        yield f"symbol {symbol} hint {hint} range {environment.var_to_range.get(symbol)}"
    without_hint = environment.var_to_range.keys() - hints.keys()  # known only when the code runs
    yield from sorted(f"symbol {symbol} range {environment.var_to_range[symbol]}" for symbol in without_hint)
    yield from sorted(f"replaced {old} by {new}" for old, new in environment.replacements.items())
    yield from sorted(f"divisible {fact}" for fact in environment.divisible)
    yield from sorted(f"guard {guard.expr}" for guard in environment.guards)
    yield from sorted(f"axiom {axiom}" for axiom in environment.axioms if not _goes_without_saying(axiom))
    yield from sorted(f"override {name} {hint}" for name, hint in environment.var_to_hint_override.items())


def symbol_hints(environment: Any) -> Mapping[Any, Any]:
    """Symbol → the number that it stood for in the trace, for sizes that are known before the code runs."""
    found: Mapping[Any, Any] | None = getattr(environment, "backed_var_to_val", None)
    return environment.var_to_val if found is None else found  # PyTorch 2.10


def _goes_without_saying(axiom: Any) -> bool:
    """Whether an axiom follows from the symbols alone: rebuilt, as in a compile process, it is just true or false."""
    return isinstance(axiom.func(*axiom.args), BooleanAtom)


def shape_environment(values: Sequence[Any]) -> Any:
    """The symbolic-shape environment of these values; None if every size is a number."""
    for value in values:
        sizes: list[Any] = [value] if isinstance(value, torch.SymInt) else []
        if isinstance(value, torch.Tensor):
            sizes = [*value.shape, *(value.stride() if value.layout == torch.strided else ())]
        for size in sizes:
            if isinstance(size, torch.SymInt):
                return size.node.shape_env
    return None
