"""Makes feeds (runs that keep changing): of this machine, of named logs, of a recording; and reads lines of logs.

Light to import, because every screen uses its types: code that makes feeds is imported only when it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from neuron_top.cache.location import is_bucket
from neuron_top.errors import UsageError
from neuron_top.events.levels import LineLevel
from neuron_top.events.log_sources import PIPE_SOURCE, path_of
from neuron_top.ingest.feed import EndingFeed, Feed
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.run.estimate import Estimator
from neuron_top.run.model import Run
from neuron_top.settings import Settings

__all__ = [
    "Feed",
    "EndingFeed",
    "LineLevel",
    "LogChain",
    "LogLine",
    "LogPage",
    "LogQuery",
    "Run",
    "bucket_paths",
    "cache_roots",
    "estimator",
    "import_log_reader",
    "job_feed",
    "live_feed",
    "paused",
    "searched_places",
    "source_name",
]


def live_feed(
    settings: Settings, paths: Sequence[str] = (), piped: int | None = None, *, stays: bool = False
) -> EndingFeed:
    """The feed of these logs, folders, caches and telemetry files; without any, of this machine.

    `stays`: of this machine, with the first job that is recorded here; a screen offers others.

    `piped`: a descriptor to read `-` from, for a screen that scrolls back through it. Buckets among the paths have no
    events of their own: a screen lists them, beside what runs here. Raises NothingToShow for a path that cannot exist.
    """
    from neuron_top.ingest import assembly

    watched = [path for path in paths if not is_bucket(path)]
    return assembly.paths_feed(settings, watched, piped) if watched else assembly.machine_feed(settings, stays=stays)


def paused(feed: Feed) -> Feed:
    """A snapshot of `feed`, which does not change while `feed` goes on."""
    from neuron_top.ingest.paused_feed import PausedFeed

    return PausedFeed(feed)


def job_feed(settings: Settings, job: str) -> EndingFeed:
    """The feed of a job over all its nodes, from the fleet's database.

    Raises UsageError without a database, NothingToShow for a job that is not there, StoreUnusable.
    """
    if not settings.store:
        raise UsageError(f"--job {job}: name the database of the fleet with --store or NEURONTOP_STORE")
    from neuron_top.ingest import fleet_job_feed

    return fleet_job_feed.job_feed(settings, job)


def bucket_paths(paths: Sequence[str]) -> list[str]:
    """The paths that are caches in S3: `s3://bucket/prefix`."""
    return [path for path in paths if is_bucket(path)]


def cache_roots(paths: Sequence[str]) -> list[str]:
    """The paths that are compile caches, as absolute paths; buckets (`s3://bucket/prefix`) always count."""
    from neuron_top.ingest import assembly

    return [
        path if is_bucket(path) else str(Path(path).resolve())
        for path in paths
        if is_bucket(path) or assembly.is_cache_root(Path(path))
    ]


def searched_places(settings: Settings) -> str:
    """What was searched on this machine when no job was found, and what to do next."""
    from neuron_top.ingest.discover import looked_for

    return looked_for(settings)


def source_name(source: str) -> str:
    """The name of a source of log lines for a person: standard input, or the name of a file."""
    return "standard input" if source == PIPE_SOURCE else path_of(source).rpartition("/")[2]


def import_log_reader() -> None:
    """Import the reader of log files, so that no key press has to wait for that."""
    from neuron_top.ingest import log_files  # noqa: F401


def estimator(settings: Settings) -> Estimator:
    """The estimator of running compiles by past ones; without a readable store it knows nothing. Reads disks."""
    from neuron_top.ingest import run_loader

    return run_loader.estimator(settings)
