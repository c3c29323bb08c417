"""Gives what a graph with convolutions saves for backward the strides that Inductor chooses: channels last.

Convolutions are faster that way, and `backend="inductor"` compiles the backward graph for what its forward code
returns. Here the two graphs are compiled at the same time, so PyTorch's own rule (`GraphLowering.run_node`) is applied
beforehand, the forward graph is made to return what the rule says, and AOTAutograd is told before it compiles the
backward graph.

Graphs with symbolic sizes stay as PyTorch traced them: evaluating their strides would add guards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import fx

from neuron_top.compile.graphs import copying, script_operators
from neuron_top.compile.graphs.hashing import NotCacheable, shape_environment
from neuron_top.compile.torch.saved_strides import Stride, same_memory

NONE: Mapping[int, Stride] = MappingProxyType({})
_IMAGES = 4
"""Dimensions of the tensors concerned: batch, channels, height, width."""
_READ_MEMORY = frozenset(
    {
        torch.ops.aten.as_strided.default,
        torch.ops.aten.as_strided_.default,
        torch.ops.aten.as_strided_scatter.default,
        torch.ops.aten.resize.default,
        torch.ops.aten.resize_as.default,
        torch.ops.aten.view.dtype,
        torch.ops.aten.view_as_complex.default,
    }
)
"""Operators that read the memory of their first argument, whatever its strides are, or refuse it in other strides.
Those of the script may do either, too.
"""
_DRAW_IN_MEMORY_ORDER = frozenset({torch.ops.aten.native_dropout.default})
"""Operators that draw one number after another as their argument lies in memory. With PyTorch's own numbers
(`fallback_random`) Inductor calls them with the strides of the trace, so that they draw what they draw without it.
"""


def of_saved(gm: fx.GraphModule, inputs: Sequence[Any]) -> dict[int, Stride]:
    """Position among a forward graph's outputs → strides, only for outputs that are to differ from PyTorch's."""
    from torch._inductor.graph import GraphLowering

    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None or not _convolves(gm) or shape_environment(inputs) is not None:
        return {}
    if len(list(copying.parts(gm))) > 1:  # a subgraph is traced for one order of its arguments
        return {}
    if not GraphLowering.decide_layout_opt(gm, is_inference=False):
        return {}
    preferring = GraphLowering.find_nodes_prefer_channels_last(SimpleNamespace(module=gm))  # type: ignore[arg-type]
    outputs = _outputs(gm)
    first_saved = context.fw_metadata.num_forward
    seen_by_script = {output for output in outputs[:first_saved] if isinstance(output, fx.Node)}
    found = {}
    for place, node in enumerate(outputs[first_saved:], first_saved):
        if node in preferring and node not in seen_by_script and (stride := _channels_last(node)) is not None:
            found[place] = stride
    return found


def laid_out(gm: fx.GraphModule, inputs: Sequence[Any], strides: Mapping[int, Stride] = NONE) -> Sequence[Any]:
    """Change a graph (our copy) to fit the strides of its inputs, and those that its outputs are to have.

    As in Inductor, intermediate values get other strides by that; all other outputs keep theirs.
    Returns the inputs to use: in their place AOTAutograd passes views that cannot be serialized.

    Raises NotCacheable where an operator would read the memory of a view in another order, or refuses another order.
    """
    placeholders = [node.meta.get("val") for node in gm.graph.find_nodes(op="placeholder")]
    changed = [_differs(*pair) for pair in zip(placeholders, inputs, strict=True)]
    if not strides and not any(changed):
        return inputs
    from torch._inductor.fx_passes.post_grad import view_to_reshape

    inputs = [_empty(item, item.stride()) if other else item for other, item in zip(changed, inputs, strict=True)]
    outputs = _output_values(gm)
    readers = filter(_asks_for_strides, gm.graph.nodes)
    read = [_kept(reader, source) for reader in readers for source in _tensors_of(reader)]
    _return_in(gm, strides)
    view_to_reshape(gm)  # type: ignore[no-untyped-call]  # what is a view in one order need not be one in another
    _find_values(gm, inputs)
    for kept in read:
        _settle(kept)
    moved = [place for place, pair in enumerate(zip(outputs, _output_values(gm), strict=True)) if _differs(*pair)]
    _return_as_traced(gm, inputs, {place: tuple(outputs[place].stride()) for place in moved if place not in strides})
    return inputs


def reported(gm: fx.GraphModule, ours: fx.GraphModule) -> list[Stride | None]:
    """For each output of a forward graph, the strides that ours returns instead; None where they are the same."""
    pairs = zip(_output_values(gm), _output_values(ours), strict=True)
    return [tuple(ours.stride()) if _differs(traced, ours) else None for traced, ours in pairs]


def report(strides: Sequence[Stride | None]) -> None:
    """Tell AOTAutograd, while it compiles a forward graph, which outputs have other strides than were traced."""
    context = torch._guards.TracingContext.try_get()
    if any(strides) and context is not None and context.output_strides is not None:
        context.output_strides[:] = strides


def _return_as_traced(gm: fx.GraphModule, inputs: Sequence[Any], strides: Mapping[int, Stride]) -> None:
    """Make the graph return these outputs in these strides, without needless copies.

    An output that is computed from another one of them has its strides already and is returned as it is: Inductor would
    drop a copy that is not an output itself, and two outputs would share memory.
    """
    if not strides:
        return
    changed = _return_in(gm, strides)
    _find_values(gm, inputs)
    for node, forced in changed.items():
        if not _differs(forced.meta.get("val"), node.meta.get("val")):
            forced.replace_all_uses_with(node)
            gm.graph.erase_node(forced)


def _return_in(gm: fx.GraphModule, strides: Mapping[int, Stride]) -> dict[fx.Node, fx.Node]:
    """Make the graph return these outputs in these strides; gives output → what is returned instead of it.

    Inductor computes such a node once, in these strides, also for the nodes that use it, except those that write to it.
    An input that needs no copy is returned as it is.
    """
    output, outputs = gm.graph.output_node(), _outputs(gm)
    changed = {}
    for node, stride in {outputs[place]: stride for place, stride in strides.items()}.items():
        readers = {user for user in node.users if _only_reads(user)}
        if node.op == "placeholder" and same_memory(node.meta["val"], stride):
            readers.discard(output)
        changed[node] = _forced(node, stride)
        node.replace_all_uses_with(changed[node], delete_user_cb=readers.__contains__)
    return changed


def _only_reads(user: fx.Node) -> bool:
    if user.op == "output":
        return True
    return isinstance(user.target, torch._ops.OpOverload) and not user.target._schema.is_mutable


def _forced(node: fx.Node, stride: Stride) -> fx.Node:
    """A node behind this one that has the same numbers in these strides."""
    from torch._inductor import inductor_prims

    behind = node if node.op != "placeholder" else node.graph.find_nodes(op="placeholder")[-1]
    with node.graph.inserting_after(behind):
        forced = node.graph.call_function(inductor_prims.force_stride_order, (node, stride))
    forced.meta["val"] = _empty(node.meta["val"], stride)
    return forced


class _Kept(NamedTuple):
    """Something that an operator reads the memory of."""

    reader: fx.Node
    source: fx.Node
    value: torch.Tensor
    """As it was traced."""
    forced: fx.Node | None
    """What the operator is called with instead, in the strides of the trace; None for a view that it looks behind."""


def _kept(reader: fx.Node, source: fx.Node) -> _Kept:
    """Give an operator its inputs in the strides of the trace, so that its results have those of the trace too."""
    value = source.meta["val"]
    is_view = getattr(source.target, "is_view", False) or source.target is torch.ops.aten.reshape.default
    if is_view and _reads_memory(reader):
        return _Kept(reader, source, value, None)
    forced = _forced(source, tuple(value.stride()))
    reader.replace_input_with(source, forced)
    return _Kept(reader, source, value, forced)


def _settle(kept: _Kept) -> None:
    """Now that the strides are known: undo what was not needed. Raises NotCacheable for a view in another order."""
    source = kept.source if kept.forced is None else kept.forced.all_input_nodes[0]  # perhaps one in chosen strides
    if _differs(kept.value, source.meta.get("val")):
        if kept.forced is None:
            raise NotCacheable(f"{kept.reader.target} reads the memory of a view in another order")
    elif kept.forced is not None:
        kept.forced.replace_all_uses_with(source)
        kept.forced.graph.erase_node(kept.forced)


def _tensors_of(reader: fx.Node) -> list[fx.Node]:
    """What an operator is called with whose strides are numbers."""
    return [source for source in reader.all_input_nodes if _is_plain(source.meta.get("val"))]


def _find_values(gm: fx.GraphModule, inputs: Sequence[Any]) -> None:
    """Note at each node what it gives for these inputs. Raises NotCacheable where one refuses its arguments."""
    from torch._inductor.compile_fx import fake_tensor_prop

    try:
        fake_tensor_prop(gm, inputs, force_allow_non_fake_inputs=True)
    except RuntimeError as problem:
        reason = str(problem).partition("\n")[0]
        raise NotCacheable(f"an operator cannot be called in the strides of convolutions: {reason}") from problem


def _asks_for_strides(node: fx.Node) -> bool:
    return _reads_memory(node) or node.target in _DRAW_IN_MEMORY_ORDER


def _reads_memory(node: fx.Node) -> bool:
    return node.target in _READ_MEMORY or script_operators.are_called(node)


def _empty(value: Any, stride: Sequence[int]) -> Any:
    """A fake tensor like this one in these strides."""
    with value.fake_mode:
        return torch.empty_strided(value.shape, stride, dtype=value.dtype, device=value.device)


def _outputs(gm: fx.GraphModule) -> Sequence[Any]:
    return gm.graph.output_node().args[0]  # type: ignore[return-value]


def _output_values(gm: fx.GraphModule) -> list[Any]:
    return [node.meta.get("val") if isinstance(node, fx.Node) else None for node in _outputs(gm)]


def _convolves(gm: fx.GraphModule) -> bool:
    return bool(gm.graph.find_nodes(op="call_function", target=torch.ops.aten.convolution.default, sort=False))


def _channels_last(node: fx.Node) -> Stride | None:
    """The strides that a saved tensor is to have; None where they are those that it has, or not known as numbers."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or value.dim() != _IMAGES:
        return None
    if not _known(value) or any(map(_reads_memory, node.users)):
        return None
    if not torch._prims_common._is_non_overlapping_and_dense_or_false(value.shape, value.stride()):
        return None
    _images, channels, height, width = value.shape
    stride = (channels * height * width, 1, width * channels, channels)
    return stride if value.stride() != stride else None


def _differs(traced: Any, other: Any) -> bool:
    """Whether strides differ, also where a size is 1: PyTorch's convolutions look at those too."""
    return _is_plain(traced) and _is_plain(other) and traced.stride() != other.stride()


def _is_plain(value: Any) -> bool:
    """Whether it is a tensor with strides, all of them numbers."""
    return isinstance(value, torch.Tensor) and value.layout == torch.strided and _known(value)


def _known(value: torch.Tensor) -> bool:
    """Whether sizes and strides are numbers."""
    return all(isinstance(number, int) for number in (*value.shape, *value.stride()))
