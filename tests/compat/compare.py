"""Two results of one program: the same, within Inductor's own distance from eager, or different."""

from __future__ import annotations

import enum
from typing import Any

import torch

ROUNDING = 1e-12
"""Relative; what is left of a distance that is no distance."""


class Likeness(enum.StrEnum):
    """How ours stands to Inductor's result."""

    SAME = "same"
    WITHIN = "within"
    """Not bit by bit, but no farther from Inductor than Inductor is from eager."""
    NEAR = "near"
    """Farther from Inductor than that, but no farther from eager than Inductor is: then both are as right."""
    FORM = "form"
    """Two runs of Inductor differ (uninitialized memory): shape and type are the same."""
    DIFFERS = "differs"


def likeness(ours: Any, inductor: Any, again: Any, eager: Any) -> tuple[Likeness, str]:
    """`again`: a second run of Inductor. With what differs, in words."""
    a, b, c, d = (list(leaves(tree)) for tree in (ours, inductor, again, eager))
    if len(a) != len(b):
        return Likeness.DIFFERS, f"{len(a)} results, Inductor gives {len(b)}"
    settled = len(b) == len(c) and all(same(one, other) for one, other in zip(b, c, strict=True))
    worst = Likeness.SAME
    for place, (one, other) in enumerate(zip(a, b, strict=True)):
        if same(one, other):
            continue
        if form(one) != form(other):
            return Likeness.DIFFERS, f"result {place}: {form(one)}, Inductor gives {form(other)}"
        if not settled:
            worst = Likeness.FORM
            continue
        known = len(d) == len(b) and form(d[place]) == form(other)
        allowed = distance(other, d[place]) if known else 0.0
        if (found := distance(one, other)) <= max(allowed, ROUNDING):
            worst = Likeness.WITHIN if worst is Likeness.SAME else worst
        elif known and distance(one, d[place]) <= allowed:
            worst = Likeness.NEAR if worst is not Likeness.FORM else worst
        else:
            return Likeness.DIFFERS, f"result {place}: {found:.3g} from Inductor, which is {allowed:.3g} from eager"
    return worst, ""


def leaves(tree: Any) -> Any:
    """Tensors and other values, in order."""
    if isinstance(tree, list):
        for item in tree:
            yield from leaves(item)
    elif isinstance(tree, dict):
        for key in sorted(tree):
            yield from leaves(tree[key])
    else:
        yield tree


def form(value: Any) -> str:
    """All about a value but its content."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)} {value.device}"
    return type(value).__name__


def same(one: Any, other: Any) -> bool:
    """Bit by bit, but for the payload of NaN."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return form(one) == form(other) and (one == other or (one != one and other != other))
    return form(one) == form(other) and torch.equal(*(torch.nan_to_num(_wide(it), nan=4711.0) for it in (one, other)))


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference, relative to the largest number; infinite where NaN or infinity stand elsewhere."""
    if not isinstance(one, torch.Tensor):
        return float("inf")
    a, b = _wide(one), _wide(other)
    if not torch.equal(torch.isfinite(a), torch.isfinite(b)):
        return float("inf")
    kept = torch.isfinite(a)
    if not kept.any():
        return 0.0
    return float((a[kept] - b[kept]).abs().max() / b[kept].abs().max().clamp(min=1e-30))


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.to(torch.complex128) if tensor.is_complex() else tensor
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor.to(torch.float64)
