"""Reads from the last lines of a log how its job ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from neuron_top.diagnose.headers.tools import METAFLOWS_TASK
from neuron_top.diagnose.margin import Margin
from neuron_top.escapes import strip_ansi
from neuron_top.late_pattern import late_pattern

TAIL_BYTES = 16 << 10
"""How much of the end of a log is kept for this."""
_LAST_LINES = 30
_HOST = r"^\S{1,200} +: ok=\d+ +changed=\d+ +"
"""How a line of Ansible's recap begins."""
_SUCCESS = late_pattern(
    r"Total failed compilations: 0|Compilation summary.{0,80}Failed: 0|-{3,} ?End (?:of )?[Tt]raining"
    r"|['\"]train_runtime['\"]"
    r"|=+ (?:.*, )?\d+ passed\b(?!.*(?:\bfailed|error))|^\d+ passed(?:, \d+ \w+)* in \d[\d.]*s\b"
    r"|^OK(?: \(|$)|^(?:Ran|All) .{0,60}(?:passed|OK)$"
    r"|(?i:\b(?:exit(?:ed)?(?: with)?(?: code| status)?|exitcode)\W{1,4}0(?!\d))"
    r"|(?i:(?:completed|finished|done|succeeded|ended|terminated|saved) successfully|successfully (?:completed|finished"
    r"|saved)\b(?! for))"
    r"|(?i:\b(?:training|job|run|inference|benchmark|evaluation|export|test|generation"
    r"|conversion|simulation|workflow|pipeline|quantization|fine-?tuning|pre-?processing)\w* (?:is |was "
    r"|has )?(?:complete"
    r"|finished|done|succeeded))|(?i:\b(?:finished|completed) (?:training|inference|benchmark|evaluation|export)\b)"
    r"|\b(?:(?:PIPELINE|RUN)_)?SUCCESS(?:FUL|FULLY)?\b"
    r"|(?i:all \d* ?(?:tests|suites|checks|models|steps) .{0,20}(?:pass|done|complete))"
    r"|\bWEXITSTATUS 0(?!\d)|W&B process to finish\.\.\. \(success\)|Compiled \d+ models?\b"
    r"|successfully compiled [1-9]\d* sub-graphs|^Final loss\b|(?:^|: )PASS(?:ED)?$|^&&&& PASSED "
    r"|^Tests?(?: Suites)?: +(?:\d+ \w+, )?\d+ passed, \d+ total$|^Successfully (?:built [0-9a-f]{12}|tagged \S+)$"
    r"|\b(?:runs|ran) successfully\b|^Training .{1,40} complete in [\d.]+ s|^Wrote preprocessed data to \S"
    r"|^(?i:success)[!.]{0,3}$"
    rf"|{_HOST}unreachable=0 +failed=0\b"
    r"|^(?:Apply|Destroy) complete! Resources: |^[A-Z][A-Z\d_]{2,60}_(?:OK|PASS(?:ED)?|DONE|SUCCESS)$"
)
"""What programs print at the end when all went well."""
_SCRIPTS = late_pattern(
    r"(?i)^\W*(?:(?:the|this|your|my|test|slurm|pbs|batch|[\w.-]{1,60}) ){0,2}job(?: \S{1,40})? (?:is |was |has )?"
    r"(?:complete|completed|finished|done)\b(?!.{0,80}success)"
)
"""What batch scripts print last, whether their programs did well or not."""
_OVER = late_pattern(
    r"^(?:real\s+\d+m[\d.]+s|Wall time: |CPU times: |(?:[\d.]+user [\d.]+system )?\d+:\d\d(?:\.\d+)?elapsed)"
    r"|\bTrainer\.fit`? stopped: `?max_(?:epochs|steps|time)=|\bExecution complete -- Goodbye$"
    r"|\bApplication shutdown complete\.$|\bFinished server process \[|\bSuccessfully stopped SparkContext$"
    r"|^Cloud-init v\. \S{1,60} finished at |^Finished: (?:SUCCESS|UNSTABLE|FAILURE|ABORTED)$|^&&&& FAILED "
    r"|^(?:FAIL|ok)\s+\S{1,200}\s+[\d.]{1,12}s$|^Complete log(?:\(s\))?: \S|^(?:# )?Avg bus bandwidth\b"
    rf"|{_HOST}unreachable=\d"
    r"|\bProcess \d{1,10} exits successfully\.$|\bWorkflow \S{1,80} succeeded!$"
    r"|^wandb: (?:Synced \d|Find logs at: )"
    r"|^Finali[sz]ing parallel run$|^Total wall time: \d{1,6}:\d\d:\d\d$|\bdone\. Elapsed time: [\d.]{1,12} minutes\.$"
    r"|^Normal termination of \S|\bJOB DONE\.$|\bPROGRAM ENDED AT\b|\bTERMINATED NORMALLY\b|^Finished mdrun on rank \d"
    r"|^salloc: Relinquishing job allocation \d|\btotal size is [\d,]{1,30}  speedup is \d|^Final Job Status: [A-Z]"
    r"|^[+~-] [\w.-]{1,80}==\d\S{0,60}$|^-- Build files have been written to: \S|^Stopped server$"
    r"|^llama_memory_breakdown_print: |\bTotal training time: \d|\bdone training in [\d.]{1,12} seconds$"
    r"|^Succeeded {3}: \d|^Number of trials: (\d+)/\d+ \(\1 TERMINATED\)$|\bPrompt executed in [\d.]+ seconds$"
    r"|^WallClock: +[\d.]+ +CPUTime: |^Subject: Job \d+\S{0,20}: <.{0,200}> in cluster <\S{1,80}> (?:Done|Exited)$"
)
"""What a shell, a framework, a server, a workflow, a build, a copy or a simulation prints when it ends, well or not."""
_ON_A_HOST = late_pattern(_HOST)
_FAILED_ON_A_HOST = late_pattern(_HOST + r".{0,40}\b(?:unreachable|failed)=[1-9]")
"""Where a host failed, the lines of the others do not say that all went well."""
_NEXT_TASK = late_pattern(METAFLOWS_TASK + r" Task is starting\.$")
"""How Metaflow begins a task: what ended before was not the whole."""
_LINES_TO_OVER = 4
"""From such a line to the end of the log."""


_BUT = late_pattern(
    r"(?i)\berr|(?<!x)fail|exception|killed|abort|(?<!not )incomplete|\bnot (?:complete|finished|successful)"
    r"|\bare missing\b|\bSparkContext is stopping with exitCode\b|\bbut received\b"
)
_NOT_YET = late_pattern(r"(?i)\b(?:if|once|when|until|unless|before)\b[^.;:]{0,60}$")
"""Before a word of success: it refers to the future."""
_OF_NOTHING = late_pattern(r"(?i)(?<![\w.])(?:0|no) (?:\w+ )?$")
"""Before a word of success: nothing has had it (`0 tests completed`)."""
_NONE = late_pattern(r"(?i)\b(?:0|no) (?:\w+ )?(?:err\w*|fail\w*)|(?:err\w*|fail\w*)(?: compilations)?\W{1,3}0\b")


class LastLine(NamedTuple):
    """The last line that is not empty."""

    number: int
    offset: int
    text: str


class End(NamedTuple):
    """What the last lines report."""

    success_line: int | None = None
    """The last line that says that all went well."""
    programs_line: int | None = None
    """The last of these lines that is not a batch script's: a script goes on after its program has failed."""
    over: bool = False
    """The program has ended, well or not."""
    last: LastLine | None = None


def read(tail: bytes, first_line: int, offset: int, margin: Margin) -> End:
    """Read the end of a log with this margin, whose first line has this number and begins at this offset."""
    raw_lines = tail.split(b"\n")
    number, offset = first_line + len(raw_lines), offset + len(tail) + 1
    lines: list[LastLine] = []
    while raw_lines and len(lines) < _LAST_LINES:
        raw = raw_lines.pop()
        number, offset = number - 1, offset - len(raw) - 1
        text = strip_ansi(margin.split(raw).line.decode("utf-8", "replace")).strip()
        if text:
            lines.append(LastLine(number, offset, text))
    lines.reverse()
    over = any(_OVER.search(line.text) for line in lines[-_LINES_TO_OVER:])
    began = max((line.number for line in lines if _NEXT_TASK.search(line.text)), default=0)
    successes = [line for line in lines if line.number > began and _says(line.text)]
    if any(_FAILED_ON_A_HOST.match(line.text) for line in lines):
        successes = [line for line in successes if not _ON_A_HOST.match(line.text)]
    of_programs = [line for line in successes if not _SCRIPTS.match(line.text)]
    return End(_last_number(successes), _last_number(of_programs), over, lines[-1] if lines else None)


def _last_number(lines: Sequence[LastLine]) -> int | None:
    return lines[-1].number if lines else None


def _says(text: str) -> bool:
    found = _SUCCESS.search(text)
    if found is None or any(pattern.search(text, 0, found.start()) for pattern in (_NOT_YET, _OF_NOTHING)):
        return False
    return not _BUT.search(text) or bool(_NONE.search(text))
