"""Saves plans in files for a review, and reads them back for execution."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from neuron_top.actions.plan import SCHEMA, Plan, decode, encode
from neuron_top.errors import UsageError

__all__ = ["SCHEMA", "read_plans", "write_plans"]


def write_plans(path: Path, plans: Sequence[Plan]) -> None:
    """Write plans as one JSON document. Raises OSError."""
    path.write_bytes(encode(*plans))


def read_plans(path: Path) -> tuple[Plan, ...]:
    """The plans in a file. Raises UsageError for another file, and for one that cannot be read."""
    try:
        return decode(path.read_bytes())
    except (ValueError, msgspec.MsgspecError) as problem:
        raise UsageError(f"{path}: expected a plan that this program saved ({problem})") from None
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}") from None
