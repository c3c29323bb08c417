"""Fetches the files of one entry into a cache, with the entry's lock held: hashed as they arrive, verified, then
published."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from neuron_top.cache.arrival import SMALL, arrival_problem
from neuron_top.cache.model import filenames, graph_header
from neuron_top.cache.model.graph_header import NotThisGraph
from neuron_top.cache.model.record import FileFacts, stats_decoder
from neuron_top.compile.fetch.source import SourceFile
from neuron_top.compile.wrapper.persistent_cache import WritableEntry, discard, new_file
from neuron_top.decoders import MALFORMED
from neuron_top.errors import NeuronTopError

_REPORT_SECONDS = 1.0


class NotUsable(NeuronTopError):
    """The fetched files are not what was published under this key; the text says what is wrong."""


class Arriving:
    """One entry that is being fetched. `report` is called with the bytes so far, the total and the seconds."""

    def __init__(
        self,
        entry: WritableEntry,
        graph: str,
        files: Mapping[str, SourceFile],
        report: Callable[[int, int, float], None],
    ) -> None:
        """`graph`: digest of the graph that the artifact must be made from; "" where the key is all that is known."""
        self._entry, self._graph, self._files = entry, graph, files
        self._report = report
        self.total = sum(found.size for found in files.values())
        self.arrived = 0
        self._began = self._reported_at = time.monotonic()
        self._paths: dict[str, Path] = {}
        self._facts: dict[str, FileFacts] = {}

    @property
    def seconds(self) -> float:
        """Seconds since the fetch began."""
        return time.monotonic() - self._began

    def fetch(self, interrupted: Callable[[], bool]) -> None:
        """Fetch and publish all files. Raises NotUsable, CacheUnusable, KeyboardInterrupt, NeuronTopError, OSError."""
        self._report(0, self.total, 0.0)
        try:
            for name, found in self._files.items():
                self._one(name, found, interrupted)
                if name == filenames.STATS:  # before the artifact, by far the largest file
                    self._check_record()
            self._check()
            self._entry.adopt(self._paths)
        finally:
            discard(self._paths.values())

    def _one(self, name: str, found: SourceFile, interrupted: Callable[[], bool]) -> None:
        path = self._paths[name] = self._entry.temporary(name)
        digest, size = hashlib.sha256(), 0
        with new_file(path) as file:
            for chunk in found.chunks():
                if interrupted():
                    raise KeyboardInterrupt
                digest.update(chunk)
                size += file.write(chunk)
                self._count(len(chunk))
        self._facts[name] = FileFacts(digest.hexdigest(), size)
        if size != found.size:
            raise NotUsable(f"{name} changed while it was fetched")

    def _count(self, size: int) -> None:
        self.arrived += size
        if time.monotonic() - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = time.monotonic()
            self._report(self.arrived, self.total, self.seconds)

    def _check_record(self) -> None:
        """Check key, graph and signature. The SDK's NEFFs have no record; one of ours must satisfy the gate."""
        try:
            stats = stats_decoder.decode(self._read(filenames.STATS, SMALL))
        except MALFORMED:
            raise NotUsable(f"{filenames.STATS} is unreadable") from None
        if self._entry.is_local and (problem := stats.problem(self._entry.module, self._graph, self._entry.keys)):
            raise NotUsable(problem)
        if stats.module != self._entry.module:
            raise NotUsable(f"its record belongs to {stats.module or 'no module'}")

    def _check(self) -> None:
        missing = {path.name for path in self._entry.artifacts} - self._paths.keys()
        if self._entry.is_local and filenames.STATS not in self._paths:
            missing.add(filenames.STATS)
        if missing:
            raise NotUsable(f"{', '.join(sorted(missing))} is missing there")
        if problem := arrival_problem(self._entry.module, self._facts, self._read, self._entry.keys):
            raise NotUsable(problem)
        if self._entry.is_local and filenames.FX_GRAPH in self._paths:
            try:
                graph_header.checked(self._paths[filenames.FX_GRAPH].read_bytes(), self._entry.module, self._entry.keys)
            except NotThisGraph as reason:
                raise NotUsable(f"{filenames.FX_GRAPH}: {reason}") from None

    def _read(self, name: str, limit: int) -> bytes:
        with self._paths[name].open("rb") as file:
            return file.read(limit)
