"""The advice that belongs to a cause, as codes: `views/cause_advice.py` has a sentence for each."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from neuron_top.events.diagnosis import CauseClass, Diagnosis

FAILED_WITHOUT_MESSAGE = "failed compile without a message"
"""Stands for a row: a failed compile whose message was not printed."""
ERROR_LINE = "an error line without a traceback"
"""Stands for a row: an unknown error line of the program itself."""
NCCL_WARNED = "NCCL tells of a failure"
"""Stands for a row: a warning that NCCL prints before it returns a status without a reason."""
ADAPTER_FAILED = "the driver of a network adapter"
"""Stands for a row: an error of such a driver in the kernel's log."""
SOURCE_REFUSED = "a source that its compiler refuses"
"""Stands for a row: an error that a compiler of C, CUDA or the like reports for a line of source code."""
DISK_FAILED = "a disk, a file system or the machine"
"""Stands for a row: a failure of one of these, reported by the kernel."""
TORN_TRACEBACK = "a traceback that is cut off"
"""Stands for a row: the log ends before the exception."""
LAST_LINE = "a program's last words"
"""Stands for a row: nothing failed, but the log's last line says why a program would end."""


class Remark(Enum):
    """A sentence that is added to the advice, in this order; each may refer to those before it."""

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
    """Name of the row of `recognizers` that matches the line, or what stands for one; "" = the advice of the class."""
    remarks: frozenset[Remark] = frozenset()
    exit_code: int | None = None
    """The job's, for ONLY_EXIT_CODE."""


class CodedDiagnosis(NamedTuple):
    """A diagnosis whose causes have no advice yet, and beside it the advice that each of them gets, as codes."""

    diagnosis: Diagnosis
    advice: tuple[CauseAdvice, ...]
    """One for each cause, in their order."""
