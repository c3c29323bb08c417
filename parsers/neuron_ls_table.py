"""The tables that `neuron-ls` prints for people, in every form in which they are published.

Rules are ASCII, box drawing or Markdown; the header has one to three lines, or was lost (containers, excerpts); blanks
may have been squeezed by a web page; prompts, notes or log prefixes stand around it. Columns are found by their
titles, and without a header by what their cells look like. Sizes such as `96 GB` are GiB. Source: the telemetry spec,
section 5, and the published tables of SDK 2.5 to 2.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from neuron_top.escapes import visible
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_fields
from neuron_top.parsers.neuron_ls import LsDevice, LsProcess, full_address

LONGEST_LINE = 4096
MOST_LINES = 200_000

_BARS = str.maketrans("│┃║┆┊¦", "||||||")
_INSTANCE = late_pattern(r"\binstance[-_ ]type\s*[:=]\s*([a-z0-9][a-z0-9-]*\.[a-z0-9]+)", re.IGNORECASE)
_LNC = late_pattern(r"\blogical[-_ ]neuroncore[-_ ]config\s*[:=]\s*([1-8])\b", re.IGNORECASE)
_MEMORY = late_pattern(r"(\d{1,6}(?:\.\d+)?)\s*([GMT])i?B", re.IGNORECASE)
_ADDRESS = late_pattern(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_RANGES = late_pattern(r"\d+(?:-\d+)?(?:\s*,\s*\d+(?:-\d+)?)*")
_VERSION = late_pattern(r"NA|\d+\.\d+[\w.+-]*")
_LEFT_OUT = late_pattern(r"\s*[\[(<|]?\s*(?:\.{3,}|…)\s*[\])>|]?\s*")
"""What a person writes in place of rows."""
_UNITS = {"M": 1024**2, "G": 1024**3, "T": 1024**4}
_RULE = frozenset("+-=:|─━═┄┈╌┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╭╮╰╯┏┳┓┣╋┫┗┻┛ ")

_TITLES = {
    "NEURON DEVICE": "device",
    "LOGICAL ID": "device",
    "DEVICE": "device",
    "NEURON CORES": "cores",
    "CORES": "cores",
    "NEURON CORE IDS": "core_ids",
    "CORE IDS": "core_ids",
    "NEURON MEMORY": "memory",
    "MEMORY": "memory",
    "MEMORY CHANNEL 0": "memory",
    "MEMORY CHANNEL 1": "more memory",
    "CONNECTED DEVICES": "connected",
    "CONNECTED": "connected",
    "PCI BDF": "bdf",
    "PCI": "bdf",
    "CPU AFFINITY": "affinity",
    "NUMA NODE": "numa",
    "NUMA": "numa",
    "PID": "pid",
    "RUNTIME PID": "pid",
    "COMMAND": "command",
    "RUNTIME VERSION": "runtime",
    "RUNTIME": "runtime",
}


Devices = tuple[LsDevice, ...]
"""One table: the devices of a machine, or those that a container sees."""


class _Row(NamedTuple):
    cells: dict[str, str]

    @property
    def begins_device(self) -> bool:
        return self.cells.get("device", "").isdecimal()


def read_tables(text: str) -> tuple[Devices, ...]:
    """All tables in a text, in order; none where it holds none. Never raises."""
    return tuple(_tables(text.splitlines()[:MOST_LINES]))


def _tables(lines: Iterable[str]) -> Iterator[Devices]:
    instance, lnc = "", None
    block: list[list[str]] = []
    bare = False
    for line in (*(line[:LONGEST_LINE] for line in lines), ""):
        bare = _is_bare(line) or (bare and bool(block))
        cells = _cells(line, bare=bare)
        if cells is not None:
            block.append(cells)
            continue
        if _is_rule(line) or _LEFT_OUT.fullmatch(line):
            continue
        if block:
            for devices in _table(block, instance, lnc):
                yield devices
                instance, lnc = "", None  # another machine's table may follow without these lines
            block = []
        if found := _INSTANCE.search(line):
            instance, lnc = found[1].lower(), None
        elif found := _LNC.search(line):
            lnc = int(found[1])


def _is_rule(line: str) -> bool:
    """Whether a line only separates rows of a table; prefixes of a log may stand before it."""
    stripped = line.strip()
    tail = stripped.rpartition(" ")[2]
    return len(tail) >= 3 and set(tail) <= _RULE


def _is_bare(line: str) -> bool:
    """Whether a line is the heading of a table whose outer bars were left off."""
    lead, _, rest = line.translate(_BARS).partition("|")
    return (
        bool(rest) and _TITLES.get(" ".join(lead.upper().split())) == "device" and bool(rest.rpartition("|")[2].strip())
    )


def _cells(line: str, *, bare: bool) -> list[str] | None:
    """The cells of a row, which has no outer bars where it is `bare`; None where the line is no row."""
    row = line.translate(_BARS)
    first, last = row.find("|"), row.rfind("|")
    if last <= first:
        return None
    if bare:
        first, last = -1, len(row)
    cells = [visible(cell.strip()) for cell in row[first + 1 : last].split("|")]
    if len(cells) < 3 or all(set(cell) <= _RULE for cell in cells if cell):
        return None
    return cells


def _table(block: list[list[str]], instance: str, lnc: int | None) -> Iterator[Devices]:
    columns, rows = _header(block)
    if columns is None:
        columns = _guessed(rows)
    if columns is None:
        return
    devices: list[LsDevice] = []
    group: list[_Row] = []
    for cells in rows:
        row = _Row(_named(cells, columns))
        if row.begins_device and group:
            devices.append(_device(group, instance, lnc))
            group = []
        if row.begins_device or group:
            group.append(row)
    if group:
        devices.append(_device(group, instance, lnc))
    if devices:
        yield tuple(devices)


def _header(block: list[list[str]]) -> tuple[list[str] | None, list[list[str]]]:
    """The columns by their titles and the rows below; no columns where the header is missing or another table's."""
    height = next((number for number, cells in enumerate(block) if _begins_row(cells[0])), len(block))
    if height == 0:
        return None, block
    titles = [" ".join(" ".join(parts).upper().split()) for parts in zip(*block[:height], strict=False)]
    columns = [_TITLES.get(title, "") for title in titles]
    if "device" not in columns[:2] or not {"cores", "memory"} & set(columns):
        return None, []
    return columns, block[height:]


def _begins_row(cell: str) -> bool:
    """Whether a row of a device, and not one of the header, begins with this cell: its number, in the oldest tables
    its address."""
    return cell.isdecimal() or _ADDRESS.fullmatch(cell) is not None


def _guessed(rows: list[list[str]]) -> list[str] | None:
    """Columns of a table whose header is lost, by its first device; None where it is no table of neuron-ls."""
    cells = next((cells for cells in rows if cells[0].isdecimal()), None)
    if cells is None or len(cells) < 4 or not cells[1].isdecimal():
        return None
    memory = next((number for number, cell in enumerate(cells) if _MEMORY.fullmatch(cell)), None)
    if memory not in (2, 3):
        return None
    columns = ["device", "cores", *(["core_ids"] if memory == 3 else []), "memory"]
    for number in range(memory + 1, len(cells)):
        columns.append(_kind(cells[number], columns))
    return columns


def _kind(cell: str, before: list[str]) -> str:
    """The column that a cell stands in, given those before it."""
    if _ADDRESS.fullmatch(cell):
        return "bdf"
    if "bdf" not in before:
        return "connected" if _RANGES.fullmatch(cell) else ""
    if re.fullmatch(r"\d{3,}", cell):
        return "pid"
    if re.fullmatch(r"-?\d{1,2}", cell):
        return "numa"
    if _RANGES.fullmatch(cell):
        return "affinity"
    return "runtime" if _VERSION.fullmatch(cell) else "command"


def _named(cells: list[str], columns: list[str]) -> dict[str, str]:
    """A row's cells by column; a command that holds a bar itself is put together again."""
    if len(cells) > len(columns) and "command" in columns:
        at, more = columns.index("command"), len(cells) - len(columns)
        cells = [*cells[:at], " | ".join(cells[at : at + more + 1]), *cells[at + more + 1 :]]
    return {column: cell for column, cell in zip(columns, cells, strict=False) if column and cell}


def _device(rows: list[_Row], instance: str, lnc: int | None) -> LsDevice:
    """A device from its row and the rows below it, which hold more processes or the rest of long cells."""
    first = rows[0].cells

    def joined(column: str, separator: str) -> str:
        return separator.join(row.cells[column] for row in rows if column in row.cells)

    return LsDevice(
        index=int(first["device"]) if len(first["device"]) < 5 else 0,
        core_count=_whole(first.get("cores", "")),
        cores=_indexes(joined("core_ids", ",")),
        memory=_memory(first),
        bdf=full_address(first.get("bdf", "")),
        numa_node=_whole(first.get("numa", "")),
        cpu_affinity=joined("affinity", ""),
        connected_to=_indexes(joined("connected", ",")),
        lnc=lnc,
        instance_type=instance,
        processes=tuple(_processes(rows)),
    )


def _processes(rows: list[_Row]) -> Iterator[LsProcess]:
    for row in rows:
        if (pid := json_fields.whole(row.cells.get("pid"), 2**31)) is not None:
            version = row.cells.get("runtime", "")
            yield LsProcess(
                pid=pid, command=row.cells.get("command", ""), runtime_version="" if version == "NA" else version
            )


def _whole(cell: str) -> int | None:
    """A count; `-1` (no NUMA) and everything else is unknown."""
    return int(cell) if cell.isdecimal() and len(cell) < 5 else None


def _memory(cells: dict[str, str]) -> int | None:
    """A device's memory; the oldest tables have a column for each of its two channels."""
    memory, more = _bytes(cells.get("memory", "")), _bytes(cells.get("more memory", ""))
    return memory if memory is None or more is None else memory + more


def _bytes(cell: str) -> int | None:
    found = _MEMORY.fullmatch(cell)
    return round(float(found[1]) * _UNITS[found[2].upper()]) if found else None


def _indexes(cell: str) -> tuple[int, ...]:
    """`0-3`, `12, 3, 4, 1`, `0,1`; what is no list of numbers is unknown."""
    cell = ",".join(part for part in (part.strip() for part in cell.split(",")) if part)
    if not _RANGES.fullmatch(cell):
        return ()
    found: list[int] = []
    for part in cell.split(","):
        first, _, last = part.partition("-")
        if len(first) < 6 and len(last) < 6:
            found.extend(range(int(first), min(int(last or first), int(first) + json_fields.MOST_ITEMS) + 1))
    return tuple(found[: json_fields.MOST_ITEMS])
