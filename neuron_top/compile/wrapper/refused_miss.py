"""Reports a miss as an error if compiles are not wanted: which graph, under which key, and the nearest entries.

A fleet that is meant to find every graph should not idle for half an hour because one differs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from neuron_top.cache.model import filenames
from neuron_top.cache.model.keys import parse_key
from neuron_top.cache.model.record import TEXT_BYTES
from neuron_top.compile.wrapper.persistent_cache import WritableEntry
from neuron_top.decoders import MALFORMED
from neuron_top.errors import GraphNotCompiled
from neuron_top.plain_files import read_plain

_MOST_READ = 1000
"""The most descriptions that are compared, in a cache of any size."""


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    """What `model.graph.json` says about a graph."""

    direction: str = ""
    operators: int = 0
    operator_counts: dict[str, int] = {}
    inputs: tuple[str, ...] = ()


_words = msgspec.json.Decoder(_Words)


def refused_miss(entry: WritableEntry, description: bytes | None) -> GraphNotCompiled:
    """The failure for an entry that holds no artifact; `description` is the graph's, as `model.graph.json` has it."""
    words = _decoded(description)
    graph = (
        f" ({words.direction} graph of {words.operators} operators)" if words is not None and words.operators else ""
    )
    return GraphNotCompiled(
        f"{entry.module}{graph} is not in the cache {entry.path.parent}, and NEURONTOP_ON_MISS=error forbids to "
        f"compile it here. {_nearest(entry, words)}. Compile it before the run (neurontop compile), or fetch it "
        "(neurontop cache copy)"
    )


def _nearest(entry: WritableEntry, words: _Words | None) -> str:
    if entry.graph.exists():
        return "Its graph was collected there and never compiled"
    key = parse_key(entry.module)
    graph = key.graph if key is not None else entry.module
    for other in _compiled(entry.path.parent, f"MODULE_{graph}*"):
        return f"Nearest: {other.name}, the same graph with other compiler flags"
    for other in _compiled(entry.root, f"*/{entry.module}"):
        return f"Nearest: the same graph for {other.parent.name}: another compiler version, CPU or installation"
    if words is None:
        return "Nothing in that cache is like it"
    alike = [(_difference(words, found), path) for path, found in _described(entry.path.parent)]
    if not alike:
        return "That cache holds no compiled graph of this compiler"
    different, path = min(alike, key=lambda each: each[0])
    return f"Nearest: {path.name}, {_in_words(words, different, _decoded(_bytes(path)))}"


def _in_words(words: _Words, different: int, other: _Words | None) -> str:
    if different:
        return f"which differs in {different} of its operators"
    if other is not None and other.inputs != words.inputs:
        return f"of the same operators with inputs {', '.join(other.inputs)}; here they are {', '.join(words.inputs)}"
    return "of the same operators; constants, shapes inside or settings of PyTorch differ (neurontop explain)"


def _difference(one: _Words, other: _Words) -> int:
    """The operators that only one of two graphs has."""
    ours, theirs = Counter(one.operator_counts), Counter(other.operator_counts)
    return sum(((ours - theirs) + (theirs - ours)).values())


def _compiled(folder: Path, pattern: str) -> Iterator[Path]:
    """Entries that hold an artifact."""
    return (path for path in sorted(folder.glob(pattern)) if (path / filenames.DONE).exists())


def _described(folder: Path) -> Iterator[tuple[Path, _Words]]:
    for path in itertools.islice(_compiled(folder, "MODULE_*"), _MOST_READ):
        words = _decoded(_bytes(path))
        if words is not None:
            yield path, words


def _bytes(entry: Path) -> bytes | None:
    try:
        return read_plain(entry / filenames.DESCRIPTION, TEXT_BYTES)
    except OSError:
        return None


def _decoded(data: bytes | None) -> _Words | None:
    try:
        return None if data is None else _words.decode(data)
    except MALFORMED:
        return None
