"""A claim: the right to compile a key, for as long as its lease is renewed, and what a place of claims can do."""

from __future__ import annotations

from typing import Protocol

import msgspec

from neuron_top.errors import NeuronTopError


class ClaimsUnreachable(NeuronTopError):
    """The place of claims does not answer or refuses: a graph is then protected by its lock file alone."""


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """Who has a key."""

    mine: bool
    node: str = ""
    """Whose it is; where it is ours, "" ."""
    seconds_left: float = 0.0
    taken_from: str = ""
    """The node whose lease had run out and that lost the key to us."""


class Claims(Protocol):
    """A place of claims, asked by one holder: this process. Safe to share between threads."""

    @property
    def place(self) -> str:
        """Its address, without a password."""
        ...

    def claim(self, key: str, lease: float) -> Claimed:
        """Take a key where it is free, its lease ran out, or it is ours. Raises ClaimsUnreachable."""
        ...

    def renew(self, key: str, lease: float) -> bool:
        """Go on holding it; False where it is somebody else's by now. Raises ClaimsUnreachable."""
        ...

    def release(self, key: str) -> None:
        """Give it back; what is not ours stays as it is. Raises ClaimsUnreachable."""
        ...

    def rest(self) -> None:
        """Nothing is asked for a while: no connection is kept for it unless a key is held."""
        ...
