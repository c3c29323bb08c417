"""The plans that clients of the server have made: whose they are, and how many are kept.

A plan that waits to be carried out gives way to newer ones of its own maker and to nobody else's. One that runs or has
run stays for as long as the server does: somebody may want to stop it, to see what it did, or to undo it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.dashboard.limits import Rate
from neuron_top.errors import LimitReached, NothingToShow

TYPED_BYTES = 20 * 1024**3
"""From here on, and for a whole compiler version, the confirmation is typed."""
PLANS_OF_ONE = 50
"""That wait, of one client."""
PLANS_OF_READERS = 500
"""That wait, of all clients together that cannot carry them out."""
WAITING_SECONDS = 3600.0
"""After which a plan that nobody has carried out makes room when there are too many: its entries have changed since."""


class PlanExecution(msgspec.Struct, kw_only=True):
    """A plan and what became of it. `state`: `planned`, `running`, `done`, `failed`, `undone`."""

    plan: Plan
    state: str = "planned"
    progress: Progress | None = None
    outcome: Outcome | None = None
    message: str = ""
    stopping: bool = False
    """Somebody asked to stop; the step under way is still finished."""

    @property
    def typed(self) -> str:
        """The word that must be typed to confirm; "" when a button is enough."""
        return self.plan.verb if self.plan.frees >= TYPED_BYTES or self.plan.emptied else ""


class Maker(NamedTuple):
    """Who makes plans: the client's name, and whether it has the right to carry them out."""

    client: str
    acts: bool


class _Kept(NamedTuple):
    work: PlanExecution
    maker: Maker
    made: float


class Plans:
    """Works by the identity of their plan. Safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        self._rate = Rate(per_second=2, burst=30)

    def begin(self, maker: Maker) -> None:
        """Somebody wants to plan, for which the caches are looked at. Raises LimitReached when that is too often."""
        with self._lock:
            if not self._rate.allows(maker.client, self._clock()):
                raise LimitReached("too many plans were asked for in a short time; wait a moment and try again")

    def add(self, works: Sequence[PlanExecution], maker: Maker) -> None:
        """Keep what was planned together; older plans of the same maker that wait give way. Raises LimitReached."""
        if len(works) > PLANS_OF_ONE:
            raise LimitReached(
                f"this would be {len(works)} plans, one for each cache and compiler version; "
                f"at most {PLANS_OF_ONE} are made at a time: choose fewer entries"
            )
        with self._lock:
            now = self._clock()
            own = [one for one in self._waiting() if one.maker.client == maker.client]
            self._drop(own[: max(0, len(own) + len(works) - PLANS_OF_ONE)])
            self._make_room(len(works), maker, now)
            self._kept |= {work.plan.identity: _Kept(work, maker, now) for work in works}

    def get(self, identity: str) -> PlanExecution:
        """A work by the identity of its plan. Raises NothingToShow."""
        with self._lock:
            kept = self._kept.get(identity)
        if kept is None:
            raise NothingToShow("this plan is not known any more; make a new one")
        return kept.work

    def _make_room(self, count: int, maker: Maker, now: float) -> None:
        """Room among those who only look: plans that were forgotten go, others stay. Raises LimitReached."""
        if maker.acts:
            return
        waiting = [one for one in self._waiting() if not one.maker.acts]
        if len(waiting) + count > PLANS_OF_READERS:
            self._drop([one for one in waiting if now - one.made > WAITING_SECONDS])
            waiting = [one for one in waiting if one.work.plan.identity in self._kept]
        if len(waiting) + count > PLANS_OF_READERS:
            raise LimitReached("too many plans of readers wait to be carried out; sign in with the act token")

    def _waiting(self) -> list[_Kept]:
        """Plans that nobody has carried out, the oldest first."""
        return [one for one in self._kept.values() if one.work.state == "planned"]

    def _drop(self, gone: Sequence[_Kept]) -> None:
        for one in gone:
            del self._kept[one.work.plan.identity]
