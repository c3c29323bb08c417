"""A row of the table of failures: what is known about one, and how it weighs against others."""

from __future__ import annotations

import re
from enum import Enum, IntEnum, auto
from functools import cache
from typing import NamedTuple

from neuron_top.events.diagnosis import CauseClass, Confidence

SHELLS_JOB = r"^\[\d{1,4}\]\s{0,4}[+-]?\s{1,4}(?:\d{1,10}\s{1,4})?"
"""How a shell begins what it reports of a job that it started, with the job's number and the process's."""


class Weight(IntEnum):
    """How much a statement explains; less is more, see `ranking`."""

    REASON = 0
    """The compiler, the runtime, the driver or the kernel itself names the reason."""
    STATEMENT = 1
    """A wording that is known, or an exception that nobody caught: it says what failed."""
    MESSAGE = 2
    """A line of level error that nobody knows."""
    DEATH = 3
    """A process ended; why is not said."""
    CASCADE = 4
    """What follows from a failure somewhere else."""


class Doubt(IntEnum):
    """What shows that a statement stood for no failure."""

    NONE = 0
    """Nothing: it is one, unless it was overcome."""
    SOME = 1
    """Steps behind it."""
    MUCH = 2
    """Any sign of life behind it: steps, compiles, many more lines."""


class ReasonGiven(Enum):
    """Whether a line states why something failed."""

    STATED = auto()
    MISSING = auto()
    """It only says that something failed."""


class Recognizer(NamedTuple):
    """One row."""

    name: str
    cause_class: CauseClass
    weight: Weight
    words: tuple[bytes, ...]
    pattern: str
    """A regular expression; only those that a log asks for are compiled."""
    confidence: Confidence = Confidence.HIGH
    reason: ReasonGiven = ReasonGiven.STATED
    any_level: bool = False
    """Counts at every level; else lines that are marked as a warning or as information do not."""
    doubt: Doubt = Doubt.NONE

    def matches(self, text: str) -> bool:
        """Whether the pattern stands in this text."""
        return _compiled(self.pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def words(text: str) -> tuple[bytes, ...]:
    """Words written one behind the other, with a bar between."""
    return tuple(word.encode() for word in text.split("|"))
