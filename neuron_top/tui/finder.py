"""Finds names for the command palette besides commands: jobs, graphs, cores, ranks, recordings, cache entries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, cast

from textual.command import Hit, Hits, Provider

from neuron_top.errors import NeuronTopError
from neuron_top.tui.host import Host
from neuron_top.tui.screens.cores import core_detail
from neuron_top.tui.screens.graph_detail import GraphDetail
from neuron_top.units import bytes_text
from neuron_top.views.entries import EntryRow
from neuron_top.views.model import Run
from neuron_top.views.ranks import ranks_of
from neuron_top.views.runs import RunRow

MOST = 5000
"""How many names of one kind are searched letter by letter."""
MOST_ENTRIES_SHOWN = 50


class Findable(NamedTuple):
    """A name, its kind, and the action when it is chosen."""

    name: str
    kind: str
    act: Callable[[], object]


class Finder(Provider):
    """Names of things, read when the palette opens."""

    async def startup(self) -> None:
        """Read the names; recordings and caches are read from a disk."""
        host = cast("Host", self.app)
        plain = host.render_theme.to_ascii
        graphs, cores, ranks = host.feed.read(_names)
        found = [Findable(card.name, "job", partial(host.show_job, card.id)) for card in host.jobs()]
        found += [Findable(key, "graph", partial(host.open_graph, key)) for key in graphs]
        found += [Findable(key, "core", partial(_open_core, host, key)) for key in cores]
        found += [Findable(f"rank {rank}", "rank: its log lines", partial(host.show_log_lines, f"rank:{rank}"))
                  for rank in ranks]  # fmt: skip
        rows, self._entries = await asyncio.to_thread(_stored, host)
        found += [Findable(f"{row.called} {row.id}", f"recording, {row.state_text}", partial(host.play, row.id))
                  for row in rows]  # fmt: skip
        self._found = [each._replace(name=plain(each.name), kind=plain(each.kind)) for each in found]

    async def search(self, query: str) -> Hits:
        """What matches."""
        matcher = self.matcher(query)
        for name, kind, act in self._found:
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), act, help=kind)
        for entry in _named(self._entries, query):
            host = cast("Host", self.app)
            name = f"{entry.module} {entry.compiler}".strip()
            kind = f"cache entry, {entry.state}, {bytes_text(entry.bytes)}, {host.render_theme.to_ascii(entry.root)}"
            act = partial(_open_entry, host, entry)
            yield Hit(matcher.match(name) or 0.1, matcher.highlight(name), act, help=kind)


def _names(run: Run, _now: float) -> tuple[list[str], list[str], list[int]]:
    return list(run.compiles.graphs)[:MOST], list(run.cores.cores)[:MOST], ranks_of(run)[:MOST]


def _stored(host: Host) -> tuple[Sequence[RunRow], Sequence[EntryRow]]:
    """Recordings and cache entries; those that cannot be read are left out."""
    recordings: Sequence[RunRow] = ()
    entries: Sequence[EntryRow] = ()
    with suppress(NeuronTopError, OSError):
        recordings = host.services.runs.rows()
    with suppress(NeuronTopError, OSError):
        entries = host.services.cache_listing.entries().rows
    return recordings, entries


def _named(entries: Sequence[EntryRow], query: str) -> list[EntryRow]:
    """The first entries with every word, as there are too many to compare letter by letter."""
    words = query.casefold().split()
    found: list[EntryRow] = []
    for entry in entries:
        text = f"{entry.module} {entry.compiler} {entry.state}".casefold()
        if words and all(word in text for word in words):
            found.append(entry)
            if len(found) == MOST_ENTRIES_SHOWN:
                break
    return found


def _open_entry(host: Host, entry: EntryRow) -> None:
    host.open(GraphDetail(entry.module, entry))


def _open_core(host: Host, key: str) -> None:
    host.open(core_detail(key))
