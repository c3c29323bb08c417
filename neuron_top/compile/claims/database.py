"""Claims in the fleet's PostgreSQL: a row per key, its lease by the database's clock."""

from __future__ import annotations

import uuid

from neuron_top.compile.claims.claim import Claimed, ClaimsUnreachable
from neuron_top.errors import NeuronTopError
from neuron_top.identity import node_name
from neuron_top.store.errors import LeaseExpired
from neuron_top.store.fleet_records import Claim
from neuron_top.store.postgres.claims import KeyClaims
from neuron_top.store.postgres.connection import Database

_PATIENCE = 30.0
"""Seconds until a database that does not answer is given up: a job is waiting to compile."""


class DatabaseClaims:
    """See Claims. It connects when it is first asked."""

    def __init__(self, address: str, *, insecure: bool = False) -> None:
        """Raises UsageError, RefusedForSafety for an address that must not be used."""
        self._database = Database(address, insecure=insecure, patience=_PATIENCE)
        self._claims = KeyClaims(self._database)
        self._node, self._holder = node_name().value, uuid.uuid4().hex
        self._held: dict[str, Claim] = {}

    @property
    def place(self) -> str:
        """See Claims."""
        return self._database.place

    def claim(self, key: str, lease: float) -> Claimed:
        """See Claims."""
        try:
            found = self._claims.claim(key, self._node, lease, self._holder)
        except NeuronTopError as problem:
            raise ClaimsUnreachable(str(problem)) from problem
        if found.mine:
            self._held[key] = found
            return Claimed(mine=True, taken_from=found.taken_from)
        return Claimed(mine=False, node=found.node, seconds_left=found.seconds_left)

    def renew(self, key: str, lease: float) -> bool:
        """See Claims."""
        try:
            self._held[key] = self._claims.renew(self._held[key], lease)
        except LeaseExpired:
            return False
        except NeuronTopError as problem:
            raise ClaimsUnreachable(str(problem)) from problem
        return True

    def release(self, key: str) -> None:
        """See Claims."""
        held = self._held.pop(key, None)
        try:
            if held is not None:
                self._claims.release(held)
        except NeuronTopError as problem:
            raise ClaimsUnreachable(str(problem)) from problem

    def rest(self) -> None:
        """See Claims. Thousands of nodes miss once an hour; each would keep a connection open."""
        if not self._held:
            self._database.close()
