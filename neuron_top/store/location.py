"""Where recordings are kept: this machine's own file, or a database of many nodes; both open in the same way."""

from __future__ import annotations

from pathlib import Path

import msgspec

from neuron_top.database_address import masked
from neuron_top.errors import NeuronTopError, NothingToShow, UsageError
from neuron_top.settings import Settings
from neuron_top.store.protocol import Store
from neuron_top.store.sqlite import FILE_NAME, SqliteStore


class StoreLocation(msgspec.Struct, frozen=True):
    """One place where recordings are kept."""

    path: Path
    """This machine's file; the files of its recordings lie beside it."""
    address: str = ""
    """Address of a database; empty if the file is the store."""
    insecure: bool = False
    """See the setting `store_insecure`."""

    def __str__(self) -> str:
        """The location for a person to read, without a password."""
        return masked(self.address) if self.address else str(self.path.parent)

    __repr__ = __str__

    @property
    def exists(self) -> bool:
        """Whether there is anything to open; always True where only opening it would tell: for a database, and for a
        file that this user may not look for."""
        try:
            return bool(self.address) or self.path.exists()
        except PermissionError:
            return True

    def nothing_recorded(self, begin: str = "", end: str = "") -> NeuronTopError:
        """Why there is nothing to open: a file stands where the folder should be, or nothing was recorded yet.

        `begin` and `end` enclose the latter.
        """
        if not self.address:
            above = next(folder for folder in self.path.parents if folder.exists())
            if not above.is_dir():
                return UsageError(
                    f"{above} is a file, so no recordings can be there; set state_dir (NEURONTOP_STATE_DIR) to a folder"
                )
        return NothingToShow(f"{begin}nothing was recorded yet in {self}{end}")

    def open(self, *, read_only: bool = True) -> Store:
        """Open the store. Raises StoreUnusable."""
        if not self.address:
            return SqliteStore(self.path, read_only=read_only)
        from neuron_top.store.postgres.recordings import PostgresStore  # psycopg is loaded where it is used

        return PostgresStore(self.address, insecure=self.insecure)


def location_of(settings: Settings) -> StoreLocation:
    """The location of recordings by these settings."""
    return StoreLocation(settings.state_path / FILE_NAME, settings.store, settings.store_insecure)
