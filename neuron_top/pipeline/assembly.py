"""Which sources a live view has: those of this machine, and those for the paths a person named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from neuron_top.errors import NothingToShow
from neuron_top.pipeline.caches import WatchedCache, caches_of_job, caches_of_machine, is_cache_root
from neuron_top.pipeline.discover import Discovery, Unless
from neuron_top.pipeline.lines import LogBook
from neuron_top.pipeline.live import LiveFeed
from neuron_top.pipeline.sources import LogFiles, StandardInput, TelemetryLog
from neuron_top.runtime.source import Source
from neuron_top.runtime.sources import telemetry_sources
from neuron_top.settings import Settings

STANDARD_INPUT = "-"
_LOG_SUFFIXES = frozenset((".log", ".txt", ".out", ".err", ".stdout", ".stderr"))
_DEEPEST = 4
_MOST_LOGS = 500


def job_sources(settings: Settings, environ: Mapping[str, str]) -> Sequence[Source]:
    """What to watch beside a job: the devices (absent ones say so once and cost nothing more) and its cache."""
    return [*telemetry_sources(settings), *caches_of_job(environ, settings)]


def machine_feed(settings: Settings) -> LiveFeed:
    """Whatever runs here: jobs as they come and go, and the devices."""
    book = LogBook()
    jobs = Discovery(settings, book)
    machine = [Unless(source, jobs) for source in (*telemetry_sources(settings), *caches_of_machine(settings))]
    return LiveFeed([jobs, *machine], book=book, history_seconds=settings.history_seconds)


def paths_feed(settings: Settings, paths: Sequence[str]) -> LiveFeed:
    """Logs, folders of logs, compile caches, telemetry files and `-`. A path that does not exist yet is waited for.

    Raises NothingToShow for one whose folder does not exist either.
    """
    book = LogBook()
    sources: list[Source] = []
    named = [Path(path) for path in paths if path != STANDARD_INPUT and not _is_telemetry(path)]
    roots = [path for path in named if is_cache_root(path)]
    logs = [path for path in named if path not in roots]
    for path in logs:
        if not path.exists() and not path.absolute().parent.is_dir():
            raise NothingToShow(f"{path}: neither the file nor its folder exists")
    if STANDARD_INPUT in paths:
        sources.append(StandardInput(book))
    if logs:
        sources.append(LogFiles(lambda: _expanded(logs), book))
    sources += [WatchedCache(str(root), settings.state_path) for root in roots]
    sources += [TelemetryLog(Path(path)) for path in paths if _is_telemetry(path)]
    return LiveFeed(sources, book=book, history_seconds=settings.history_seconds)


def _is_telemetry(path: str) -> bool:
    return path.endswith((".jsonl", ".ndjson"))


def _expanded(paths: Sequence[Path]) -> Iterator[Path]:
    """Files as they are; of folders the logs in them, as they are now."""
    for path in paths:
        if path.is_dir():
            yield from _logs_below(path)
        else:
            yield path


def _logs_below(folder: Path) -> Iterator[Path]:
    """Logs of a folder and of those below it (torchrun writes `<attempt>/<rank>/stdout.log`), at most 500."""
    count = 0
    for place, folders, names in os.walk(folder):
        here = Path(place)
        if len(here.relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
        folders[:] = sorted(name for name in folders if not name.startswith((".", "MODULE_")))
        for name in sorted(names):
            if Path(name).suffix in _LOG_SUFFIXES and count < _MOST_LOGS:
                count += 1
                yield here / name
