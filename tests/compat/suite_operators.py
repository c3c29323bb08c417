"""PyTorch's own database of operators: first samples, float32 and int64, backward where the operator supports it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from tests.compat import programs, samples
from tests.compat.programs import Program

DTYPES = {"float32": torch.float32, "int64": torch.int64}
SAMPLES = 2


@functools.cache
def _operators() -> Mapping[str, Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return {op.formatted_name: op for op in op_db}


@functools.cache
def names() -> Sequence[str]:
    """Operator, type and number of the sample; all first samples come before the second ones."""
    return [
        f"{name}-{dtype}-{place}"
        for place, (dtype, known), (name, op) in itertools.product(range(SAMPLES), DTYPES.items(), _operators().items())
        if known in op.supported_dtypes(programs.device())
    ]


def build(name: str) -> Program:
    """One sample."""
    operator, dtype, place = name.rsplit("-", 2)
    return samples.of(_operators()[operator], DTYPES[dtype], int(place))
