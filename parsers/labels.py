"""Learns the label that a launcher or a log service puts in front of each line, where its form alone is no proof.

Programs print `3: ` (srun), `node12: ` (pdsh, DeepSpeed) and `[2026-03-04 05:06:07] ` (ts) themselves, too. But what
stands in front of another program's header, or of the heading of a traceback, is a label if it looks like one. From
then on it is taken off every line, whatever numbers are in it: those of other ranks, nodes and moments.

The readers of events use this. The diagnosis learns prefixes for itself (`diagnose/learned_prefixes.py`): of any form,
only in tracebacks, and with the stream that each of them names, to keep the lines of several ranks apart.
"""

from __future__ import annotations

import re

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import prefixes
from neuron_top.parsers.prefixes import Prefix

LONGEST = 120
"""Characters of a label."""
_MOST = 64
_DAY = r"(?:(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d|(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d)"
_STAMP = (
    rf"(?:{_DAY}[T ])?\d\d:\d\d:\d\d(?:[.,]\d{{1,9}}Z?|[.,]\d{{1,9}}[+-]\d\d:?\d\d|[+-]\d\d:?\d\d| \d{{4}}| UTC)?"
    r"|\d{10}\.\d{3,9}"
)
"""Not whole seconds with a `Z`: so the compiler begins its own lines."""
_LEVELS = r"(?:TRACE|DEBUG|INFO|WARN|ERROR|CRITICAL|FATAL)"
_FORM = late_pattern(
    rf"(?:(?:{_STAMP})(?:\s{{1,2}}|(?=\[\d|<))"
    rf"|\[(?![^\]]*\b{_LEVELS})(?=[^\]]*\d)[\w.:@,+| -]{{1,80}}\](?:<std(?:out|err)>)?:?\s?"
    r"|<std(?:out|err)>:\s?"
    r"|\d{1,6}:\s"
    r"|(?=[\w.-]*[\d-])[A-Za-z][\w.-]{0,63}:\s"
    r"|[\w.-]{1,64} [\w./-]{1,64}\[\d{1,10}\]:\s?"
    r"|[\w.-]{1,60}\s{1,30}\|\s"
    r"|\(pid=\d{1,10}\)\s"
    r"|(?:[a-z][a-z\d-]{0,62} )?(?=\S*\d)[\w.]{1,60}-[\w.-]{1,200} [\w.-]{1,64}\s"
    r"|\d{1,3} (?=[A-Za-z][\w.-]{0,63}: )"
    r"|\d\d[OE]\+?\s"
    r"|\d{1,7}\t"
    r"|[a-z][\w-]{0,60}/\d{1,5} "
    r"|(?:[\w./-]{1,100}\.(?:log|txt|out|err):)?(?:\d{1,7}:)?(?=$|\[)"
    r"|[#>|] "
    r"|[^\t]{1,60}\t[^\t]{1,60}\t\ufeff?(?=\d{4}-\d\d-\d\dT)"
    r"|(?=\S*\d)[\w./:=@-]{1,60}\t"
    r"|\{\w{1,40}\.py:\d{1,6}\} (?:INFO|WARNING) - (?:\[base\] )?"
    r"|\[\d{1,20}/\w{1,60}/\d{1,10} \(pid \d{1,10}\)\] "
    r"|<\d{1,3}>(?:1 )?|[\w.-]{1,64} [\w./-]{1,64} (?:\d{1,10}|-) [\w-]{1,32} - "
    r"|\d{13}\s"
    r"){1,4}"
)
"""Up to four of: a timestamp, something in brackets (`[0]`, `[node12]`, `[prterun-node1-812@1,5]<stdout>:`), a stream,
a task, a host, the journal's program, a container's name, a process, the pod and container of `stern`, a task before
its host, GitLab's stream, the number of a line, TorchX's role, grep's file and line, the margin of a quotation, the job
and step of `gh run view --log`, a job of `parallel --tag`, Airflow's operator, Metaflow's task, the priority and
the fields of RFC 5424, CloudWatch's milliseconds."""
_CHANGING = late_pattern(
    r"(\s*)\d+|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b"
)
_TASK = late_pattern(r"\s{0,8}\d{1,5}: ")
_RANK = late_pattern(r"\s*\[?(\d{1,6})(?:: |\] ?|\]: ?)\s*")
"""A label that is nothing but a number: srun's, and that of MPI's `-prepend-rank`."""


class LineLabels:
    """The labels of one stream, a bounded number of them."""

    def __init__(self) -> None:
        self._patterns: list[str] = []
        self._any: re.Pattern[str] | None = None

    def __len__(self) -> int:
        return len(self._patterns)

    def learn(self, front: str, before: str = "") -> bool:
        """Take what stands in front of a header or a heading; whether it is a new label. `before`: the prefix before
        that, which is a task's number where a statement of that kind shows it."""
        front = front.lstrip().rstrip(".") or (before.lstrip() if _TASK.fullmatch(before) else "")  # dots: a compiler's
        if not front or len(front) > LONGEST or len(self) >= _MOST or _FORM.fullmatch(front) is None:
            return False
        pattern = _general(front)
        if pattern in self._patterns:
            return False
        self._patterns.append(pattern)
        self._any = re.compile(r"\s{0,8}(?:" + "|".join(self._patterns) + ")")
        return True

    def split(self, text: str) -> tuple[Prefix, str]:
        """As `prefixes.split`, with learned labels: what a line begins with, and the rest of it."""
        prefix, body = prefixes.split(text)
        label = self._any.match(body) if self._any is not None else None
        if label is None:
            return prefix, body
        inner, rest = prefixes.split(body[label.end() :])
        rank = _RANK.fullmatch(label[0])
        known = (inner.rank, int(rank[1]) if rank else None, prefix.rank)
        return Prefix(
            rank=next((each for each in known if each is not None), None),
            pid=inner.pid if inner.pid is not None else prefix.pid,
            level=inner.level or prefix.level,
        ), rest


def _general(front: str) -> str:
    """A pattern for a label with other numbers, days and months."""
    parts, end = list[str](), 0
    for found in _CHANGING.finditer(front):
        parts.append(re.escape(front[end : found.start()]))
        number = r"\s{0,8}\d{1,20}" if found[1] else r"\d{1,20}"
        parts.append(r"[A-Z][a-z]{2}" if found[1] is None else number)
        end = found.end()
    return "".join([*parts, re.escape(front[end:])])
