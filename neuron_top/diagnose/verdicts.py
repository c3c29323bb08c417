"""What a statement means, as far as it is known."""

from __future__ import annotations

from typing import NamedTuple

from neuron_top.diagnose.recognizers import Doubt, ReasonGiven, Recognizer, Weight
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.late_pattern import late_pattern

TOOL_NAME = late_pattern(r"\bneuron-(?:device-plugin|profile|monitor|ls|top|scheduler|explorer)\b|(?i:device plugin)")
"""Names of the vendor's tools."""


class CauseVerdict(NamedTuple):
    """What a statement means."""

    cause_class: CauseClass
    weight: Weight
    advice: str
    """Name of the row whose advice applies; "" = that of the class."""
    confidence: Confidence
    reason: ReasonGiven = ReasonGiven.STATED
    doubt: Doubt = Doubt.NONE
    row: Recognizer | None = None
    stored_reason: bool = False
    """The failure is stored in the cache, and `advice` is for the reason that its message names."""
    exit_code: int | None = None
    """The job's, where nothing else reports the failure."""


def without_reason() -> CauseVerdict:
    """The verdict on an exception whose reason stands below."""
    return CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.DEATH, "", Confidence.LOW, ReasonGiven.MISSING)


def consequence(cause_class: CauseClass, advice: str = "") -> CauseVerdict:
    """The verdict on what only follows from a failure, or announces one: it counts if nothing else is found."""
    return CauseVerdict(cause_class, Weight.CASCADE, advice, Confidence.LOW, ReasonGiven.MISSING)


def by_row(row: Recognizer, doubt: Doubt | None = None) -> CauseVerdict:
    """The verdict that a row of the table gives on its lines."""
    return CauseVerdict(
        row.cause_class,
        row.weight,
        row.name,
        row.confidence,
        row.reason,
        row.doubt if doubt is None else doubt,
        row,
    )
