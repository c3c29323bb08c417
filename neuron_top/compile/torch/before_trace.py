"""What Inductor does to a captured graph before AOTAutograd traces it, and how it has AOTAutograd trace.

Some of its passes change results: sampling by `argmax(softmax(x) / noise)` is computed without the division, which
picks another number where numbers are rounded. Others run only where a setting asks for them.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch._functorch.aot_autograd import aot_module_simplified

_PASSES = "pre_grad_passes"
_HAS_TURN = _PASSES in inspect.signature(aot_module_simplified).parameters
"""Whether AOTAutograd calls them itself, where it does not find the graph in its cache (PyTorch 2.13)."""


def settings() -> dict[str, Any]:
    """AOTAutograd's settings, as Inductor has them for its own graphs under its settings in force."""
    found = {"unlift_effect_tokens": True}  # it takes no tokens as arguments
    if hasattr(torch._functorch.config, "selective_decompose"):
        found["selective_decompose"] = torch._inductor.config.selective_decompose
    return found


def passes() -> dict[str, Any]:
    """Arguments by which AOTAutograd gets Inductor's passes."""
    from torch._inductor.compile_fx import _recursive_pre_grad_passes

    return {_PASSES: _recursive_pre_grad_passes} if _HAS_TURN else {}


def changed(gm: fx.GraphModule, inputs: Sequence[Any]) -> fx.GraphModule:
    """The captured graph after the passes, where AOTAutograd does not call them."""
    from torch._inductor.compile_fx import _recursive_pre_grad_passes

    return gm if _HAS_TURN else _recursive_pre_grad_passes(gm, inputs)
