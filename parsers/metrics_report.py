"""torch_xla's metrics report (`met.metrics_report()`): totals since the process began.

    Metric: CompileTime
      TotalSamples: 12
      Accumulator: 01m05s321ms012.345us
    Counter: CachedCompile
      Value: 480

The report has no end mark; it ends before the first line that is not part of it.
"""

from __future__ import annotations

from neuron_top.events import AnyEvent, GraphMetricsReported
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.base import PLAIN, Record, common

NAME = "metrics_report"
_NAME = late_pattern(r"\s{0,8}(Metric|Counter): ([\w:.<>-]{1,200})\s*$")
_FIELD = late_pattern(
    r"\s{1,12}(TotalSamples|Accumulator|Value|ValueRate|Rate|Percentiles|Mean|StdDev|[A-Z]\w{2,40}): (.{0,400})$"
)
_DURATION = late_pattern(
    r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,6})s)?(?:(\d{1,6})ms)?(?:(\d{1,6}(?:\.\d{1,6})?)us)?\s*$"
)
_SECONDS = (86400.0, 3600.0, 60.0, 1.0, 1e-3, 1e-6)
_FIELDS = {
    ("CompileTime", "TotalSamples"): "compiled",
    ("CompileTime", "Accumulator"): "compile_seconds",
    ("ExecuteTime", "TotalSamples"): "executed",
    ("CachedCompile", "Value"): "cache_hits",
    ("UncachedCompile", "Value"): "cache_misses",
    ("TransferToDeviceTime", "TotalSamples"): "transfers_to_device",
    ("TransferToServerTime", "TotalSamples"): "transfers_to_device",
    ("TransferFromDeviceTime", "TotalSamples"): "transfers_from_device",
    ("TransferFromServerTime", "TotalSamples"): "transfers_from_device",
}
"""What of the report is kept; the `Server` names are those of the XRT runtime."""


class MetricsReport:
    """Reads one report at a time."""

    name = NAME

    def __init__(self) -> None:
        self._first: Record | None = None
        self._name = ""
        self._found: dict[str, float] = {}

    @property
    def open(self) -> bool:
        """True inside a report."""
        return self._first is not None

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """The report, if this record is none of its lines."""
        if record.shape is PLAIN and (_NAME.match(record.text) or _FIELD.match(record.text)):
            return []
        return self.flush()

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if record.shape is not PLAIN:
            return None
        name = _NAME.match(record.text)
        if name:
            self._first = self._first or record
            self._name = name[2]
            return []
        field = _FIELD.match(record.text) if self._first is not None else None
        if field is None:
            return None
        self._take(field[1], field[2].strip())
        return []

    def flush_idle(self) -> list[AnyEvent]:
        """A report is reported when it is complete."""
        return []

    def flush(self) -> list[AnyEvent]:
        """The report as far as it came."""
        first, self._first = self._first, None
        found, self._found = self._found, {}
        if first is None or not found:
            return []
        seconds = found.pop("compile_seconds", None)
        fields = common(first) | {name: int(value) for name, value in found.items()}
        return [GraphMetricsReported(**fields, compile_seconds=seconds)]

    def _take(self, field: str, text: str) -> None:
        name = _FIELDS.get((self._name, field))
        if name is None:
            return
        value = _seconds(text) if name == "compile_seconds" else _count(text)
        if value is not None:
            self._found[name] = value


def _count(text: str) -> float | None:
    return float(text) if text.isdecimal() and len(text) < 16 else None


def _seconds(text: str) -> float | None:
    found = _DURATION.match(text)
    if found is None or not text:
        return None
    return round(sum(float(part) * unit for part, unit in zip(found.groups(), _SECONDS, strict=True) if part), 6)
