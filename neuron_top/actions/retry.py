"""Which cached failures may be tried again on the next run: a pure planner.

The failure mark is moved aside under the entry's lock, which turns the entry into a collected graph; compiling it
now is the compile component's work. What the compiler itself rejected fails again: it is explained, and taken
only when told to.
"""

from __future__ import annotations

from collections.abc import Iterable

from neuron_top.actions.assemble import assembled, left_alone, step_of
from neuron_top.actions.plan import Action, Exclusion, Plan, Step
from neuron_top.actions.surroundings import Surroundings
from neuron_top.cache.entry import FAILURES, Entry, State
from neuron_top.cache.failures import DETERMINISTIC


def plan_retry(entries: Iterable[Entry], root: str, around: Surroundings, *, deterministic: bool = False) -> Plan:
    """Forget the failures among `entries`; those that are bound to come again only when `deterministic`."""
    steps: list[Step] = []
    exclusions: list[Exclusion] = []
    for entry in sorted(entries, key=lambda entry: entry.path):
        if entry.state is State.RETRYING:
            exclusions.append(left_alone(entry, "being compiled again now"))
        elif entry.state in FAILURES:
            _decide(entry, steps, exclusions, around, deterministic=deterministic)
    wish = "failures, also those bound to come again" if deterministic else "failures that need not come again"
    return assembled("retry", root, wish, steps, exclusions, around)


def _decide(
    entry: Entry, steps: list[Step], exclusions: list[Exclusion], around: Surroundings, *, deterministic: bool
) -> None:
    failure = entry.failure
    cause = failure.kind if failure else "unknown"
    said = f"{failure.code + ': ' if failure.code else ''}{failure.advice}" if failure else "its log says nothing"
    if cause == DETERMINISTIC and not deterministic:
        exclusions.append(left_alone(entry, f"bound to fail again ({said}); --deterministic tries all the same"))
        return
    warning = f"bound to fail again: {said}" if cause == DETERMINISTIC else ""
    frees = max(0, entry.allocated - entry.kept)
    steps.append(step_of(Action.RETRY, entry, f"{cause} failure: {said}", frees, around, warning=warning))
