"""What launchers, containers and log services put in front of a line, split off to learn the line's rank and process.

Known: `[rank0]:` (with or without its colon), `[default3]:`, MPI's `[1,4]<stdout>:` (with or without a stamp),
SageMaker's `[1,mpirank:4,algo-1]<stdout>:`,
Kubernetes' `[0]:`, TorchX's `trainer/0 [3]:`, kubectl's `[pod/…]`, Ray's and vLLM's `(Name pid=123)`, SkyPilot's
`(head, rank=0, pid=123)`, the model server's `[INFO ] PyProcess - W-80-model-stdout:` (with or without its level),
TorchServe's `2024-01-02 10:00:00,123 [INFO ] W-9000-bert_1.0-stdout MODEL_LOG -`,
docker compose's `name-1  |` and SageMaker's `algo-1-x2y4z  |`, vLLM's `INFO 07-30 00:48:12 [file.py:1307]`, the
trainer's `[INFO|trainer.py:1786] 2024-01-02 10:00:00,123 >>`, CloudWatch's ISO stamp, its tables'
`| 1679087716684 |`, Kaggle's seconds and line number, the number of a line in front of a rank (`[1744] [rank0]:`,
`44 [rank0]:`), the journal's `Mar 04 05:06:07 host python[4711]:`, also with an ISO stamp, `kubelet[4711]:` before
klog's header, the stamp alone as `ts` puts it in front, the stamp and stream of `aws logs tail`, srun's task number,
`3: `, the bare `INFO: ` of the vendor's pages, and a report's margin, `| [rank0]:`.
"""

from __future__ import annotations

import msgspec

from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern


class Prefix(msgspec.Struct, frozen=True):
    """What a prefix reports; None where it does not."""

    rank: int | None = None
    pid: int | None = None
    level: LogLevel = LogLevel.NOTSET
    """From a Python logger that puts its level first (vLLM)."""


NO_PREFIX = Prefix()

_PREFIX = late_pattern(
    r"\s*(?:"
    r"\[(?:rank|default)?(?P<rank>\d{1,6})\]: ?"
    r"|\[rank(?P<bare>\d{1,6})\] (?=\S)"
    r"|(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )?\[\d+,(?:mpirank:)?(?P<mpi>\d{1,6})(?:,[\w.-]{1,60})?\]<std(?:out|err)>: ?"
    r"|[a-z][\w-]{0,60}/\d{1,5} (?=\[\d{1,6}\]:)"
    r"|\[pod/[^\]\s]{1,300}\]\s"
    r"|\((?P<actor>\w[\w.:()=-]{0,80}),? (?:rank=\d+,? )?pid=(?P<pid>\d{1,10})(?:, ip=[\w.:]{1,60})?\)\s?"
    r"|(?:\[?(?:INFO|WARN|ERROR|DEBUG) ?\]?\s+)?PyProcess\s+(?:-\s+)?W-\d{1,9}-[\w.-]{1,80}?-std(?:out|err):\s?"
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d,\d{3} \[(?:INFO|WARN|ERROR|DEBUG) ?\] W-\d{1,9}-[\w.-]{1,120}?-std(?:out|err) "
    r"[\w.$-]{1,120} - "
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?[+-]\d\d:?\d\d (?:"
    r"[\w.-]{1,64} [\w./-]{1,64}\[(?P<process>\d{1,10})\]: ?|(?!\d\d/\d\d/\d{4} )[\w.-]{1,200}/[\w./-]{1,300} )"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3,9}(?:Z|[+-]\d\d:?\d\d)(?: std(?:out|err) [FP])?"
    r"|(?:Z|[+-]\d\d:?\d\d) std(?:out|err) [FP])\s"
    r"|(?:[\w.-]{1,60}-\d{1,4}|algo-\d{1,4}-\w{1,12})\s+\|\s"
    r"|\d{1,7}\.\ds\t\d{1,7}\t"
    r"|(?:\[\d{1,9}\] |\d{1,7}\s{1,4})(?=\[(?:rank|default)\d{1,6}\]:)"
    r"|\|\s(?:\s{0,2}\d{13}\s{1,3}\|\s|(?=\[(?:rank|default)\d{1,6}\]:))"
    r"|INFO: (?=\s*[{}\"]|\d{4}-\d\d-\d\d )"
    r"|(?P<task>\d{1,5}): (?=\d{4}-(?:\d\d|[A-Z][a-z]{2})-\d\d |\.+(?:\d{4}-|\s|$)|forrtl: |Compiler status "
    r"|\[(?:rank|default)\d{1,6}\]:|\(\w+ pid=|Traceback \(|\t/|\s{2,}\"|\s*[{}],?$)"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?!\d{4}-)\w[\w.-]{0,63} [\w./-]{1,64}(?:\[(?P<unit>\d{1,10})\])?: ?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|[\w./-]{1,64}\[(?P<daemon>\d{1,10})\]: (?=[IWEF]\d{4} \d\d:\d\d:\d\d\.\d)"
    r"|\[(?:INFO|WARNING|ERROR|DEBUG)\|[\w./-]{1,120}:\d{1,6}\] \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} >> ?"
    r"|(?P<level>INFO|WARNING|ERROR|DEBUG|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[\w./-]{1,120}:\d{1,6}\] ?"
    r")"
)
_BEHIND_A_STAMP = late_pattern(
    r"\s*\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\d.,Z+:-]{0,16}\]? (?:[\w.|\[\]:-]{1,60} ){0,4}?"
    r"\[rank(\d{1,6})\](?:: ?| )(?=\S)"
)
_MOST = 4
"""Prefixes nest (a service around a server around a rank); more than this has not been seen."""


def split(text: str) -> tuple[Prefix, str]:
    """The prefix of a line, and the line without it (its indentation kept)."""
    rank = pid = None
    level = LogLevel.NOTSET
    start = 0
    for _ in range(_MOST):
        found = _PREFIX.match(text, start)
        if found is None:
            break
        rank = _number(found["rank"] or found["bare"] or found["mpi"] or found["task"], rank)
        pid = _number(found["pid"] or found["unit"] or found["process"] or found["daemon"], pid)
        level = LogLevel.named(found["level"]) if found["level"] else level
        start = found.end()
    if start == 0:
        return NO_PREFIX, text
    return Prefix(rank=rank, pid=pid, level=level), text[start:]


def rank_behind_a_stamp(text: str) -> int | None:
    """The rank that a logger puts behind its stamp and level; None where there is none."""
    found = _BEHIND_A_STAMP.match(text) if "[rank" in text else None
    return None if found is None else int(found[1])


def _number(text: str | None, otherwise: int | None) -> int | None:
    return int(text) if text else otherwise
