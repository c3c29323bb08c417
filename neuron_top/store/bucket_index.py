"""The index of a large bucket: its entries with their objects, listed by one node and stored for all.

Listing a million entries takes thousands of requests; a thousand nodes that each did it would need millions. The local
form is a file in the state folder, for the processes of one node.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from neuron_top import private_files
from neuron_top.decoders import MALFORMED
from neuron_top.store.errors import StoreCorrupt


class IndexedObject(NamedTuple):
    """An object of an entry: its name in the entry, bytes, tag, and when it was written (seconds since the epoch)."""

    name: str
    size: int
    tag: str
    changed: float


class IndexedEntry(NamedTuple):
    """An entry by its path below the prefix."""

    path: str
    objects: list[IndexedObject]


class IndexState(NamedTuple):
    """How complete and how old a bucket's index is."""

    after: str
    """The key after which the first listing was cut off; "" once the index is complete."""
    age: float
    """Seconds since the index was last found to match the bucket, by the store's clock."""


class BucketIndex(Protocol):
    """The indexes of buckets, by their URLs."""

    def state(self, bucket: str) -> IndexState | None:
        """The state of a bucket's index; None if nobody has begun to list it."""
        ...

    def put(self, bucket: str, entries: Iterable[IndexedEntry], after: str, gone: Collection[str] = ()) -> None:
        """Add or replace entries, remove those that are gone, and note how far the listing is, in one step."""
        ...

    def marked(self, bucket: str, mark: str) -> dict[str, bool]:
        """Path of every entry → whether it has an object of the name `mark`."""
        ...

    def entries(self, bucket: str, modules: Collection[str] = ()) -> Iterator[IndexedEntry]:
        """All entries, or only those of these modules."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


encode = msgspec.json.encode
_objects_decoder = msgspec.json.Decoder(list[IndexedObject])
_AT_ONCE = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS buckets (bucket TEXT PRIMARY KEY, after TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS entries (bucket TEXT NOT NULL, path TEXT NOT NULL, module TEXT NOT NULL, names TEXT NOT NULL,
    objects BLOB NOT NULL, PRIMARY KEY (bucket, path)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_module ON entries (bucket, module);
"""


class LocalIndex:
    """See BucketIndex: a file that belongs to this user."""

    def __init__(self, state: Path) -> None:
        """Raises RefusedForSafety, OSError, sqlite3.Error."""
        private_files.make_folder(state)
        self._connection = sqlite3.connect(state / "bucket-index.sqlite", timeout=60.0)
        with self._connection:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(_SCHEMA)

    def state(self, bucket: str) -> IndexState | None:
        """See BucketIndex."""
        row = self._connection.execute("SELECT after, at FROM buckets WHERE bucket = ?", (bucket,)).fetchone()
        return IndexState(row[0], max(0.0, time.time() - row[1])) if row is not None else None

    def put(self, bucket: str, entries: Iterable[IndexedEntry], after: str, gone: Collection[str] = ()) -> None:
        """See BucketIndex."""
        rows = [(bucket, each.path, module_of(each.path), names_of(each), encode(each.objects)) for each in entries]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", rows)
            self._connection.executemany(
                "DELETE FROM entries WHERE bucket = ? AND path = ?", [(bucket, path) for path in gone]
            )
            self._connection.execute("INSERT OR REPLACE INTO buckets VALUES (?, ?, ?)", (bucket, after, time.time()))

    def marked(self, bucket: str, mark: str) -> dict[str, bool]:
        """See BucketIndex."""
        rows = self._connection.execute("SELECT path, names FROM entries WHERE bucket = ?", (bucket,))
        return {path: mark in names.split("/") for path, names in rows}

    def entries(self, bucket: str, modules: Collection[str] = ()) -> Iterator[IndexedEntry]:
        """See BucketIndex."""
        wanted = sorted(modules)
        for start in range(0, max(1, len(wanted)), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            only = f" AND module IN ({','.join('?' * len(some))})" if some else ""
            query = f"SELECT path, objects FROM entries WHERE bucket = ?{only} ORDER BY path"  # noqa: S608 (marks only)
            for path, objects in self._connection.execute(query, (bucket, *some)):
                yield IndexedEntry(path, decoded(bucket, path, objects))

    def close(self) -> None:
        """See BucketIndex."""
        self._connection.close()


def decoded(bucket: str, path: str, objects: str | bytes) -> list[IndexedObject]:
    """The objects of an entry. Raises StoreCorrupt for what this program did not write."""
    try:
        return _objects_decoder.decode(objects)
    except MALFORMED as problem:
        raise StoreCorrupt(f"the index of {bucket} has an entry {path} that cannot be read ({problem})") from None


def module_of(path: str) -> str:
    """The module of an entry: the last part of its path."""
    return path.rpartition("/")[2]


def names_of(entry: IndexedEntry) -> str:
    """The names of an entry's objects, joined by slashes."""
    return "/".join(each.name for each in entry.objects)
