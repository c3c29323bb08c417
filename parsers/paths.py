"""What a path of a compile cache says: root, compiler version, module. One grammar for all families."""

from __future__ import annotations

import re
from typing import NamedTuple

MODULE = re.compile(r"MODULE_(?:[0-9a-f]{20}(?![0-9a-f])|\d{8,20}(?![0-9a-f]))(?:\+[0-9a-f]{8})?")
"""A graph's key: 20 hexadecimal digits from a builder, a decimal number from tracing, then the flags' hash."""
COMPILER_FOLDER = re.compile(r"(?:neuronxcc|USER_neuroncc)-(\d+\.\d+\.[0-9a-z.]+\+[0-9a-f]+)(?=/)")
ROOT = re.compile(
    r"((?:[a-z0-9]{1,10}://)?[^\s'\"()\[\],:=|]*)/(?:neuronxcc|USER_neuroncc)-\d+\.\d+\.[0-9a-z.]+\+[0-9a-f]+/"
)


class Place(NamedTuple):
    """Where in a cache something lies; None = the path does not say."""

    root: str | None
    compiler: str | None
    module: str | None


def module_in(text: str) -> str | None:
    """The first module key in the text."""
    found = MODULE.search(text)
    return found[0] if found else None


def place(path: str) -> Place:
    """Read a path of an entry, local or `s3://`, of either era."""
    compiler = COMPILER_FOLDER.search(path)
    root = path[: compiler.start()].rstrip("/") if compiler else ""
    return Place(root or None, compiler[1] if compiler else None, module_in(path))
