"""vLLM-Neuron's own compile cache (SDK 2.31 and later): which of its entries are complete. Reads only.

    <root>/<32 hex digits>/graph_<key>.neff, graph.hlo, command.txt, dev0_0.rank0/…, .compilation_complete

The marker is written last and holds `completed:<time>` and `neff_size:<bytes>`: an entry is complete if it is there and
a NEFF has that size. Without it, a compile is running or has died; one that crashed leaves 100 MB and more.
"""

from __future__ import annotations

import os
import re
from enum import StrEnum

import msgspec

from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.cache.tree import measure

MARKER = ".compilation_complete"
_KEY = re.compile(r"[0-9a-f]{32}\Z")
_SIZE = re.compile(rb"^neff_size:\s*(\d{1,18})\s*$", re.MULTILINE)
_MARKER_BYTES = 4096
_OWN_FILES = frozenset({MARKER, "graph.hlo", "command.txt", ".artifact_metadata_v0.json", "fxgraph.txt"})
_LOOKED_INTO = 8


class VllmState(StrEnum):
    """Where an entry stands."""

    COMPLETE = "complete"
    MISMATCH = "mismatch"
    """It has a marker, but no NEFF of the size that this names."""
    INCOMPLETE = "incomplete"
    """No marker: being compiled, or left by a compile that died."""


class VllmEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. `bytes` are disk blocks; `newest` is its latest change, in seconds since the epoch."""

    key: str
    state: VllmState
    bytes: int
    files: int
    neff_bytes: int | None
    """Length of its NEFF, of the largest if ranks have their own; None if there is none."""
    newest: float | None


def is_vllm_neuron(root: str) -> bool:
    """Whether a folder looks like this cache: it has a folder named by a key, with a file that only entries have."""
    reader = NoAtimeReader()
    try:
        keys = [name for name in _names(root, reader) if _KEY.match(name)][:_LOOKED_INTO]
    except OSError:
        return False
    for key in keys:
        for folder in _folders(f"{root}/{key}", reader):
            try:
                if not _OWN_FILES.isdisjoint(_names(folder, reader)):
                    return True
            except OSError:
                continue
    return False


def entries(root: str) -> list[VllmEntry]:
    """The entries below `root`, by key; none if it cannot be read. A folder not named by 32 hex digits is no entry."""
    try:
        keys = sorted(name for name in _names(root, NoAtimeReader()) if _KEY.match(name))
    except OSError:
        return []
    return [_entry(root, key) for key in keys if not os.path.islink(f"{root}/{key}")]


def _entry(root: str, key: str) -> VllmEntry:
    reader = NoAtimeReader()
    size = measure(f"{root}/{key}", reader)
    neffs: list[int] = []
    marked: list[int | None] = []
    for folder in _folders(f"{root}/{key}", reader):
        _look_into(folder, reader, neffs, marked)
    return VllmEntry(
        key=key,
        state=_state(neffs, marked),
        bytes=size.allocated,
        files=size.files,
        neff_bytes=max(neffs, default=None),
        newest=size.newest,
    )


def _state(neffs: list[int], marked: list[int | None]) -> VllmState:
    if not marked:
        return VllmState.INCOMPLETE
    return VllmState.COMPLETE if all(size in neffs for size in marked) else VllmState.MISMATCH


def _folders(path: str, reader: NoAtimeReader) -> list[str]:
    """The entry itself and the folders of its ranks."""
    try:
        below = [f"{path}/{name}" for name in sorted(_names(path, reader))]
    except OSError:
        return []
    return [path, *(one for one in below if os.path.isdir(one) and not os.path.islink(one))]


def _look_into(folder: str, reader: NoAtimeReader, neffs: list[int], marked: list[int | None]) -> None:
    try:
        names = _names(folder, reader)
    except OSError:
        return
    for name in names:
        try:
            if name == MARKER:
                found = _SIZE.search(reader.read(f"{folder}/{name}", _MARKER_BYTES))
                marked.append(int(found[1]) if found else None)
            elif name.endswith(".neff"):
                neffs.append(os.lstat(f"{folder}/{name}").st_size)
        except OSError:
            continue


def _names(path: str, reader: NoAtimeReader) -> list[str]:
    descriptor = reader.open_folder(path)
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)
