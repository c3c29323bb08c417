"""Who compiles a key: rows with a lease, by the database's clock."""

from __future__ import annotations

import msgspec
from psycopg.rows import dict_row

from neuron_top.store.errors import LeaseExpired
from neuron_top.store.fleet_records import Claim
from neuron_top.store.postgres.connection import Database, Opened

_IN_SECONDS = "clock_timestamp() + make_interval(secs => %s)"
_COLUMNS = (
    "key, node, holder, extract(epoch FROM until)::float8 AS until, "
    "extract(epoch FROM until - clock_timestamp())::float8 AS seconds_left, false AS mine"
)


class KeyClaims:
    """The claims of a fleet's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, key: str, node: str, lease: float, holder: str = "") -> Claim:
        """Take a key for `lease` seconds if it is free, its lease ran out, or it is ours already; see `Claim.mine`.

        `holder` names a process of the node: two of one node are distinguished by it.
        """
        with self._database.transaction() as connection:
            # The lock puts simultaneous requests in order; a row that somebody else holds must not be written to find
            # out.
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 7))", (key,))
            before = _claim_row(connection, key)
            if before is None:
                connection.execute(
                    f"INSERT INTO neurontop.claims (key, node, holder, until) VALUES (%s, %s, %s, {_IN_SECONDS})",
                    (key, node, holder, lease),
                )
                return self._claimed(connection, key)
            ours = (before.node, before.holder) == (node, holder)
            if not ours and before.seconds_left > 0:
                return before
            connection.execute(
                "UPDATE neurontop.claims SET node = %s, holder = %s, taken = CASE WHEN %s THEN taken ELSE "
                f"clock_timestamp() END, until = {_IN_SECONDS} WHERE key = %s",
                (node, holder, ours, lease, key),
            )
            return self._claimed(connection, key, taken_from="" if ours else before.node)

    def renew(self, claim: Claim, lease: float) -> Claim:
        """Extend the lease of a key. Raises LeaseExpired if it ran out and was taken over, or was released."""
        with self._database.transaction() as connection:
            done = connection.execute(
                f"UPDATE neurontop.claims SET until = {_IN_SECONDS} WHERE key = %s AND node = %s AND holder = %s",
                (lease, claim.key, claim.node, claim.holder),
            ).rowcount
            if not done:
                raise LeaseExpired(f"{claim.key} is not claimed by {claim.node} any more: its lease ran out")
            return self._claimed(connection, claim.key)

    def release(self, claim: Claim) -> bool:
        """Give a key back; False if it was not held any more."""
        with self._database.connection() as connection:
            deleted = connection.execute(
                "DELETE FROM neurontop.claims WHERE key = %s AND node = %s AND holder = %s",
                (claim.key, claim.node, claim.holder),
            )
        return deleted.rowcount > 0

    def _claimed(self, connection: Opened, key: str, *, taken_from: str = "") -> Claim:
        """The claim that this process has just taken or extended."""
        found = _claim_row(connection, key)
        if found is None:
            raise LeaseExpired(f"{self._database.place}: the claim of {key} is gone")
        return msgspec.structs.replace(found, mine=True, taken_from=taken_from)


def _claim_row(connection: Opened, key: str) -> Claim | None:
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(
            f"SELECT {_COLUMNS} FROM neurontop.claims WHERE key = %s",
            (key,),
        ).fetchone()
    return msgspec.convert(row, Claim) if row is not None else None
