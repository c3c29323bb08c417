"""Lines of the Neuron runtime (NRT, TDRV, NMGR, ENC, HAL), its collectives (CCOM) and its driver.

Threads of many processes write to one stream without locking: a line may hold the beginning of one record and all
of another, so the date splits records wherever it stands. A record whose rest is missing is malformed, not lost.
"""

from __future__ import annotations

import re

from neuron_top.events import AdviceKind, AnyEvent, DeviceMemoryExhausted, RuntimeAdvised, RuntimeLogged
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import memory_tables, runtime_status
from neuron_top.parsers.base import PLAIN, RUNTIME, Record, clip, common, malformed
from neuron_top.parsers.memory_tables import NEFF_MEMORY, Exhaustion, NeffMemory

NAME = "runtime"
_PROCESS = r"(?:(?P<pid>\d{1,10}):(?P<tid>\d{1,10})\s+)?"
_STANDARD = late_pattern(
    _PROCESS + r"(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL)\s+"
    r"(?P<component>[A-Z]{2,10}):(?P<function>\S{1,200})\s*(?P<text>.*)",
    re.DOTALL,
)
_COLLECTIVES = late_pattern(
    _PROCESS + r"\[(?P<rank>\d{1,6})\]\s+(?P<function>.{0,300}?)"
    r"\s(?P<component>CCOM|NCCL)\s+(?P<level>WARN|INFO|ERROR|TRACE|ABORT)\s*(?P<text>.*)",
    re.DOTALL,
)
_BARE = late_pattern(r"\[(?P<component>TDRV|NRT|NMGR|KMGR|ENC|HAL|NEFF):(?P<function>\w{1,100})\]\s*(?P<text>.*)")
_HEADLESS = late_pattern(
    r"[\s>#*|`-]{0,20}(?:\d{1,10}:\d{1,10}\s+)?\[?(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL)\]?\s+"
    r"(?P<component>TDRV|NRT|NMGR|KMGR|ENC|HAL|NEFF):(?P<function>\w{1,200})\s*(?P<text>.*)",
    re.DOTALL,
)
"""The standard header without its stamp: documents, issues and filters leave it out."""
_HARDWARE = late_pattern(r"NEURON_HW_ERR=(\w{1,60})(.{0,500})")
_MEMPOOL = late_pattern(r"neuron:mc_alloc: device mempool \[(\d{1,4}):(\d{1,4})\] .{1,300}")
_WORDS = late_pattern(
    r"(?:\[(?:ND|MLA) ?\d{1,4}\]\[NC ?\d{1,4}\] )?(?:(?P<mild>\(NON-FATAL, Ignoring\) )|\(FATAL-RT-UNDEFINED-STATE\) )?"
    r"(?:(?:(?:Virtual|Logical) )?Neuron ?Core\(s\) not available - Requested:"
    r"|(?:execution|inference) timeout \(\d{1,12} ms\) on Neuron Device\b"
    r"|missing collectives status on Neuron Device\b|DMA [TR]X engine \d{1,4} is in an abort state\b"
    r"|Uncorrectable \w{1,10} memory error is detected\b|failed to run scatter/gather \(indirect memory copy\)"
    r"|Unsupported hardware operator code \d|Unable to determine Neuron Driver version\b"
    r"|This runtime requires Neuron Driver version\b|Failure: NRT_[A-Z_]{2,60} in nrt_\w{1,60}\(\)"
    r"|Unable to find a physical core for logical core \d|Failed to execute model: \d"
    r"|NRT Execution error occurred on Neuron\b)"
)
"""How errors of the runtime begin that programs print without any header: in an exception's or a logger's words, in
excerpts, and where frameworks pass them on."""
_ADVICE = late_pattern(
    r"(?P<scratchpad_page>(?:\b[Ww]e )?(?:strongly )?recommend\w* .{0,60}?[Ss]cratch-?pad page size)"
    r"|(?P<scratchpad_overflow>[Aa]dditional (?:device )?memory (?:is |was |has been )?(?:being )?consumed)"
    r"|[Ff]ailed to reset (?:nd|ND|[Nn]euron [Dd]evice|device) ?(?P<device>\d{1,4})"
    r"|(?P<other>\b[Ww]e (?:strongly )?recommend\b|\b(?:[Pp]lease )?consider (?:increas|adjust|sett|reduc)ing\b)"
)
_ADVICE_KINDS = ("scratchpad_page", "scratchpad_overflow", "other")
_PLACES = late_pattern(
    r"\[(?:ND|MLA) ?(\d{1,4})\]\[NC ?(\d{1,4})\]|\bND ?(\d{1,4}) ?: ?NC ?(\d{1,4})|\bnd ?(\d{1,4})[: ] ?nc ?(\d{1,4})"
    r"|Neuron Device ?(\d{1,4}) NC ?(\d{1,4})|nd-id= ?(\d{1,4}) nc-id= ?(\d{1,4})|device: ?(\d{1,4}), nc ?(\d{1,4})"
)
"""Numbers are printed two columns wide: a blank before a single digit, none before two."""
_CODE = late_pattern(r"(?:\bstatus|\berror|\berr|\bstatus_code)\s?[=:]?\s{0,2}\(?(\d{1,4})\b")
_STATUS_NAME = late_pattern(r"\b(NRT_[A-Z][A-Z_]{3,60}|NERR_RESOURCE)\b")
_FAILED_SIZE = late_pattern(
    r"(?:Failed to alloc(?:ate)? DEVICE memory(?::| \() ?|Could not satisfy request for )(\d{1,15})"
)
"""The line before a report, with the exact size in bytes; the daemon of 2020 printed no report."""
_MOST_UNREPORTED = 256
_MOST_REPORTS = 64
_MOST_RANKS = 4096
_PATIENCE = 2000
"""Other lines between a header and its breakdown, before it is given without one: the runtime itself may print one for
each of a thousand programs, and other processes write to the same stream."""
_PATIENCE_WITHIN = 200
"""The same once the breakdown has begun, whose lines are printed at once."""
SUPPORT_FUNCTIONS = frozenset(
    {
        "nrt_infodump",
        "ht_insert",
        "log_dev_mem_usage_table",
        "dml_dump",
        "dml_driver_dump",
        "print_lnc_hbm_details",
        "nrt_close",
    }
)
"""Functions that print what the vendor's support asks for, or that a program closes what it never opened, at level
ERROR even where nothing failed; only a text that begins with `Failure:` reports that something did."""
_TABLE = "log_dev_mem_usage_table"
"""The function that prints a table: from its line on, rows are this thread's."""

_Key = tuple[int | None, int | None]


class RuntimeLines:
    """Reads these lines; keeps reports about memory, one for each thread, until their breakdowns are complete."""

    name = NAME

    def __init__(self) -> None:
        self._reports: dict[_Key, Exhaustion | NeffMemory] = {}
        """By process and thread, the oldest first."""
        self._others: dict[_Key, int] = {}
        """By report, how many lines that are not its own came since it began."""
        self._writing: dict[int | None, _Key] = {}
        """By rank: whose report the lines without a header belong to."""
        self._last: _Key = (None, None)
        """The same for lines that do not show their rank."""
        self._unreported: dict[_Key, tuple[Record, int]] = {}
        """Allocations that failed and were not yet reported in full, by process and thread, with their bytes."""

    @property
    def open(self) -> bool:
        """True while a breakdown may follow."""
        return bool(self._reports)

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """Reports for which too many other lines have come; the line of another process ends none by itself."""
        if record.shape is PLAIN:
            report = self._reports.get(self._key(record))
            if report is not None and report.accepts(record.text):
                return []
        elif record.shape is not RUNTIME:
            return []
        events: list[AnyEvent] = []
        for key, report in list(self._reports.items()):
            self._others[key] += 1
            if self._others[key] > (_PATIENCE_WITHIN if report.begun else _PATIENCE):
                events += self._close(key)
        return events

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if record.shape is RUNTIME:
            return self._headed(record)
        if record.shape is not PLAIN:
            return None
        key = self._key(record)
        report = self._reports.get(key)
        if report is None or not report.accepts(record.text):
            return self._plain(record)
        if isinstance(report, Exhaustion) and report.ended_by(record.text):
            events = self._open(key, Exhaustion(record, None))
            self._reports[key].take(record.text)
            return events
        report.take(record.text)
        return []

    def flush_idle(self) -> list[AnyEvent]:
        """Events of the reports being read, as far as their breakdowns have come: the rest will not come."""
        return [event for key in list(self._reports) for event in self._close(key)]

    def flush(self) -> list[AnyEvent]:
        """Events of the reports being read, and of allocations that were never reported in full."""
        return self.flush_idle() + self._take_unreported(None)

    def _headed(self, record: Record) -> list[AnyEvent]:
        found = _STANDARD.match(record.text) or _COLLECTIVES.match(record.text)
        if found is None:
            return [malformed(NAME, record, "cut by another process")]
        fields = found.groupdict()
        record.pid = _int(fields["pid"])
        record.rank = _int(fields.get("rank")) if fields.get("rank") else record.rank
        record.level, record.text = LogLevel.named(fields["level"]), fields["text"]
        event = _logged(record, fields["component"], fields["function"], _int(fields["tid"]))
        key = (record.pid, event.tid)
        if event.function.endswith(NEFF_MEMORY):
            return [event, *self._open(key, NeffMemory(record), record.rank)]
        ended = self._ended_by_own(key, record)
        if event.function.endswith(_TABLE):
            self._writes(key, record.rank)
        return [*ended, event, *_advice(record, event), *self._memory(record, key)]

    def _ended_by_own(self, key: _Key, record: Record) -> list[AnyEvent]:
        """Events of this thread's report, if the thread has gone on to something else after the breakdown."""
        report = self._reports.get(key)
        if report is None or not report.begun or _about_memory(record.text):
            return []
        return self._close(key)

    def _key(self, record: Record) -> _Key:
        """Whose report a line without a header belongs to."""
        return self._last if record.rank is None else self._writing.get(record.rank, self._last)

    def _open(self, key: _Key, report: Exhaustion | NeffMemory, rank: int | None = None) -> list[AnyEvent]:
        """Begin a report; returns the events of the one that it replaces."""
        events = self._close(key)
        if len(self._reports) >= _MOST_REPORTS:
            events += self._close(next(iter(self._reports)))
        self._reports[key], self._others[key] = report, 0
        self._writes(key, rank)
        return events

    def _writes(self, key: _Key, rank: int | None) -> None:
        """Lines without a header belong to this thread's report from now on."""
        if len(self._writing) >= _MOST_RANKS:
            self._writing.clear()
        self._writing[rank] = self._last = key

    def _plain(self, record: Record) -> list[AnyEvent] | None:
        text = record.text
        bare = _BARE.search(text)
        if bare:
            record.level, record.text = LogLevel.ERROR, bare["text"]
            event = _logged(record, bare["component"], bare["function"], None)
            return [event, *_advice(record, event), *self._memory(record, (None, None))]
        headless = _HEADLESS.match(text)
        if headless:
            record.level, record.text = LogLevel.named(headless["level"]), headless["text"]
            event = _logged(record, headless["component"], headless["function"], None)
            return [event, *_advice(record, event), *self._memory(record, (None, None))]
        hardware = _HARDWARE.search(text)
        if hardware:
            record.level = LogLevel.ERROR
            return [_logged(record, "KERNEL", hardware[1], None)]
        if _MEMPOOL.search(text):
            record.level = LogLevel.ERROR
            return [_logged(record, "KERNEL", "mc_alloc", None)]
        bare_words = _WORDS.match(text)
        if bare_words:
            record.level = LogLevel.WARNING if bare_words["mild"] else LogLevel.ERROR
            event = _logged(record, "NRT", "", None)
            return [event, *self._memory(record, (None, None))]
        if "|" in text and memory_tables.is_row(text):
            return self._headless(record, Exhaustion(record, None))
        if "Per NEFF memory usage breakdown for [" in text or "Current Usage Total:" in text:
            return self._headless(record, NeffMemory(record))
        return self._memory(record, (None, None)) or None

    def _headless(self, record: Record, report: Exhaustion | NeffMemory) -> list[AnyEvent]:
        """Begin a report with the first line of a breakdown whose header was lost."""
        key = self._key(record)
        events = self._open(key, report, record.rank)
        if isinstance(report, Exhaustion):
            report.take(record.text)
        return events

    def _memory(self, record: Record, key: _Key) -> list[AnyEvent]:
        """Events of what a record says about an allocation that failed."""
        size = _FAILED_SIZE.search(record.text)
        if size:
            if len(self._unreported) < _MOST_UNREPORTED:
                self._unreported[key] = (record, int(size[1]))
            return []
        failed = memory_tables.FAILED.search(record.text)
        if failed:
            return self._begin(record, failed, key)
        inf1 = memory_tables.INF1.search(record.text)
        if inf1:
            self._unreported.pop(key, None)
            return [memory_tables.inf1_event(record, inf1)]
        if "Failure: NRT_RESOURCE" in record.text or "err: 4" in record.text:
            return self._take_unreported(key[0])
        return []

    def _begin(self, record: Record, failed: re.Match[str], key: _Key) -> list[AnyEvent]:
        report = Exhaustion(record, failed)
        before = self._open(key, report, record.rank)
        unreported = self._unreported.pop(key, None)
        if unreported is not None:
            report.requested = unreported[1]  # exact, where the text is rounded
        return before

    def _close(self, key: _Key) -> list[AnyEvent]:
        self._others.pop(key, None)
        report = self._reports.pop(key, None)
        return report.events() if report is not None else []

    def _take_unreported(self, pid: int | None) -> list[AnyEvent]:
        """Events of failed allocations of a process (or of all) whose report did not come."""
        events: list[AnyEvent] = []
        for key in [key for key in self._unreported if pid is None or key[0] == pid]:
            record, size = self._unreported.pop(key)
            events.append(DeviceMemoryExhausted(**common(record), requested=size))
        return events


def _advice(record: Record, event: RuntimeLogged) -> list[AnyEvent]:
    """The event for what the runtime recommends, or for a device that could not be reset."""
    found = _ADVICE.search(record.text)
    if found is None:
        return []
    device = int(found["device"]) if found["device"] else event.device
    group = next((name for name in _ADVICE_KINDS if found[name]), "device_reset")
    return [RuntimeAdvised(**common(record), kind=AdviceKind(group.replace("_", "-")), text=event.text, device=device)]


def _about_memory(text: str) -> bool:
    """Whether a line belongs to the report itself, outside its breakdown."""
    words = ("Failed to allocate", "Memory Utilization", "Aligned allocations", "memory alloc debug", "LNC size")
    return any(phrase in text for phrase in words)


def _logged(record: Record, component: str, function: str, tid: int | None) -> RuntimeLogged:
    place = _PLACES.search(record.text)
    device, core = (int(part) for part in place.groups() if part is not None) if place else (None, None)
    status, code = _status(record.text)
    is_support = function in SUPPORT_FUNCTIONS and not record.text.startswith("Failure:")
    return RuntimeLogged(
        **common(record),
        level=LogLevel.INFO if is_support else record.level,
        component=component,
        function=clip(function),
        text=clip(record.text),
        tid=tid,
        device=device,
        core=core,
        status=status,
        status_code=code,
    )


def _status(text: str) -> tuple[str, int | None]:
    """A status by name or by number, if it is one of the runtime's."""
    named = _STATUS_NAME.search(text)
    if named and named[1] in runtime_status.CODES:
        code = runtime_status.CODES[named[1]]
        return runtime_status.name(code), code
    for found in _CODE.finditer(text):
        code = int(found[1])
        if code in runtime_status.NAMES:
            return runtime_status.name(code), code
    return "", None


def _int(text: str | None) -> int | None:
    return int(text) if text else None
