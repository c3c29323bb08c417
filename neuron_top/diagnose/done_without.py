"""Reads how programs go on without something that failed: they say so right below the error, or what failed only
observes a service that has started."""

from __future__ import annotations

from neuron_top.diagnose import no_failures
from neuron_top.diagnose.findings import Findings
from neuron_top.diagnose.recognizers import Weight
from neuron_top.diagnose.statement import Statement
from neuron_top.events.diagnosis import CauseClass
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

WORDS: tuple[bytes, ...] = (
    b"falling back", b"falls back ", b"fall back ", b"defaulting to", b"continuing without", b"continuing anyway",
    b"proceeding without", b"proceeding anyway", b"running without", b"starting without",
    b"trying next", b"trying the next", b"trying another", b"trying other", b"trying the other", b"trying alternat",
    b"will retry in ",
    b" module for custom nodes: ",
    b"relying on driver", b"reducing", b"decreasing batch", b"smaller batch", b"halving ",
    b" ready", b"startup complete", b"running on http", b"listening on ", b"listening at ", b"service at ",
    b"server started",
)  # fmt: skip
"""Words of such lines."""
_DOES_WITHOUT = late_pattern(
    r"(?i)(?<!not )(?<!n't )(?<!never )\b(?:(?:falling|falls|will fall) back (?:to|on)\b|defaulting to\b"
    r"|(?:continuing|proceeding|running|starting) (?:without\b|anyway\b))(?!.{0,300}(?:fail|error|cannot|could not))"
)
"""How an information or a warning says that the program does without something."""
_DRIVER_DOES_IT = "Relying on driver to perform ptx compilation"
"""How XLA says, below the words of a compiler for GPUs that failed, that it does without it."""
_PART_LEFT_OUT = late_pattern(no_failures.PART_LEFT_OUT)
_SMALLER_BATCH = late_pattern(
    r"(?i)\b(?:reducing|decreasing|halving|lowering) (?:the )?(?:\w+ )?batch(?:[ _-]?size)?\b|\bsmaller batch\b"
    r"|\bOOM\b.{0,80}\breducing\b"
)
"""How a program says that it tries a smaller batch, after memory ran out."""
_TRIES_NEXT = late_pattern(
    r"(?i)\btrying (?:the )?(?:next|another|other|alternat)\w*|\bwill retry in \d{1,5} ?s(?:ec\w*)?\b"
)
"""How a program says that it tries the next place, mirror or way after one that failed, or the same again."""
_OUT_OF_MEMORY = (CauseClass.RUNTIME_OOM, CauseClass.HOST_OOM)
_LINES_BELOW = 2
"""From an error down to such a line that tells what became of it."""
_READY = late_pattern(
    r"(?i)\| {1,8}ready {1,8}\|$|\bapplication startup complete\b|\brunning on https?://"
    r"|\b(?:server|service|model|application|api|engine)s? (?:is |are )?(?:now )?ready\b"
    r"|\bready to (?:serve|accept|receive)\b|\blistening (?:on|at) \S|^started \w{1,60}service at \S"
    r"|\bserver started\b"
)
"""How a service says that it has started."""
_NOT_READY = late_pattern(r"(?i)\b(?:not|until|wait\w*|when|once|if|before|fail\w*|error|cannot|to be)\b|n't\b")
_OBSERVES = late_pattern(
    r"\b(?:NVML|DCGM)\b|(?i:\b(?:nvidia-smi|amd-smi|rocm-smi|neuron-monitor|prometheus|opentelemetry|otel|otlp|statsd"
    r"|telemetry|usage (?:stats|statistics)"
    r"|metrics? (?:endpoint|server|service|port|exporter|collector|collection|reporting))\b)"
)
"""What observes a service, which works as well without it."""


class DoneWithout:
    """Reads the lines of one log outside tracebacks, and marks the findings that programs do without.

    They still count if nothing else explains why the job failed.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._is_ready = False
        """A service has said that it has started."""
        self._tries_next_at = 0
        """Line that announces why an attempt failed, and that the next one is made."""

    def read(self, statement: Statement) -> bool:
        """Read a line; whether what it means depends on the lines above."""
        if not self._is_ready and _says_ready(statement):
            self._is_ready = True
            for finding in self._findings.all:
                if _OBSERVES.search(finding.text) and not finding.terminal:
                    finding.goes_on_at = statement.line
        is_smaller = not statement.level.is_error and _SMALLER_BATCH.search(statement.text) is not None
        is_told = statement.level.is_mild and _DOES_WITHOUT.search(statement.text) is not None
        tries_next = _TRIES_NEXT.search(statement.text) is not None
        if tries_next and statement.text.endswith(":"):
            self._tries_next_at = statement.line
        if _PART_LEFT_OUT.match(statement.text):
            self._note_caught(statement)
            return True
        if not (is_smaller or is_told or tries_next or statement.text.startswith(_DRIVER_DOES_IT)):
            return False
        self._note(statement, of_memory=is_smaller)
        return True

    def _note_caught(self, statement: Statement) -> None:
        """Note for the exception right above that it was caught."""
        for finding in self._findings.all:
            if 0 < statement.line - finding.last_line <= _LINES_BELOW:
                finding.terminal, finding.goes_on_at = False, statement.line

    def goes_on_at(self, statement: Statement) -> int:
        """The line from which on the program goes on without what this error is about; 0 if that is not known.

        Either the error is announced as that of an attempt after which the next one is made, or it is of what only
        observes a service that has started.
        """
        if self._tries_next_at and statement.line - self._tries_next_at <= 1:
            return self._tries_next_at + 2
        is_observer = self._is_ready and statement.level is not LogLevel.FATAL and _OBSERVES.search(statement.text)
        return statement.line + 1 if is_observer else 0

    def _note(self, statement: Statement, *, of_memory: bool) -> None:
        """Note for errors right above that their program goes on; `of_memory`: with less of it.

        Another rank's line tells nothing of them. What else compiler, runtime or kernel state still counts: a program
        that does without the graph or the device does not do what it was started for.
        """
        rank = statement.worker
        for finding in self._findings.all:
            is_above = 0 < statement.line - finding.last_line <= _LINES_BELOW
            is_of_others = rank is not None and bool(finding.ranks) and rank not in finding.ranks
            is_stated = finding.weight is Weight.REASON
            is_of_memory = of_memory and finding.verdict.cause_class in _OUT_OF_MEMORY
            if is_above and not is_of_others and not finding.terminal and (not is_stated or is_of_memory):
                finding.goes_on_at = statement.line


def _says_ready(statement: Statement) -> bool:
    found = None if statement.level.is_error else _READY.search(statement.text)
    return found is not None and _NOT_READY.search(statement.text, 0, found.end()) is None
