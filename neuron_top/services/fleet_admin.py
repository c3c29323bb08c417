"""Makes, migrates and prunes a fleet's database. Loads psycopg, so front ends import it where they use it."""

from __future__ import annotations

import msgspec

from neuron_top.amounts import parse_bytes, parse_seconds
from neuron_top.database_address import masked
from neuron_top.errors import UsageError
from neuron_top.services.fleet_database import check_named
from neuron_top.settings import Settings
from neuron_top.store.postgres import days, migration
from neuron_top.store.postgres.connection import SCHEMA_VERSION, Database
from neuron_top.store.postgres.days import Day
from neuron_top.store.postgres.migration import Migrated


class Pruning(msgspec.Struct, frozen=True, kw_only=True):
    """The days that a policy would drop, and those that stay."""

    going: list[Day]
    staying: list[Day]

    @property
    def frees(self) -> int:
        """Bytes of the dropped days."""
        return sum(day.bytes for day in self.going)


class FleetAdministration:
    """Operations for the owner of the database."""

    def __init__(self, settings: Settings) -> None:
        """Raises UsageError where no database is named."""
        check_named(settings)
        self.place = masked(settings.store)
        self._settings = settings

    def init(self) -> Migrated:
        """Make the schema, or migrate an older one. Raises StoreNewer, StoreUnusable."""
        with self._database(prepared=False) as database:
            return migration.migrate(database)

    def pruning(self) -> Pruning:
        """What the settings' policy would drop now. Raises StoreUnusable."""
        with self._database() as database:
            found = days.days(database)
            going = days.surplus(found, days.today(database), self._keep_seconds, self._most_bytes)
        return Pruning(going=going, staying=[day for day in found if day not in going])

    def prune(self, pruning: Pruning) -> None:
        """Drop these days. Raises StoreUnusable."""
        with self._database() as database:
            days.drop(database, pruning.going)

    @property
    def _keep_seconds(self) -> float | None:
        return parse_seconds(self._settings.fleet_keep) if self._settings.fleet_keep else None

    @property
    def _most_bytes(self) -> int | None:
        return parse_bytes(self._settings.fleet_max_size) if self._settings.fleet_max_size else None

    def _database(self, *, prepared: bool = True) -> Database:
        return Database(self._settings.store, insecure=self._settings.store_insecure, prepared=prepared)


def sql_script(after: int = 0) -> str:
    """The SQL that `init` would run on a schema of that version; 0: on an empty database. Needs no server.

    Raises UsageError for a version that this program does not know.
    """
    if not 0 <= after <= SCHEMA_VERSION:
        raise UsageError(
            f"there is no schema {after}: this neuron-top knows those from 0 (no tables) to {SCHEMA_VERSION}"
        )
    return migration.script(after)
