"""A row of the table of failures: what is known about one, and its weight against others."""

from __future__ import annotations

import re
from enum import Enum, IntEnum, auto
from functools import cache
from typing import NamedTuple

from neuron_top.events.diagnosis import CauseClass, Confidence

SHELLS_JOB = r"^\[\d{1,4}\]\s{0,4}[+-]?\s{1,4}(?:\d{1,10}\s{1,4})?"
"""How a shell's report of a job that it started begins, with the job's number and the process id."""

CRASHES = "Segmentation fault|Floating point exception|Aborted|Bus error|Illegal instruction"
"""What a shell prints for the signals that end a program which has failed."""


class Weight(IntEnum):
    """How much a statement explains; the lowest value explains most, see `ranking`."""

    REASON = 0
    """The compiler, the runtime, the driver or the kernel itself names the reason."""
    STATEMENT = 1
    """A known wording, or an exception that nobody caught: it says what failed."""
    MESSAGE = 2
    """An unknown line at level error."""
    DEATH = 3
    """A process ended; why is not said."""
    CASCADE = 4
    """What follows from a failure somewhere else."""


class Doubt(IntEnum):
    """What after a statement shows that it was no failure."""

    NONE = 0
    """Nothing: it is one, unless it was overcome."""
    SOME = 1
    """Steps, or very many more lines."""
    MUCH = 2
    """Any sign of life: steps, compiles, many more lines."""


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
    """A regular expression, compiled when it is first needed."""
    confidence: Confidence = Confidence.HIGH
    reason: ReasonGiven = ReasonGiven.STATED
    any_level: bool = False
    """Matches lines of every level; otherwise not those that are marked as a warning or below."""
    doubt: Doubt = Doubt.NONE

    def matches(self, text: str) -> bool:
        """Whether the pattern matches anywhere in this text."""
        return _compiled(self.pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def words(text: str) -> tuple[bytes, ...]:
    """The `words` of a row from one string, separated by bars."""
    return tuple(word.encode() for word in text.split("|"))
