"""Runs Inductor in the job's own process for what our cache cannot hold, with the result of `backend="inductor"`.

That is a captured graph as a whole if code of the script or values of its parameters take part in its compile, and else
a single graph that AOTAutograd made and that cannot be kept. PyTorch's own caches are off, because their keys hold no
lowerings, decompositions or kernels, except if everything that the script adds has a `uuid`: they include that in their
keys, so sharing is correct. A compile for a file (`aot_compile`) is written by PyTorch without a key.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx

from neuron_top.compile.graphs import other_pytorch, own_code, torch_settings
from neuron_top.compile.graphs.directions import BACKWARD, INFERENCE

_KEYED_BY_UUID = (
    "post_grad_custom_pre_pass",
    "post_grad_custom_post_pass",
    "joint_custom_pre_pass",
    "joint_custom_post_pass",
    "pre_grad_custom_pass",
    "_pre_fusion_custom_pass",
    "_post_fusion_custom_pass",
    "custom_partitioner_fn",
)
"""Fields of Inductor's configuration whose `uuid` is part of its own keys."""


def freezes(patches: Mapping[str, Any]) -> bool:
    """Whether Inductor makes constants of this job's parameters, as its setting for inference (`freezing`) asks."""
    with torch._inductor.config.patch(dict(patches)):
        return bool(torch._inductor.config.freezing) and not torch.is_grad_enabled()


def is_for_a_file() -> bool:
    """Whether PyTorch compiles ahead of time (`aot_compile`): the result is to run where our cache is not available."""
    return bool(getattr(torch._functorch.config, "force_autograd_cache", False))


def whole(gm: fx.GraphModule, inputs: Sequence[Any], patches: Mapping[str, Any]) -> Callable[..., Any]:
    """A captured graph, compiled as `backend="inductor"` does it."""
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(gm, inputs, config_patches=_patches(patches))  # type: ignore[return-value]


def one(
    direction: str,
    gm: fx.GraphModule,
    inputs: Sequence[Any],
    captured: fx.GraphModule,
    captured_inputs: int,
    patches: Mapping[str, Any],
) -> Callable[..., Any]:
    """Compile one graph that AOTAutograd made of `captured` with Inductor's own compiler for this direction."""
    from torch._inductor import compile_fx

    with torch._inductor.config.patch(_patches(patches)):
        extra = compile_fx.create_compiler_config_extra(*_arguments(compile_fx.create_compiler_config_extra, captured))
        if direction == BACKWARD:
            return compile_fx.compile_fx_backward(gm, list(inputs), compiler_config_extra=extra)
        return compile_fx.compile_fx_forward(
            gm,
            list(inputs),
            num_orig_model_outputs=compile_fx.get_num_model_outputs(captured),
            num_example_inputs=captured_inputs,
            compiler_config_extra=extra,
            is_inference=direction == INFERENCE,
        )


def _arguments(function: Callable[..., Any], captured: fx.GraphModule) -> list[Any]:
    """Arguments for both kinds of PyTorch: older versions take the configuration, newer ones the graph."""
    asks_for_config = "config" in inspect.signature(function).parameters
    return [torch._inductor.config if asks_for_config else captured]


def _patches(patches: Mapping[str, Any]) -> dict[str, Any]:
    keeps = is_for_a_file() or _keyed_by_inductor(patches)
    return dict(patches) if keeps else {**patches, "force_disable_caches": True}


def _keyed_by_inductor(patches: Mapping[str, Any]) -> bool:
    try:
        return _has_only_uuids(patches)
    except Exception as problem:
        if other_pytorch.mismatch(problem):
            return False  # not known to be
        raise


def _has_only_uuids(patches: Mapping[str, Any]) -> bool:
    settings = torch_settings.collect(patches, cpu_code=False)
    if own_code.foreign() or not settings.reason:
        return False
    odd = {
        (module, name): value
        for module, values in settings.config.items()
        for name, value in torch_settings.indescribable(values).items()
    }
    return all(
        module == torch_settings.INDUCTOR and name in _KEYED_BY_UUID and _has_uuid(value)
        for (module, name), value in odd.items()
    )


def _has_uuid(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_has_uuid, value))
    return callable(getattr(value, "uuid", None)) and value.uuid() is not None
