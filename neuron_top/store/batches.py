"""Packs a batch of events for a store: JSON lines as `events.encode` writes them, deflated."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.events import AnyEvent, Event, decode_lines, encode, legacy

FORMAT = 2
"""Format of a batch. In format 1 events and fields have the names of version 0.1; they are translated on reading."""
MOST_EVENTS = 4096
"""The most events in a batch, which a reader holds in memory at a time."""
MOST_BYTES = 256 * 1024**2
"""The most bytes of an inflated batch, hundreds of times the size of ordinary ones."""


class BatchUnreadable(Exception):
    """The bytes are not a readable batch: damaged, too large, or with events that this program does not know."""


class Packed(msgspec.Struct, frozen=True):
    """Events as a store keeps them, with facts that are needed without inflating them."""

    first: float | None
    """Earliest time of an event; None if no event has a time."""
    last: float | None
    count: int
    data: bytes


def pack(events: Sequence[Event]) -> Packed:
    """One batch; at most MOST_EVENTS, see `portions`."""
    times = [event.time for event in events if event.time is not None]
    return Packed(
        first=min(times, default=None),
        last=max(times, default=None),
        count=len(events),
        data=zlib.compress(b"\n".join(encode(event) for event in events), 1),
    )


def unpack(data: bytes, written_as: int = FORMAT) -> list[AnyEvent]:
    """The events of a batch. Raises BatchUnreadable."""
    try:
        plain = _inflated(data)
        if written_as == FORMAT:
            return decode_lines(plain)
        return [legacy.decode_any(line) for line in plain.split(b"\n") if line]
    except (TypeError, zlib.error, *MALFORMED) as problem:
        raise BatchUnreadable(str(problem)) from None


def portions(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """Divide events so that each portion fits in a batch."""
    for start in range(0, len(events), MOST_EVENTS):
        yield events[start : start + MOST_EVENTS]


def _inflated(data: bytes) -> bytes:
    """Inflate a batch, up to a limit. Raises zlib.error."""
    inflater = zlib.decompressobj()
    plain = inflater.decompress(data, MOST_BYTES)
    if inflater.unconsumed_tail or not inflater.eof:
        raise zlib.error(f"it is cut, or has more than {MOST_BYTES} bytes")
    return plain
