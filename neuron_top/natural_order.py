"""The order of names with numbers in them."""

from __future__ import annotations

import re


def natural_key(name: str) -> tuple[tuple[bool, int, str], ...]:
    """A sort key by which `n10` comes after `n9`."""
    parts = re.split(r"([0-9]+)", name)
    return tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts if part)
