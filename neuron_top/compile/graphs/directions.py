"""What a graph is for: inference, the forward or the backward part of a training step. PyTorch compiles each otherwise.

A graph by itself is compiled as one of inference (`torch._inductor.standalone_compile`). That moves operators, and with
them the order of random numbers. On a GPU it turns images of convolutions to channels last where PyTorch leaves them in
training, as for grouped convolutions, which are slower so. And only in a backward graph PyTorch gives operators that it
has no code for contiguous inputs, since not all of them compute rightly with others.

What PyTorch does to forward and backward together (`joint_graph_passes`), it did in the job, before it divided them. A
graph of inference has had none of that; to do it to the parts once more takes a tenth of a second, and may change them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from unittest import mock

_DIRECTION = "direction"
INFERENCE, FORWARD, BACKWARD = "inference", "forward", "backward"


def with_direction(settings: Mapping[str, Any], direction: str) -> dict[str, Any]:
    """The settings that a graph for this is compiled under, which are part of its key."""
    return {**settings, _DIRECTION: direction}


@contextlib.contextmanager
def compiled_as(settings: Mapping[str, Any]) -> Iterator[None]:
    """Within the block, graphs are compiled for the direction that the settings name; without one, for inference."""
    from torch._inductor import compile_fx, config

    direction = settings.get(_DIRECTION, INFERENCE)
    if direction == INFERENCE:
        yield
        return

    def compile_inner(*graph: Any, **how: Any) -> Any:
        how |= {"is_inference": False, "is_backward": direction == BACKWARD}
        return compile_fx.compile_fx_inner(*graph, **how)

    with (
        config.patch(use_joint_graph_passes=False),
        mock.patch.object(compile_fx, "compile_fx", partial(compile_fx.compile_fx, inner_compile=compile_inner)),
    ):
        yield
