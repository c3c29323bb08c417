"""Carries out on this node what operators of the fleet ask for, planned, checked and journaled like any plan."""

from __future__ import annotations

import time

import msgspec

from neuron_top.actions.fleet_request import FleetRequest, NodeDone, NodePlan, Skipped
from neuron_top.actions.journal.plan_history import HistoryState
from neuron_top.actions.module_patterns import matcher
from neuron_top.actions.plan import Plan, decode, encode, identity_of
from neuron_top.actions.registry import FLEET_ACTIONS, CacheAction
from neuron_top.actions.verb import Verb
from neuron_top.errors import NothingToShow, ReadOnlyMode, RefusedForSafety, UsageError
from neuron_top.services.caches import CacheService, action_of
from neuron_top.services.confirmation import confirmation_of
from neuron_top.services.pins import can_match
from neuron_top.settings import Settings
from neuron_top.views.plan import reason_text, step_text
from neuron_top.views.plan_sentences import caveat_texts, not_done_text, refusal_text, undo_text

STEPS_SHOWN = 10
NOT_DONE_SHOWN = 50
_ALL_WHERE_NONE_NAMED = frozenset({Verb.RETRY, Verb.UNLOCK, Verb.VERIFY, Verb.COPY})


class NodeActions:
    """The actions of the agent's worker (see `agent.intents.Acts`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def plan(self, asked: dict[str, object]) -> tuple[dict[str, object], bytes]:
        """What a request would do here, in words, and the plan itself, which stays on this node.

        Raises RefusedForSafety if the node refuses such changes; UsageError, NothingToShow.
        """
        self._check_opted_in()
        request = _request(asked)
        row = FLEET_ACTIONS[request.action]
        if not request.modules and row.verb not in _ALL_WHERE_NONE_NAMED:
            raise UsageError(f"{request.action}: no module is named")
        if row.verb is Verb.PIN:
            return _plain(self._pins_planned(request)), msgspec.json.encode(request)
        service = self._service(request)
        plan = self._planned(service, row, request)
        if plan.is_refused:
            raise RefusedForSafety(refusal_text(plan))
        return _plain(_summary(plan)), encode(plan)

    def execute(self, asked: dict[str, object], prepared: bytes) -> dict[str, object]:
        """Execute a plan that was made here; every step is checked again. Raises RefusedForSafety."""
        self._check_opted_in()
        request = _request(asked)
        if FLEET_ACTIONS[request.action].verb is Verb.PIN:
            new = self._service(request).pins.add(request.modules, "asked for by an operator of the fleet")
            names = tuple(pin.pattern for pin in new)
            text = f"{len(names)} pinned"
            return _plain(
                NodeDone(identity="", root="", done=len(names), pinned=names, text=text, undoable=bool(names))
            )
        (plan,) = decode(prepared)
        outcome = self._service(request).execute(plan)
        return _plain(
            NodeDone(
                identity=plan.identity,
                root=plan.root,
                done=outcome.done,
                moved_bytes=outcome.moved_bytes,
                not_done=tuple((path, not_done_text(why)) for path, why in outcome.refused[:NOT_DONE_SHOWN]),
                refused=len(outcome.refused),
                text=undo_text(outcome),
                undoable=action_of(plan.verb).undoable and outcome.done > 0,
            )
        )

    def found_after_kill(self, asked: dict[str, object], prepared: bytes) -> dict[str, object]:
        """What an interrupted execution had done, by the journal; nothing is done again."""
        request = _request(asked)
        if FLEET_ACTIONS[request.action].verb is Verb.PIN:
            return _plain(
                NodeDone(identity="", root="", done=0, text="the agent was killed while it pinned: look at the pins")
            )
        (plan,) = decode(prepared)
        place = plan.target or plan.root
        history = next(
            (each for each in self._service(request).trash.histories(place) if each.begun.plan == plan.identity), None
        )
        done = len({move.step for move in history.moves}) if history is not None else 0
        whole = history is not None and history.state is HistoryState.DONE
        state = "it had ended" if whole else f"{done} of {len(plan.steps)} steps had been begun"
        text = f"the agent was killed while it carried it out; {state}, and none is begun again"
        undoable = action_of(plan.verb).undoable and done > 0
        return _plain(NodeDone(identity=plan.identity, root=plan.root, done=done, text=text, undoable=undoable))

    def undo(self, asked: dict[str, object], done: dict[str, object]) -> dict[str, object]:
        """Restore what the plan took away. Raises RefusedForSafety, NothingToShow."""
        self._check_opted_in()
        request, reply = _request(asked), msgspec.convert(done, NodeDone)
        service = self._service(request)
        if reply.pinned:
            gone = service.pins.remove(reply.pinned)
            return _plain(msgspec.structs.replace(reply, text=f"{len(gone)} unpinned", undoable=False))
        if not reply.undoable:
            raise NothingToShow(f"{request.action} removed nothing on this node: there is nothing to undo")
        restored = service.trash.undo(reply.root, reply.identity)
        return _plain(msgspec.structs.replace(reply, text=restored.text, undoable=False))

    def _check_opted_in(self) -> None:
        if not self._settings.fleet_actions:
            raise RefusedForSafety("this node takes no changes from the fleet: its owner has not set fleet_actions")

    def _service(self, request: FleetRequest) -> CacheService:
        return CacheService(self._settings, assume_exclusive=request.assume_exclusive)

    def _planned(self, service: CacheService, row: CacheAction, request: FleetRequest) -> Plan:
        root = service.resolve(request.root or None)
        if row.verb is Verb.COPY:
            if not request.source:
                raise UsageError("pull: no source is named")
            return service.plan_copy(request.source, root, modules=request.modules)
        look = service.look(root, causes=row.verb is Verb.RETRY)
        is_named = matcher(request.modules)
        entries = [entry for entry in look.snapshot.entries if not request.modules or is_named(entry.module)]
        return look.plan_entries(row.verb, entries)

    def _pins_planned(self, request: FleetRequest) -> NodePlan:
        service = self._service(request)
        if self._settings.read_only:
            raise ReadOnlyMode()
        for text in request.modules:
            if not can_match(text):
                raise UsageError(f"{text!r} can match no module")
        known = {pin.pattern for pin in service.pins.all()}
        fresh = [text for text in request.modules if text not in known]
        there = len(request.modules) - len(fresh)
        return NodePlan(
            identity=identity_of("pin", "", time.time(), (), " ".join(request.modules)),
            root="",
            steps=len(fresh),
            frees=0,
            shown=tuple(f"  pin  {text}" for text in fresh[:STEPS_SHOWN]),
            skipped=(Skipped(reason="pinned already", entries=there),) if there else (),
        )


def _request(asked: dict[str, object]) -> FleetRequest:
    """Parse a request. Raises UsageError for one that this version does not know."""
    try:
        request = msgspec.convert(asked, FleetRequest)
    except msgspec.ValidationError as problem:
        raise UsageError(f"this agent cannot read the request ({problem})") from None
    if request.action not in FLEET_ACTIONS:
        raise UsageError(f"this agent has no action {request.action!r}")
    return request


def _summary(plan: Plan) -> NodePlan:
    reasons: dict[str, int] = {}
    for each in plan.exclusions:
        reasons[reason_text(each)] = reasons.get(reason_text(each), 0) + 1
    return NodePlan(
        identity=plan.identity,
        root=plan.target or plan.root,
        steps=len(plan.steps),
        frees=plan.frees,
        copies=sum(step.copies for step in plan.steps),
        word=confirmation_of(plan).word,
        shown=_shown(plan),
        skipped=tuple(Skipped(reason=reason, entries=count) for reason, count in reasons.items()),
        notes=tuple(caveat_texts(plan)),
    )


def _shown(plan: Plan) -> tuple[str, ...]:
    return tuple(step_text(step, plan.made_at) for step in plan.steps[:STEPS_SHOWN])


def _plain(value: NodePlan | NodeDone) -> dict[str, object]:
    return msgspec.convert(msgspec.to_builtins(value), dict[str, object])
