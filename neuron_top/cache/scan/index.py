"""The index: what the last scan of a root found, stored so that the next start need not read everything.

There is one file per root in the state folder: a short head with sums, then the settled entries. Sums over these can be
read without decoding 50,000 entries; entries that may change by themselves are in the head. The file is replaced as a
whole, and one that does not decode counts as none.
"""

from __future__ import annotations

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
from neuron_top.plain_files import open_plain, read_plain

_MAGIC = b"neurontop-cache-index-10\n"
_LENGTH = struct.Struct("<Q")


class IndexHead(msgspec.Struct, frozen=True, kw_only=True):
    """The first part of the file."""

    root: str
    taken_at: float
    seconds: float
    settled: EntryTotals
    """Sums over the settled entries, which follow the head."""
    open: tuple[Entry, ...]
    """The entries that may change without their folder's time telling; see `snapshot.to_look_at`."""
    folders: tuple[Folder, ...]
    others: tuple[Other, ...]
    problems: tuple[str, ...]
    filesystem: Filesystem


# Made at import, in one thread: msgspec crashes if two threads first use a struct type at the same time, as happened
# when two caches were opened at the same moment.
_head = msgspec.msgpack.Decoder(IndexHead)
_entries = msgspec.msgpack.Decoder(tuple[Entry, ...])


def path_of(root: str, state: Path) -> Path:
    """The path of the index of `root` (a real path)."""
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    return state / "cache-index" / f"{name}.msgpack"


def save(snapshot: Snapshot, state: Path) -> bool:
    """Write the index; False if it cannot be written, which costs only time."""
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
    path = path_of(snapshot.root, state)
    try:
        first, rest = encoder.encode(head), encoder.encode(settled)
        private_files.make_folder(state)
        private_files.make_folder(path.parent)
        private_files.replace_file(path, _MAGIC, _LENGTH.pack(len(first)), first, rest)
    except OverflowError:  # a file is dated so far ahead that its nanoseconds fill more than 64 bits
        return False
    except (OSError, UnicodeEncodeError, RefusedForSafety):
        return False
    return True


def load_head(root: str, state: Path) -> IndexHead | None:
    """The head alone; None if there is no usable index of `root`."""
    try:
        with open(open_plain(path_of(root, state), follow=True), "rb") as file:
            start = file.read(len(_MAGIC) + _LENGTH.size)
            if not start.startswith(_MAGIC):
                return None
            head = _head.decode(file.read(_LENGTH.unpack_from(start, len(_MAGIC))[0]))
    except (OSError, struct.error, *MALFORMED, OverflowError, MemoryError):
        return None
    return head if head.root == root else None


def load(root: str, state: Path) -> Snapshot | None:
    """The whole snapshot; None if there is no usable index of `root`."""
    try:
        data = read_plain(path_of(root, state))
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
