"""The agent's thread that answers operators: plans what they ask for, carries out confirmed plans once, undoes them.

A plan stays on this node, in a file; the database carries its words. An intent is taken before it is carried out. One
that another process has taken was cut off by a kill: the agent reports what the journal says about it, and begins
nothing again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from neuron_top import private_files
from neuron_top.agent.unexpected import UnexpectedErrors, described
from neuron_top.errors import RefusedForSafety
from neuron_top.store.errors import StoreRefused, StoreUnusable
from neuron_top.store.fleet_records import Intent, IntentState
from neuron_top.store.postgres.fleet import FleetStore

IDLE_SECONDS = 5.0
BUSY_SECONDS = 0.5
BUSY_LOOKS = 120
"""After an intent, this many polls are more frequent, as its confirmation will follow."""
KEPT_SECONDS = 7 * 86400.0
"""A plan that came to no end (nobody confirmed it, or the agent was killed in it) is deleted after this time."""
_FOLDER = "intents"
_NOT_BEGUN = "the connection to the database broke as it was begun, and nothing was done"
_NEEDED_TO_UNDO = ("identity", "root", "done", "pinned", "undoable")
"""The parts of a report without which a change cannot be undone."""
_OPEN = (IntentState.ASKED, IntentState.CONFIRMED, IntentState.TAKEN, IntentState.UNDO, IntentState.UNDOING)

_GIVEN_UP = {
    IntentState.ASKED: IntentState.REFUSED,
    IntentState.CONFIRMED: IntentState.REFUSED,
    IntentState.TAKEN: IntentState.FAILED,
    IntentState.UNDOING: IntentState.FAILED,
}
"""The state after one in which an intent could not be answered; the database allows no other from UNDO than UNDOING."""


class Acts(Protocol):
    """The actions that change the caches of this node."""

    def plan(self, asked: dict[str, object]) -> tuple[dict[str, object], bytes]:
        """What an intent would do, in words, and the plan itself."""

    def execute(self, asked: dict[str, object], prepared: bytes) -> dict[str, object]:
        """Execute the plan."""

    def found_after_kill(self, asked: dict[str, object], prepared: bytes) -> dict[str, object]:
        """What an execution had done when it was killed."""

    def undo(self, asked: dict[str, object], done: dict[str, object]) -> dict[str, object]:
        """Restore what the plan took away."""


class _Outcome(NamedTuple):
    """The report about an intent."""

    before: IntentState
    after: IntentState
    result: Mapping[str, object]


class IntentWorker:
    """Answers intents until stopped; if a node has several agents, only one of them answers."""

    def __init__(self, store: FleetStore, node: str, state: Path, acts: Acts, warn: Callable[[str], None]) -> None:
        """`state`: the state folder of this user."""
        self._store, self._node, self._acts = store, node, acts
        self._unexpected = UnexpectedErrors(warn)
        self._folder = state / _FOLDER
        self._lock: int | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="intents", daemon=True)
        self._acting, self._is_left = threading.Lock(), False
        """Held while caches are changed. Left: the agent ends without waiting for this thread."""
        self._busy = 0
        self._outcomes: dict[int, _Outcome] = {}
        """Of the intents that this process took, by id, until the database says that it has them."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def begin_nothing(self) -> None:
        """Take no more intents, as the agent is ending."""
        self._stopping.set()

    def stop(self, seconds: float) -> None:
        """Stop; a plan that is being carried out is finished first. A database that does not answer is waited for at
        most this long; whoever ends the store ends the wait."""
        self.begin_nothing()
        self._thread.join(seconds)
        is_acting = self._acting.locked()
        with self._acting:
            self._is_left = True
        if is_acting:  # it will have something to report
            self._thread.join(seconds)
        if self._lock is not None:
            os.close(self._lock)

    def _run(self) -> None:
        while not self._stopping.wait(BUSY_SECONDS if self._busy else IDLE_SECONDS):
            self._busy = max(0, self._busy - 1)
            try:
                with suppress(StoreUnusable):  # the shipper says that the database is away
                    self._look()
            except Exception as problem:  # noqa: BLE001 (whatever it is, other intents are answered)
                self._unexpected.report("changes that the fleet asks for cannot be answered", problem)

    def _look(self) -> None:
        found = self._store.intents.of_node(self._node, _OPEN)
        if not found or not self._alone():
            return
        for intent in found:
            if self._stopping.is_set():
                return
            self._busy = BUSY_LOOKS
            try:
                self._answer(intent)
            except StoreRefused as problem:  # this answer alone
                self._give_up(intent, problem)
            except StoreUnusable:  # the others could not be answered either
                raise
            except Exception as problem:  # noqa: BLE001 (whatever it is, the others are answered)
                self._give_up(intent, problem)

    def _answer(self, intent: Intent) -> None:
        unreported = self._outcomes.get(intent.id)
        if unreported is not None and unreported.before is intent.state:
            self._report(intent, unreported)
            return
        match intent.state:
            case IntentState.TAKEN:
                self._cut_off(intent)
            case IntentState.UNDOING:
                outcome = {**intent.result, "text": "the agent was killed while it undid this: look at the journal"}
                self._store.intents.move(intent.id, IntentState.UNDOING, IntentState.FAILED, outcome)
            case _ if intent.expired:
                return
            case IntentState.ASKED:
                self._plan(intent)
            case IntentState.CONFIRMED:
                self._execute(intent)
            case IntentState.UNDO:
                self._undo(intent)
            case _:
                return

    def _give_up(self, intent: Intent, problem: Exception) -> None:
        """Report that an intent cannot be answered, so that it is not tried again at each poll."""
        self._unexpected.report(f"change {intent.id}, which the fleet asks for, cannot be answered", problem)
        after = _GIVEN_UP.get(intent.state)
        if after is not None:
            kept = intent.result if intent.state is IntentState.UNDOING else {}
            with suppress(StoreRefused):  # there is nothing shorter to say
                self._store.intents.move(intent.id, intent.state, after, {**kept, "text": described(problem)})
        self._outcomes.pop(intent.id, None)

    def _plan(self, intent: Intent) -> None:
        try:
            outcome, prepared = self._acts.plan(intent.plan)
            self._keep(intent, prepared)
        except Exception as problem:  # noqa: BLE001 (whatever it is, who asked reads it)
            text = described(problem)
            self._store.intents.move(intent.id, IntentState.ASKED, IntentState.REFUSED, {"text": text})
            return
        self._store.intents.move(intent.id, IntentState.ASKED, IntentState.PLANNED, outcome)

    def _execute(self, intent: Intent) -> None:
        prepared = self._kept(intent)
        if prepared is None:
            outcome = {"text": "this agent has not planned it, or its plan is gone: ask again"}
            self._store.intents.move(intent.id, IntentState.CONFIRMED, IntentState.REFUSED, outcome)
            return
        not_begun = _Outcome(IntentState.TAKEN, IntentState.REFUSED, {"text": f"{_NOT_BEGUN}; ask again"})
        self._begin(intent, not_begun, lambda: self._executed(intent, prepared))

    def _executed(self, intent: Intent, prepared: bytes) -> _Outcome:
        try:
            after, result = IntentState.DONE, self._acts.execute(intent.plan, prepared)
        except RefusedForSafety as problem:
            after, result = IntentState.REFUSED, {"text": str(problem)}
        except Exception as problem:  # noqa: BLE001 (whatever it is, who asked reads it)
            after, result = IntentState.FAILED, {"text": described(problem)}
        return _Outcome(IntentState.TAKEN, after, result)

    def _cut_off(self, intent: Intent) -> None:
        killed = "the agent was killed while it carried it out"
        outcome: dict[str, object] = {"text": f"{killed}, and its plan is gone"}
        try:
            prepared = self._kept(intent)
            if prepared is not None:
                outcome = self._acts.found_after_kill(intent.plan, prepared)
        except Exception as problem:  # noqa: BLE001 (whatever it is, who asked reads it)
            outcome = {"text": f"{killed}; look at the journal, as its plan cannot be read: {described(problem)}"}
        self._store.intents.move(intent.id, IntentState.TAKEN, IntentState.FAILED, outcome)
        self._drop_plan(intent)

    def _undo(self, intent: Intent) -> None:
        text = f"could not be undone: {_NOT_BEGUN}; undo it again"
        not_begun = _Outcome(IntentState.UNDOING, IntentState.FAILED, {**intent.result, "text": text})
        self._begin(intent, not_begun, lambda: self._undone(intent))

    def _undone(self, intent: Intent) -> _Outcome:
        try:
            after, result = IntentState.UNDONE, self._acts.undo(intent.plan, intent.result)
        except Exception as problem:  # noqa: BLE001 (whatever it is, who asked reads it)
            text = f"could not be undone: {described(problem)}"
            after, result = IntentState.FAILED, {**intent.result, "text": text}
        return _Outcome(IntentState.UNDOING, after, result)

    def _begin(self, intent: Intent, not_begun: _Outcome, act: Callable[[], _Outcome]) -> None:
        """Take an intent, so that no other process does, then act and report. `not_begun`: reported where the database
        took it, and went away before it said so."""
        self._outcomes[intent.id] = not_begun
        if not self._store.intents.move(intent.id, intent.state, not_begun.before):
            del self._outcomes[intent.id]
            return
        with self._acting:
            if self._is_left:
                return
            outcome = act()
        self._report(intent, outcome)

    def _report(self, intent: Intent, outcome: _Outcome) -> None:
        """Report the outcome; if the database is away, this is repeated at a later poll."""
        self._outcomes[intent.id] = outcome
        try:
            self._store.intents.move(intent.id, *outcome)
        except StoreRefused as problem:
            self._unexpected.report(f"the report of change {intent.id} is not stored whole", problem)
            text = f"what it did is in the journal of this node, as its report could not be stored: {problem}"
            short = {name: outcome.result[name] for name in _NEEDED_TO_UNDO if name in outcome.result}
            self._store.intents.move(intent.id, outcome.before, outcome.after, {**short, "text": text})
        del self._outcomes[intent.id]
        self._drop_plan(intent)

    # --- the plan on this node ---

    def _path(self, intent: Intent) -> Path:
        name = hashlib.sha256(f"{self._store.place}\0{intent.id}\0{intent.asked}".encode()).hexdigest()[:24]
        return self._folder / f"{name}.json"

    def _keep(self, intent: Intent, prepared: bytes) -> None:
        private_files.make_folder(self._folder.parent)
        private_files.make_folder(self._folder)
        self._drop_old_plans()
        number = private_files.open_file(self._path(intent), os.O_RDWR)
        with os.fdopen(number, "wb") as file:
            file.truncate()
            file.write(prepared)
            file.flush()
            os.fsync(number)

    def _drop_plan(self, intent: Intent) -> None:
        """Delete the plan of an intent that is over: to undo it, the report is enough."""
        with suppress(OSError):
            self._path(intent).unlink(missing_ok=True)

    def _drop_old_plans(self) -> None:
        with suppress(OSError):
            for path in self._folder.glob("*.json"):
                if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                    path.unlink(missing_ok=True)

    def _kept(self, intent: Intent) -> bytes | None:
        path = self._path(intent)
        if not path.exists():
            return None
        with os.fdopen(private_files.open_file(path, os.O_RDONLY), "rb") as file:
            return file.read()

    def _alone(self) -> bool:
        """Whether this agent answers for the node: the kernel gives the lock back when an agent dies."""
        if self._lock is not None:
            return True
        private_files.make_folder(self._folder.parent)
        private_files.make_folder(self._folder)
        name = hashlib.sha256(self._node.encode()).hexdigest()[:16]
        number = private_files.open_file(self._folder / f"{name}.lock", os.O_RDWR)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(number)
            return False
        self._lock = number
        return True
