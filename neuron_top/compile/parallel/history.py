"""Estimates the memory that a collected graph needs, from its operators and from finished compiles in its cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from neuron_top.cache.model import filenames
from neuron_top.cache.model.record import TEXT_BYTES, stats_decoder
from neuron_top.decoders import MALFORMED
from neuron_top.parsers.hlo import MalformedHlo, read_hlo
from neuron_top.plain_files import read_plain

SIMILAR = 1.5
"""A finished compile with up to this many times the operators counts for an estimate."""
MARGIN = 1.25
"""Requested memory over measured memory: a compile that its node kills costs more than some idle memory."""
_LARGEST_READ = 256 * 1024**2


class Peak(NamedTuple):
    """Operators and peak memory of a finished compile."""

    operators: int
    bytes: int


class _Description(msgspec.Struct, frozen=True):
    operators: int


class MemoryHistory:
    """Peaks of finished compiles, from which the memory to request for other graphs is estimated. Pure."""

    def __init__(self, peaks: Iterable[Peak] = ()) -> None:
        self._peaks = sorted(peaks)

    def request(self, operators: int | None) -> int | None:
        """Bytes to request; None without a finished compile. A graph with more operators never gets less."""
        if not self._peaks:
            return None
        largest = self._peaks[-1].operators
        if operators is None:
            return round(MARGIN * max(peak.bytes for peak in self._peaks))
        similar = [peak.bytes for peak in self._peaks if peak.operators <= operators * SIMILAR]
        measured = max(similar, default=self._peaks[0].bytes)
        return round(MARGIN * measured * max(1.0, operators / max(1, largest)))


def memory_history(root: Path, compilers: Iterable[str]) -> MemoryHistory:
    """Read the records of finished compiles below `root`."""
    measured = ((operators_of(entry), peak) for entry, peak in measured_peaks(root, compilers))
    return MemoryHistory(Peak(operators, peak) for operators, peak in measured if operators is not None)


def measured_peaks(root: Path, compilers: Iterable[str]) -> Iterator[tuple[Path, int]]:
    """(entry, peak memory in bytes) of the finished compiles in these folders of `root` whose record has it."""
    for compiler in compilers:
        for path in (root / compiler).glob(f"MODULE_*/{filenames.STATS}"):
            try:
                peak = stats_decoder.decode(read_plain(path, TEXT_BYTES)).peak_rss_bytes
            except (OSError, *MALFORMED):
                continue
            if peak is not None:
                yield path.parent, peak


def operators_of(entry: Path) -> int | None:
    """Number of operators of the graph in an entry; None if no readable file has it."""
    try:
        return msgspec.json.decode(read_plain(entry / filenames.DESCRIPTION, TEXT_BYTES), type=_Description).operators
    except (OSError, *MALFORMED):
        pass
    for name in filenames.HLO_NAMES:
        graph = entry / name
        try:
            if graph.stat().st_size <= _LARGEST_READ:
                return read_hlo(read_plain(graph)).instructions
        except (OSError, MalformedHlo):
            continue
    return None
