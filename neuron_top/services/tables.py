"""Makes tables of runs, caches and fleets, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.ingest import run_loader
from neuron_top.run.model import Run
from neuron_top.services.cache_reader import CacheReader
from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import NodeKey
from neuron_top.views.entries import EntryRow, entry_row
from neuron_top.views.fleet import FleetPage
from neuron_top.views.tables import EventTables

__all__ = ["NodeKey", "cache_entries", "end_of", "fleet_now", "load_job", "load_run"]


def load_run(names: Sequence[str], settings: Settings) -> tuple[Run, EventTables]:
    """Load the named run (log files of one run, or one recording), and single events for the tables.

    Raises NothingToShow, UsageError, StoreUnusable.
    """
    run, tables = _empty(settings)
    run_loader.load(names, settings, into=run)
    return run, tables


def load_job(job: str, settings: Settings) -> tuple[Run, EventTables]:
    """The same for a job over all its nodes, from the fleet's database.

    Raises NothingToShow, UsageError where the settings name no database, StoreUnusable.
    """
    run, tables = _empty(settings)
    with FleetService(settings) as fleet:
        return fleet.merged_run(job, into=run), tables


def _empty(settings: Settings) -> tuple[Run, EventTables]:
    tables = EventTables()
    run = Run(settings.history_seconds, lambda event: tables.add(event, extracting=run.queue.trial_running))
    return run, tables


def fleet_now(settings: Settings) -> tuple[FleetPage, list[NodeKey]]:
    """Jobs, nodes, and the entries in each node's caches. Raises as `load_job` does."""
    with FleetService(settings) as fleet:
        return fleet.page(), fleet.keys()


def cache_entries(root: str | None, settings: Settings) -> tuple[str, list[EntryRow]]:
    """The root that is meant (a folder or a bucket; by default the one in force) and its entries.

    Raises NothingToShow for one that is gone, UsageError for no cache's name.
    """
    reader = CacheReader(settings)
    resolved = reader.resolve(root)
    snapshot = reader.snapshot(resolved)
    past = reader.usage_history(resolved)
    return resolved, [entry_row(resolved, entry, snapshot.taken_at, past) for entry in snapshot.entries]


end_of = run_loader.end_of
