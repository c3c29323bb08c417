"""Ranks × steps: how long each step of each rank took, folded to as many rows and columns as there is room for.

The scale is robust: its middle is the median of all, its ends lie where a step begins to stand out, so that one step of
a minute leaves the differences between steps of a second to be seen. An outlier is far above the median of the same
step on all ranks (of all steps, where fewer than three ranks report): that is a rank that others wait for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from neuron_top.natural_order import natural_key
from neuron_top.run.model import Run
from neuron_top.run.step_times import STEPS_KEPT
from neuron_top.units import count_text, counted
from neuron_top.views.spread import median_of, outlier_distance

if TYPE_CHECKING:  # of a fleet; the first frame draws the steps of this machine's run
    from neuron_top.store.fleet_records import HeartbeatSteps, NodeNow

LEAST_RANKS = 3
"""Fewer ranks have no typical one among them."""
TOLD_RANKS, TOLD_STEPS = 16, 64
"""What a heartbeat has of a node: more ranks are reported as one row, with the slowest of each step."""


class RankSeries(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a rank, or of several of a node."""

    node: str
    rank: int | None
    ranks: int
    """How many; each step is then that of the slowest."""
    seconds: dict[int, float]
    """By step."""


class StepMapRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the picture."""

    name: str
    node: str
    """"" where it stands for ranks of several nodes."""
    ranks: int
    """How many it stands for: each step is then that of the slowest."""
    seconds: tuple[float | None, ...]
    levels: tuple[float | None, ...]
    """Places on the scale, 0…1; 0.5 is the median of all."""
    outliers: tuple[bool, ...]
    worst: float | None
    median: float | None


class StepMap(msgspec.Struct, frozen=True, kw_only=True):
    """Ranks × steps."""

    steps: tuple[int, ...]
    rows: tuple[StepMapRow, ...]
    ranks: int
    """All that reported, whether they have a row or not."""
    left_out: int
    """Ranks for which no steps are kept."""
    first: int | None
    """The oldest step that is known; earlier ones than the first of `steps` have no column."""
    low: float
    median: float
    high: float
    """The ends of the scale and its middle, seconds."""
    worst: float | None
    worst_name: str
    worst_step: int | None
    outliers: int
    """How many steps of ranks stand out, also of those without a row of their own."""
    slow_ranks: int
    """How many ranks these steps are of."""


def series_of_run(run: Run) -> list[RankSeries]:
    """Every rank that a run knows steps of."""
    return [
        RankSeries(node=rank.node, rank=rank.rank, ranks=1, seconds=dict(rank.newest()))
        for rank in run.steps.ranks.values()
        if rank.steps
    ]


def series_of_nodes(nodes: Iterable[NodeNow]) -> list[RankSeries]:
    """Every rank that the heartbeats of a job's nodes report."""
    return [
        RankSeries(
            node=node.node,
            rank=row.rank,
            ranks=row.ranks,
            seconds=dict(zip(row.steps, row.seconds, strict=False)),  # a hostile row may be uneven
        )
        for node in nodes
        for row in node.steps
    ]


def heartbeat_rows(run: Run) -> list[HeartbeatSteps]:
    """What a node's heartbeat says about its ranks."""
    from neuron_top.store.fleet_records import HeartbeatSteps  # as above

    ranks = series_of_run(run)
    if len(ranks) > TOLD_RANKS:
        ranks = [_folded(ranks)]
    rows = []
    for rank in ranks:
        steps = sorted(rank.seconds)[-TOLD_STEPS:]
        seconds = [float(f"{rank.seconds[step]:.4g}") for step in steps]
        rows.append(HeartbeatSteps(rank=rank.rank, ranks=rank.ranks, steps=steps, seconds=seconds))
    return rows


def step_map(
    series: Sequence[RankSeries], most_rows: int = 0, most_steps: int = STEPS_KEPT, left_out: int = 0
) -> StepMap:
    """The newest `most_steps` steps; where there are more than `most_rows` ranks (0: any number), those with outliers
    have a row of their own and neighbors among the others share one."""
    known_steps = sorted({step for rank in series for step in rank.seconds})
    steps = known_steps[-most_steps:]
    shown = [rank for rank in sorted(series, key=_order) if any(step in rank.seconds for step in steps)]
    values = [rank.seconds[step] for rank in shown for step in steps if step in rank.seconds]
    middle = median_of(values) if values else 0.0
    limit = outlier_distance(values, middle)
    limits = _limits(shown, steps, middle + limit)
    marked = {id(rank): sum(rank.seconds.get(step, 0.0) > limits[step] for step in steps) for rank in shown}
    worst = _worst(shown, steps)
    scale = (max(0.0, middle - limit), middle, middle + limit)
    parts = _parts(shown, marked, most_rows)
    return StepMap(
        steps=tuple(steps),
        rows=tuple(_row(part, steps, limits, scale) for part in parts),
        ranks=sum(rank.ranks for rank in shown),
        left_out=left_out,
        first=known_steps[0] if known_steps else None,
        low=scale[0],
        median=middle,
        high=scale[2],
        worst=worst[0],
        worst_name=worst[2],
        worst_step=worst[1],
        outliers=sum(marked.values()),
        slow_ranks=sum(count > 0 for count in marked.values()),
    )


def _worst(shown: Sequence[RankSeries], steps: Sequence[int]) -> tuple[float | None, int | None, str]:
    """The slowest of all steps: seconds, step, rank."""
    worst: tuple[float, int, RankSeries] | None = None
    for rank in shown:
        for step in steps:
            seconds = rank.seconds.get(step)
            if seconds is not None and (worst is None or seconds > worst[0]):
                worst = seconds, step, rank
    return (worst[0], worst[1], _name([worst[2]])) if worst is not None else (None, None, "")


def _order(rank: RankSeries) -> tuple[bool, int, object]:
    return (rank.rank is None, rank.rank or 0, natural_key(rank.node))


def _limits(shown: Sequence[RankSeries], steps: Sequence[int], otherwise: float) -> dict[int, float]:
    """For each step, the seconds above which a rank is an outlier."""
    limits = {}
    for step in steps:
        times = [rank.seconds[step] for rank in shown if step in rank.seconds]
        if len(times) >= LEAST_RANKS:
            middle = median_of(times)
            limits[step] = middle + outlier_distance(times, middle)
        else:
            limits[step] = otherwise
    return limits


def _parts(shown: Sequence[RankSeries], marked: dict[int, int], most: int) -> list[list[RankSeries]]:
    """The ranks of each row. Ranks that stand out most often keep rows of their own, at most half of all rows."""
    if not most or len(shown) <= most:
        return [[rank] for rank in shown]
    striking = sorted((rank for rank in shown if marked[id(rank)]), key=lambda rank: -marked[id(rank)])[
        : max(1, most // 2)
    ]
    alone = {id(rank) for rank in striking}
    rest = [rank for rank in shown if id(rank) not in alone]
    size = -(-len(rest) // max(1, most - len(striking)))
    shared = [rest[first : first + size] for first in range(0, len(rest), size)]
    return [*([rank] for rank in sorted(striking, key=_order)), *shared]


def _row(
    part: Sequence[RankSeries], steps: Sequence[int], limits: dict[int, float], scale: tuple[float, float, float]
) -> StepMapRow:
    row = part[0] if len(part) == 1 else _folded(part)
    seconds = tuple(row.seconds.get(step) for step in steps)
    known_seconds = [value for value in seconds if value is not None]
    low, _middle, high = scale
    width = high - low
    return StepMapRow(
        name=_name(part),
        node=row.node,
        ranks=row.ranks,
        seconds=seconds,
        levels=tuple(
            None if value is None else round(min(1.0, max(0.0, (value - low) / width)), 3) if width else 0.5
            for value in seconds
        ),
        outliers=tuple(value is not None and value > limits[step] for step, value in zip(steps, seconds, strict=True)),
        worst=max(known_seconds, default=None),
        median=median_of(known_seconds) if known_seconds else None,
    )


def _folded(part: Sequence[RankSeries]) -> RankSeries:
    slowest: dict[int, float] = {}
    for rank in part:
        for step, seconds in rank.seconds.items():
            slowest[step] = max(seconds, slowest.get(step, 0.0))
    nodes = {rank.node for rank in part}
    return RankSeries(
        node=part[0].node if len(nodes) == 1 else "", rank=None, ranks=sum(rank.ranks for rank in part), seconds=slowest
    )


def _name(part: Sequence[RankSeries]) -> str:
    """`rank 3`, `ranks 4–35`, else the node: lines that name no rank are known by it."""
    ends = part[0], part[-1]
    if len(part) == 1 or (ends[0].rank is None and ends[0].node == ends[1].node):
        return f"rank {ends[0].rank}" if ends[0].rank is not None else ends[0].node or "log"
    if ends[0].rank is not None and ends[1].rank is not None:
        return f"ranks {ends[0].rank}–{ends[1].rank}"
    return f"{ends[0].node or 'log'} – {ends[1].node or 'log'}"


def folded_words(view: StepMap) -> list[str]:
    """In words, which ranks and steps were folded or left out."""
    words = []
    if view.ranks > len(view.rows):
        share = "where several share one, each step is the slowest's"
        words.append(f"{count_text(view.ranks)} ranks in {counted(len(view.rows), 'row')}: {share}")
    if view.first is not None and view.steps and view.first < view.steps[0]:
        last = view.steps[0] - 1
        words.append(
            f"step {count_text(last)} is further left"
            if view.first == last
            else f"steps {count_text(view.first)} to {count_text(last)} are further left"
        )
    if view.left_out:
        words.append(f"{counted(view.left_out, 'more rank is', 'more ranks are')} not kept")
    return ["; ".join(words)] if words else []
