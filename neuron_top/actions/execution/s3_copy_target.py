"""A root in S3 as copies see it: objects in one entry's prefix."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, cast

from neuron_top.actions.execution.copy_targets import StoredFile
from neuron_top.actions.open_entries import StaleEntryError
from neuron_top.actions.reasons import NotDoneCode
from neuron_top.cache import s3
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import PARTS, Part
from neuron_top.cache.s3_objects import object_chunks


class S3CopyTarget:
    """See `copy_targets.CopyTarget`. Reading a missing object is no error; an upload appears completely or not at all.

    Several threads may copy different entries.
    """

    def __init__(self, bucket: s3.Bucket) -> None:
        self._bucket = bucket
        self._objects: dict[str, dict[str, s3.Object]] = {}

    @property
    def name(self) -> str:
        """The URL."""
        return self._bucket.url

    def make(self) -> None:
        """See CopyTarget: does nothing, as a bucket is made by its owner."""

    def modules(self) -> set[str]:
        """See CopyTarget: one paged listing."""
        return {entry.path for entry in s3.take(self._bucket).snapshot.entries if entry.parts & Part.DONE}

    def file(self, entry: str, name: str) -> StoredFile | None:
        """See CopyTarget. One listing per entry serves all its files; asking for the mark lists the entry again."""
        if name == filenames.DONE or entry not in self._objects:
            _, objects = s3.look_again(self._bucket, entry)
            self._objects[entry] = {each.name: each for each in objects}
        found = self._objects[entry].get(name)
        if found is None:
            return None
        return StoredFile(found.size, round(found.changed * 1e9), object_chunks(self._bucket, found))

    @contextmanager
    def writer(self, entry: str) -> Iterator[S3EntryWriter]:
        """See CopyTarget. S3 has no lock that the SDK's clients would respect; an entry with a lock file is refused."""
        _, objects = s3.look_again(self._bucket, entry)
        names = {each.name for each in objects}
        if any(PARTS.get(name, 0) & Part.LOCK for name in names):
            raise StaleEntryError(NotDoneCode.LOCKED)
        yield S3EntryWriter(self._bucket, f"{self._bucket.prefix}{entry}", names)

    def free(self) -> int | None:
        """See CopyTarget: a bucket has no limit."""
        return None

    def shared(self) -> str | None:
        """See CopyTarget: always shared, as anybody with the rights may write."""
        return s3.WHY_SHARED


class S3EntryWriter:
    """An entry of a bucket, being written."""

    def __init__(self, bucket: s3.Bucket, prefix: str, names: set[str]) -> None:
        self._bucket, self._prefix, self._names = bucket, prefix, names

    def names(self) -> set[str]:
        """See EntryWriter."""
        return set(self._names)

    def write(self, name: str, chunks: Iterable[bytes], mtime_ns: int) -> int:
        """See EntryWriter: uploads a large file in parts; checksums guard the transfer."""
        body = _Reader(chunks)
        with s3.explained(self._bucket):
            self._bucket.client.upload_fileobj(cast("IO[bytes]", body), self._bucket.name, f"{self._prefix}/{name}")
        return body.count

    def read(self, name: str, limit: int) -> bytes:
        """See EntryWriter."""
        return self._bucket.read(f"{self._prefix}/{name}", limit)

    def remove(self, name: str) -> None:
        """See EntryWriter."""
        with s3.explained(self._bucket):
            self._bucket.client.delete_object(Bucket=self._bucket.name, Key=f"{self._prefix}/{name}")


class _Reader(io.RawIOBase):
    """Chunks as a file that can only be read forward; `count`: bytes that were read from it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks, self._rest, self.count = iter(chunks), b"", 0

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, fewer only at the end."""
        wanted = size if size >= 0 else 1 << 62
        parts: list[bytes] = []
        have = 0
        while have < wanted:
            chunk = self._rest or next(self._chunks, b"")
            if not chunk:
                break
            part, self._rest = chunk[: wanted - have], chunk[wanted - have :]
            parts.append(part)
            have += len(part)
        self.count += have
        return b"".join(parts)
