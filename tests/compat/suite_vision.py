"""torchvision's models, tiny inputs: forward and backward. Its own operators are not needed for these."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch

from tests.compat import programs
from tests.compat.programs import Compiler, Program

_SIZES = {
    "inception_v3": 299,
    "googlenet": 64,
    "maxvit_t": 224,
    "vit_": 224,
    "swin": 64,
    "alexnet": 96,
    "squeezenet": 64,
}
_HUGE = ("regnet_y_128gf", "vit_h_14", "vit_l_16", "vit_l_32", "regnet_y_32gf", "regnet_x_32gf", "regnet_y_16gf", "vgg")
"""Models of more than 80 million parameters: the same blocks as their smaller kin."""


@functools.cache
def _torchvision() -> Any:
    """A wheel made for CUDA beside a PyTorch without lacks its operators, not its models: none is registered."""
    register = torch.library.register_fake
    torch.library.register_fake = lambda *name, **more: lambda function: function
    try:
        import torchvision
    finally:
        torch.library.register_fake = register
    return torchvision


@functools.cache
def names() -> Sequence[str]:
    """Classification, segmentation and video models by torchvision's own names."""
    models = _torchvision().models
    found = [name for part in (models, models.segmentation) for name in models.list_models(part)]
    return [name for name in found if not name.startswith(_HUGE) and not name.startswith("quantized")]


def build(name: str) -> Program:
    """A model with random weights."""
    models = _torchvision().models

    def program(compiler: Compiler) -> Any:
        torch.manual_seed(0)
        more = {"weights_backbone": None} if name in models.list_models(models.segmentation) else {}
        model = models.get_model(name, weights=None, num_classes=5, **more).train().to(programs.device())
        for part in model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0  # with other random numbers, the result without a compiler would measure nothing
        size = next((size for start, size in _SIZES.items() if name.startswith(start)), 64)
        out = compiler(model)(torch.randn(2, 3, size, size).to(programs.device()))
        parts = [part for part in torch.utils._pytree.tree_leaves(out) if isinstance(part, torch.Tensor)]
        sum(part.square().mean() for part in parts).backward()
        return out, [value.grad for value in model.parameters()][:4]

    return program
