"""The strides that Inductor gives to what a graph with convolutions saves for backward: channels last.

Convolutions are faster so, and `backend="inductor"` compiles the backward graph for what its forward code returns. Here
the two graphs are compiled at the same time, so PyTorch's own rule (`GraphLowering.run_node`) is asked beforehand, the
forward graph is made to return what the rule says, and AOTAutograd is told of it before it compiles the backward graph.

Graphs with symbolic sizes are left as PyTorch traced them: to ask for their strides would add guards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any

import torch
from torch import fx

from neuron_top.compile.graphs import script_operators
from neuron_top.compile.graphs.hashing import NotCacheable, shape_environment
from neuron_top.compile.torch.saved_strides import Stride, same_memory

NONE: Mapping[int, Stride] = MappingProxyType({})
_IMAGES = 4
"""Dimensions of the tensors that are meant: batch, channels, height, width."""
_READ_MEMORY = frozenset(
    {
        torch.ops.aten.as_strided.default,
        torch.ops.aten.as_strided_.default,
        torch.ops.aten.as_strided_scatter.default,
        torch.ops.aten.resize.default,
        torch.ops.aten.resize_as.default,
    }
)
"""Operators that read the memory of their first argument, whatever its strides are. Those of the script may, too."""


def of_saved(gm: fx.GraphModule, inputs: Sequence[Any]) -> dict[int, Stride]:
    """By the place among a forward graph's outputs; of those alone that are to have other strides than PyTorch's."""
    from torch._inductor.graph import GraphLowering

    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None or not _convolves(gm) or shape_environment(inputs) is not None:
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
    """Bring a graph, which is ours, in line with the strides of its inputs and with those its outputs are to have.

    As in Inductor, what is computed on the way gets other strides by that; what else the graph returns keeps its own.
    Returns the inputs: AOTAutograd gives views in their place that cannot be serialized.

    Raises NotCacheable where an operator reads the memory of a view that would lie in another order.
    """
    placeholders = [node.meta.get("val") for node in gm.graph.find_nodes(op="placeholder")]
    changed = [_differs(*pair) for pair in zip(placeholders, inputs, strict=True)]
    if not strides and not any(changed):
        return inputs
    from torch._inductor.compile_fx import fake_tensor_prop
    from torch._inductor.fx_passes.post_grad import view_to_reshape

    inputs = [_empty(item, item.stride()) if other else item for other, item in zip(changed, inputs, strict=True)]
    outputs, read = _output_values(gm), _values_read(gm)
    _return_in(gm, strides)
    view_to_reshape(gm)  # type: ignore[no-untyped-call]  # what is a view in one order need not be one in another
    fake_tensor_prop(gm, inputs, force_allow_non_fake_inputs=True)
    moved = [place for place, pair in enumerate(zip(outputs, _output_values(gm), strict=True)) if _differs(*pair)]
    _return_in(gm, {place: tuple(outputs[place].stride()) for place in moved if place not in strides})
    for (reader, source), value in read.items():
        _keep_what_it_reads(reader, source, value)
    return inputs


def reported(gm: fx.GraphModule, ours: fx.GraphModule) -> list[Stride | None]:
    """By output of a forward graph, the strides that ours returns instead; None where they are the same."""
    pairs = zip(_output_values(gm), _output_values(ours), strict=True)
    return [tuple(ours.stride()) if _differs(traced, ours) else None for traced, ours in pairs]


def report(strides: Sequence[Stride | None]) -> None:
    """Tell AOTAutograd, which compiles a forward graph now, what that returns in other strides than were traced."""
    context = torch._guards.TracingContext.try_get()
    if any(strides) and context is not None and context.output_strides is not None:
        context.output_strides[:] = strides


def _return_in(gm: fx.GraphModule, strides: Mapping[int, Stride]) -> None:
    """Make the graph return these outputs in these strides.

    Inductor computes such a node once, in these strides, for those that go on with it as well, save those that write to
    it. An input that needs no copy for it is returned as it came.
    """
    output, outputs = gm.graph.output_node(), _outputs(gm)
    for node, stride in {outputs[place]: stride for place, stride in strides.items()}.items():
        readers = {user for user in node.users if _only_reads(user)}
        if node.op == "placeholder" and same_memory(node.meta["val"], stride):
            readers.discard(output)
        forced = _forced(node, stride)
        node.replace_all_uses_with(forced, delete_user_cb=readers.__contains__)


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


def _keep_what_it_reads(reader: fx.Node, source: fx.Node, value: Any) -> None:
    """Let an operator that reads memory find it as it was traced, with this value. Raises NotCacheable."""
    if not _differs(value, source.meta.get("val")):
        return
    if getattr(source.target, "is_view", False) or source.target is torch.ops.aten.reshape.default:
        raise NotCacheable(f"{reader.target} reads the memory of a view in another order")
    reader.replace_input_with(source, _forced(source, tuple(value.stride())))


def _values_read(gm: fx.GraphModule) -> dict[tuple[fx.Node, fx.Node], Any]:
    """By operator that reads memory and what it reads: the value that it was traced to read."""
    readers = filter(_reads_memory, gm.graph.nodes)
    return {(node, source): source.meta.get("val") for node in readers for source in node.all_input_nodes}


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
    if not torch._prims_common.is_non_overlapping_and_dense_or_false(value):
        return None
    _images, channels, height, width = value.shape
    stride = (channels * height * width, 1, width * channels, channels)
    return stride if value.stride() != stride else None


def _differs(traced: Any, other: Any) -> bool:
    """Whether strides differ, also where a size is 1: PyTorch's convolutions look at those too."""
    return (
        isinstance(traced, torch.Tensor)
        and isinstance(other, torch.Tensor)
        and traced.layout == torch.strided == other.layout
        and _known(traced)
        and _known(other)
        and traced.stride() != other.stride()
    )


def _known(value: torch.Tensor) -> bool:
    """Whether sizes and strides are numbers."""
    return all(isinstance(number, int) for number in (*value.shape, *value.stride()))
