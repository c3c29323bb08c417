"""A small file of the state folder that several programs read and change; it is replaced as a whole, under a lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from neuron_top import private_files
from neuron_top.decoders import MALFORMED
from neuron_top.errors import FileMalformed, RefusedForSafety
from neuron_top.plain_files import read_plain

T = TypeVar("T")


class StateFile(Generic[T]):
    """A file with one value as JSON. An unreadable file is not overwritten."""

    def __init__(self, path: Path, decoder: msgspec.json.Decoder[T], empty: T, what: str) -> None:
        """`what`: the content, for messages, such as `labels of recordings`."""
        self.path = path
        self._decoder, self._empty, self._what = decoder, empty, what

    def read(self) -> T:
        """The value. Raises FileMalformed, RefusedForSafety."""
        try:
            data = read_plain(self.path)
        except FileNotFoundError:
            return self._empty
        except OSError as problem:
            raise RefusedForSafety(f"{self.path} ({self._what}) cannot be read ({problem.strerror})") from None
        try:
            return self._decoder.decode(data)
        except MALFORMED as problem:
            raise FileMalformed(self.path, f"{self._what} ({problem})") from None

    def known(self) -> T:
        """As `read`, but an empty value where the file cannot be read: screens then show their rows without it."""
        with contextlib.suppress(FileMalformed, RefusedForSafety):
            return self.read()
        return self._empty

    def change(self, change: Callable[[T], T]) -> T:
        """Replace the value. Raises FileMalformed, RefusedForSafety, and what `change` raises."""
        with self._alone():
            before = self.read()
            after = change(before)
            if after != before:
                data = msgspec.json.format(msgspec.json.encode(after), indent=2)
                private_files.replace_file(self.path, data, b"\n", locked=True)
        return after

    def delete(self) -> None:
        """Delete the file and its lock. Raises RefusedForSafety."""
        with self._alone():
            self.path.unlink(missing_ok=True)
            self._lock.unlink(missing_ok=True)  # last: from now on others may take a new one

    @property
    def _lock(self) -> Path:
        return self.path.with_suffix(".lock")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            private_files.make_folder(self.path.parent)
            handle = self._locked()
            try:
                yield
            finally:
                os.close(handle)
        except OSError as problem:
            raise RefusedForSafety(f"not changed: {self.path} cannot be written ({problem.strerror})") from None

    def _locked(self) -> int:
        """Take the lock; returns the descriptor that holds it. A lock file that was deleted meanwhile keeps nobody out:
        the next one is taken."""
        while True:
            handle = private_files.open_file(self._lock, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(handle), self._lock.lstat()):
                        return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
