"""Which advice a cause comes with, as codes: `views/cause_advice.py` has a sentence for each."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from neuron_top.events.diagnosis import CauseClass, Diagnosis

FAILED_WITHOUT_MESSAGE = "failed compile without a message"
"""Stands for a row: a failed compile whose message was not printed."""
ERROR_LINE = "an error line without a traceback"
"""Stands for a row: a line of the program's own that nobody knows."""
NCCL_WARNED = "NCCL tells of a failure"
"""Stands for a row: what NCCL warns of before it returns a status that names no reason."""
ADAPTER_FAILED = "the driver of a network adapter"
"""Stands for a row: what such a driver tells the kernel's log."""
SOURCE_REFUSED = "a source that its compiler refuses"
"""Stands for a row: what a compiler of C, CUDA or the like says is wrong at a place of a source."""
DISK_FAILED = "a disk, a file system or the machine"
"""Stands for a row: what the kernel says of one that fails."""
TORN_TRACEBACK = "a traceback that is cut off"
"""Stands for a row: the log ends before the exception."""


class Remark(Enum):
    """What is said beside the advice; a later one is said of all before it."""

    STORED = auto()
    """The failure is kept in the cache, and its message names a reason of its own."""
    ONLY_EXIT_CODE = auto()
    """Nothing but the job's exit code reports the failure."""
    NOT_STATED = auto()
    """The log does not state the reason."""
    LARGER_PAGES = auto()
    """The runtime itself recommends a larger Scratchpad page."""


class CauseAdvice(NamedTuple):
    """The advice of one cause."""

    cause_class: CauseClass
    row: str = ""
    """Name of the row of `recognizers` that knows the line, or what stands for one; "" = advice of the class."""
    remarks: frozenset[Remark] = frozenset()
    exit_code: int | None = None
    """The job's, for ONLY_EXIT_CODE."""


class CodedDiagnosis(NamedTuple):
    """A diagnosis before it is worded: its causes have no advice yet; which one each gets stands beside them."""

    diagnosis: Diagnosis
    advice: tuple[CauseAdvice, ...]
    """One for each cause, in their order."""
