"""Carries graphs to nodes and artifacts back, through a folder that all nodes see or through a bucket."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from neuron_top.cache.model import filenames
from neuron_top.compile.fetch.shared_bucket import SharedBucket
from neuron_top.compile.parallel.compile_queue import CompileResult, Fault
from neuron_top.compile.parallel.on_node import NodeResult, NodeTask, arrived, graph_digest
from neuron_top.errors import NeuronTopError


class Medium(Protocol):
    """How an executor reaches the graphs and artifacts of its nodes; safe to share between threads."""

    shows_locks: bool
    """Whether the lock of a node that compiles a graph is visible here, beside the graph."""

    def task(self, graph: Path, retries: int) -> bytes:
        """The task for a graph file. Raises OSError where it cannot be read."""
        ...

    def arrived(self, graph: Path, result: NodeResult) -> str:
        """Empty once the artifact that a node published is visible here, else what is wrong."""
        ...


def result_of(data: bytes, graph: Path, medium: Medium) -> CompileResult:
    """The result that a node sent for a graph, once its artifact is visible here. Raises msgspec.MsgspecError."""
    ended = msgspec.json.decode(data, type=NodeResult)
    problem = medium.arrived(graph, ended) if ended.result.ok else ""
    return (
        msgspec.structs.replace(ended.result, ok=False, message=problem, fault=Fault.NODE) if problem else ended.result
    )


class SharedFolder:
    """See Medium: the cache root is a folder that all nodes see."""

    shows_locks = True

    def task(self, graph: Path, retries: int) -> bytes:
        """See Medium."""
        return msgspec.json.encode(NodeTask(graph=str(graph), sha256=graph_digest(graph), retries=retries))

    def arrived(self, graph: Path, result: NodeResult) -> str:
        """See Medium."""
        return arrived(graph, result)


class BucketMedium:
    """See Medium: the cache root is a bucket; graphs are staged below `root` here."""

    shows_locks = False

    def __init__(self, bucket: SharedBucket, root: Path) -> None:
        self._bucket, self._root = bucket, root

    def task(self, graph: Path, retries: int) -> bytes:
        """See Medium."""
        below = str(graph.relative_to(self._root))
        task = NodeTask(graph=below, sha256=graph_digest(graph), retries=retries, bucket=self._bucket.url)
        return msgspec.json.encode(task)

    def arrived(self, graph: Path, result: NodeResult) -> str:
        """See Medium: every byte is read again. The artifact's record is kept here, to estimate other graphs."""
        entry = str(graph.parent.relative_to(self._root))
        try:
            found = self._bucket.facts(entry)
            self._bucket.fetch(entry, (filenames.STATS,), graph.parent)
        except (NeuronTopError, OSError) as problem:
            return str(problem)
        if not found:
            return f"{entry} is not in {self._bucket.url}"
        wrong = [name for name, facts in result.files.items() if found.get(name) != facts]
        return f"{wrong[0]} of {entry} in {self._bucket.url} is not the file that the node published" if wrong else ""
