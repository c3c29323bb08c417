"""Where the bytes of a log are, if not all in the file that its source names: copies of pipes, rotated files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from neuron_top.events.log_sources import path_of


class LogFileMap(NamedTuple):
    """Where the bytes of some sources are instead, and which sources belong together."""

    copies: Mapping[str, str] = {}
    """By source, the file that holds its bytes."""
    earlier: Mapping[str, Mapping[str, int]] = {}
    """By source, the rotated files of the log (as sources, the newest first) with their sizes."""

    def path(self, source: str) -> str:
        """The file to read a source from."""
        return self.copies.get(source) or path_of(source)

    def with_earlier(self, ends: Mapping[str, int]) -> dict[str, int]:
        """How far each source can be read, earlier files included."""
        return {name: size for files in self.earlier.values() for name, size in files.items()} | {**ends}

    def chains(self, sources: Iterable[str]) -> list[list[str]]:
        """The sources of each log, the newest first. Its files follow one another, whatever their timestamps are."""
        wanted = dict.fromkeys(sources)
        chained = {name for source in wanted for name in self.earlier.get(source, ())}
        heads = [source for source in wanted if source not in chained]
        return [[name for name in (head, *self.earlier.get(head, ())) if name in wanted] for head in heads]


WHOLE = LogFileMap()
