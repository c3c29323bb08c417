"""What goes first where neither disk nor memory has room: samples, then what only repeats other events; oldest first.

The first and the last of each kind stay, and so does all that is neither: failures, alerts, changes of state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from neuron_top.agent.spool import is_sample
from neuron_top.events import AnyEvent, EventsFolded


def thinned(events: Sequence[AnyEvent], most: int) -> tuple[list[AnyEvent], int]:
    """The events without the oldest of those that may go, down to `most` where so many may; and how many went."""
    kinds = [_kind(event) for event in events]
    ends = {index for _, index in _ends(kinds)}
    may_go = [index for index, kind in enumerate(kinds) if kind is not None and index not in ends]
    may_go.sort(key=lambda index: not is_sample(events[index]))  # stable: each half stays in the order of time
    going = set(may_go[: max(0, len(events) - most)])
    dropped = sum(_count(events[index]) for index in going)
    return [event for index, event in enumerate(events) if index not in going], dropped


def _kind(event: AnyEvent) -> Hashable | None:
    """What the event is one of many of; None: it stays."""
    if not (is_sample(event) or isinstance(event, EventsFolded)):
        return None
    told = event.last if isinstance(event, EventsFolded) else event
    about = (getattr(told, name, None) for name in ("rank", "module", "path", "text"))
    return (type(told), told.node, told.source, *about)


def _ends(kinds: Sequence[Hashable | None]) -> Iterator[tuple[Hashable, int]]:
    """Where each kind begins and ends."""
    first = {kind: index for index, kind in reversed(list(enumerate(kinds)))}
    yield from first.items()
    yield from {kind: index for index, kind in enumerate(kinds)}.items()


def _count(event: AnyEvent) -> int:
    return event.count if isinstance(event, EventsFolded) else 1
