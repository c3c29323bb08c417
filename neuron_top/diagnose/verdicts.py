"""What a statement means, as far as it is known."""

from __future__ import annotations

from typing import NamedTuple

from neuron_top.diagnose.recognizers import Doubt, ReasonGiven, Recognizer, Weight
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.late_pattern import late_pattern

TOOL_NAME = late_pattern(r"\bneuron-(?:device-plugin|profile|monitor|ls|top|scheduler|explorer)\b|(?i:device plugin)")
"""The vendor's tools: what fails by their name is a tool."""


class CauseVerdict(NamedTuple):
    """What a statement means."""

    cause_class: CauseClass
    weight: Weight
    advice: str
    """Name of the row whose advice holds; "" = that of the class."""
    confidence: Confidence
    reason: ReasonGiven = ReasonGiven.STATED
    doubt: Doubt = Doubt.NONE
    row: Recognizer | None = None
    stored_reason: bool = False
    """The failure is kept in the cache, and `advice` is of the reason that its message names."""
    exit_code: int | None = None
    """The job's, where nothing but it reports the failure."""


def without_reason() -> CauseVerdict:
    """What an exception means whose reason stands below."""
    return CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.DEATH, "", Confidence.LOW, ReasonGiven.MISSING)


def consequence(cause_class: CauseClass, advice: str = "") -> CauseVerdict:
    """What only follows from a failure, or announces one: it counts where nothing else is said."""
    return CauseVerdict(cause_class, Weight.CASCADE, advice, Confidence.LOW, ReasonGiven.MISSING)


def by_row(row: Recognizer, doubt: Doubt | None = None) -> CauseVerdict:
    """What a row of the table knows of its lines."""
    return CauseVerdict(
        row.cause_class,
        row.weight,
        row.name,
        row.confidence,
        row.reason,
        row.doubt if doubt is None else doubt,
        row,
    )
