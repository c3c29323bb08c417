"""A run as plain values, so that two of them can be compared and a test can print where they differ."""

from __future__ import annotations

from array import array
from collections import deque
from typing import Any

import msgspec


def canonical(value: Any) -> Any:
    """Nested lists, dictionaries, numbers and texts; NaN becomes None. Private state counts too, caches do not."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, dict):
        return {str(key): canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple | deque | array):
        return [canonical(item) for item in value]
    if isinstance(value, msgspec.Struct):
        return {name: canonical(getattr(value, name)) for name in value.__struct_fields__}
    names: Any = getattr(value, "__slots__", None) or vars(value)
    return {name: canonical(getattr(value, name)) for name in names if not name.startswith("_cached")}
