"""A run as plain values, so that two of them can be compared and a test can print where they differ."""

from __future__ import annotations

from array import array
from collections import deque
from typing import Any

import msgspec


def canonical(value: Any, parts: set[int]) -> Any:
    """Nested lists, dictionaries, numbers and texts; NaN becomes None. Private state counts too, caches do not.

    `parts`: objects written out already; several trackers share one.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, dict):
        return {str(key): canonical(item, parts) for key, item in value.items()}
    if isinstance(value, list | tuple | deque | array):
        return [canonical(item, parts) for item in value]
    if isinstance(value, msgspec.Struct):
        return {name: canonical(getattr(value, name), parts) for name in value.__struct_fields__}
    if id(value) in parts:
        return type(value).__name__
    parts.add(id(value))
    names: Any = getattr(value, "__slots__", None) or vars(value)
    return {name: canonical(getattr(value, name), parts) for name in names if not name.startswith("_cached")}
