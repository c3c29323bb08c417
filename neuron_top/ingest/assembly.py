"""Chooses the sources of a live view: those of this machine, and those for the paths that a person named.

Everything slow to import is imported when a feed makes its sources, which is after the first frame.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_top.errors import NothingToShow, UsageError
from neuron_top.ingest.live import EventSink, LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.plain_files import is_file, is_folder, last_change
from neuron_top.settings import Settings
from neuron_top.telemetry.source import TelemetrySource

if TYPE_CHECKING:
    from neuron_top.ingest.job_groups import LogHead

STANDARD_INPUT = "-"
_LOG_SUFFIXES = frozenset((".log", ".txt", ".out", ".err", ".stdout", ".stderr"))
_CAPTURE_START = 64 * 1024
"""Bytes of a file that show whether it is a capture of telemetry."""
_CAPTURE_MARKS = (b'"neuron_runtime_data"', b'"neuron_hardware_info"', b'"system_data"')
_MARKS_INSIDE = (b"neuron_runtime_data", b"neuron_hardware_info", b"system_data", b'"neuron_device"')
"""The same within the JSON of a log service, or of neuron-ls: with these, a file in JSON lines is a capture."""
_DEEPEST = 4
_MOST_LOGS = 500
"""How many logs of a folder are read."""


def job_sources(settings: Settings, environ: Mapping[str, str]) -> Sequence[TelemetrySource]:
    """What to watch beside a job: the devices (a missing one is reported once and costs nothing more) and its cache."""
    from neuron_top.ingest.caches import caches_of_job
    from neuron_top.telemetry.sources import telemetry_sources

    return [*telemetry_sources(settings), *caches_of_job(environ, settings)]


def machine_feed(settings: Settings, *, stays: bool = False) -> LiveFeed:
    """A feed of whatever runs here: jobs as they come and go, and the devices. `stays`: only the first recorded job."""
    buffer = LogBuffer()
    later = partial(_sources_of_machine, settings, buffer, stays=stays)
    return LiveFeed((), later=later, buffer=buffer, history_seconds=settings.history_seconds)


def node_feed(settings: Settings, paths: Sequence[str], node: str, sink: EventSink) -> LiveFeed:
    """The feed of an agent: all that runs on this machine, and these logs, folders and caches; `sink` keeps its events.

    Raises NothingToShow as `paths_feed` does.
    """
    _check_places(paths)
    buffer = LogBuffer()

    def sources() -> Iterator[TelemetrySource]:
        yield from _sources_of_machine(settings, buffer, finds_logs=False)
        yield from _sources_of_paths(settings, buffer, paths, None)

    return LiveFeed(
        (), later=sources, buffer=buffer, sink=lambda: sink, history_seconds=settings.history_seconds, node=node
    )


def _sources_of_machine(
    settings: Settings, buffer: LogBuffer, *, stays: bool = False, finds_logs: bool = True
) -> Iterator[TelemetrySource]:
    from neuron_top.ingest.discover import Discovery, GatedSource
    from neuron_top.ingest.found_logs import FoundLogs

    logs = FoundLogs(buffer) if finds_logs else None
    jobs = Discovery(settings, buffer, stays=stays, logs=logs)
    yield jobs
    from neuron_top.ingest.caches import caches_of_machine
    from neuron_top.telemetry.sources import telemetry_sources

    for source in (*telemetry_sources(settings), *caches_of_machine(settings)):
        yield GatedSource(source, jobs)
    if logs is not None:
        jobs.wait_for_look()
        yield GatedSource(logs, jobs)


def paths_feed(settings: Settings, paths: Sequence[str], piped: int | None = None) -> LiveFeed:
    """A feed of logs, folders of logs, compile caches, telemetry files and `-`. It waits for paths that do not exist.

    `piped`: the descriptor from which a screen reads `-`, and scrolls back through it; None: standard input, read once.

    Raises NothingToShow for a path whose folder does not exist either.
    """
    _check_places(paths)
    buffer = LogBuffer()
    later = partial(_sources_of_paths, settings, buffer, paths, piped)
    if len(paths) > 1 or any(Path(path).is_dir() for path in paths):
        from neuron_top.ingest.job_groups import JobGroups
        from neuron_top.ingest.jobs_feed import JobsFeed

        options = {"later": later, "buffer": buffer, "history_seconds": settings.history_seconds}
        return JobsFeed(JobGroups(_head), **options)
    return LiveFeed((), later=later, buffer=buffer, history_seconds=settings.history_seconds)


def _head(path: str) -> LogHead:
    """What the first lines of a log report; an empty head for a log that cannot be read from its beginning."""
    from neuron_top.ingest.job_groups import HEAD_BYTES, LogHead, head_of
    from neuron_top.processes.log_input import has_compressed_data, portions, quiet

    try:
        if path == STANDARD_INPUT or not Path(path).is_file():
            return LogHead()
        if has_compressed_data(path):
            return head_of(next(portions(path, quiet), b"")[:HEAD_BYTES])
        with open(path, "rb") as file:
            return head_of(file.read(HEAD_BYTES))
    except (OSError, UsageError):
        return LogHead()


def _check_places(paths: Sequence[str]) -> None:
    for path in (Path(path) for path in paths if path != STANDARD_INPUT):
        if not path.exists() and not path.absolute().parent.is_dir():
            raise NothingToShow(f"{path}: neither the file nor its folder exists")


def _sources_of_paths(
    settings: Settings, buffer: LogBuffer, paths: Sequence[str], piped: int | None
) -> Iterator[TelemetrySource]:
    from neuron_top.ingest import graph_tables
    from neuron_top.ingest.followed_logs import LogFiles
    from neuron_top.ingest.standard_input import StandardInput
    from neuron_top.ingest.telemetry_log import TelemetryLog

    captures = [path for path in paths if path != STANDARD_INPUT and _is_telemetry(path)]
    named = [Path(path) for path in paths if path != STANDARD_INPUT and path not in captures]
    roots = [path for path in named if is_cache_root(path)]
    tables = [path for path in named if graph_tables.is_table_name(path.name)]
    logs = [path for path in named if path not in roots and path not in tables]
    expanded = _Logs(logs)
    if STANDARD_INPUT in paths:
        yield StandardInput(buffer, piped or 0, kept=piped is not None)
    if logs:
        yield LogFiles(expanded, buffer, left_out=lambda: expanded.left_out, without_logs=lambda: expanded.without_logs)
    if logs or tables:
        beside = partial(_tables, expanded, tables, graph_tables.beside)
        yield graph_tables.GraphTables(beside)
    for path in captures:
        yield TelemetryLog(Path(path))
    if roots:
        from neuron_top.ingest.caches import WatchedCache

        yield from (WatchedCache(str(root), settings.state_path) for root in roots)


def _tables(
    logs: Callable[[], Sequence[Path]], named: Sequence[Path], beside: Callable[[Path], list[Path]]
) -> list[Path]:
    """Tables of compile times: those that a person named, and those beside the logs."""
    folders = {path.parent: path for path in reversed(logs())}
    return list(dict.fromkeys([*named, *(table for log in folders.values() for table in beside(log))]))


def is_cache_root(path: Path) -> bool:
    """Whether a folder is a compile cache: it holds compiler folders with entries, or entries and no logs."""
    from neuron_top.cache.model.entry import MODULE

    try:
        inner = [entry for entry in path.iterdir() if entry.is_dir()][:50]
        if any(MODULE.match(folder.name) for folder in inner) and not any(_logs_below(path)):
            return True
        return any(entry.name.startswith("MODULE_") for folder in inner for entry in folder.iterdir())
    except OSError:
        return False


def _is_telemetry(path: str) -> bool:
    """Whether a path is a capture of neuron-monitor, by how its content begins; by its name while it has none."""
    has_name = path.endswith((".jsonl", ".ndjson"))
    try:
        if not Path(path).is_file():  # a pipe would be read empty
            return has_name
        with open(path, "rb") as file:
            start = file.read(_CAPTURE_START).lstrip()
    except OSError:
        return has_name
    if has_name:  # jobs log in JSON lines, too
        return not start or any(mark in start for mark in _MARKS_INSIDE)
    return start.startswith(b"{") and any(mark in start for mark in _CAPTURE_MARKS)


class _Logs:
    """The logs that a person named, and for each folder the logs that are in it now, at most _MOST_LOGS."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._folders: set[Path] = set()
        """Folders are remembered: one that cannot be read for a while must not be taken for a log."""
        self.left_out: Sequence[Path] = ()
        """Further logs in the folders, as of the last look."""
        self.without_logs: Mapping[Path, OSError | None] = {}
        """Folders in which there was none, as of the last look; with the reason why one cannot be read."""

    def __call__(self) -> list[Path]:
        """Look for them."""
        found, left_out, without_logs = list[Path](), list[Path](), dict[Path, OSError | None]()
        for path in self._paths:
            if is_folder(path) or (path in self._folders and not is_file(path)):
                self._folders.add(path)
                below = list(_logs_below(path))
                found += below[:_MOST_LOGS]
                left_out += below[_MOST_LOGS:]
                if not below:
                    without_logs[path] = _problem(path)
            else:
                found.append(path)
        self.left_out, self.without_logs = left_out, without_logs
        return found


def _problem(folder: Path) -> OSError | None:
    """Why a folder cannot be listed; None if it can."""
    try:
        os.scandir(folder).close()
    except OSError as problem:
        return problem
    return None


def _logs_below(folder: Path) -> Iterator[Path]:
    """Logs in a folder and in those below it (torchrun writes `<attempt>/<rank>/stdout.log`).

    The rotated files of a log come before it, the oldest first, compressed or not.
    """
    from neuron_top.ingest.rotated import log_of

    for place, folders, names in os.walk(folder):
        here = Path(place)
        if len(here.relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
        folders[:] = sorted(name for name in folders if not name.startswith((".", "MODULE_")))
        logs = {name: log_of(name) or name for name in names}
        wanted = [name for name, log in logs.items() if Path(log).suffix in _LOG_SUFFIXES]
        written = {name: last_change(here / name) or 0.0 for name in wanted}
        for name in sorted(wanted, key=lambda name: (logs[name], name == logs[name], written[name], name)):
            yield here / name
