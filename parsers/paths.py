"""Reads root, compiler version and module from a path in a compile cache. One grammar for all families."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from neuron_top.late_pattern import late_pattern

MODULE = late_pattern(r"MODULE_[0-9a-f]{8,64}(?![0-9a-f])(?:\+[0-9a-f]{8})?")
"""A module: hexadecimal digits from a builder (20 today) or a decimal number from tracing, then the hash of the flags.

Matches all the digits there are: a hexadecimal key may begin with any number of decimal ones."""
COMPILER_FOLDER = late_pattern(r"(?:neuronxcc|USER_neuroncc|inductor)-(\d+\.\d+\.[0-9a-z.]+\+[0-9a-f]+)(?=/)")
_BEFORE_A_PATH = late_pattern(r"[\s'\"()\[\],=|]")
_LONGEST = 1000
_ANNOUNCED = late_pattern(
    r"(?:(?:neff at|must be compiling|the neff:|found under) |graphs \()(?=\S* )"
    r"((?:[a-z0-9]{2,5}:/)?/[^'\"()\[\],=|:]{0,900})/\Z"
)
"""A folder whose name holds a blank: the words before it show where it begins."""


class CacheLocation(NamedTuple):
    """What a path in a cache points to; None = the path does not say."""

    root: str | None
    compiler: str | None
    module: str | None


def roots_in(text: str) -> set[str]:
    """The folders in front of `neuronxcc-<version>` or `USER_neuroncc-<version>`, wherever they stand in the text."""
    found = set()
    for folder in COMPILER_FOLDER.finditer(text):
        announced = _ANNOUNCED.search(text, max(0, folder.start() - _LONGEST), folder.start())
        if announced:
            found.add(announced[1])
            continue
        word = _BEFORE_A_PATH.split(text[max(0, folder.start() - _LONGEST) : folder.start()])[-1]
        root = word if "://" in word else word.rpartition(":")[2]
        if len(root) > 1 and root.endswith("/"):
            found.add(root[:-1])
    return found


def module_in(text: str) -> str | None:
    """The first module key in the text."""
    found = MODULE.search(text)
    return found[0] if found else None


def place(path: str) -> CacheLocation:
    """Read the path of an entry, local or `s3://`, of either era; cached, since every rank prints the same paths."""
    return _place_known(path) if len(path) <= _LONGEST else _place(path)


@lru_cache(maxsize=8192)
def _place_known(path: str) -> CacheLocation:
    return _place(path)


def _place(path: str) -> CacheLocation:
    compiler = COMPILER_FOLDER.search(path)
    root = path[: compiler.start()].rstrip("/") if compiler else ""
    return CacheLocation(root or None, compiler[1] if compiler else None, module_in(path))
