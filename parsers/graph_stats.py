"""TorchNeuron's table of graphs → events: the only record of compile times per graph in native mode.

`metric_table_graph_stats_rank<N>.csv` is written when a process ends, with
TORCH_NEURONX_ENABLED_METRIC_TABLES=graph_stats, into TORCH_NEURONX_METRICS_DIR (/tmp where that is not set). It has one
row per graph, with times in microseconds; a compile time of 0 means that this process did not compile the graph.
Columns are found by their names; others are ignored.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.events import AnyEvent, GraphMeasured, LineMalformed
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.base import clip
from neuron_top.parsers.lines import LINE_LIMIT, LineSplitter

FAMILY = "graph table"
FILE = late_pattern(r"metric_table_graph_stats_rank(\d{1,6})\.csv\Z")
_GRAPH, _COMPILE = "graph_id", "torch_neuronx_compile_us"
_STAMP = late_pattern(r"(\d{8})_(\d{6})_(\d{1,6})\Z")
_MOST = 1e15
"""Microseconds: more than any run lasts."""


def is_graph_table(first: bytes) -> bool:
    """Whether a file begins as the table does."""
    header = first[:4096].partition(b"\n")[0].decode("utf-8", "replace").lstrip("\ufeff").strip()
    columns = {name.strip().strip('"') for name in header.split(",")}
    return {_GRAPH, _COMPILE} <= columns


class GraphTableReader:
    """Reads one table, in any portions."""

    def __init__(self, source: str, rank: int | None = None) -> None:
        self.source, self._rank = source, rank
        self._lines = LineSplitter()
        self._columns: list[str] = []
        self._offset = 0

    @classmethod
    def of_file(cls, path: str) -> GraphTableReader:
        """A reader for the table at `path`, whose name holds the rank."""
        found = FILE.search(path)
        return cls(f"graphs:{path}", int(found[1]) if found else None)

    def feed(self, data: bytes) -> list[AnyEvent]:
        """The events of the rows that these bytes complete. Never raises."""
        block = self._lines.take(data)
        return self._read(block) if block else []

    def flush(self) -> list[AnyEvent]:
        """The event of the row after the last line end."""
        return self._read(self._lines.rest())

    def _read(self, block: bytes) -> list[AnyEvent]:
        events = []
        for raw in _rows(block):
            event = self._row(raw.decode("utf-8", "replace"))
            if event is not None:
                events.append(event)
            self._offset += len(raw)
        return events

    def _row(self, text: str) -> AnyEvent | None:
        if not text.strip():
            return None
        try:
            (cells,) = csv.reader([text.rstrip("\r\n").replace("\0", "")])
        except (csv.Error, ValueError) as problem:
            return self._malformed(text, str(problem))
        if not self._columns:
            self._columns = [name.strip().lstrip("\ufeff") for name in cells]
            return None
        row = dict(zip(self._columns, cells, strict=False))
        graph, seconds = row.get(_GRAPH, "").strip(), _seconds(row.get(_COMPILE))
        if not graph or seconds is None:
            return self._malformed(text, "no graph, or no compile time")
        return GraphMeasured(
            at=_moment(row.get("timestamp", "")),
            source=self.source,
            offset=self._offset,
            rank=self._rank,
            module=clip(graph),
            name=clip(row.get("graph_name", "")),
            model=clip(row.get("model_name", "")),
            operators=_count(row.get("graph_node_count")),
            collectives={"true": True, "false": False}.get(row.get("has_collectives", "").strip().lower()),
            pass_seconds=_seconds(row.get("torch_neuronx_fx_passes_us")),
            lower_seconds=_seconds(row.get("torch_neuronx_lower_us")),
            compile_seconds=seconds,
        )

    def _malformed(self, text: str, reason: str) -> LineMalformed:
        return LineMalformed(
            source=self.source,
            offset=self._offset,
            rank=self._rank,
            family=FAMILY,
            text=clip(text),
            reason=clip(reason),
        )


def _rows(block: bytes) -> Iterator[bytes]:
    """The rows of a block. A line that is too long is cut where the splitter cuts one whose end has not come."""
    begin = 0
    while begin < len(block):
        end = block.find(b"\n", begin) + 1 or len(block)
        for start in range(begin, end, LINE_LIMIT):
            yield from block[start : min(start + LINE_LIMIT, end)].splitlines(keepends=True)
        begin = end


def _seconds(cell: str | None) -> float | None:
    """Microseconds in text → seconds; None for anything else."""
    try:
        value = float((cell or "").strip())
    except ValueError:
        return None
    return value / 1e6 if 0 <= value <= _MOST else None


def _count(cell: str | None) -> int | None:
    text = (cell or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _moment(text: str) -> float | None:
    """`20260721_073916_015253` → seconds; like all clocks in logs it has no zone, and is read as UTC."""
    found = _STAMP.match(text.strip())
    if found is None:
        return None
    try:
        whole = datetime.strptime(found[1] + found[2], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    moment = round(whole.timestamp() + int(found[3].ljust(6, "0")) / 1e6, 6)
    return moment if is_in_calendar(moment) else None
