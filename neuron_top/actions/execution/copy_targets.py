"""Roots that entries are copied from and to: the interface of roots on a file system and in S3, and the former."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from neuron_top.actions.execution.entry_writer import LocalEntryWriter, held
from neuron_top.actions.open_entries import OpenRoot, StaleEntryError
from neuron_top.actions.reasons import NotDoneCode
from neuron_top.cache import filesystem, trust
from neuron_top.cache.location import is_hub_blob
from neuron_top.cache.model.entry import MODULE
from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.cache.scan.discovery import discover
from neuron_top.errors import NothingToShow, RefusedForSafety
from neuron_top.plain_files import nearest_folder

CHUNK = 1 << 20


class StoredFile(NamedTuple):
    """One file of an entry: its length in bytes, when it was written (nanoseconds since the epoch), its contents."""

    size: int
    mtime_ns: int
    chunks: Iterable[bytes]


class EntryWriter(Protocol):
    """An entry of the destination, with one writer."""

    def names(self) -> set[str]:
        """Names of the files that it has."""
        ...

    def write(self, name: str, chunks: Iterable[bytes], mtime_ns: int) -> int:
        """Store a file completely or not at all; returns its length."""
        ...

    def read(self, name: str, limit: int) -> bytes:
        """The beginning of a stored file."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file that was written here."""
        ...


class CopyTarget(Protocol):
    """A root, as copies see it."""

    @property
    def name(self) -> str:
        """Its path or URL."""
        ...

    def make(self) -> None:
        """Make the root if there is none."""
        ...

    def modules(self) -> set[str]:
        """`compiler/module` of every entry that is marked as done."""
        ...

    def file(self, entry: str, name: str) -> StoredFile | None:
        """A file of an entry; None if there is none. Raises StaleEntryError for a link that leads outside."""
        ...

    def writer(self, entry: str) -> AbstractContextManager[EntryWriter]:
        """A context in which nobody else writes to the entry. Raises StaleEntryError if somebody already does."""
        ...

    def free(self) -> int | None:
        """Bytes that may still be written; None is unknown or without bound."""
        ...

    def shared(self) -> str | None:
        """Why others may write here; None for a local file system."""
        ...


class LocalCopyTarget:
    """A root on a file system. Links are followed only within it and into a hub's blobs."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))

    @property
    def name(self) -> str:
        """Its real path."""
        return str(self._root)

    def make(self) -> None:
        """See CopyTarget. Raises RefusedForSafety if it cannot be made."""
        try:
            trust.make_folders(str(self._root))
        except OSError as problem:
            raise RefusedForSafety(f"no cache can be made at {self._root} ({problem.strerror})") from None

    def modules(self) -> set[str]:
        """See CopyTarget; a root that does not exist yet has none."""
        try:
            compilers = discover(str(self._root), NoAtimeReader()).compilers
        except NothingToShow:
            return set()
        found = {path.parent for name in compilers for path in (self._root / name).glob("MODULE_*/model.done")}
        return {str(path.relative_to(self._root)) for path in found if MODULE.match(path.name)}

    def file(self, entry: str, name: str) -> StoredFile | None:
        """See CopyTarget."""
        path = Path(os.path.realpath(self._root / entry / name))
        try:
            facts = path.lstat()
        except OSError:
            return None
        if not (path.is_relative_to(self._root) or is_hub_blob(str(path))) or not stat.S_ISREG(facts.st_mode):
            raise StaleEntryError(NotDoneCode.LINK_OUTSIDE, name)
        return StoredFile(facts.st_size, facts.st_mtime_ns, _chunks(path))

    @contextmanager
    def writer(self, entry: str) -> Iterator[LocalEntryWriter]:
        """See CopyTarget: holds the entry's lock, and refuses a link in the entry's path."""
        self.make()
        root = OpenRoot(self._root)
        try:
            root.make(entry)
            with root.entry(entry) as opened, held(opened) as writer:
                yield writer
        finally:
            root.close()

    def free(self) -> int | None:
        """See CopyTarget: asks the nearest folder that exists."""
        return filesystem.describe(str(nearest_folder(self._root))).free

    def shared(self) -> str | None:
        """See CopyTarget: asks the nearest folder that exists."""
        return filesystem.describe(str(nearest_folder(self._root))).why_shared


def _chunks(path: Path) -> Iterator[bytes]:
    """Read without changing the access time: our copy is no use of the entry, and must not keep it for a day."""
    with open(NoAtimeReader().open_file(str(path)), "rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
