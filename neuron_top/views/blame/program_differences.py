"""Explains why one program has two keys on two nodes: graphs differ in a rank, a process group, or only a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from neuron_top.parsers.hlo_program import HeldKind

Held = Mapping[str, Sequence[str]]
_OF_RANKS = (HeldKind.GROUPS, HeldKind.PARTNERS, HeldKind.NUMBERS, HeldKind.CONFIGURATION, HeldKind.ATTRIBUTES)
_PLAIN = (HeldKind.CHANNELS, HeldKind.PLACES, HeldKind.NAMES)
"""Likeliest first: a moved line of source changes the places, and names follow from it."""
_LONGEST = 60


class Differing(NamedTuple):
    """The differing items in words. `of_ranks`: numbers or groups of ranks, and not just names."""

    text: str
    of_ranks: bool


def differing(one: Held, other: Held, who: tuple[str, str]) -> Differing | None:
    """How the graph of `who[0]` differs from that of `who[1]`; None where both are the same."""
    for kinds, of_ranks in ((_OF_RANKS, True), (_PLAIN, False)):
        kept = [(kind, one.get(kind, ()), other.get(kind, ())) for kind in kinds]
        found = [_text(kind, mine, theirs, who) for kind, mine, theirs in kept if list(mine) != list(theirs)]
        if found:
            return Differing("; ".join(found if of_ranks else found[:1]), of_ranks)
    return None


def _text(kind: HeldKind, one: Sequence[str], other: Sequence[str], who: tuple[str, str]) -> str:
    pairs = [(a, b) for a, b in zip(one, other, strict=False) if a != b]
    if not pairs:
        return f"{kind}: {len(one)} on {who[0]}, {len(other)} on {who[1]}"
    more = f" and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    return f"{kind}: {_short(pairs[0][0])} on {who[0]}, {_short(pairs[0][1])} on {who[1]}{more}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
