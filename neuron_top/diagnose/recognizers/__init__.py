"""The table of known failures, looked up by the words of their lines.

To add one, add a row to the file of its group, and the advice under the row's name to `views/cause_advice.py`. `words`
are bytes in lower case; each line of the failure holds one of them, and lines without any word of the table are never
looked at. Rows are tried in the order of the table, and the first that matches decides, so specific rows come before
general ones. `general` judges wordings that are not in the table.

A file holds the rows of one group of causes; `table` has their order. Order counts within a file too.
"""

from __future__ import annotations

from neuron_top.diagnose.recognizers.cascades import (
    CASCADES,
    ENGINE_DIED,
    KILLED_TASK,
    LAUNCHERS_REPORT,
    PIPS_BUILD,
    STOPS_TASKS,
    STOPS_WORKERS,
)
from neuron_top.diagnose.recognizers.compiler import BUILD_CRASHED, BUILD_KILLED, CALLS_COMPILER
from neuron_top.diagnose.recognizers.deaths import CRASHED, DEATHS, ENDED_BELOW
from neuron_top.diagnose.recognizers.dependencies import NOT_INSTALLED, OTHER_VERSION
from neuron_top.diagnose.recognizers.gpus import NCCL_WITHOUT_REASON
from neuron_top.diagnose.recognizers.interruptions import BY_SCHEDULER, HOST_TAKEN, STOPPED
from neuron_top.diagnose.recognizers.locks import WAITS
from neuron_top.diagnose.recognizers.network import RSYNC_FAILED, RSYNC_LOST, TRIED_AGAIN
from neuron_top.diagnose.recognizers.row import CRASHES, Doubt, ReasonGiven, Recognizer, Weight
from neuron_top.diagnose.recognizers.scheduling import NO_CAPACITY, STEP_WAITS
from neuron_top.diagnose.recognizers.table import ROWS, TERMINAL, WORDS, recognize
from neuron_top.diagnose.recognizers.workflows import (
    HTCONDOR_STOPPED,
    HTCONDORS_EVENT,
    LEFT_OUT,
    MODEL_LEFT_OUT,
    TRIAL_FAILED,
)

__all__ = [
    "BUILD_CRASHED",
    "BUILD_KILLED",
    "BY_SCHEDULER",
    "CALLS_COMPILER",
    "CASCADES",
    "CRASHES",
    "DEATHS",
    "CRASHED",
    "ENDED_BELOW",
    "ENGINE_DIED",
    "HOST_TAKEN",
    "HTCONDORS_EVENT",
    "HTCONDOR_STOPPED",
    "KILLED_TASK",
    "LAUNCHERS_REPORT",
    "LEFT_OUT",
    "MODEL_LEFT_OUT",
    "NCCL_WITHOUT_REASON",
    "NOT_INSTALLED",
    "NO_CAPACITY",
    "OTHER_VERSION",
    "PIPS_BUILD",
    "ROWS",
    "RSYNC_FAILED",
    "RSYNC_LOST",
    "STEP_WAITS",
    "STOPPED",
    "STOPS_TASKS",
    "STOPS_WORKERS",
    "TERMINAL",
    "TRIAL_FAILED",
    "TRIED_AGAIN",
    "WAITS",
    "WORDS",
    "Doubt",
    "ReasonGiven",
    "Recognizer",
    "Weight",
    "recognize",
]
