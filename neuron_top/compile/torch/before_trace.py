"""Does to a captured graph what Inductor does before AOTAutograd traces it, and sets AOTAutograd up as Inductor does.

Some of its passes change results: sampling by `argmax(softmax(x) / noise)` is computed without the division, which can
pick another number because of rounding. Others run only if a setting asks for them.
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
    """Whether AOTAutograd itself calls the passes when the graph is not in its cache (PyTorch 2.13)."""
    from torch._functorch.aot_autograd import aot_module_simplified  # takes 0.2 s: the compile server starts first

    return _PASSES in inspect.signature(aot_module_simplified).parameters


def settings() -> dict[str, Any]:
    """AOTAutograd's settings as Inductor chooses them for its own graphs, by Inductor's settings in force."""
    found = {"unlift_effect_tokens": True}  # compiled code takes no tokens as arguments
    if hasattr(torch._functorch.config, "selective_decompose"):
        found["selective_decompose"] = torch._inductor.config.selective_decompose
    return found


def passes() -> dict[str, Any]:
    """Arguments that pass Inductor's passes to AOTAutograd."""
    from torch._inductor.compile_fx import _recursive_pre_grad_passes

    return {_PASSES: _recursive_pre_grad_passes} if _aotautograd_runs_them() else {}


def changed(gm: fx.GraphModule, inputs: Sequence[Any]) -> fx.GraphModule:
    """The captured graph after the passes, where AOTAutograd does not call them."""
    from torch._inductor.compile_fx import _recursive_pre_grad_passes

    return gm if _aotautograd_runs_them() else _recursive_pre_grad_passes(gm, inputs)
