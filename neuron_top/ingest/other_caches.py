"""Looks at the caches that are only shown: PyTorch's own. Their entries are walked anew only now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from neuron_top.cache import inductor, roots
from neuron_top.cache.roots import Root
from neuron_top.views.other_caches import OtherCache, other_cache

LEAST_SECONDS = 30.0
PATIENCE = 30.0
"""A look is not repeated before this many times of what it took: at most a thirtieth of a core goes into it."""


class OtherCaches:
    """Remembers its last look. One thread at a time; slow: not for an event loop."""

    def __init__(
        self, find: Callable[[], Iterable[Root]] = roots.find, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._find, self._clock = find, clock
        self._seen: tuple[OtherCache, ...] = ()
        self._next = float("-inf")

    def look(self) -> tuple[OtherCache, ...]:
        """Inductor's caches that exist, as they are or were a moment ago."""
        began = self._clock()
        if began >= self._next:
            there = [root for root in self._find() if root.kind == roots.INDUCTOR and root.exists]
            self._seen = tuple(other_cache(root.path, root.origin, inductor.entries(root.path)) for root in there)
            ended = self._clock()
            self._next = ended + max(LEAST_SECONDS, PATIENCE * (ended - began))
        return self._seen
