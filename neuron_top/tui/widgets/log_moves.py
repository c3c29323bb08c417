"""Where lines that a window holds are now, after their log was rotated under it.

A rotation may rename or copy, and every older file moves on by one; so a file is known again by what it holds at the
places where some of the lines were read, never by its name.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from neuron_top.services.feeds import LogChain, LogLine

FAR = sys.maxsize
"""An offset behind the end of any file."""


class Holds(Protocol):
    """What is needed of a feed."""

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """The lines at these places."""

    def log_chains(self) -> list[LogChain]:
        """The files of each log."""


class Moved(NamedTuple):
    """What a rotation did to a window."""

    names: dict[str, str]
    """By the source that lines were read as, the one they are in now; those that are gone are left out."""
    top: dict[str, int]
    bottom: dict[str, int]


def moved(
    feed: Holds, probes: Mapping[str, Sequence[LogLine]], top: Mapping[str, int], bottom: Mapping[str, int]
) -> Moved | None:
    """None while every file is what it was. `probes`: by source, some of its lines; `top` and `bottom`: how far each
    source was read at both ends of the window."""
    chains = [chain.files for chain in feed.log_chains() if any(source in probes for source in chain.files)]
    names = {source: _place(feed, probes[source], files) for files in chains for source in files if source in probes}
    if all(name == source for source, name in names.items()):
        return None
    found = {source: name for source, name in names.items() if name is not None}
    above, below = dict(top), dict(bottom)
    for files in chains:
        now = {found[source]: source for source in files if source in found}
        first = min((files.index(name) for name in now), default=1)
        for at, name in enumerate(files):
            # What is newer than all that is held was not read yet; what is older is wholly in front of the window.
            newer = at < first
            held = now.get(name)
            above[name] = top.get(held, FAR) if held else 0 if newer else FAR
            below[name] = bottom.get(held, 0) if held else 0 if newer else FAR
    return Moved(found, above, below)


def _place(feed: Holds, lines: Sequence[LogLine], files: Sequence[str]) -> str | None:
    """The file that holds these lines; that of their own name if it does."""
    own = lines[0].source
    for name in (own, *(file for file in files if file != own)):
        there = {line.offset: line.text for line in feed.log_lines([(name, line.offset) for line in lines])}
        if all(there.get(line.offset) == line.text for line in lines):
            return name
    return None
