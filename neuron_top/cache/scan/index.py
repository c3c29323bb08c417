"""The stored catalog: what the last look at a root saw, so that the next start need not look at everything.

One file per root in the state folder: a short head with sums, and behind it all entries. Sums over what is settled
can be read without decoding 50,000 entries; entries that change by themselves are in the head as they are. The
file is replaced as a whole, and one that does not read back exactly is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from pathlib import Path

import msgspec

from neuron_top import private_files
from neuron_top.cache.filesystem import Filesystem
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import EntryTotals, Folder, Other, Snapshot, to_look_at, total
from neuron_top.decoders import MALFORMED
from neuron_top.errors import RefusedForSafety

_MAGIC = b"neurontop-cache-index-8\n"
_LENGTH = struct.Struct("<Q")


class IndexHead(msgspec.Struct, frozen=True, kw_only=True):
    """The first part of the file."""

    root: str
    taken_at: float
    seconds: float
    settled: EntryTotals
    """Sums over the entries in the body."""
    open: tuple[Entry, ...]
    folders: tuple[Folder, ...]
    others: tuple[Other, ...]
    problems: tuple[str, ...]
    filesystem: Filesystem


# Made when this is imported, in one thread: msgspec crashes when two learn at once what a struct is made of, as two
# caches that are opened at the same moment did.
_head = msgspec.msgpack.Decoder(IndexHead)
_entries = msgspec.msgpack.Decoder(tuple[Entry, ...])


def path_of(root: str, state: Path) -> Path:
    """Where the index of `root` (a real path) is kept."""
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    return state / "cache-index" / f"{name}.msgpack"


def save(snapshot: Snapshot, state: Path) -> bool:
    """Write the index; False when the state folder cannot be written (nothing is lost but time)."""
    suspects = to_look_at(snapshot.entries, snapshot.taken_at, snapshot.taken_at, shared=snapshot.filesystem.shared)
    settled = [entry for entry in snapshot.entries if entry.path not in suspects]
    open_entries = [entry for entry in snapshot.entries if entry.path in suspects]
    head = IndexHead(
        root=snapshot.root,
        taken_at=snapshot.taken_at,
        seconds=snapshot.seconds,
        settled=total(settled),
        open=tuple(open_entries),
        folders=snapshot.folders,
        others=snapshot.others,
        problems=snapshot.problems,
        filesystem=snapshot.filesystem,
    )
    encoder = msgspec.msgpack.Encoder()
    first = encoder.encode(head)
    path = path_of(snapshot.root, state)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        private_files.make_folder(state)
        private_files.make_folder(path.parent)
        with open(private_files.open_file(temporary, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(_MAGIC + _LENGTH.pack(len(first)) + first)
            file.write(encoder.encode(settled))
        temporary.replace(path)
    except (OSError, UnicodeEncodeError, RefusedForSafety):
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        return False
    return True


def load_head(root: str, state: Path) -> IndexHead | None:
    """The head alone; None when there is no usable index of `root`."""
    try:
        with open(path_of(root, state), "rb") as file:
            start = file.read(len(_MAGIC) + _LENGTH.size)
            if not start.startswith(_MAGIC):
                return None
            head = _head.decode(file.read(_LENGTH.unpack_from(start, len(_MAGIC))[0]))
    except (OSError, struct.error, *MALFORMED, OverflowError, MemoryError):
        return None
    return head if head.root == root else None


def load(root: str, state: Path) -> Snapshot | None:
    """The whole snapshot; None when there is no usable index of `root`."""
    try:
        data = path_of(root, state).read_bytes()
        if not data.startswith(_MAGIC):
            return None
        start = len(_MAGIC) + _LENGTH.size
        end = start + _LENGTH.unpack_from(data, len(_MAGIC))[0]
        view = memoryview(data)
        head = _head.decode(view[start:end])
        settled = _entries.decode(view[end:])
    except (OSError, struct.error, *MALFORMED, OverflowError, MemoryError):
        return None
    if head.root != root:
        return None
    return Snapshot(
        root=root,
        taken_at=head.taken_at,
        seconds=head.seconds,
        entries=settled + head.open,
        folders=head.folders,
        others=head.others,
        problems=head.problems,
        filesystem=head.filesystem,
    )
