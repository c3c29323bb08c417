"""The breakdown of device memory that is printed when an allocation fails, in all its eras, as bytes by kind.

| era | header | breakdown |
| inf1 | `Failed to allocate aligned (0) buffer … of size N bytes`, `No more pages for ring type: N` | none |
| 2024 | `Failed to allocate 43.325MB (usage: dma rings) on ND 3:NC 0, current utilization:` | bullets |
| 2025 | `… (alignment: none, usage: tensors) on ND 0:NC 4` | table by core and NEFF, then names |
| 2026 | the same, aligned | table by memory bank as well |

Device numbers are printed two columns wide: before two digits there is no blank (`ND10:NC 1`, `ND10 HBM 0`). A terminal
narrower than the table wraps its lines; they are joined again. A table is read even if its header was lost: it still
shows who held what. `dml_log_dev_neff_mem` prints the same kinds per loaded NEFF at level INFO, when nothing failed.

Units are powers of 1024 written KB, MB, GB.
"""

from __future__ import annotations

import re

from neuron_top.events import AnyEvent, DeviceMemoryExhausted, MemoryRow, MemoryScope, NeffMemoryReported
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import paths
from neuron_top.parsers.base import Record, clip, common

_SCOPES = (MemoryScope.BANK, MemoryScope.CORE, MemoryScope.NEFF, MemoryScope.DEVICE)
"""In the order in which a row's columns decide whose memory it counts: the most specific one first."""
_SIZE = late_pattern(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT]?)i?B?$")
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
FAILED = late_pattern(
    r"Failed to allocate (?P<size>[\d.]{1,20}\s?[KMGT]?B) "
    r"\((?:alignment: (?P<alignment>[^,)]{1,40}), )?usage: (?P<usage>[^)]{1,80})\) "
    r"on ND ?(?P<device>\d{1,4}) ?: ?NC ?(?P<core>\d{1,4})"
)
INF1 = late_pattern(
    r"Failed to allocate aligned \((?P<alignment>\d{1,12})\) buffer in (?P<usage>.{1,200}?) "
    r"of size (?P<size>\d{1,15}) bytes"
    r"|No more pages for (?P<pages>ring type: \d{1,6})"
)
_BULLET = late_pattern(r"\s*\*\s*([A-Za-z][A-Za-z _]{1,40}):\s*([\d.]{1,20}\s?[KMGT]?B)\s*$")
_ROW = late_pattern(
    r"\s*(?:\\_\s*)?(?:ND ?(?P<device>\d{1,4}) (?:Overall|HBM ?(?P<bank>\d{1,4}))"
    r"|NC ?(?P<core>\d{1,4})|NEFF ?(?P<neff>\d{1,9}))\s*\|(?P<cells>.*)"
)
_HEADING = late_pattern(r"\s*\|.*\||\s{12,}\|")
_COLUMN_NAMES = late_pattern(r"\s*\|.*\b(?:TOTAL|Model)\b")
"""Certainly a heading line: other programs draw tables with the same characters."""
_REST_OF_HEADING = late_pattern(r"[A-Za-z |]{1,400}$")
_REST_OF_ROW = late_pattern(r"[\d. KMGTBna/|]{1,400}$")
_NAME = late_pattern(r"\s*(\d{1,9}): \"([^\"]{1,1000})\"\s*$")
_HALF_NAME = late_pattern(r"\s*\d{1,9}: \"[^\"]{0,1000}$")
_REST_OF_NAME = late_pattern(r"[^\s\"]{0,1000}\"?\s*$")
_BETWEEN = late_pattern(
    r"\s*(?:$|\(NOTE: |NEFF id to name mapping|Aligned allocations may fail"
    r"|Displaying Current Memory|LNC size is|\.\.\.$)"
)

_KINDS = {
    "model code": "model_code",
    "model constants": "constants",
    "tensors": "tensors",
    "shared scratchpad": "model_shared_scratchpad",
    "scratchpad": "nonshared_scratchpad",
    "runtime": "runtime_memory",
    "dma rings": "dma_rings",
    "dma rings io": "dma_rings",
    "dma rings spill": "dma_rings",
    "dma rings collectives": "dma_rings",
    "dma rings runtime": "dma_rings",
    "collectives": "collectives",
    "xt cc": "collectives",
    "profiler buffers": "profiler",
    "profiler": "profiler",
    "notifications": "notifications",
    "driver": "driver_memory",
}
"""Printed names → the kinds of `events.MEMORY_KINDS`; the four parts of the DMA rings are added up."""
_COLUMNS = (
    "total", "model code", "model constants", "tensors", "shared scratchpad", "scratchpad", "runtime", "dma rings io",
    "dma rings spill", "dma rings collectives", "dma rings runtime", "collectives", "xt cc", "profiler buffers",
)  # fmt: skip
"""The order of 2025, for a table whose heading was lost."""
_MOST_ROWS = 2000
_MOST_HEADINGS = 4
_LONGEST_LINE = 2000
_BEFORE_HEADINGS = " " * 12
"""A heading line begins with the width of the first column in blanks, more than stand before any of its words."""


def size_in_bytes(text: str) -> int | None:
    """`43.325MB` → bytes; None for `n/a`, dots and anything else."""
    found = _SIZE.match(text.strip())
    return round(float(found[1]) * _UNITS[found[2]]) if found else None


class Exhaustion:
    """One failed allocation and the breakdown that follows it."""

    def __init__(self, record: Record, found: re.Match[str] | None) -> None:
        """`found` is the header; None = it was lost, and the record is the first line of the breakdown."""
        self._record = record
        self._found = found
        self._rows: list[str] = []
        self._names: dict[int, str] = {}
        self._half_name = ""
        self._bullets: dict[str, int] = {}
        self._headings: list[str] = []
        self._rest: re.Pattern[str] | None = None
        """What the next line looks like if a terminal has wrapped the last one."""
        self.requested = size_in_bytes(found["size"]) if found else None

    @property
    def begun(self) -> bool:
        """Some of the breakdown has been read."""
        return bool(self._rows or self._bullets)

    def accepts(self, text: str) -> bool:
        """Whether a line is one of the breakdown, or a blank or a note between its lines."""
        if any(pattern.match(text) for pattern in (_BULLET, _ROW, _NAME, _HEADING, _BETWEEN)):
            return True
        return bool(self._rows and _HALF_NAME.match(text)) or self._goes_on(text)

    def ended_by(self, text: str) -> bool:
        """True for the first line of another table, whose own header was lost."""
        return bool(self._rows) and self._rest is not _REST_OF_HEADING and _COLUMN_NAMES.match(text) is not None

    def take(self, text: str) -> None:
        """Read an accepted line."""
        bullet, name = _BULLET.match(text), _NAME.match(text)
        if bullet:
            self._bullet(bullet[1], bullet[2])
        elif name:
            self._name(name)
        elif _ROW.match(text):
            self._begin(self._rows, text, _REST_OF_ROW, _MOST_ROWS)
        elif self._goes_on(text):
            self._go_on(text)
        elif _HEADING.match(text):
            self._begin(self._headings, text, _REST_OF_HEADING, _MOST_HEADINGS)
        elif _HALF_NAME.match(text):
            self._half_name, self._rest = text, _REST_OF_NAME
        elif not text.strip():
            self._rest = None

    def events(self) -> list[AnyEvent]:
        """The event, as far as its breakdown has come; none where there is neither a header nor a row."""
        found = self._found
        rows, device = self._read_rows()
        if found is None and not rows:
            return []
        core, device = (int(found["core"]), int(found["device"])) if found else (None, device)
        if self._bullets:
            kinds = {kind: size for kind, size in self._bullets.items() if kind != "total"}
            rows.insert(0, MemoryRow(scope=MemoryScope.CORE, index=core, total=self._bullets.get("total"), kinds=kinds))
        alignment = found["alignment"] if found else None
        return [
            DeviceMemoryExhausted(
                **common(self._record),
                requested=self.requested,
                usage=clip(found["usage"]) if found else "",
                device=device,
                core=core,
                alignment=size_in_bytes(alignment) if alignment else None,
                rows=tuple(rows),
            )
        ]

    def _bullet(self, name: str, size: str) -> None:
        value, key = size_in_bytes(size), _kind(name)
        self._rest = None
        if value is not None and len(self._bullets) < 50:
            self._bullets[key] = self._bullets.get(key, 0) + value

    def _name(self, name: re.Match[str]) -> None:
        self._half_name, self._rest = "", None
        if len(self._names) < _MOST_ROWS:
            self._names[int(name[1])] = clip(name[2])

    def _begin(self, lines: list[str], text: str, rest: re.Pattern[str], most: int) -> None:
        self._half_name, self._rest = "", None
        if len(lines) < most:
            lines.append(text)
            self._rest = rest

    def _goes_on(self, text: str) -> bool:
        """Whether a line is the rest of the last one, which a terminal has wrapped."""
        if self._rest is None or not text.strip() or self._rest.match(text) is None:
            return False
        return self._rest is not _REST_OF_HEADING or not text.startswith(_BEFORE_HEADINGS)

    def _go_on(self, text: str) -> None:
        if self._rest is _REST_OF_NAME:
            self._half_name += text
            name = _NAME.match(self._half_name)
            if name:
                self._name(name)
            elif len(self._half_name) > _LONGEST_LINE:
                self._half_name, self._rest = "", None
            return
        lines = self._rows if self._rest is _REST_OF_ROW else self._headings
        if len(lines[-1]) < _LONGEST_LINE:
            lines[-1] += text

    def _read_rows(self) -> tuple[list[MemoryRow], int | None]:
        """The rows of the table, and the number of the device whose memory they count."""
        rows, device, columns = [], None, [_kind(name) for name in self._columns()]
        for line in self._rows:
            row = _ROW.match(line)
            if row is None:
                continue
            kinds: dict[str, int] = {}
            for kind, cell in zip(columns, row["cells"].split("|"), strict=False):
                value = size_in_bytes(cell)
                if value is not None:
                    kinds[kind] = kinds.get(kind, 0) + value
            total = kinds.pop("total", None)
            if device is None and row["device"] is not None:
                device = int(row["device"])
            scope = next(scope for scope in _SCOPES if row[scope] is not None)
            index = int(row[scope])
            name = self._names.get(index, "") if scope is MemoryScope.NEFF else ""
            rows.append(MemoryRow(scope=scope, index=index, total=total, kinds=kinds, name=name))
        return rows, device

    def _columns(self) -> list[str] | tuple[str, ...]:
        """The words of the two heading lines, put together column by column."""
        if not self._headings:
            return _COLUMNS
        headings = [[cell.strip() for cell in line.split("|")[1:21]] for line in self._headings]
        width = max(len(cells) for cells in headings)
        words = [[cells[column] for cells in headings if column < len(cells)] for column in range(width)]
        return [" ".join(filter(None, cells)).lower() for cells in words]


NEFF_MEMORY = "dml_log_dev_neff_mem"
"""The runtime's function that prints how much memory each loaded NEFF takes."""
_IN_USE = late_pattern(r"\s*\[ND ?(\d{1,4})[:\]]\s?\[?NC ?(\d{1,4})\] Current Usage Total: ([\d.]{1,20}\s?[KMGT]?B)")
_PER_NEFF = late_pattern(r"\s*Per NEFF memory usage breakdown for \[([^\]]{1,1000})\]:?")
_NEFF_LINE = late_pattern(r"\s*(?:\*\s*)?([A-Za-z][A-Za-z _]{1,40}):\s*([\d.]{1,20}\s?[KMGT]?B)\s*$")


class NeffMemory:
    """The memory that loaded programs take on one core: the block after one `dml_log_dev_neff_mem` line."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._place: tuple[int | None, int | None, int | None] = (None, None, None)
        self._neffs: list[tuple[str, dict[str, int]]] = []
        self.take(record.text)

    @property
    def begun(self) -> bool:
        """Some of the block has been read."""
        return self._place[0] is not None or bool(self._neffs)

    def accepts(self, text: str) -> bool:
        """Whether a line is one of the block."""
        return any(pattern.match(text) for pattern in (_IN_USE, _PER_NEFF, _NEFF_LINE))

    def take(self, text: str) -> None:
        """Read an accepted line."""
        in_use, neff, line = _IN_USE.match(text), _PER_NEFF.match(text), _NEFF_LINE.match(text)
        if in_use:
            self._place = (int(in_use[1]), int(in_use[2]), size_in_bytes(in_use[3]))
        elif neff and len(self._neffs) < _MOST_ROWS:
            self._neffs.append((neff[1], {}))
        elif line and self._neffs:
            kinds, key, size = self._neffs[-1][1], _kind(line[1]), size_in_bytes(line[2])
            if size is not None and len(kinds) < 50:
                kinds[key] = kinds.get(key, 0) + size

    def events(self) -> list[AnyEvent]:
        """One for each program."""
        device, core, in_use = self._place
        return [
            NeffMemoryReported(
                **common(self._record),
                name=clip(name),
                module=paths.module_in(name),
                device=device,
                core=core,
                total=kinds.get("total"),
                kinds={kind: size for kind, size in kinds.items() if kind != "total"},
                core_total=in_use,
            )
            for name, kinds in self._neffs
        ]


def is_row(text: str) -> bool:
    """Whether a line is a row of a memory table, also of one whose header was lost."""
    return _ROW.match(text) is not None


def inf1_event(record: Record, found: re.Match[str]) -> DeviceMemoryExhausted:
    """The event of the first generation, which prints only what it tried to allocate."""
    if found["pages"]:
        return DeviceMemoryExhausted(**common(record), usage=found["pages"])
    return DeviceMemoryExhausted(
        **common(record),
        requested=int(found["size"]),
        alignment=int(found["alignment"]) or None,
        usage=clip(found["usage"]),
    )


def _kind(name: str) -> str:
    """The kind of a printed name; one not known yet is kept as it is written."""
    name = " ".join(name.lower().split())
    return "total" if name == "total" else _KINDS.get(name, name.replace(" ", "_") or "uncategorized")
