"""What the runtime advised, and why functions were compiled again: counted, each wording kept once. Pure."""

from __future__ import annotations

from typing import assert_never

import msgspec

from neuron_top.events import AdviceFamily, AdviceKind, FunctionRecompiled, RuntimeAdvised

FUNCTIONS_KEPT = 1000
REASONS_KEPT = 50
"""Most reasons that are kept per function. Their texts contain sizes, so there may be many."""
DEVICES_KEPT = 4096
OTHERS_KEPT = 50
"""Most wordings that are kept of advice of unknown kinds."""


class Advice(msgspec.Struct, kw_only=True):
    """One kind of advice, or one wording of an unknown kind."""

    kind: AdviceKind
    text: str
    """The text that came first."""
    first: float | None
    count: int = 0
    devices: set[int] = msgspec.field(default_factory=set)


class Recompiled(msgspec.Struct, kw_only=True):
    """One function that was compiled again."""

    function: str
    place: str
    first: float | None
    count: int = 0
    reasons: dict[str, int] = msgspec.field(default_factory=dict)


class AdviceTracker:
    """Counts advice and repeated compiles."""

    def __init__(self) -> None:
        self.advice: dict[str, Advice] = {}
        """By kind, or by wording if the kind is unknown; in the order in which they came."""
        self.recompiled: dict[tuple[str, str], Recompiled] = {}
        """By function and place."""
        self.recompiles = 0

    def apply(self, event: AdviceFamily) -> None:
        """Take one event into account."""
        match event:
            case RuntimeAdvised():
                self._advised(event)
            case FunctionRecompiled():
                self._recompiled(event)
            case _:
                assert_never(event)

    def _advised(self, event: RuntimeAdvised) -> None:
        key = event.text if event.kind is AdviceKind.OTHER else event.kind.value
        known = self.advice.get(key)
        if known is None:
            if len(self.advice) >= OTHERS_KEPT:
                return
            known = self.advice[key] = Advice(kind=event.kind, text=event.text, first=event.time)
        known.count += 1
        if event.device is not None and len(known.devices) < DEVICES_KEPT:
            known.devices.add(event.device)

    def _recompiled(self, event: FunctionRecompiled) -> None:
        self.recompiles += not event.reason
        key = event.function, event.place
        known = self.recompiled.get(key)
        if known is None:
            if len(self.recompiled) >= FUNCTIONS_KEPT:
                return
            known = self.recompiled[key] = Recompiled(function=event.function, place=event.place, first=event.time)
        known.count += not event.reason
        if event.reason and (event.reason in known.reasons or len(known.reasons) < REASONS_KEPT):
            known.reasons[event.reason] = known.reasons.get(event.reason, 0) + 1
