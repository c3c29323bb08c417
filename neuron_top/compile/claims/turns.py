"""Decides which process of a fleet compiles an entry: the one that claims it. The others wait, with a message that
names its node, and for a limited time.

A lease is renewed in the background while its holder compiles, and checked again before the artifact is published: a
process that lost it meanwhile publishes nothing.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from neuron_top.compile.claims.claim import Claims, ClaimsUnreachable
from neuron_top.compile.claims.node_gate import NodeGate
from neuron_top.compile.claims.unanswered import Unanswered
from neuron_top.compile.wrapper.log_lines import SAY_EVERY_SECONDS, WrapperLog
from neuron_top.errors import CompileError
from neuron_top.events.levels import LogLevel
from neuron_top.identity import node_name
from neuron_top.units import duration_text

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0


class ClaimLost(CompileError):
    """Another node took over the key while it was compiled here, so this node's artifact is not published."""


class Turn:
    """The answer to a request: with `mine` this process may compile now; else the entry is to be looked up again."""

    def __init__(self, *, mine: bool, waited: float = 0.0, place: str = "") -> None:
        self.mine, self.waited, self.place = mine, waited, place
        """`place`: where the key is claimed; "" where the lock file alone protects it."""

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *_: object) -> None:
        """Give the key back."""

    def confirm(self) -> None:
        """Raises ClaimLost if somebody else has the key by now."""


class Turns:
    """The turns of one process at the entries of caches: where lock files alone protect them, always its own."""

    @contextlib.contextmanager
    def turn(
        self,
        entry: Path,
        settled: Callable[[], bool],
        interrupted: Callable[[], bool],
        began: Callable[[], None] = lambda: None,
    ) -> Iterator[Turn]:
        """Wait for the turn at `entry`, or until it is `settled`: somebody has compiled it, or it failed.

        `began` is called before the first pause. Raises KeyboardInterrupt once `interrupted` says so.
        """
        yield Turn(mine=True)


class ClaimedTurns(Turns):
    """Turns where nodes claim entries. Safe to share between threads."""

    def __init__(
        self,
        claims: Claims,
        log: WrapperLog,
        *,
        lease: float,
        longest_wait: float,
        node: str = "",
        key_of: Callable[[Path], str] = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`lease` and `longest_wait` in seconds. `key_of`: the name of an entry among all nodes."""
        self.claims, self.log, self.lease, self.longest_wait, self.clock = claims, log, lease, longest_wait, clock
        self.unanswered = Unanswered(clock)
        self._node, self._key_of = node or node_name().value, key_of

    @contextlib.contextmanager
    def turn(
        self,
        entry: Path,
        settled: Callable[[], bool],
        interrupted: Callable[[], bool],
        began: Callable[[], None] = lambda: None,
    ) -> Iterator[Turn]:
        """See Turns."""
        key = self._key_of(entry)
        asking = _Asking(self, key)
        pause = _FIRST_PAUSE
        try:
            with NodeGate(self._node, key) as gate:
                while True:
                    first = gate.passed()
                    if settled():  # checked behind the gate: the process before us has published by then
                        yield Turn(mine=False, waited=asking.waited())
                        return
                    turn = asking.once(first=first)
                    if turn is not None:
                        with turn:
                            yield turn
                        return
                    if interrupted():
                        raise KeyboardInterrupt
                    if pause == _FIRST_PAUSE:
                        began()
                    time.sleep(pause)
                    pause = min(pause * 1.5, _LONGEST_PAUSE)
        finally:
            self.claims.rest()


class _Asking:
    """A wait for the turn at one entry."""

    def __init__(self, turns: ClaimedTurns, key: str) -> None:
        self._turns, self._key = turns, key
        self._module = key.rpartition("/")[2]
        self._began, self._said = turns.clock(), float("-inf")

    def waited(self) -> float:
        """Seconds since the first question."""
        return self._turns.clock() - self._began

    def once(self, *, first: bool) -> Turn | None:
        """Ask once: a turn, or None if somebody else has the key. Only the node's `first` process asks other nodes."""
        name, waited, log = self._module, self.waited(), self._turns.log
        if waited > self._turns.longest_wait:
            log.remark(f"{name}: waited {duration_text(waited)} for another node (claim_wait): compiling here")
            return Turn(mine=True, waited=waited)
        if not first:
            self._say("another process of this node asks for it")
            return None
        if self._turns.unanswered.is_spared():
            return Turn(mine=True, waited=waited)
        asked = self._turns.unanswered.now()
        try:
            found = self._turns.claims.claim(self._key, self._turns.lease)
        except ClaimsUnreachable as problem:
            self._turns.unanswered.failed(asked)
            log.remark_once(f"{problem}; lock files alone protect graphs, as far as nodes see them")
            return Turn(mine=True, waited=waited)
        if not found.mine:
            self._say(f"node {found.node} compiles it (its claim holds {duration_text(max(0.0, found.seconds_left))})")
            return None
        if found.taken_from:
            log.remark(f"{name}: the claim of node {found.taken_from} ran out: taken over")
        lease = _Lease(self._turns.claims, self._key, self._turns.lease, waited)
        if lease.begin():
            return lease
        log.remark_once("no thread can be started to renew claims; lock files alone protect graphs")
        return Turn(mine=True, waited=waited)

    def _say(self, who: str) -> None:
        now = self._turns.clock()
        if now - self._said >= SAY_EVERY_SECONDS:
            self._said = now
            self._turns.log.remark(f"{self._module}: {who}; waited {duration_text(self.waited())}", level=LogLevel.INFO)


class _Lease(Turn):
    """A claimed turn, renewed in the background until its block ends."""

    def __init__(self, claims: Claims, key: str, lease: float, waited: float) -> None:
        super().__init__(mine=True, waited=waited, place=claims.place)
        self._claims, self._key, self._lease = claims, key, lease
        self._ended = threading.Event()
        self._lost = False
        self._renewing = threading.Thread(target=self._renew, name="claim", daemon=True)

    def begin(self) -> bool:
        """Start to renew. Where no thread can be started, give the claim back and return False."""
        try:
            self._renewing.start()
        except RuntimeError:
            self._release()
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._renewing.join()
        self._release()

    def _release(self) -> None:
        with contextlib.suppress(ClaimsUnreachable):  # the lease runs out by itself
            self._claims.release(self._key)

    def confirm(self) -> None:
        """See Turn. Where the place of claims does not answer, what was compiled is published.

        If only this node was cut off, for longer than its lease, another node has compiled the graph too, and both
        publish: files are replaced whole, and a load that finds files of both notices by the digests in the record and
        sets them aside. That is rarer than a place that answers nobody, where refusing would throw away finished
        compiles.
        """
        with contextlib.suppress(ClaimsUnreachable):
            self._lost = self._lost or not self._claims.renew(self._key, self._lease)
        if self._lost:
            raise ClaimLost(
                "another node took over this graph while it was compiled here: the claim had run out",
                module=Path(self._key).name,
            )

    def _renew(self) -> None:
        while not self._lost and not self._ended.wait(self._lease / 3):
            with contextlib.suppress(ClaimsUnreachable):
                self._lost = not self._claims.renew(self._key, self._lease)
