"""Opens files and folders so that reading does not change their access times.

Linux allows `O_NOATIME` only to a file's owner and to root. For others the open is repeated without it, and counted in
`atime_fallbacks`, so that a caller can warn that access times of other people's files may have changed.
"""

from __future__ import annotations

import errno
import os

from neuron_top.folders import FOLDER_FLAGS

NO_ATIME = getattr(os, "O_NOATIME", 0)
# O_NONBLOCK: a pipe put in a file's place must not stop the scan.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def why_unreadable(problem: OSError) -> str:
    """Why something could not be opened or read, in words. A link that was not followed is called one, not "too many
    levels of links"."""
    if problem.errno == errno.ELOOP:
        return "is a symbolic link"
    return os.strerror(problem.errno).lower() if problem.errno is not None else str(problem)


class NoAtimeReader:
    """Opens for reading. Every method raises OSError as `os.open` does."""

    def __init__(self) -> None:
        self.atime_fallbacks = 0
        """Opens that had to be made without O_NOATIME."""

    def open_folder(self, path: str, dir_fd: int | None = None) -> int:
        """A descriptor of a folder; a symbolic link in the last place is refused."""
        return self._open(path, FOLDER_FLAGS, dir_fd)

    def open_file(self, path: str, dir_fd: int | None = None, *, follow: bool = False) -> int:
        """A descriptor of a file; a symbolic link is refused unless `follow`."""
        return self._open(path, FILE_FLAGS & ~os.O_NOFOLLOW if follow else FILE_FLAGS, dir_fd)

    def read(self, path: str, limit: int, dir_fd: int | None = None, *, follow: bool = False) -> bytes:
        """At most `limit` bytes from the start of a file."""
        descriptor = self.open_file(path, dir_fd, follow=follow)
        try:
            return os.read(descriptor, limit)
        finally:
            os.close(descriptor)

    def _open(self, path: str, flags: int, dir_fd: int | None) -> int:
        try:
            return os.open(path, flags | NO_ATIME, dir_fd=dir_fd)
        except PermissionError:
            descriptor = os.open(path, flags, dir_fd=dir_fd)
            self.atime_fallbacks += 1
            return descriptor
