"""Makes the schema, or migrates an older one: forward only, in one transaction; a newer schema is not changed."""

from __future__ import annotations

from importlib.resources import files

import msgspec
from psycopg import errors

from neuron_top.store.errors import StoreNotAllowed
from neuron_top.store.postgres.connection import SCHEMA_VERSION, Database, Opened, newer, schema_version

DAYS_AHEAD = 7
"""For how many days partitions are made in advance."""


class Migrated(msgspec.Struct, frozen=True):
    """Versions of the schema before and after `migrate`; 0 for none."""

    before: int
    after: int


def steps(after: int = 0) -> list[tuple[int, str]]:
    """(number, SQL) of the steps after a version, in order."""
    folder = files("neuron_top.store.postgres.schema")
    named = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    found = [(int(name.partition("-")[0]), folder.joinpath(name).read_text(encoding="utf-8")) for name in named]
    return [(number, text) for number, text in found if number > after]


def script(after: int = 0) -> str:
    """One SQL script that does what `migrate` does to a schema of that version, for people who must review it first."""
    parts = [text for _number, text in steps(after)]
    parts += [f"INSERT INTO neurontop.meta (version) VALUES ({SCHEMA_VERSION});\n"] if parts else []
    return "\n".join(["BEGIN;\n", *parts, f"SELECT neurontop.make_days({DAYS_AHEAD});\nCOMMIT;"])


def migrate(database: Database) -> Migrated:
    """Apply the missing steps, and make the partitions of the next days. Raises StoreNewer, StoreUnusable.

    The database must have been opened with `prepared=False`.
    """
    with database.transaction() as connection:
        try:
            before = _apply(connection, database.place)
        except errors.InsufficientPrivilege as problem:
            raise StoreNotAllowed(
                f"{database.place}: this login cannot make the tables and roles ({problem.diag.message_primary}); run "
                "it as the database's owner with CREATEROLE, or let an administrator run what `--print-sql` prints"
            ) from None
    return Migrated(before=before, after=SCHEMA_VERSION)


def _apply(connection: Opened, place: str) -> int:
    """Apply the missing steps; returns the version that was there before."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('neurontop.migrate', 0))")
    before = schema_version(connection)
    if before > SCHEMA_VERSION:
        raise newer(place, before)
    for _number, text in steps(before):
        connection.execute(text.encode())  # as bytes, which psycopg passes on unchanged
    if before < SCHEMA_VERSION:
        connection.execute("INSERT INTO neurontop.meta (version) VALUES (%s)", (SCHEMA_VERSION,))
    connection.execute("SELECT neurontop.make_days(%s)", (DAYS_AHEAD,))
    return before
