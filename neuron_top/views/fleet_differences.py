"""Finds what is different about some nodes, ranked by how unlikely their attributes are in a random selection.

For each attribute the one value (or side of a number) that sets the selection apart most is named, with how many of the
selected nodes and of the rest have it. `chance` is that of the hypergeometric distribution: how often as many nodes,
drawn blindly from the fleet, would have it at least so often. It orders rows; it proves no cause.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from math import exp, lgamma
from operator import eq

import msgspec

from neuron_top.errors import NothingToShow
from neuron_top.units import number_text
from neuron_top.views.fleet import FleetPage, NodeRow

LIKELY = 0.05
"""A likelier chance than this is no difference, unless all of these nodes have the value and none of the others."""
_FEW_VALUES = 8
"""Numbers with more distinct values are compared by thresholds."""
_THRESHOLDS = 9
Value = str | int | float | bool


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """An attribute whose values are others in the selection than in the rest."""

    attribute: str
    value: str
    """The value, or the side of a threshold, that the selection has more often."""
    selected: int
    selected_share: float
    rest: int
    rest_share: float
    chance: float
    """How often a blind draw of as many nodes would have it so often, 0…1."""


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: the strongest difference first."""

    selected: tuple[str, ...]
    rest: int
    rows: tuple[Difference, ...]
    alike: tuple[str, ...]
    """Attributes in which the selection is like the rest."""


class _Candidate(msgspec.Struct, frozen=True):
    words: str
    has: Callable[[Value], bool]
    tries: int
    """Of how many candidates of the attribute this is one: the more, the likelier one stands out by chance."""


def slow_selection(page: FleetPage) -> tuple[str, ...]:
    """The nodes whose steps take far longer than the median node's of their job. Raises NothingToShow."""
    found = tuple(node.node for node in page.nodes if node.slow)
    if not found:
        raise NothingToShow("no node's steps take far longer than those of the median node of its job")
    return found


def differences(page: FleetPage, selected: Collection[str], job: str | None = None) -> Differences:
    """Attributes of these nodes against all others (of a job). Raises NothingToShow for a name that is none."""
    nodes = [node for node in page.nodes if job is None or node.job == job]
    names = {node.node for node in nodes}
    if unknown := [name for name in selected if name not in names]:
        raise NothingToShow(f"no node {', '.join(unknown)}{f' in job {job}' if job else ''}; `fleet nodes` lists them")
    chosen = [node for node in nodes if node.node in selected]
    rest = [node for node in nodes if node.node not in selected]
    if not chosen or not rest:
        raise NothingToShow("some nodes, but not all of them, must be selected to be compared with the rest")
    rows, alike = [], []
    for attribute in sorted({name for node in nodes for name in _attributes(node)}):
        row = _difference(attribute, chosen, rest)
        if row is not None and (row.chance <= LIKELY or row.selected_share - row.rest_share == 1):
            rows.append(row)
        else:
            alike.append(attribute)
    rows.sort(key=lambda row: (row.chance, row.rest_share - row.selected_share, row.attribute))
    return Differences(
        selected=tuple(node.node for node in chosen), rest=len(rest), rows=tuple(rows), alike=tuple(alike)
    )


def _attributes(node: NodeRow) -> Mapping[str, Value | None]:
    return {**node.attributes, "cluster": node.cluster or None, "agent_version": node.version or None}


def _difference(attribute: str, chosen: Sequence[NodeRow], rest: Sequence[NodeRow]) -> Difference | None:
    """The value that sets the selection apart most; None where none could."""
    ours = [value for node in chosen if (value := _attributes(node).get(attribute)) is not None]
    others = [value for node in rest if (value := _attributes(node).get(attribute)) is not None]
    if not ours or not others:
        return None
    best: Difference | None = None
    for candidate in _candidates([*ours, *others]):
        row = _row(attribute, candidate, ours, others)
        if row.selected_share > row.rest_share and (best is None or row.chance < best.chance):
            best = row
    return best


def _row(attribute: str, candidate: _Candidate, ours: Sequence[Value], others: Sequence[Value]) -> Difference:
    selected, rest = sum(map(candidate.has, ours)), sum(map(candidate.has, others))
    chance = _chance(selected, len(ours), selected + rest, len(ours) + len(others))
    return Difference(
        attribute=attribute,
        value=candidate.words,
        selected=selected,
        selected_share=selected / len(ours),
        rest=rest,
        rest_share=rest / len(others),
        chance=min(1.0, chance * candidate.tries),
    )


def _candidates(values: Sequence[Value]) -> list[_Candidate]:
    """Each value that occurs; of many different numbers, both sides of some thresholds; none of what names a node."""
    distinct = set(values)
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) == len(values) and len(distinct) > _FEW_VALUES:
        return _thresholds(numbers)
    if len(distinct) == len(values) and len(values) > 2:
        return []
    return [_Candidate(_words(one), partial(eq, one), len(distinct)) for one in sorted(distinct, key=str)]


def _thresholds(numbers: Sequence[float]) -> list[_Candidate]:
    ordered = sorted(numbers)
    cuts = sorted({ordered[len(ordered) * step // (_THRESHOLDS + 1)] for step in range(1, _THRESHOLDS + 1)})
    above = [_Candidate(f"at least {number_text(cut)}", _at_least(cut), 2 * len(cuts)) for cut in cuts]
    below = [_Candidate(f"below {number_text(cut)}", _below(cut), 2 * len(cuts)) for cut in cuts]
    return [*above, *below]


def _at_least(cut: float) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, (int, float)) and value >= cut


def _below(cut: float) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, (int, float)) and value < cut


def _words(value: Value) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _chance(hits: int, drawn: int, having: int, everyone: int) -> float:
    """How often a draw of `drawn` out of `everyone`, of whom `having` have it, has at least `hits` that have it."""
    whole = _log_choose(everyone, drawn)
    return sum(
        exp(_log_choose(having, count) + _log_choose(everyone - having, drawn - count) - whole)
        for count in range(hits, min(drawn, having) + 1)
        if drawn - count <= everyone - having
    )


def _log_choose(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)
