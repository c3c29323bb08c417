"""Changes on disk that the cache catalog sees."""

from __future__ import annotations

from neuron_top.events.base import Event


class EntryChanged(Event, frozen=True, kw_only=True):
    """An entry appeared or its state changed. `state` as in `cache.model.states.State`; None = it is gone."""

    root: str
    compiler: str
    module: str
    state: str | None
    previous: str | None = None
    size: int | None = None
    changed_at: float | None = None
    """Newest mtime among its files."""
    lock: str | None = None
    """Who holds its lock at the time of the event, as in `cache.model.states.Holder`; None without a lock."""
    lock_holder: str | None = None
    """`pid 4711 on host`, where the lock or a process names it."""
    lock_proof: str | None = None
    """The evidence for that as a sentence; None without any."""
    lock_since: float | None = None


class CacheScanned(Event, frozen=True, kw_only=True):
    """A root was walked: entries by state, bytes (allocated, hard links once) and free space of its disk."""

    root: str
    states: dict[str, int] = {}
    size: int | None = None
    free: int | None = None
    seconds: float | None = None


class ArtifactFetched(Event, frozen=True, kw_only=True):
    """An artifact came from elsewhere, or a part of it: sent when it begins, each second, and at its end.

    One process of a node fetches it for all.
    """

    module: str
    pid: int | None = None
    rank: int | None = None
    place: str
    """Where it comes from: a bucket's URL or a folder."""
    bytes: int
    """Received so far."""
    total_bytes: int
    seconds: float
    """Since it began; measured."""
    ended: bool = False
    problem: str = ""
    """Why it is not used; "" if it is."""
