"""Entries in a bucket that many nodes compile into: graphs that wait there, artifacts that are stored, each verified.

A file is stored with its sha256, which the service compares; an artifact's mark comes last.
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

from neuron_top.cache import s3
from neuron_top.cache.arrival import ORDER
from neuron_top.cache.model import filenames
from neuron_top.cache.model.record import FileFacts
from neuron_top.cache.s3_objects import object_chunks
from neuron_top.compile.wrapper.persistent_cache import new_file

GRAPH_FILES = (*filenames.GRAPH_NAMES, filenames.DESCRIPTION, *filenames.FLAGS_NAMES)
_ONE_REQUEST = 64 * 1024**2
"""Larger files are stored in parts, each with a checksum of its own."""


class SharedBucket:
    """A cache root in a bucket. Paths of entries are `compiler/module`. Safe to share between threads."""

    def __init__(self, url: str) -> None:
        """Raises UsageError for what is no bucket, and where boto3 is missing."""
        self.bucket = s3.connect(url)

    @property
    def url(self) -> str:
        """The bucket's URL, as a person gives it."""
        return self.bucket.url

    def names(self, entry: str) -> set[str]:
        """The names of an entry's files. Raises NothingToShow."""
        return {each.name for each in s3.objects_of(self.bucket, entry)}

    def fetch(self, entry: str, names: Iterable[str], folder: Path) -> None:
        """Write those of these files that the entry has into `folder`, the graph last. Raises NothingToShow, OSError.

        A file gets its name when it is whole: a graph that is here is not fetched again.
        """
        wanted = set(names)
        files = {each.name: each for each in s3.objects_of(self.bucket, entry)}
        for name in sorted(files.keys() & wanted, key=lambda name: name in filenames.GRAPH_NAMES):
            part = folder / f"{name}.{uuid.uuid4().hex}{filenames.TEMPORARY_SUFFIX}"
            try:
                with new_file(part) as file:
                    file.writelines(object_chunks(self.bucket, files[name]))
                part.rename(folder / name)
            except BaseException:
                part.unlink(missing_ok=True)
                raise

    def store(self, entry: str, names: Iterable[str], folder: Path) -> None:
        """Store those of these files that `folder` has, in this order. Raises NothingToShow, OSError."""
        for name in names:
            path = folder / name
            if path.exists():
                self._put(f"{self.bucket.prefix}{entry}/{name}", path)

    def publish(self, entry: str, folder: Path, confirm: Callable[[], None]) -> None:
        """Store an artifact, its mark last. `confirm` is called right before the mark and may raise to prevent it."""
        self.store(entry, ORDER, folder)
        confirm()
        self.store(entry, (filenames.DONE,), folder)

    def facts(self, entry: str) -> dict[str, FileFacts]:
        """Digest and length of an artifact's files, from their bytes; empty if it has no mark. Raises NothingToShow."""
        objects = {each.name: each for each in s3.objects_of(self.bucket, entry)}
        if filenames.DONE not in objects:
            return {}
        return {name: self._facts(each) for name, each in objects.items()}

    def _facts(self, found: s3.Object) -> FileFacts:
        digest, size = hashlib.sha256(), 0
        for chunk in object_chunks(self.bucket, found) if found.size else ():
            digest.update(chunk)
            size += len(chunk)
        return FileFacts(digest.hexdigest(), size)

    def _put(self, key: str, path: Path) -> None:
        client, name = self.bucket.client, self.bucket.name
        with s3.explained(self.bucket):
            if path.stat().st_size > _ONE_REQUEST:
                client.upload_file(str(path), name, key, ExtraArgs={"ChecksumAlgorithm": "SHA256"})
                return
            data = path.read_bytes()
            digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
            client.put_object(Bucket=name, Key=key, Body=data, ChecksumSHA256=digest)
