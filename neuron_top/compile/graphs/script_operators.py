"""Operators that PyTorch did not define: those of the script, and of libraries that it imports.

Compiled code calls such an operator by name, and each process that runs the code calls its own operator of that name.
So the code can be shared if the compiler needs no more of an operator than the graph says: its schema, its tags, and
what it returned in the trace. A compile process, which does not have the operator, is given a stand-in that knows just
that. If the compiler asks it for anything else (what it returns for inputs of other strides, what it computes from a
constant), the graph is compiled in its job instead and not shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import torch
from torch import fx
from torch._ops import OpOverload
from torch.utils import _pytree as pytree

from neuron_top.compile.compiler import NotSerializable
from neuron_top.compile.graphs import copying, own_code

_NAMESPACES_OF_PYTORCH = frozenset(
    {
        "aten",
        "prim",
        "prims",
        "rngprims",
        "debugprims",
        "profiler",
        "inductor",
        "c10d",
        "_c10d_functional",
        "_c10d_functional_autograd",
        "c10d_functional",
        "_dtensor",
        "symm_mem",
        "fsdp",
        "streams",
        "torch_nn",
        "quantized",
        "_quantized",
        "quantized_decomposed",
        "onednn",
        "mkldnn",
        "mkl",
        "mkldnn_prepacked",
        "sparse",
        "higher_order",
        "bucketing",
    }
)
_MUTATING = ("auto_functionalized", "auto_functionalized_v2")
"""PyTorch's higher-order operators that call an operator that changes its inputs."""


class Declaration(msgspec.Struct, frozen=True):
    """The definition of an operator as it was given to PyTorch."""

    schema: str
    tags: tuple[str, ...]
    has_side_effect: bool

    @property
    def name(self) -> str:
        """`namespace::base.overload`; without the last part for the default overload."""
        return self.schema.partition("(")[0]

    @property
    def parts(self) -> tuple[str, str, str]:
        """Namespace, base and overload, by which the operator is found in `torch.ops`."""
        namespace, _, rest = self.name.partition("::")
        base, _, overload = rest.partition(".")
        return namespace, base, overload or "default"


def declarations(gm: fx.GraphModule) -> list[Declaration]:
    """The declarations of the operators that a graph and its subgraphs call."""
    found = {str(operator): operator for node in _nodes(gm) for operator in _called(node)}
    return [
        Declaration(
            schema=str(operator._schema),
            tags=tuple(sorted(tag.name for tag in operator.tags)),
            has_side_effect=operator in fx.node._side_effectful_functions,
        )
        for _, operator in sorted(found.items())
    ]


def are_called(node: fx.Node) -> bool:
    """Whether a node calls operators that PyTorch did not define, directly or through one of PyTorch's."""
    return any(True for _ in _called(node))


def reason_to_stay(node: fx.Node) -> str:
    """Why the code of a graph with this node cannot be shared, in words; empty where it can."""
    return next((reason for operator in _called(node) for reason in _reasons(node, operator)), "")


def _reasons(node: fx.Node, operator: OpOverload) -> Iterator[str]:
    if not own_code.is_fallback(operator) or _is_known_to_passes(operator):
        yield f"the script tells the compiler how to handle {operator}"
    if node.target is operator:
        if not all(map(_is_plain, pytree.tree_leaves(node.meta.get("val")))):
            yield f"{operator}, which PyTorch did not define, returns what only its job can make"
    elif node.target.name() not in _MUTATING or operator._schema.returns:  # type: ignore[union-attr]
        yield f"{node.target} calls {operator}, which PyTorch did not define"


def _is_plain(value: Any) -> bool:
    """Whether a stand-in can return this value: a dense tensor whose sizes follow from those of the inputs."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.is_conj() or value.is_neg():
            return False
        return not any(map(_is_found_by_running, (*value.shape, *value.stride())))
    return value is None


def _is_found_by_running(size: Any) -> bool:
    return isinstance(size, torch.SymInt) and not size.node.has_hint()


def _is_known_to_passes(operator: OpOverload) -> bool:
    """Whether somebody added the operator to a table of Inductor, other than that of Inductor's own decisions."""
    from torch._inductor import lowering
    from torch._inductor.fx_passes import reinplace
    from torch._library.utils import get_layout_constraint_tag

    usual = lowering.tag_to_layout_constraint(get_layout_constraint_tag(operator))
    if lowering._maybe_layout_constraints.get(operator, usual) is not usual:
        return True
    return operator in reinplace.inplaceable_ops or operator in reinplace.inplaceable_foreach_ops


def _called(node: fx.Node) -> Iterator[OpOverload]:
    if node.op != "call_function":
        return
    arguments = node.args if isinstance(node.target, torch._ops.HigherOrderOperator) else ()
    for item in (node.target, *arguments):
        if isinstance(item, OpOverload) and item.namespace not in _NAMESPACES_OF_PYTORCH:
            yield item


def _nodes(gm: fx.GraphModule) -> Iterator[fx.Node]:
    return (node for part in copying.parts(gm) for node in part.graph.nodes)


class StandIns:
    """Stand-ins for a graph's operators in its compile process; they return what these returned in the trace."""

    def __init__(self, declared: Iterable[Declaration]) -> None:
        """Define the stand-ins. Raises NotSerializable where this process already has such an operator, or where
        PyTorch reads the declaration differently.
        """
        self.unanswered = ""
        """What was asked that the trace does not tell, in words."""
        self._libraries: list[torch.library.Library] = []
        self._returned: dict[str, Any] = {}
        declared = list(declared)
        for declaration in declared:  # check all before the first is defined: two may be overloads of one operator
            namespace, base, _ = declaration.parts
            if hasattr(getattr(torch.ops, namespace), base):
                raise NotSerializable(f"a compile process has another operator {declaration.name}")
        for declaration in declared:
            self._define(declaration)

    def _define(self, declared: Declaration) -> None:
        namespace, base, overload = declared.parts
        library: Any = torch.library.Library(namespace, "FRAGMENT")  # type: ignore[no-untyped-call]
        self._libraries.append(library)
        library.define(declared.schema.partition("::")[2], tags=tuple(getattr(torch.Tag, tag) for tag in declared.tags))
        operator = getattr(getattr(getattr(torch.ops, namespace), base), overload)
        if str(operator._schema) != declared.schema:
            raise NotSerializable(f"a compile process reads the schema of {declared.name} as another one")
        if operator._schema.returns:
            torch.library.register_fake(declared.name, self._answer(operator), lib=library)
        for device in ("CPU", "CUDA"):
            library.impl(declared.name.partition("::")[2], self._compute(operator), device)
        if declared.has_side_effect:
            fx.node.has_side_effect(operator)

    def learn(self, gm: fx.GraphModule) -> None:
        """Learn from the graph what the operators returned. Raises NotSerializable where it is not always the same."""
        for node in _nodes(gm):
            for operator in _called(node):
                if node.target is operator:
                    values = fx.map_arg((node.args, node.kwargs), lambda argument: argument.meta.get("val"))
                    returned = node.meta.get("val")
                    before = self._returned.setdefault(_question(operator, *values), returned)
                    if _forms(before) != _forms(returned):
                        raise NotSerializable(f"{operator} returns one thing and another for the same inputs")

    def _answer(self, operator: OpOverload) -> Any:
        def answer(*arguments: Any, **options: Any) -> Any:
            question = _question(operator, arguments, options)
            if question not in self._returned:
                raise self._cannot(f"what {operator} returns for other inputs than in the trace")
            return pytree.tree_map_only(torch.Tensor, _like, self._returned[question])

        return answer

    def _compute(self, operator: OpOverload) -> Any:
        def compute(*_arguments: Any, **_options: Any) -> Any:
            raise self._cannot(f"what {operator} computes")

        return compute

    def _cannot(self, what: str) -> NotSerializable:
        self.unanswered = f"a compile process cannot tell {what}"
        return NotSerializable(self.unanswered)


def _question(operator: OpOverload, arguments: Sequence[Any], options: Mapping[str, Any]) -> str:
    """A call as text: every argument of the schema by name, and a tensor by its shape, strides and type."""
    declared = operator._schema.arguments
    given = dict(zip((argument.name for argument in declared), arguments, strict=False)) | dict(options)
    values = [given.get(argument.name, argument.default_value) for argument in declared]
    return f"{operator} {[_forms(value) for value in values]}"


def _forms(value: Any) -> list[str]:
    return [_form(part) for part in pytree.tree_leaves(value)]


def _form(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        strides = tuple(value.stride()) if value.layout is torch.strided else value.layout
        return f"{value.dtype} {tuple(value.shape)} {strides} {value.device} {value.is_conj()} {value.is_neg()}"
    return repr(value)


def _like(value: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
