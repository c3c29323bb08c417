"""Copied or fetched entries: which files they have, in which order, and whether what arrived is what was published.

An entry's record (`model.stats.json`) has the digests of its artifact; without a record only the header and length of a
NEFF and the hash of the flags can be checked. The mark `model.done` is written last, once all files have arrived and
passed these checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from neuron_top.cache.model import filenames
from neuron_top.cache.model.keys import flags_hash
from neuron_top.cache.model.record import FileFacts, Stats, stats_decoder
from neuron_top.cache.signing import Keys
from neuron_top.decoders import MALFORMED
from neuron_top.parsers.neff import CHEAP_BYTES, head_problem

ORDER = (
    *filenames.GRAPH_NAMES, filenames.DESCRIPTION, *filenames.FLAGS_NAMES, filenames.STATS, filenames.NEFF,
    filenames.INDUCTOR_KERNELS, filenames.INDUCTOR_ARTIFACT, filenames.WRAPPED_NEFF,
)  # fmt: skip
"""The files that are copied, in this order; `model.done` follows when all have arrived."""
SMALL = 1 << 20
"""Most bytes that are read of flags and records; larger ones are not ours."""

Read = Callable[[str, int], bytes]
"""(name, limit) → the first `limit` bytes of a file that arrived."""


def arrival_problem(module: str, written: Mapping[str, FileFacts], read: Read, keys: Keys | None = None) -> str:
    """What is wrong with an entry's files; "" if they are what their names and their record say.

    `keys`: the keys in force here; the record's signature must not be wrong by them.
    """
    if not any(name in written for name in filenames.ARTIFACT_NAMES):
        return "its artifact is gone"
    flags = next((name for name in filenames.FLAGS_NAMES if name in written), None)
    if flags is not None and flags_hash(read(flags, SMALL)) != module.rpartition("+")[2]:
        return f"{flags} does not have the hash in the entry's name"
    stats = _record(read(filenames.STATS, SMALL)) if filenames.STATS in written else None
    if stats is not None and (problem := _against_record(stats, written, keys)):
        return problem
    if filenames.NEFF in written and not (stats is not None and filenames.NEFF in stats.files):
        broken = head_problem(read(filenames.NEFF, CHEAP_BYTES), written[filenames.NEFF].bytes)
        if broken is not None:
            return f"{filenames.NEFF} arrived corrupt: {broken}"
    return ""


def _record(data: bytes) -> Stats | None:
    """None for a record that neuron-top did not write; a job that needs the record will refuse the artifact."""
    try:
        return stats_decoder.decode(data)
    except MALFORMED:
        return None


def _against_record(stats: Stats, written: Mapping[str, FileFacts], keys: Keys | None) -> str:
    if keys is not None and filenames.INDUCTOR_ARTIFACT in written:
        problem = keys.problem(stats.content(), stats.signature)
        if problem:
            return f"{filenames.STATS}: {problem}"
    for name, facts in stats.files.items():
        if name in written and written[name] != facts:
            return f"{name} is not what was published: its sha256 differs from the record's"
    return ""
