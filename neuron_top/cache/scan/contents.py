"""Reads the contents of an entry's files on demand: the NEFF, the graph, the log. Changes nothing.

A local graph is described by its JSON file. The pickled graph beside it is never loaded, since loading a pickle runs
whatever its writer put into it.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator

import msgspec

from neuron_top.cache.location import is_hub_blob
from neuron_top.cache.model import filenames, graph_header
from neuron_top.cache.model.entry import Entry, Part
from neuron_top.cache.model.record import Stats, file_facts, stats_decoder
from neuron_top.cache.noatime_reader import NoAtimeReader, why_unreadable
from neuron_top.cache.signing import Keys
from neuron_top.decoders import MALFORMED
from neuron_top.escapes import name_text
from neuron_top.parsers.hlo import HloSummary, MalformedHlo, read_hlo
from neuron_top.parsers.hlo_nodes import HloNode, read_nodes
from neuron_top.parsers.hlo_program import Program, read_program
from neuron_top.parsers.neff import HEAD_BYTES, NeffHeader, read_header
from neuron_top.parsers.neff_payload import Payload, read_payload
from neuron_top.units import counted

HLO_LIMIT = 256 * 1024**2
"""Bytes of the largest graph that is read; the largest seen has 10 MB."""
NODES_LIMIT = 32 * 1024**2
"""Bytes of the largest graph that is read instruction by instruction."""
LOG_LIMIT = 1024**2
_LOADED = (filenames.INDUCTOR_ARTIFACT, filenames.INDUCTOR_KERNELS)
_CHUNK = 1024**2


class LocalGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A locally compiled graph, from `model.graph.json`."""

    direction: str | None = None
    operators: int | None = None
    operator_counts: dict[str, int] = {}
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    torch: str | None = None
    compiler: str | None = None
    nodes: tuple[tuple[str, str, str], ...] = ()
    """(operator, shapes of its result, scalar arguments); empty in entries of earlier versions."""


_description = msgspec.json.Decoder(LocalGraph)  # made once, in one thread: see `cache/scan/index.py`


class File(msgspec.Struct, frozen=True):
    """One file of an entry. Bytes; mtime in seconds since the epoch."""

    name: str
    bytes: int
    allocated: int
    changed_at: float


class Neff(msgspec.Struct, frozen=True, kw_only=True):
    """A NEFF: the header, the payload if it was asked for, or the problem that prevents both."""

    header: NeffHeader | None = None
    payload: Payload | None = None
    problem: str | None = None
    is_unreadable: bool = False
    """Whether the problem is that this process cannot read it, whatever it holds."""


class Contents:
    """Reads the files of one entry below `root`."""

    def __init__(self, root: str, entry: Entry) -> None:
        self.entry = entry
        self.reader = NoAtimeReader()
        self._root = os.path.realpath(root)
        folder, _, name = entry.path.rpartition("/")
        self._folder = f"{self._root}/{folder if entry.is_file else entry.path}"
        self._neff = name if entry.is_file else filenames.NEFF

    def files(self) -> list[File]:
        """All members of the entry, by name; what lies in a folder inside it shows only in the entry's totals."""
        found = []
        try:
            folder = self.reader.open_folder(self._folder)
        except OSError:
            return []
        try:
            for name in [self._neff] if self.entry.is_file else sorted(os.listdir(folder)):
                try:
                    info = self._facts(name, folder)
                except FileNotFoundError:
                    continue
                found.append(File(name_text(name), info.st_size, info.st_blocks * 512, info.st_mtime))
        finally:
            os.close(folder)
        return found

    def _facts(self, name: str, folder: int) -> os.stat_result:
        """Status of a file; for a link within the cache or into a hub's blobs, of its target."""
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        blob = self._entry_place(name) if stat.S_ISLNK(info.st_mode) else ""
        return os.stat(blob, follow_symlinks=False) if blob else info

    def neff(self, *, payload: bool) -> Neff | None:
        """The NEFF, read whole if `payload`. None if the entry has none, or none any more."""
        if not self.entry.parts & Part.NEFF or not self._entry_place(self._neff):
            return None
        try:
            descriptor = self.reader.open_file(self._entry_place(self._neff))
        except FileNotFoundError:
            return None
        except OSError as problem:
            return Neff(problem=why_unreadable(problem), is_unreadable=True)
        try:
            size = os.fstat(descriptor).st_size
            header = read_header(os.read(descriptor, HEAD_BYTES), size)
            if header is None:
                return Neff(problem=f"no valid NEFF header in {counted(size, 'byte')}")
            return Neff(header=header, payload=read_payload(header, _chunks(descriptor)) if payload else None)
        except OSError as problem:
            return Neff(problem=why_unreadable(problem), is_unreadable=True)
        finally:
            os.close(descriptor)

    def graph(self) -> HloSummary | LocalGraph | str | None:
        """A summary of the graph, or a sentence about why it cannot be read, or None if there is none."""
        if (hlo := self._hlo(HLO_LIMIT)) is not None:
            name, data = hlo
            if len(data) >= HLO_LIMIT:
                return f"{name} is larger than {HLO_LIMIT} bytes"
            try:
                return read_hlo(data)
            except MalformedHlo as problem:
                return f"{name} is no HLO module: {problem}"
        description = self._bytes(filenames.DESCRIPTION, LOG_LIMIT)
        if description is None:
            return None
        try:
            return _description.decode(description)
        except MALFORMED as problem:
            return f"{filenames.DESCRIPTION} cannot be read: {problem}"

    def nodes(self) -> tuple[HloNode, ...] | LocalGraph | None:
        """The graph node by node: instructions of an HLO module, or the description of a local graph.

        None if there is no graph, or it cannot be read or is larger than NODES_LIMIT.
        """
        if (hlo := self._hlo(NODES_LIMIT)) is not None:
            try:
                return read_nodes(hlo[1]) if len(hlo[1]) < NODES_LIMIT else None
            except MalformedHlo:
                return None
        graph = self.graph()
        return graph if isinstance(graph, LocalGraph) else None

    def program(self) -> Program | None:
        """What the HLO module computes; None if there is none, or it cannot be read or is larger than NODES_LIMIT."""
        hlo = self._hlo(NODES_LIMIT)
        try:
            return read_program(hlo[1]) if hlo is not None and len(hlo[1]) < NODES_LIMIT else None
        except MalformedHlo:
            return None

    def _hlo(self, limit: int) -> tuple[str, bytes] | None:
        """Name of the HLO graph and its first `limit` bytes, unpacked if it is compressed."""
        for name in (*filenames.HLO_NAMES, *filenames.PACKED_HLO_NAMES):
            data = self._bytes(name, limit)
            if data is not None:
                return name, _unpacked(data, limit) if name in filenames.PACKED_HLO_NAMES else data
        return None

    def local_problems(self, keys: Keys) -> Iterator[str]:
        """Why a job would not accept a local compile: problems of its record, its files, and its graph.

        Raises OSError if a file of the artifact cannot be read.
        """
        data = self._bytes(filenames.STATS, LOG_LIMIT)
        if data is not None:
            try:
                yield from self._unlike_record(stats_decoder.decode(data), keys)
            except MALFORMED:
                yield f"{filenames.STATS} cannot be read"
        graph = self._bytes(filenames.FX_GRAPH, HLO_LIMIT)
        if graph is not None and len(graph) < HLO_LIMIT:
            try:
                graph_header.checked(graph, self.entry.module, keys)
            except graph_header.NotThisGraph as reason:
                yield f"{filenames.FX_GRAPH}: {reason}"

    def _unlike_record(self, stats: Stats, keys: Keys) -> Iterator[str]:
        if problem := stats.problem(self.entry.module, "", keys):
            yield problem
        for name, published in stats.files.items():
            place = self._entry_place(name) if name in _LOADED else ""
            if not place:
                continue
            with open(self.reader.open_file(place), "rb") as file:
                if file_facts(file) != published:
                    yield f"{name} is not what was published"

    def log(self) -> str | None:
        """The failure log, at most 1 MiB of it; None if there is none."""
        data = self._bytes(filenames.FAILURE_LOG, LOG_LIMIT)
        return None if data is None else data.decode("utf-8", "replace")

    def _entry_place(self, name: str) -> str:
        """The path to open; "" for a link that leads out of the cache, unless it leads into a hub's blobs."""
        place = os.path.realpath(f"{self._folder}/{name}")
        return place if place.startswith(self._root + "/") or is_hub_blob(place) else ""

    def _bytes(self, name: str, limit: int) -> bytes | None:
        place = self._entry_place(name)
        if not place:
            return None
        try:
            descriptor = self.reader.open_file(place)
        except OSError:
            return None
        try:
            wanted = min(os.fstat(descriptor).st_size, limit)
            return b"".join(_chunks(descriptor, wanted))
        except OSError:
            return None
        finally:
            os.close(descriptor)


def _unpacked(data: bytes, limit: int) -> bytes:
    """The first `limit` bytes of what gzip packed; `data` as it is if it is not packed."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data, limit)
    except zlib.error:
        return data


def _chunks(descriptor: int, count: int | None = None) -> Iterator[bytes]:
    """Bytes from the current position on, in chunks; at most `count`, None: all."""
    left = count
    while left is None or left > 0:
        data = os.read(descriptor, _CHUNK if left is None else min(_CHUNK, left))
        if not data:
            return
        left = None if left is None else left - len(data)
        yield data
