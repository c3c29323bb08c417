"""The blame of a job in words: the sentences and cells that every front end shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_top.run.graph import Precision
from neuron_top.units import UNKNOWN, counted, duration_text, moment_text
from neuron_top.views.blame.records import (
    Because,
    Blame,
    CallState,
    Compiled,
    GraphBlame,
    LostLock,
    RankCost,
    Repeated,
    Waited,
)
from neuron_top.views.blame.timeline import TimelineRow

GRAPH_COLUMNS = ("graph", "compiled by", "took", "why there", "waited", "longest", "for", "core-hours")
REPEATED_COLUMNS = (
    "compiled again because",
    "compiles",
    "graphs",
    "nodes",
    "time of ranks",
    "core-hours",
    "what differs",
)
NAMED = 3
_AT_LEAST = "≥ "
_DAY = "%Y-%m-%d"


def cost_text(cost: RankCost) -> str:
    """`12 m 05 s of ranks, 3.2 core-hours`, with what is not known."""
    hours = core_hours_text(cost)
    text = f"{duration_text(cost.seconds)} of ranks, {hours} core-hours"
    if cost.core_hours is None:
        text = f"{duration_text(cost.seconds)} of ranks; nobody reported how many cores stood idle"
    return f"{text}; of {cost.undated} more no time is known" if cost.undated else text


def core_hours_text(cost: RankCost) -> str:
    """Core-hours; at least so many where the cores of some nodes are not known."""
    if cost.core_hours is None:
        return UNKNOWN
    digits = 1 if cost.core_hours >= 10 else 3
    return f"{_AT_LEAST if cost.without_cores else ''}{cost.core_hours:.{digits}f}"


def headline(blame: Blame) -> Iterator[tuple[str, str]]:
    """(what, text): what the job spent."""
    nodes = counted(len(blame.nodes), "node")
    yield (
        "job",
        f"{blame.job}: {nodes}, {counted(len(blame.graphs), 'graph')} compiled or waited for, {blame.found} found",
    )
    yield "compiling", cost_text(blame.compiling)
    yield "waiting", cost_text(blame.waiting)
    yield "again", f"{cost_text(blame.again)} (compiling what another node had; part of compiling)"


def notes(blame: Blame) -> Iterator[str]:
    """What goes wrong, and what is not known."""
    for lock in blame.lost_locks:
        yield lost_lock_text(lock)
    missing = sorted({*blame.compiling.without_cores, *blame.waiting.without_cores})
    if missing:
        yield f"core-hours leave out {some(missing)}: nobody reported how many cores or ranks they have"
    if blame.unknown_clocks and len(blame.nodes) > 1:
        names = some(blame.unknown_clocks)
        yield f"the clocks of {names} were never compared with the database's: which came first may be wrong"


def lost_lock_text(lock: LostLock) -> str:
    """What happened, and what to do."""
    who = f"{counted(lock.waiting, 'rank')} on {some(lock.nodes)}"
    return (
        f"{who}: waiting for the lock of {lock.graph}, whose holder's node {lock.holder} is gone; "
        "remove it with neurontop cache unlock on a node that sees the cache"
    )


def graph_cells(row: GraphBlame) -> tuple[str, ...]:
    """A cell for each of GRAPH_COLUMNS; the first compile stands for all, and how many more there are."""
    first = row.compiles[0] if row.compiles else None
    more = f" +{len(row.compiles) - 1}" if len(row.compiles) > 1 else ""
    longest = max((wait.longest or 0.0 for wait in row.waits), default=None)
    holders = [wait.holder for wait in row.waits if wait.holder]
    ranks = sum(wait.ranks for wait in row.waits)
    waited = f"{counted(ranks, 'rank')} on {counted(len(row.waits), 'node')}" if row.waits else ""
    return (
        row.graph,
        f"{compiler_text(first)}{more}" if first is not None else "nobody seen",
        took_text(first) if first is not None else UNKNOWN,
        f"{why_text(first)}" if first is not None else "",
        waited,
        duration_text(longest) if row.waits else "",
        some(tuple(dict.fromkeys(holders))) if row.waits else "",
        core_hours_text(total_cost(row)),
    )


def total_cost(row: GraphBlame) -> RankCost:
    """Compiling and waiting together."""
    hours = [cost.core_hours for cost in (row.compiling, row.waiting) if cost.core_hours is not None and cost.seconds]
    return RankCost(
        seconds=row.seconds,
        core_hours=sum(hours) if hours or not row.seconds else None,
        without_cores=tuple(sorted({*row.compiling.without_cores, *row.waiting.without_cores})),
        undated=row.compiling.undated + row.waiting.undated,
    )


def compiler_text(one: Compiled) -> str:
    """`n3 rank 17`."""
    return f"{one.node} rank {one.rank}" if one.rank is not None else one.node


def took_text(one: Compiled) -> str:
    """How long, and how surely; or how it ended."""
    at_most = "≤ " if one.provenance is Precision.BRACKETED else ""
    took = f"{at_most}{duration_text(one.seconds)}"
    return (
        took if one.outcome is CallState.DONE else f"{one.outcome}, {took}" if one.seconds is not None else one.outcome
    )


def why_text(one: Compiled) -> str:
    """The reason, with what differs."""
    return f"{one.because}: {one.text}" if one.text else str(one.because)


def compiles_text(row: GraphBlame) -> Iterator[str]:
    """A line for every compile of a graph, where there are several."""
    sure = "" if row.order_known else " (in an order that unknown clocks may have changed)"
    for one in row.compiles if len(row.compiles) > 1 else ():
        began = f"{time_of_day_text(one.began)} " if one.began is not None else ""
        yield f"{began}{compiler_text(one)}, {took_text(one)}: {why_text(one)}{sure if one.again else ''}"


def wait_text(one: Waited) -> str:
    """`n4: 32 ranks, 25 m 00 s at longest, for n1`."""
    who = f", for {one.holder}" if one.holder else ", for whom was not reported"
    still = f", {one.going_on} still" if one.going_on else ""
    return f"{one.node}: {counted(one.ranks, 'rank')}, {duration_text(one.longest)} at longest{who}{still}"


def repeated_cells(row: Repeated) -> tuple[str, ...]:
    """A cell for each of REPEATED_COLUMNS."""
    return (
        str(row.because),
        str(row.compiles),
        str(len(row.graphs)),
        some(row.nodes),
        duration_text(row.cost.seconds),
        core_hours_text(row.cost),
        row.text or ADVICE.get(row.because, ""),
    )


ADVICE = {
    Because.OWN_ROOT: "let all nodes use one cache root, or fetch before the run (neurontop cache pull)",
    Because.LOCK_NOT_SEEN: "claim graphs in the fleet's database (NEURONTOP_CLAIMS), or compile before the run",
    Because.NOT_SEEN: "compile before the run: the file system shows files of other nodes late",
    Because.HELD_NAME: "keep ranks and names of process groups out of the graph: they make a key for each rank",
    Because.OTHER_COMPILER: "install the same compiler on all nodes",
    Because.OTHER_FLAGS: "give all nodes the same flags",
    Because.OTHER_ENVIRONMENT: "give all nodes the same environment",
    Because.REMOVED: "keep entries that the job needs (neurontop cache pin)",
    Because.UNKNOWN: "start agents with the cache root named, so that it can be known",
}
"""What to do about compiles that were made again."""


def time_of_day_text(seconds: float) -> str:
    """A time of day, UTC."""
    return moment_text(seconds, "%H:%M:%S")


def span_text(start: float, end: float) -> str:
    """From when to when, UTC: `2026-11-29 09:38:13 to 10:09:05 UTC`, or over several days `2026-11-29 09:38 to 11-30
    10:09 UTC`."""
    if moment_text(start, _DAY) == moment_text(end, _DAY):
        return f"{moment_text(start, f'{_DAY} %H:%M:%S')} to {time_of_day_text(end)} UTC"
    return f"{moment_text(start, f'{_DAY} %H:%M')} to {moment_text(end, '%m-%d %H:%M UTC')}"


def timeline_label(row: TimelineRow) -> str:
    """The nodes of a row: one by name, more by number."""
    return row.nodes[0] if len(row.nodes) == 1 else f"{row.nodes[0]} and {len(row.nodes) - 1} more"


def some(names: Sequence[str]) -> str:
    """A few names, and how many more."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
