"""Matches names of modules with patterns, of which there may be thousands: a run pins each module that it used."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable

IS_PATTERN = re.compile(r"[*?\[]")
"""Finds what makes a text a pattern; any other text matches only itself."""


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A test of whether one of `patterns` matches a name; its time does not grow with the number of plain names."""
    names: set[str] = set()
    wild: list[str] = []
    for pattern in patterns:
        if IS_PATTERN.search(pattern):
            wild.append(pattern)
        else:
            names.add(pattern)
    if not wild:
        return names.__contains__
    matches = re.compile("|".join(map(fnmatch.translate, wild))).match
    return lambda name: name in names or matches(name) is not None
