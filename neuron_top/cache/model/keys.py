"""The two halves of a module key, `MODULE_<graph>+<flags>`.

The graph half is a decimal fingerprint (of graphs that the framework traced) or hexadecimal digits (of graphs that came
with a key, as ours do; 20 digits today). The flags half is the start of the MD5 of the flags file's exact bytes, so
that any tool can check an entry against its folder's name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence

import msgspec

_KEY = re.compile(r"MODULE_(?P<graph>[0-9]{1,20}|[0-9a-f]{8,64})(?:\+(?P<flags>[0-9a-f]{8}))?", re.ASCII)
GRAPH_DIGITS = 20
FLAGS_DIGITS = 8


class ModuleKey(msgspec.Struct, frozen=True):
    """One graph under one set of flags; `flags` is None in the oldest layout and for traced models."""

    graph: str
    flags: str | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return f"MODULE_{self.graph}" + (f"+{self.flags}" if self.flags is not None else "")


def parse_key(name: str) -> ModuleKey | None:
    """The key in a folder's name; None for any other name."""
    match = _KEY.fullmatch(name)
    return ModuleKey(match["graph"], match["flags"]) if match else None


def flags_data(flags: Sequence[str]) -> bytes:
    """The exact bytes of `compile_flags.json`: a JSON list, default separators, no line end."""
    return json.dumps(list(flags)).encode()


def flags_hash(data: bytes) -> str:
    """The eight digits after `+` for a flags file with these bytes."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()[:FLAGS_DIGITS]


def module_key(graph: str, flags: Sequence[str]) -> ModuleKey:
    """The key of a graph (its 20 digits) compiled with these flags."""
    return ModuleKey(graph, flags_hash(flags_data(flags)))
