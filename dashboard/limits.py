"""How many requests an address may make: a bucket of tokens for each, refilled with time."""

from __future__ import annotations

from collections import OrderedDict

_ADDRESSES_KEPT = 4096


class Rate:
    """`per_second` requests in the long run and `burst` at once, for each address. One thread only."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second, self._burst = per_second, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str, now: float) -> bool:
        """Whether one more request is within the limit; it is counted when it is. `now`: a monotonic clock."""
        left, since = self._buckets.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._per_second)
        allowed = left >= 1.0
        self._buckets[address] = (left - 1.0 if allowed else left, now)
        while len(self._buckets) > _ADDRESSES_KEPT:
            self._buckets.popitem(last=False)
        return allowed
