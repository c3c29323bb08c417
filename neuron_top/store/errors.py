"""The exceptions of the store; their texts are sentences for the user."""

from __future__ import annotations

from neuron_top.errors import NeuronTopError


class StoreUnusable(NeuronTopError):
    """The store cannot be opened, read or written."""


class StoreMissing(StoreUnusable):
    """There is no store to read yet."""

    exit_code = 3


class StoreCorrupt(StoreUnusable):
    """The file, or a part of it, is broken. A writer moves a broken file aside, so that a new one can be made."""


class StoreNewer(StoreUnusable):
    """A newer version of the program wrote the file; it is not changed."""


class StoreFull(StoreUnusable):
    """No space is left on the store's disk."""


class StoreBusy(StoreUnusable):
    """Another process holds the store for too long."""


class StoreUnreachable(StoreUnusable):
    """The database does not answer now; writes have to wait."""


class StoreNotAllowed(StoreUnusable):
    """The database refuses the operation for this login."""


class StoreRefused(StoreUnusable):
    """The database does not take this value, but takes others."""


class NodeNameTaken(StoreUnusable):
    """Another machine ships under this node name."""

    exit_code = 4


class LeaseExpired(StoreUnusable):
    """The lease ran out and somebody else has the key."""
