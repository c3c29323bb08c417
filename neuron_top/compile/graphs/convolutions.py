"""In which memory order convolutions compute: PyTorch has one rule for inference and another one for training.

A graph by itself is compiled as one of inference (`torch._inductor.standalone_compile`). On a GPU, that rule turns
images to channels last where the rule for training leaves them, as for grouped convolutions, which are slower so. The
settings of a training graph with convolutions say that it is one, and its compile asks the rule for training.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import torch
from torch import fx

from neuron_top.compile.graphs import copying

_RULE = "convolutions"
_TRAINING = "training"


def found_in(gm: fx.GraphModule) -> bool:
    """Whether the graph itself convolves, subgraphs aside."""
    return bool(gm.graph.find_nodes(op="call_function", target=torch.ops.aten.convolution.default, sort=False))


def with_rule(settings: Mapping[str, Any], gm: fx.GraphModule, direction: str) -> dict[str, Any]:
    """The settings that a graph of this direction is compiled under, which are part of its key."""
    by_training = direction != "inference" and any(map(found_in, copying.parts(gm)))
    return {**settings, _RULE: _TRAINING} if by_training else dict(settings)


@contextlib.contextmanager
def rule_of(settings: Mapping[str, Any]) -> Iterator[None]:
    """Within the block, a compile under these settings asks the rule that they name."""
    from torch._inductor.graph import GraphLowering

    if settings.get(_RULE) != _TRAINING:
        yield
        return
    decide = GraphLowering.decide_layout_opt

    def as_in_training(gm: fx.GraphModule, *, is_inference: bool) -> bool:
        return decide(gm, is_inference=False)

    with mock.patch.object(GraphLowering, "decide_layout_opt", staticmethod(as_in_training)):
        yield
