"""A copy on disk of bytes that can be read only once."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path

_DISK = Path("/var/tmp")  # noqa: S108 (a file without a name; /tmp is memory on many machines, and too small)


class PipeCopy:
    """A copy on disk of what came through a pipe, so that it can be read again.

    The file has no name: it is gone when our last descriptor is closed, even if we are killed.
    """

    def __init__(self) -> None:
        """Raises OSError where no file can be made."""
        folder = None if "TMPDIR" in os.environ or not os.access(_DISK, os.W_OK) else _DISK
        file = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 (it lives as long as we do)
        weakref.finalize(self, file.close)
        self._number = file.fileno()
        self.path = f"/proc/self/fd/{self._number}"
        """A path under which this process can open it."""

    def write(self, offset: int, data: bytes) -> None:
        """Write all of `data` at `offset`. If that raises OSError, all space is freed, since a job may need it."""
        try:
            while data:
                count = os.pwrite(self._number, data, offset)
                offset, data = offset + count, data[count:]
        except OSError:
            os.ftruncate(self._number, 0)
            raise
