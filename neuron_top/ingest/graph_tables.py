"""TorchNeuron's tables of compile times: those that lie beside a job's logs, and those of its metrics folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from neuron_top.events import AnyEvent
from neuron_top.parsers.graph_stats import FILE, GraphTableReader, is_graph_table
from neuron_top.parsers.reader import LogReader
from neuron_top.plain_files import is_file, last_change, open_plain
from neuron_top.telemetry.source import Emit

ENABLED, FOLDER = "TORCH_NEURONX_ENABLED_METRIC_TABLES", "TORCH_NEURONX_METRICS_DIR"
_DEFAULT_FOLDER = "/tmp"  # noqa: S108 (TorchNeuron's default)
_LOOK_SECONDS = 2.0
_HEAD_BYTES = 1 << 18
_ZONES = 14 * 3600.0
"""Seconds by which a log's timestamps may be off, since they have no time zone."""
_MOST_BYTES = 64 << 20
_MOST_TABLES = 4096


def beside(log: str | Path) -> list[Path]:
    """The tables in a log's folder, by rank, without those written before the log began: they are another run's."""
    path = Path(log)
    found = tables_in(path.parent) if is_file(path) and not is_table_name(path.name) else []
    began = _began(path) if found else None
    return [table for table in found if began is None or (last_change(table) or 0.0) >= began - _ZONES]


def is_table_name(name: str) -> bool:
    """Whether a file is called as TorchNeuron calls a table."""
    return FILE.search(name) is not None


def tables_in(folder: Path) -> list[Path]:
    """The tables in a folder, by rank."""
    try:
        ranked = [(int(match[1]), path) for path in folder.iterdir() if (match := FILE.match(path.name))]
    except OSError:
        return []
    return [path for _, path in sorted(ranked)[:_MOST_TABLES]]


def metrics_folder(environ: Mapping[str, str]) -> Path | None:
    """Where a job with this environment writes its tables; None where it writes none."""
    return Path(environ.get(FOLDER) or _DEFAULT_FOLDER) if environ.get(ENABLED) else None


def read_table(path: Path) -> list[AnyEvent]:
    """The events of a table; none where it cannot be read or is none."""
    try:
        with open(open_plain(str(path)), "rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return []
    if not is_graph_table(data):
        return []
    reader = GraphTableReader.of_file(str(path))
    return [*reader.feed(data), *reader.flush()]


def remark(table: Path) -> str:
    """A remark for the user that a table was read although it was not named."""
    return f"neurontop: {table} is read too: compile times of the job's graphs"


class GraphTables:
    """A source: reads tables as they appear. A process writes its table whole when it ends."""

    name = "graph tables"

    def __init__(self, find: Callable[[], Iterable[Path]], *, since: float = 0.0) -> None:
        """`find` is called again and again; tables last changed before `since` (seconds of the epoch) are ignored."""
        self._find, self._since = find, since
        self._seen: dict[Path, tuple[float, int]] = {}
        self._emitted: dict[Path, int] = {}
        self._stopped = threading.Event()

    def start(self, emit: Emit) -> None:
        """Look until stopped, and once more after that: the tables are written at the end of a job."""
        while True:
            last = self._stopped.is_set()
            self._look(emit)
            if last:
                return
            self._stopped.wait(_LOOK_SECONDS)

    def stop(self) -> None:
        """Read what is there, then end."""
        self._stopped.set()

    def _look(self, emit: Emit) -> None:
        for path in self._find():
            try:
                facts = path.stat()
            except OSError:
                continue
            state = facts.st_mtime, facts.st_size
            if facts.st_mtime < self._since or self._seen.get(path) == state:
                continue
            self._seen[path] = state
            events = read_table(path)
            for event in events[self._emitted.get(path, 0) :]:
                emit(event)
            self._emitted[path] = max(len(events), self._emitted.get(path, 0))


def _began(log: Path) -> float | None:
    """The earliest timestamp at the beginning of a log; None where there is none."""
    try:
        with open(open_plain(str(log)), "rb") as file:
            data = file.read(_HEAD_BYTES)
    except OSError:
        return None
    stamps = [event.at for event in LogReader("").feed(data) if event.at is not None]
    return min(stamps, default=None)
