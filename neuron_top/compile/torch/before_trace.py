"""What Inductor does to a captured graph before AOTAutograd traces it, and how it has AOTAutograd trace.

Some of its passes change results: sampling by `argmax(softmax(x) / noise)` is computed without the division, which
picks another number where numbers are rounded. Others run only where a setting asks for them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import torch
import torch._functorch.config
import torch._inductor.config
from torch import fx

_PASSES = "pre_grad_passes"


@functools.cache
def _aotautograd_runs_them() -> bool:
    """Whether AOTAutograd calls the passes itself, where it does not find the graph in its cache (PyTorch 2.13)."""
    from torch._functorch.aot_autograd import aot_module_simplified  # 0.2 s: the compile server starts before that

    return _PASSES in inspect.signature(aot_module_simplified).parameters


def settings() -> dict[str, Any]:
    """AOTAutograd's settings, as Inductor has them for its own graphs under its settings in force."""
    found = {"unlift_effect_tokens": True}  # it takes no tokens as arguments
    if hasattr(torch._functorch.config, "selective_decompose"):
        found["selective_decompose"] = torch._inductor.config.selective_decompose
    return found


def passes() -> dict[str, Any]:
    """Arguments by which AOTAutograd gets Inductor's passes."""
    from torch._inductor.compile_fx import _recursive_pre_grad_passes

    return {_PASSES: _recursive_pre_grad_passes} if _aotautograd_runs_them() else {}


def changed(gm: fx.GraphModule, inputs: Sequence[Any]) -> fx.GraphModule:
    """The captured graph after the passes, where AOTAutograd does not call them."""
    from torch._inductor.compile_fx import _recursive_pre_grad_passes

    return gm if _aotautograd_runs_them() else _recursive_pre_grad_passes(gm, inputs)
