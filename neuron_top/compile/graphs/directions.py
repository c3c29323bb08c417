"""Compiles a graph for its direction: inference, forward or backward. PyTorch compiles each differently.

A graph by itself is compiled as one for inference (`torch._inductor.standalone_compile`). That moves operators, and
with them the order of random numbers. On a GPU it lays out the images of convolutions as channels last, also where
PyTorch does not in training, as for grouped convolutions, which this makes slower. And only in a backward graph does
PyTorch make inputs contiguous for operators that it has no code for, since not all of them compute correctly with
others.

The passes for forward and backward together (`joint_graph_passes`) have run in the job, before PyTorch divided the two.
To run them on the parts once more takes a tenth of a second, and may change them. For a graph for inference they have
not run yet.
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
    """The settings, extended by the direction, that a graph is compiled under; they are part of its key."""
    return {**settings, _DIRECTION: direction}


@contextlib.contextmanager
def compiled_as(settings: Mapping[str, Any]) -> Iterator[None]:
    """Within the block, compile graphs for the direction that the settings name; without one, for inference."""
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
