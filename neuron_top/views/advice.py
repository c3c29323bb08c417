"""Sentences about the runtime's advice and about why functions were compiled again, with the next step."""

from __future__ import annotations

import msgspec

from neuron_top.events import AdviceKind
from neuron_top.run.advice import AdviceTracker
from neuron_top.units import count_text

_PAGE = (
    "set `NEURON_SCRATCHPAD_PAGE_SIZE=1024` for the job and `NEURON_CC_FLAGS=--hbm-scratchpad-page-size=1024` for the "
    "compile: both together, and the graphs are compiled anew"
)
_WORDS = {
    AdviceKind.SCRATCHPAD_PAGE: ("a larger Scratchpad page is recommended", _PAGE),
    AdviceKind.SCRATCHPAD_OVERFLOW: ("variables that cross Scratchpad pages take additional device memory", _PAGE),
    AdviceKind.DEVICE_RESET: (
        "a device failed to reset",
        "stop what holds it and try again; if it stays, replace the instance: the device is not sound",
    ),
    AdviceKind.OTHER: ("advice of the runtime", "see the log line"),
}
RECOMPILE_STEP = (
    "pad or bucket what changes, or mark it dynamic (`torch._dynamo.mark_dynamic`); keep modules and flags that guards "
    "name the same from call to call"
)
_DEVICES_SHOWN = 16
_REASONS_SHOWN = 3


class AdviceLine(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of advice, or one function that was compiled again."""

    what: str
    text: str
    """What the log says."""
    count: int
    next_step: str


def advice_lines(found: AdviceTracker) -> tuple[AdviceLine, ...]:
    """Advice in the order in which it came, then recompiled functions, the most often compiled first."""
    lines = [
        AdviceLine(
            what=title_of(advice.kind) + _devices(advice.devices),
            text=advice.text,
            count=advice.count,
            next_step=next_step_of(advice.kind),
        )
        for advice in found.advice.values()
    ]
    functions = sorted(found.recompiled.values(), key=lambda one: (-one.count, one.function, one.place))
    lines += [
        AdviceLine(
            what=f"{one.function} was compiled again",
            text=f"{'; '.join(_often(one.reasons)) or 'no reason given'} ({one.place})",
            count=one.count,
            next_step=RECOMPILE_STEP,
        )
        for one in functions
    ]
    return tuple(lines)


def title_of(kind: AdviceKind) -> str:
    """The title of a kind of advice."""
    return _WORDS[kind][0]


def next_step_of(kind: AdviceKind) -> str:
    """What to do about a kind of advice."""
    return _WORDS[kind][1]


def _devices(devices: set[int]) -> str:
    if not devices:
        return ""
    shown = sorted(devices)[:_DEVICES_SHOWN]
    more = f" and {count_text(len(devices) - len(shown))} more" if len(devices) > len(shown) else ""
    return f" (device {', '.join(map(str, shown))}{more})"


def _often(reasons: dict[str, int]) -> list[str]:
    often = sorted(reasons, key=lambda reason: -reasons[reason])[:_REASONS_SHOWN]
    return [reason + (f" (× {count_text(reasons[reason])})" if reasons[reason] > 1 else "") for reason in often]
