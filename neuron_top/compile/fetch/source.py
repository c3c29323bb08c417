"""Where artifacts are fetched from: a bucket, or the folder of a shared cache behind the gate."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from neuron_top.cache import s3, trust
from neuron_top.cache.arrival import ORDER
from neuron_top.cache.model import filenames
from neuron_top.cache.s3_objects import CHUNK, object_chunks


class SourceFile(NamedTuple):
    """A file of an entry in the source: its length, and a function that reads it."""

    size: int
    chunks: Callable[[], Iterator[bytes]]


class ArtifactSource(Protocol):
    """A cache from which artifacts are read, never written to. Safe to share between threads."""

    @property
    def place(self) -> str:
        """Its address."""
        ...

    def files(self, entry: str) -> Mapping[str, SourceFile]:
        """The files of the entry `compiler/module` that are to be fetched; none if it is missing or has no mark.

        Raises NeuronTopError, OSError.
        """
        ...


class BucketSource:
    """See ArtifactSource. An entry is one request, and one for each file or range of a large one."""

    def __init__(self, url: str) -> None:
        """Raises UsageError for what is no bucket, and where boto3 is missing."""
        self._bucket = s3.connect(url, hurried=True)

    @property
    def place(self) -> str:
        """See ArtifactSource."""
        return self._bucket.url

    def files(self, entry: str) -> Mapping[str, SourceFile]:
        """See ArtifactSource."""
        objects = {each.name: each for each in s3.objects_of(self._bucket, entry)}
        if filenames.DONE not in objects:
            return {}
        return {
            name: SourceFile(objects[name].size, functools.partial(object_chunks, self._bucket, objects[name]))
            for name in ORDER
            if name in objects
        }


class FolderSource:
    """See ArtifactSource. Every file is reached through the gate: whoever could exchange it could run code as this
    user."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def place(self) -> str:
        """See ArtifactSource."""
        return str(self._root)

    def files(self, entry: str) -> Mapping[str, SourceFile]:
        """See ArtifactSource. Raises RefusedForSafety where strangers can write there."""
        folder = self._root / entry
        try:
            with trust.open_folder(str(folder)) as opened:
                if not (folder / filenames.DONE).exists():
                    return {}
                return {
                    name: SourceFile(size, functools.partial(_chunks, folder, name))
                    for name in ORDER
                    if (size := _size(opened, name)) is not None
                }
        except FileNotFoundError:
            return {}
        except trust.Untrusted as reason:
            raise trust.refusal(reason, "Fetch from a place of your own (NEURONTOP_CACHE_SOURCE)") from None


def _size(folder: trust.CheckedFolder, name: str) -> int | None:
    try:
        with folder.open(name) as file:
            return file.seek(0, 2)
    except FileNotFoundError:
        return None


def _chunks(folder: Path, name: str) -> Iterator[bytes]:
    try:
        with trust.open_folder(str(folder)) as opened, opened.open(name) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except trust.Untrusted as reason:
        raise trust.refusal(reason, "Fetch from a place of your own (NEURONTOP_CACHE_SOURCE)") from None
