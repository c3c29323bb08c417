"""What the command palette finds besides commands: jobs, graphs, cores and recordings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import cast

from textual.command import Hit, Hits, Provider

from neuron_top.errors import NeuronTopError
from neuron_top.tui.host import Host
from neuron_top.tui.screens.cores import core_detail
from neuron_top.tui.screens.graph_detail import GraphDetail
from neuron_top.views.model import Run

MOST = 5000
"""Names of one kind that are searched."""
_Found = tuple[str, str, Callable[[], object]]
"""A name, what it is, and what choosing it does."""


class Finder(Provider):
    """Names of things, read when the palette opens."""

    async def startup(self) -> None:
        """Read the names; recordings are read from a disk."""
        host = cast("Host", self.app)
        graphs, cores = host.feed.read(_names)
        found: list[_Found] = [(card.name, "job", partial(host.show_job, card.id)) for card in host.jobs()]
        found += [(key, "graph", partial(_open_graph, host, key)) for key in graphs]
        found += [(key, "core", partial(_open_core, host, key)) for key in cores]
        try:
            rows = await asyncio.to_thread(host.services.runs.rows)
        except NeuronTopError:
            rows = ()
        found += [(f"{row.name} {row.id}".strip(), f"recording, {row.state_text}", partial(host.play, row.id))
                  for row in rows]  # fmt: skip
        self._found = found

    async def search(self, query: str) -> Hits:
        """What matches."""
        matcher = self.matcher(query)
        for name, kind, act in self._found:
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), act, help=kind)


def _names(run: Run, _now: float) -> tuple[list[str], list[str]]:
    return list(run.compiles.graphs)[:MOST], list(run.cores.cores)[:MOST]


def _open_graph(host: Host, key: str) -> None:
    host.open(GraphDetail(key))


def _open_core(host: Host, key: str) -> None:
    host.open(core_detail(key))
