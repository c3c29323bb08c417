"""Keeps the plans that clients have requested, by owner, and limits their number.

A plan that nobody has executed is replaced only by newer ones of the same client. One that runs or has run is kept for
as long as the server runs, so that it can be stopped, viewed and undone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.guard import client_now, current_permission
from neuron_top.dashboard.limits import Rate
from neuron_top.dashboard.permissions import LEAST_TO_EXECUTE, action_permission
from neuron_top.errors import LimitReached, NothingToShow, UsageError
from neuron_top.services.caches import Verb, action_of
from neuron_top.services.plan_execution import PlanExecution, PlanState

PLANS_OF_ONE = 50
"""The most waiting plans of one client."""
PLANS_OF_READERS = 500
"""The most waiting plans of all clients together that may not execute them."""
WAITING_SECONDS = 3600.0
"""Seconds after which a waiting plan may be dropped if there are too many, as its entries have changed since."""


class NotPermitted(UsageError):
    """The client does not have the permission for its request."""


class Requester(NamedTuple):
    """A client that requests plans: its name and permission."""

    client: str
    permission: Permission

    @property
    def can_execute(self) -> bool:
        """Whether it may execute any plan."""
        return self.permission >= LEAST_TO_EXECUTE

    def check_permission(self, verb: Verb) -> None:
        """Raise NotPermitted if the client may not execute, stop or undo plans of this verb."""
        if self.permission < action_permission(verb):
            raise NotPermitted(f"sign in with the act token to {action_of(verb).title}")


def current_requester() -> Requester:
    """The client of the current request."""
    return Requester(client_now.get(), current_permission.get())


class _Registered(NamedTuple):
    execution: PlanExecution
    requester: Requester
    at: float


class PlanRegistry:
    """Plans and their executions by identity. Safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._registered: dict[str, _Registered] = {}
        self._rate = Rate(per_second=2, burst=30)

    def begin(self, requester: Requester) -> None:
        """Count a request for plans, which lists the caches. Raises LimitReached when they come too often."""
        with self._lock:
            if not self._rate.allows(requester.client, self._clock()):
                raise LimitReached("too many plans were requested in a short time; wait a moment and try again")

    def add(self, executions: Sequence[PlanExecution], requester: Requester) -> None:
        """Keep what was planned together; older waiting plans of the same client give way. Raises LimitReached."""
        if len(executions) > PLANS_OF_ONE:
            raise LimitReached(
                f"this would be {len(executions)} plans, one for each cache and compiler version; "
                f"at most {PLANS_OF_ONE} are made at a time: select fewer entries"
            )
        with self._lock:
            now = self._clock()
            own = [each for each in self._waiting() if each.requester.client == requester.client]
            self._drop(own[: max(0, len(own) + len(executions) - PLANS_OF_ONE)])
            self._make_room(len(executions), requester, now)
            for execution in executions:
                self._registered[execution.plan.identity] = _Registered(execution, requester, now)

    def get(self, identity: str) -> PlanExecution:
        """A plan by its identity, and what became of it. Raises NothingToShow."""
        with self._lock:
            registered = self._registered.get(identity)
        if registered is None:
            raise NothingToShow("this plan is no longer kept; make a new one")
        return registered.execution

    def _make_room(self, count: int, requester: Requester, now: float) -> None:
        """Drop old waiting plans of clients that may only read, where these have too many. Raises LimitReached."""
        if requester.can_execute:
            return
        waiting = [each for each in self._waiting() if not each.requester.can_execute]
        if len(waiting) + count > PLANS_OF_READERS:
            self._drop([each for each in waiting if now - each.at > WAITING_SECONDS])
            waiting = [each for each in waiting if each.execution.plan.identity in self._registered]
        if len(waiting) + count > PLANS_OF_READERS:
            raise LimitReached("too many plans of readers wait to be executed; sign in with the act token")

    def _waiting(self) -> list[_Registered]:
        """Plans that nobody has executed, the oldest first."""
        return [each for each in self._registered.values() if each.execution.state is PlanState.PLANNED]

    def _drop(self, gone: Sequence[_Registered]) -> None:
        for each in gone:
            del self._registered[each.execution.plan.identity]
