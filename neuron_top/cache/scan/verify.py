"""Finds entries that are broken or doubtful: cheaply from a scan, or deeply by reading files in full.

*broken* is an entry that a client takes for a hit but cannot use; *warning* is something that a person should know. A
digest of an unknown package version is neither, as it cannot be checked. Deep verification reads every artifact.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from neuron_top.cache.model.entry import Artifact, Entry, Part
from neuron_top.cache.model.states import BROKEN, HITS, State
from neuron_top.cache.noatime_reader import why_unreadable
from neuron_top.cache.scan.contents import Contents
from neuron_top.cache.signing import keys_in_force
from neuron_top.units import counted


class FindingLevel(StrEnum):
    """How bad a finding is. The values are what `neurontop cache verify --json` carries."""

    BROKEN = "broken"
    WARNING = "warning"


class EntryFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with one entry."""

    entry: Entry
    level: FindingLevel
    what: str


def cheap(entries: Iterable[Entry]) -> Iterator[EntryFinding]:
    """What the states, headers and flags hashes of a scan show to be wrong."""
    for entry in entries:
        if entry.state in BROKEN:
            yield EntryFinding(entry=entry, level=FindingLevel.BROKEN, what=_what_is_broken(entry))
        elif entry.artifact is Artifact.UNREADABLE or entry.state is State.UNKNOWN:
            what = entry.problems[0] if entry.problems else "its files match no known form"
            yield EntryFinding(entry=entry, level=FindingLevel.WARNING, what=what)
        elif entry.state is State.PARTIAL:
            what = entry.problems[0] if entry.problems else "the artifact is cut short"
            yield EntryFinding(entry=entry, level=FindingLevel.WARNING, what=what)
        if entry.flags_hash_ok is False:
            yield EntryFinding(
                entry=entry, level=FindingLevel.WARNING, what="the flags file does not have the hash in the name"
            )


def _what_is_broken(entry: Entry) -> str:
    if entry.artifact is Artifact.NONE:
        return "marked as done, but there is no artifact"
    problems = (*entry.artifact_problems, *entry.problems)
    return problems[0] if problems else f"its artifact is cut short: {counted(entry.artifact_bytes or 0, 'byte')}"


def deep(root: str, entry: Entry) -> Iterator[EntryFinding]:
    """What reading an entry's artifact and graph shows to be wrong; nothing for entries without a usable artifact."""
    if entry.state not in HITS and entry.state is not State.PUBLISHED_UNMARKED:
        return
    contents = Contents(root, entry)
    if entry.parts & Part.INDUCTOR:
        yield from _of_local(entry, contents)
    neff = contents.neff(payload=True)
    if neff is not None and neff.problem is not None:
        if neff.is_unreadable:  # jobs may well use it: it must not be moved aside because we cannot read it
            what, level = f"its NEFF cannot be read: {neff.problem}", FindingLevel.WARNING
        else:
            what, level = neff.problem, FindingLevel.BROKEN
        yield EntryFinding(entry=entry, level=level, what=what)
    if neff is not None and neff.payload is not None:
        if neff.payload.digest_ok is False:
            yield EntryFinding(
                entry=entry, level=FindingLevel.BROKEN, what="the digest in the header is not that of the archive"
            )
        for problem in neff.payload.problems[:3]:
            yield EntryFinding(entry=entry, level=FindingLevel.BROKEN, what=problem)
    if neff is not None and neff.header is not None:
        for warning in neff.header.warnings:
            yield EntryFinding(entry=entry, level=FindingLevel.WARNING, what=warning)
    graph = contents.graph() if entry.parts & Part.GRAPH else None
    if isinstance(graph, str):
        yield EntryFinding(entry=entry, level=FindingLevel.WARNING, what=graph)


def _of_local(entry: Entry, contents: Contents) -> Iterator[EntryFinding]:
    """What is wrong with a local compile, as a job would judge it."""
    try:
        for problem in contents.local_problems(keys_in_force()):
            yield EntryFinding(entry=entry, level=FindingLevel.BROKEN, what=problem)
    except FileNotFoundError:
        return  # evicted since the scan
    except OSError as refused:
        name = os.path.basename(refused.filename or entry.path)
        yield EntryFinding(entry=entry, level=FindingLevel.WARNING, what=f"{name}: {why_unreadable(refused)}")
