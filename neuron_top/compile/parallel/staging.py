"""Copies the graphs of a bucket that wait to be compiled to a folder here, where the pre-compile collects them.

The submitting process fetches the graphs that wait in the bucket, whichever host collected them, and stores new ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top.cache import s3
from neuron_top.cache.model import filenames
from neuron_top.cache.model.states import FAILURES, HITS, State
from neuron_top.compile.fetch.shared_bucket import GRAPH_FILES, SharedBucket
from neuron_top.compile.parallel.collect import WAITING, Collected
from neuron_top.compile.parallel.compile_queue import CollectedGraph


class Staging:
    """The staging folder of one bucket, in the state folder."""

    def __init__(self, url: str, state: Path) -> None:
        """Raises UsageError for what is no bucket."""
        self.bucket = SharedBucket(url)
        self.root = state / "staging" / hashlib.sha256(self.bucket.url.encode()).hexdigest()[:16]
        self._states: dict[str, State] = {}

    def take_in(self, *, retry_failed: bool) -> None:
        """List the bucket once, and fetch the graphs that wait in it. Raises NothingToShow, OSError."""
        self._states = {entry.path: entry.state for entry in s3.take(self.bucket.bucket).snapshot.entries}
        wanted = WAITING | FAILURES if retry_failed else WAITING
        for path, state in self._states.items():
            folder = self.root / path
            if state in wanted and path.count("/") == 1 and not _graph(folder):
                folder.mkdir(parents=True, exist_ok=True)
                self.bucket.fetch(path, GRAPH_FILES, folder)

    def left(self, collected: Collected, met: Iterable[str], *, retry_failed: bool) -> Collected:
        """The collected graphs that are left to compile, without those that the bucket has or stores a failure of."""
        graphs, failed, done, wanted = [], [], 0, set(met)
        for graph in collected.graphs:
            state = self._states.get(self._path(graph))
            if state in HITS:
                done += 1
            elif state in FAILURES and not retry_failed:
                failed.append(graph)
            else:
                graphs.append(graph)
        counts = msgspec.structs.replace(collected.counts, done=done, failed=len(failed))
        before = tuple(graph for graph in failed if graph.module in wanted)
        return msgspec.structs.replace(collected, graphs=tuple(graphs), counts=counts, failed_before=before)

    def put_out(self, graphs: Iterable[CollectedGraph]) -> None:
        """Store the graphs that the bucket lacks. Raises NothingToShow, OSError."""
        for graph in graphs:
            if graph.path.name not in self.bucket.names(self._path(graph)):
                self.bucket.store(self._path(graph), (*filenames.FLAGS_NAMES, filenames.DESCRIPTION), graph.path.parent)
                self.bucket.store(self._path(graph), (graph.path.name,), graph.path.parent)

    def _path(self, graph: CollectedGraph) -> str:
        return str(graph.path.parent.relative_to(self.root))


def _graph(folder: Path) -> bool:
    return any((folder / name).exists() for name in filenames.GRAPH_NAMES)
