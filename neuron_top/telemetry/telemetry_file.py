"""Telemetry that somebody saved or pipes in: records of neuron-monitor, a page of its Prometheus exporter, a listing of
neuron-ls or metrics of Neuron Observer, distinguished by content.

Usually there is one document per line, which is passed on line by line, so a live pipe is shown live; a document spread
over many lines (pretty-printed) is held until its closing brace, or until the end. Nothing is held once a record on one
line has followed. An array may hold the devices of neuron-ls or records, as `jq -s` collects them.
"""

from __future__ import annotations

from neuron_top.events import AnyEvent
from neuron_top.parsers import json_fields, monitor_exporter, neuron_ls, neuron_monitor, neuron_observer
from neuron_top.telemetry.devices import devices_found, listed_devices
from neuron_top.telemetry.monitor_events import MonitorReader
from neuron_top.telemetry.observer_events import ObserverReader

_MOST_ATTEMPTS = 3
"""After this many closing braces without a record, only the end of the file can tell what it is."""


class TelemetryFile:
    """Bytes of a telemetry file → events."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._reader = MonitorReader(source=source)
        self._held = bytearray()
        self._pending = b""
        self._by_line = False
        self._attempts = 0
        self.listings = 0

    @property
    def documents(self) -> int:
        """Records, listings and scrapes read so far."""
        return self._reader.records + self.listings

    @property
    def malformed(self) -> int:
        """Lines that could not be read."""
        return self._reader.malformed

    @property
    def is_unreadable(self) -> bool:
        """Whether lines were read, and nothing in them is telemetry so far."""
        return bool(self._held or self.malformed) and not self.documents

    def feed(self, data: bytes) -> list[AnyEvent]:
        """Take the next bytes, in any portions."""
        if self._by_line:
            return self._reader.feed(data)
        events: list[AnyEvent] = []
        *lines, self._pending = (self._pending + data).split(b"\n")
        for number, line in enumerate(lines):
            self._held += line + b"\n"
            if _is_record(line) or len(self._held) > json_fields.LONGEST_DOCUMENT:
                return events + self._release(b"\n".join([*lines[number + 1 :], self._pending]))
            if line.rstrip() == b"}":
                events += self._spread_record()
        if len(self._held) + len(self._pending) > json_fields.LONGEST_DOCUMENT:
            return events + self._release(self._pending)
        return events

    def _spread_record(self) -> list[AnyEvent]:
        """Events of a pretty-printed record that has just ended, so that a live pipe of them is shown live, too."""
        start = 0 if self._held.startswith(b"{") else self._held.find(b"\n{") + 1
        if self._attempts >= _MOST_ATTEMPTS or self._held[start : start + 1] != b"{":
            return []
        try:
            record = neuron_monitor.read_record(bytes(self._held[start:]))
        except ValueError:
            self._attempts += 1
            return []
        self._held.clear()
        self._attempts = 0
        self._reader.records += 1
        return self._reader.events(record)

    def flush(self) -> list[AnyEvent]:
        """Take the rest at the end of the input."""
        if self._by_line:
            return self._reader.flush()
        whole = bytes(self._held) + self._pending
        try:
            return self._document(json_fields.load(whole))
        except ValueError:
            if devices := listed_devices(whole):
                self.listings += 1
                return [devices_found(devices)]
            text = whole.decode("utf-8", "replace")
            scrape = neuron_observer.read_scrape(text)
            if scrape.documented:
                self.listings += 1
                return ObserverReader(source=self.source).events(scrape)
            page = monitor_exporter.read_page(text)
            if page is not None:
                self._reader.records += 1
                return self._reader.events(page)
            return [*self._release(self._pending), *self._reader.flush()]

    def _release(self, rest: bytes) -> list[AnyEvent]:
        self._by_line = True
        held, self._held = bytes(self._held), bytearray()
        return self._reader.feed(held + rest)

    def _document(self, document: object) -> list[AnyEvent]:
        if isinstance(document, list) and any(map(neuron_monitor.is_record, document)):
            records = [neuron_monitor.record_in(each) for each in document if neuron_monitor.is_record(each)]
            self._reader.records += len(records)
            return [event for record in records for event in self._reader.events(record)]
        if isinstance(document, list):
            devices = neuron_ls.devices_in(document)
            self.listings += 1
            return [devices_found(devices)]
        record = neuron_monitor.record_in(document)
        self._reader.records += 1
        return self._reader.events(record)


def _is_record(line: bytes) -> bool:
    """Whether a line is a complete record."""
    if b"{" not in line or not line.rstrip().endswith(b"}"):
        return False
    try:
        neuron_monitor.read_record(line)
    except ValueError:
        return False
    return True
