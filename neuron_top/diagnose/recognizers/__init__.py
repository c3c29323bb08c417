"""What is known about failures: a row for each piece of knowledge, looked up by the words of its lines.

Adding knowledge is adding a row to the file of its group, and under its name what to do about it in
`views/cause_advice.py`. `words` are bytes in lower case of which each of its lines holds one; lines without any word of
the table are never looked at. Rows are tried in the order of the table, and the first that matches decides: so what is
narrow stands above what is wide. Wordings that nobody has met yet are the business of `general`.

A file holds the rows of one group of causes; `table` has their order. Order counts within a file too.
"""

from __future__ import annotations

from neuron_top.diagnose.recognizers.cascades import CASCADES, LAUNCHERS_REPORT, PIPS_BUILD, STOPS_WORKERS
from neuron_top.diagnose.recognizers.deaths import DEATHS, ENDED_BELOW
from neuron_top.diagnose.recognizers.dependencies import NOT_INSTALLED, OTHER_VERSION
from neuron_top.diagnose.recognizers.gpus import NCCL_WITHOUT_REASON
from neuron_top.diagnose.recognizers.interruptions import HOST_TAKEN, STOPPED
from neuron_top.diagnose.recognizers.locks import WAITS
from neuron_top.diagnose.recognizers.network import TRIED_AGAIN
from neuron_top.diagnose.recognizers.row import Doubt, ReasonGiven, Recognizer, Weight
from neuron_top.diagnose.recognizers.scheduling import NO_CAPACITY
from neuron_top.diagnose.recognizers.table import ROWS, TERMINAL, WORDS, recognize

__all__ = [
    "CASCADES",
    "DEATHS",
    "ENDED_BELOW",
    "HOST_TAKEN",
    "LAUNCHERS_REPORT",
    "NCCL_WITHOUT_REASON",
    "NOT_INSTALLED",
    "NO_CAPACITY",
    "ROWS",
    "OTHER_VERSION",
    "PIPS_BUILD",
    "STOPPED",
    "STOPS_WORKERS",
    "TRIED_AGAIN",
    "WAITS",
    "TERMINAL",
    "WORDS",
    "Doubt",
    "ReasonGiven",
    "Recognizer",
    "Weight",
    "recognize",
]
