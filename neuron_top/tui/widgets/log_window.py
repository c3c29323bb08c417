"""The part of the logs that a screen holds: a window that moves through files of any size, and looks for lines.

At its edges the window is lengthened page by page; what leaves it at the other end is forgotten, and read again when
it is gone back to. A search that finds little returns after a moment and is gone on with, so that no key waits for it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from neuron_top.filters import Kept, newest_kept
from neuron_top.services.feeds import LineLevel, LogChain, LogLine, LogPage, LogQuery

TAIL_LINES = 5000
NEAR_LINES = 1000
"""Initial lines of a window that does not follow: five thousand take as long as a key press may take."""
PAGE_LINES = 200
MOST_LINES = 8000
FILTER_SECONDS = 0.05
"""For the lines at hand; a filter that needs longer goes on through the files, a page at a time."""
FAR = sys.maxsize
"""An offset after the end of any file."""


class Reads(Protocol):
    """The methods of a feed that a window needs."""

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The newest lines."""

    def log_state(self) -> str:
        """Why there are no lines; "" where nothing is wrong."""

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines before some offsets."""

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines from some offsets on."""

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """The lines at these places."""

    def log_chains(self) -> list[LogChain]:
        """The files of each log."""


class LogWindow:
    """Lines, and how far the logs were read at both ends of them."""

    def __init__(self, feed: Reads) -> None:
        self._feed = feed
        self.query = LogQuery()
        self.lines: list[LogLine] = []
        self._top: dict[str, int] = {}
        self._bottom: dict[str, int] = {}
        self.at_start = False
        """No line is older than the first one."""
        self.at_end = True
        """None was newer than the last one when it was read."""
        self._deep = False
        """What the feed keeps of older lines is in the window, or lies elsewhere in the logs."""
        self.unseen = 0
        """Lines at hand that there was no time to filter."""

    def take_tail(self, count: int) -> None:
        """The newest lines: so many, or where they are filtered, those of all that are at hand."""
        count = TAIL_LINES if self.query else count
        lines = self._feed.log_tail(count, self.query.only)
        kept = newest_kept(lines, self.query.keep, FILTER_SECONDS) if self.query else Kept(lines, 0)
        self.lines, self.unseen = kept.rows, kept.unseen
        seen = reversed(lines[kept.unseen :])
        self._top = {line.source: line.end for line in lines} | {line.source: line.offset for line in seen}
        self._bottom = self._feed.log_older({}, 0, self.query).at | {line.source: line.end for line in lines}
        self.at_start, self.at_end, self._deep = False, True, count >= TAIL_LINES

    def take_newer_tail(self) -> None:
        """The same again for a filter that is followed; older lines that were found stay."""
        before, top, at_start = self.lines, self._top, self.at_start
        self.take_tail(TAIL_LINES)
        older = [line for line in before if line.offset < self._top.get(line.source, 0)]
        self.lines, self._top, self.at_start = [*older, *self.lines], self._top | top, at_start

    def take_start(self) -> None:
        """The oldest lines; where they cannot be read again, the oldest at hand."""
        page = self._feed.log_newer({}, PAGE_LINES, self.query)
        if page.lines or not page.ended:
            self._top, self._bottom, self.at_start, self.at_end, self._deep = {}, page.at, True, page.ended, True
            self.lines = list(page.lines)

    def take_around(self, at: Mapping[str, int], place: tuple[str, int]) -> int | None:
        """The lines before and after a position; the index of the line at `place`, None where it is no more."""
        self.take_near(at)
        return self.index(place)

    def take_near(self, at: Mapping[str, int]) -> int:
        """The lines before and after a position; how many are before it."""
        before = self._feed.log_older(at, PAGE_LINES, self.query)
        after = self._feed.log_newer(at, PAGE_LINES, self.query)
        self._top, self._bottom = before.at, after.at
        self.at_start, self.at_end, self._deep = before.ended, after.ended, True
        self.lines = [*before.lines, *after.lines]
        return len(before.lines)

    def position(self, line: LogLine) -> dict[str, int]:
        """How far each log goes up to a line of the window."""
        index = self.lines.index(line)
        above = {each.source for each in self.lines[:index]}
        at = {source: end if source in above else self._top.get(source, end) for source, end in self._bottom.items()}
        at |= {each.source: each.offset for each in reversed(self.lines[index:])}
        for files in (chain.files for chain in self._feed.log_chains() if line.source in chain.files):
            here = files.index(line.source)
            at |= dict.fromkeys(files[:here], 0) | dict.fromkeys(files[here + 1 :], FAR)
        return at | {line.source: line.offset}

    def index(self, place: tuple[str, int]) -> int | None:
        """Where a line is in the window."""
        return next((at for at, line in enumerate(self.lines) if (line.source, line.offset) == place), None)

    @property
    def unread(self) -> str:
        """The newest file that holds lines older than any that can be read; "" when there is none."""
        known = {line.source for line in self.lines[:1]}
        return next(
            (chain.unread[0] for chain in self._feed.log_chains() if chain.unread and known & {*chain.files}), ""
        )

    def _settle(self) -> None:
        """Adapt to a rotation: the lines in the window are in other files now, and later ones in newer files."""
        by_source: dict[str, list[LogLine]] = {}
        for line in self.lines:
            by_source.setdefault(line.source, []).append(line)
        # The last one may have been a line without an end, which has grown since.
        whole = {source: lines[:-1] or lines for source, lines in by_source.items()}
        probes = {source: (lines[0], lines[len(lines) // 2], lines[-1]) for source, lines in whole.items()}
        done = moved(self._feed, probes, self._top, self._bottom)
        if done is None:
            return
        self._top, self._bottom, self.at_end = done.top, done.bottom, False
        self.lines = [
            msgspec.structs.replace(line, source=done.names.get(line.source, line.source)) for line in self.lines
        ]
        if self.query.only is not None:
            self.query = LogQuery(self.query.text, done.names.get(self.query.only, self.query.only))

    def lengthen_up(self) -> int:
        """Read older lines; how many were found. While `at_start` is False there may be more."""
        if self.at_start:
            return 0
        self._settle()
        kept = self._take_kept()
        if kept:
            return kept
        page = self._feed.log_older(self._top, PAGE_LINES, self.query)
        self._top, self.at_start = {**self._top, **page.at}, page.ended
        self.lines[:0] = page.lines
        for line in reversed(self.lines[MOST_LINES:]):
            self._bottom[line.source], self.at_end = line.offset, False
        del self.lines[MOST_LINES:]
        return len(page.lines)

    def _take_kept(self) -> int:
        """Take older lines that the feed still keeps; a log that cannot be read again has no others."""
        if self._deep or self.query or not self.lines:
            return 0
        self._deep = True
        kept = self._feed.log_tail(TAIL_LINES)
        first = self.lines[0].source, self.lines[0].offset
        before = kept[: next((at for at, line in enumerate(kept) if (line.source, line.offset) == first), 0)]
        self._top |= {line.source: line.offset for line in reversed(before)}
        self.lines[:0] = before
        return len(before)

    def lengthen_down(self) -> int:
        """Read newer lines; how many the window was shortened by at its top."""
        self._settle()
        page = self._feed.log_newer(self._bottom, PAGE_LINES, self.query)
        self._bottom, self.at_end = {**self._bottom, **page.at}, page.ended
        self.lines += page.lines
        surplus = max(0, len(self.lines) - MOST_LINES)
        for line in self.lines[:surplus]:
            self._top[line.source], self.at_start = line.end, False
        del self.lines[:surplus]
        return surplus

    def search(self, by: int, level: LineLevel) -> Search:
        """Look beyond the window for a line of this level or worse."""
        self._settle()
        return Search(self._feed, self.query.at_least(level), by, dict(self._top if by < 0 else self._bottom))

    def search_all(self, by: int, level: LineLevel) -> Search:
        """The same from the first line of all logs on, or from the last one back."""
        self._settle()
        return Search(self._feed, self.query.at_least(level), by, {})


class Search:
    """A search under way."""

    def __init__(self, feed: Reads, query: LogQuery, by: int, at: dict[str, int]) -> None:
        self.by, self.at, self.ended = by, at, False
        self._feed, self._query = feed, query

    def step(self) -> LogLine | None:
        """Go on for a moment; `ended` says whether the search is complete."""
        read = self._feed.log_older if self.by < 0 else self._feed.log_newer
        page = read(self.at, 1, self._query)
        self.at, self.ended = {**self.at, **page.at}, page.ended or bool(page.lines)
        return page.lines[0] if page.lines else None


class Moved(NamedTuple):
    """What a rotation did to a window."""

    names: dict[str, str]
    """By the source that lines were read as, the one they are in now; those that are gone are left out."""
    top: dict[str, int]
    bottom: dict[str, int]


def moved(
    feed: Reads, probes: Mapping[str, Sequence[LogLine]], top: Mapping[str, int], bottom: Mapping[str, int]
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


def _place(feed: Reads, lines: Sequence[LogLine], files: Sequence[str]) -> str | None:
    """The file that holds these lines; that of their own name if it does."""
    own = lines[0].source
    for name in (own, *(file for file in files if file != own)):
        there = {line.offset: line.text for line in feed.log_lines([(name, line.offset) for line in lines])}
        if all(there.get(line.offset) == line.text for line in lines):
            return name
    return None
