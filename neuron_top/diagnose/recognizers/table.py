"""The table of rows in their order, and the search for the first one that matches a statement."""

from __future__ import annotations

import ahocorasick_rs

from neuron_top.diagnose.recognizers.accelerators import ACCELERATORS, METALS_ASSERTION
from neuron_top.diagnose.recognizers.cascades import CASCADES, ENGINE_DIED, LAUNCHERS_REPORT, STOPS_WORKERS
from neuron_top.diagnose.recognizers.collectives import COLLECTIVES
from neuron_top.diagnose.recognizers.compiler import COMPILER, LLVM_CRASHED
from neuron_top.diagnose.recognizers.containers import CONTAINERS, EVICTIONS
from neuron_top.diagnose.recognizers.deaths import CRASHED, DEATHS, ENDED_BELOW
from neuron_top.diagnose.recognizers.dependencies import DEPENDENCIES
from neuron_top.diagnose.recognizers.device_memory import DEVICE_MEMORY
from neuron_top.diagnose.recognizers.execution import EXECUTION, FALLBACKS
from neuron_top.diagnose.recognizers.files import DISKS, FILES
from neuron_top.diagnose.recognizers.gpus import GPUS
from neuron_top.diagnose.recognizers.host_memory import HOST_MEMORY
from neuron_top.diagnose.recognizers.interruptions import INTERRUPTIONS, PREEMPTED, STOPPED, TIME_LIMIT
from neuron_top.diagnose.recognizers.locks import LOCKS
from neuron_top.diagnose.recognizers.mpi import MPI
from neuron_top.diagnose.recognizers.network import NETWORK
from neuron_top.diagnose.recognizers.overflows import OVERFLOWS
from neuron_top.diagnose.recognizers.row import Recognizer
from neuron_top.diagnose.recognizers.runtime_start import RUNTIME_START
from neuron_top.diagnose.recognizers.scheduling import CORES, SCHEDULING
from neuron_top.diagnose.recognizers.simulations import SIMULATIONS
from neuron_top.diagnose.recognizers.usage import USAGE
from neuron_top.diagnose.recognizers.workflows import HTCONDOR_STOPPED, HTCONDORS_EVENT, WORKFLOWS
from neuron_top.diagnose.statement import Statement

ROWS: tuple[Recognizer, ...] = (
    *FALLBACKS,
    *COMPILER,
    *LOCKS,
    *DEVICE_MEMORY,
    *ACCELERATORS,
    *GPUS,
    *CORES,
    *SCHEDULING,
    *RUNTIME_START,
    *MPI,
    *COLLECTIVES,
    *EXECUTION,
    *HOST_MEMORY,
    *EVICTIONS,
    *DISKS,  # before containers, which do not start on a full disk
    *CONTAINERS,
    *FILES,
    *OVERFLOWS,
    *DEPENDENCIES,
    *USAGE,
    *WORKFLOWS,
    *SIMULATIONS,
    *NETWORK,
    *INTERRUPTIONS,
)
"""In the order in which they are tried: specific rows before general ones."""
TERMINAL = frozenset(
    {
        STOPS_WORKERS,
        ENDED_BELOW,
        HTCONDORS_EVENT,
        HTCONDOR_STOPPED,
        LAUNCHERS_REPORT,
        ENGINE_DIED,
        METALS_ASSERTION,
        LLVM_CRASHED,
        "exit status",
        "a build's command failed",
        "compiler ended with a status",
        STOPPED,
        TIME_LIMIT,
        PREEMPTED,
        "killed",
        CRASHED,
        "a Fortran program ends",
        "a Go program crashed",
    }
)
"""Rows whose lines show that a process has ended."""

_ALL = (*ROWS, *DEATHS, *CASCADES)
WORDS: tuple[bytes, ...] = tuple(dict.fromkeys(word for row in _ALL for word in row.words if word != b"["))
_OWNERS: dict[str, list[int]] = {}
for _number, _row in enumerate(_ALL):
    for _word in _row.words:
        _OWNERS.setdefault(_word.decode(), []).append(_number)
_SEARCH = ahocorasick_rs.AhoCorasick(list(_OWNERS), implementation=ahocorasick_rs.Implementation.ContiguousNFA)
"""Searches single statements; building it takes an eighth of the time that the fastest kind takes."""
_NUMBERS = list(_OWNERS.values())


def recognize(statement: Statement) -> Recognizer | None:
    """The first row that matches this statement."""
    matches = _SEARCH.find_matches_as_indexes(statement.text.lower(), overlapping=True)
    if not matches:
        return None
    quiet = statement.level.is_mild
    for number in sorted({row for index, _, _ in matches for row in _NUMBERS[index]}):
        row = _ALL[number]
        if (row.any_level or not quiet) and row.matches(statement.text):
            return row
    return None
