"""A claim, the right to compile a key for as long as its lease is renewed, and the protocol of a place of claims."""

from __future__ import annotations

from typing import Protocol

import msgspec

from neuron_top.errors import NeuronTopError


class ClaimsUnreachable(NeuronTopError):
    """The place of claims does not answer or refuses: a graph is then protected by its lock file alone."""


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a claim: who has the key."""

    mine: bool
    node: str = ""
    """The holder; "" where it is this process."""
    seconds_left: float = 0.0
    taken_from: str = ""
    """The node that lost the key to us because its lease had run out."""


class Claims(Protocol):
    """A place of claims, asked by one holder: this process. Safe to share between threads."""

    @property
    def place(self) -> str:
        """Its address, without a password."""
        ...

    def claim(self, key: str, lease: float) -> Claimed:
        """Take a key that is free, that is ours already, or whose lease ran out. Raises ClaimsUnreachable."""
        ...

    def renew(self, key: str, lease: float) -> bool:
        """Extend the lease of a key; False if somebody else has it by now. Raises ClaimsUnreachable."""
        ...

    def release(self, key: str) -> None:
        """Give a key back; a key that is not ours stays as it is. Raises ClaimsUnreachable."""
        ...

    def rest(self) -> None:
        """No request is expected for a while: close the connection, unless a key is held."""
        ...
