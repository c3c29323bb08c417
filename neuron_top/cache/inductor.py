"""Inductor's own compile cache, entry by entry. Reads only: PyTorch evicts nothing, and neither do we.

    <root>/fxgraph/<2 letters>/<key>/<guards hash>        one file per set of shapes the guards allow
    <root>/aotautograd/<key>/<hash>                        the whole of forward and backward, with their FX-graph keys
    <root>/<2 letters>/c<hash>.py, .cpp, .so, …            generated code: kernels and wrappers, shared by entries
    <root>/triton/<device>/<key>/…                         Triton's binaries (CUDA), when Inductor chose their place

`<root>` is TORCHINDUCTOR_CACHE_DIR, else torchinductor_<user> in the folder of temporary files
(torch/_inductor/runtime/cache_dir_utils.py; torch/_inductor/codecache.py; torch/_functorch/_aot_autograd).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import closing, suppress

import msgspec

from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.cache.tree import FILES_LIMIT, measure
from neuron_top.escapes import name_text
from neuron_top.folders import Descent

FX_GRAPH, AOT_AUTOGRAD, CODE, TRITON = "fx-graph", "aot-autograd", "code", "triton"
KINDS = {
    FX_GRAPH: "compiled FX graphs",
    AOT_AUTOGRAD: "forward and backward of a graph together",
    CODE: "generated code and what was compiled of it, by folder",
    TRITON: "Triton kernels, by device",
}
_KEY = re.compile(r"[a-z0-9]{20,80}\Z")
_SHARD = re.compile(r"[a-z0-9]{2}\Z")
MOST_ENTRIES = 500_000


class InductorEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. Bytes are disk blocks, times seconds since the epoch; None is unknown."""

    kind: str
    key: str
    path: str
    bytes: int
    files: int
    changed: float | None
    """Latest change of a file in it."""
    used: float | None
    """Latest access of a file in it after that change, where the mount keeps access times (`relatime`: to the day)."""


def is_inductor(root: str) -> bool:
    """Whether a folder looks like Inductor's cache, by the names in it."""
    return any(os.path.isdir(f"{root}/{name}") for name in ("fxgraph", "aotautograd"))


def entries(root: str) -> list[InductorEntry]:
    """All entries below `root`, by kind and key; none when it cannot be read."""
    reader = NoAtimeReader()
    found = []
    for kind, path, key in _places(root, reader):
        found.append(_entry(kind, key, path, reader))
        if len(found) >= MOST_ENTRIES:
            break
    order = list(KINDS)
    return sorted(found, key=lambda entry: (order.index(entry.kind), entry.key))


def files(entry: InductorEntry) -> list[tuple[str, int]]:
    """(path below the entry, length in bytes) of each of its files, at any depth; what cannot be read is left out."""
    reader = NoAtimeReader()
    found: list[tuple[str, int]] = []
    try:
        top = reader.open_folder(entry.path)
    except OSError:
        return found
    try:
        with closing(Descent(top, reader.open_folder)) as place, suppress(OSError):
            _files_below(place, found)
    finally:
        os.close(top)
    return found


def _files_below(place: Descent, found: list[tuple[str, int]]) -> None:
    """Add all files below to `found`. Raises OSError if a folder is moved during the walk."""
    way: list[str] = []
    waiting = [_listed(place.handle, "", found)]
    while waiting:
        if waiting[-1]:
            name = waiting[-1].pop()
            with suppress(OSError):
                place.enter(name)
                way.append(name_text(name))
                waiting.append(_listed(place.handle, "/".join(way) + "/", found))
            continue
        waiting.pop()
        if waiting:
            place.leave()
            way.pop()


def _listed(handle: int, prefix: str, found: list[tuple[str, int]]) -> list[str]:
    """Add a folder's files to `found`, up to FILES_LIMIT; returns the names of its sub-folders."""
    folders: list[str] = []
    with suppress(OSError), os.scandir(handle) as members:
        for member in members:
            with suppress(OSError):  # it vanished meanwhile
                if member.is_dir(follow_symlinks=False):
                    folders.append(member.name)
                elif len(found) < FILES_LIMIT:
                    found.append((prefix + name_text(member.name), member.stat(follow_symlinks=False).st_size))
    return folders


def _places(root: str, reader: NoAtimeReader) -> Iterator[tuple[str, str, str]]:
    for shard in _folders(f"{root}/fxgraph", reader):
        for key in _folders(f"{root}/fxgraph/{shard}", reader):
            if _KEY.match(key):
                yield FX_GRAPH, f"{root}/fxgraph/{shard}/{key}", key
    for key in _folders(f"{root}/aotautograd", reader):
        if _KEY.match(key):
            yield AOT_AUTOGRAD, f"{root}/aotautograd/{key}", key
    for device in _folders(f"{root}/triton", reader):
        yield TRITON, f"{root}/triton/{device}", name_text(device)
    for shard in _folders(root, reader):
        if _SHARD.match(shard):
            yield CODE, f"{root}/{shard}", shard


def _entry(kind: str, key: str, path: str, reader: NoAtimeReader) -> InductorEntry:
    size = measure(path, reader)
    return InductorEntry(
        kind=kind,
        key=key,
        path=name_text(path),
        bytes=size.allocated,
        files=size.files,
        changed=size.newest,
        used=_used(path, size.newest, reader),
    )


def _used(path: str, changed: float | None, reader: NoAtimeReader) -> float | None:
    """The newest access time among the files directly in an entry's folder, if it is later than the last change."""
    newest = None
    for name, info in _members(path, reader):
        if stat.S_ISREG(info.st_mode) and name:
            newest = info.st_atime if newest is None else max(newest, info.st_atime)
    return newest if newest is not None and (changed is None or newest > changed) else None


def _folders(path: str, reader: NoAtimeReader) -> list[str]:
    return sorted(name for name, info in _members(path, reader) if stat.S_ISDIR(info.st_mode))


def _members(path: str, reader: NoAtimeReader) -> Iterator[tuple[str, os.stat_result]]:
    """(name, status) of what lies in a folder; links are not followed, and what vanishes meanwhile is left out."""
    try:
        descriptor = reader.open_folder(path)
    except OSError:
        return
    try:
        for name in os.listdir(descriptor):
            try:
                yield name, os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except OSError:
                continue
    except OSError:
        return
    finally:
        os.close(descriptor)
