"""Keeps what was found in a log so far, a bounded number; copies of the same failure are counted together."""

from __future__ import annotations

import msgspec

from neuron_top.diagnose.recognizers import LAUNCHERS_REPORT, WAITS, Weight
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.escapes import shortened, visible
from neuron_top.events.diagnosis import Evidence
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.failure_signs import ERROR_CODE

_MOST = 300
_MOST_RANKS = 4096
_LONGEST_TEXT = 2000
_LONGEST_EVIDENCE = 300
_MOST_INDENTED = 40
_KEY = 160
_VARYING = late_pattern(r"0x[0-9a-f]+|[0-9a-f]{8,}|(?:/[\w.+@=-]+){2,}/?|\s?\d+(?:\.\d+)?")
_BLANKS = late_pattern(r"[ \t]{3,}")


class Finding(msgspec.Struct):
    """One failure, printed once or often; `last_steps`, `last_compiles`: the job's progress when it last was."""

    verdict: CauseVerdict
    line: int
    offset: int
    text: str
    last_line: int
    last_steps: int
    last_compiles: int
    at: float | None = None
    """The time of the line, by its log's clock."""
    count: int = 0
    ranks: set[int] = msgspec.field(default_factory=set)
    evidence: list[Evidence] = msgspec.field(default_factory=list)
    modules: set[str] = msgspec.field(default_factory=set)
    """Graphs whose compile failed."""
    recovered: bool = False
    """Later lines show that it was overcome."""
    goes_on_at: int = 0
    """Line that shows that the program which printed it goes on; the line after it, if it says so itself. The finding
    still counts if nothing else explains why the job failed."""
    restarted_at: int = 0
    """Line in which a launcher last reported that it starts the workers again."""
    restarted_steps: int = 0
    """Steps of the job up to then."""
    demoted: bool = False
    """Another finding explains the same, and more."""
    stops_others: bool = False
    """It only tells that others are ended for a failure that is reported elsewhere."""
    before_interrupt: bool = False
    """The process that it ended was interrupted from outside, but only while it was already ending."""
    terminal: bool = False
    """It ended a process: an exception that nobody caught, a panic, a signal."""

    @property
    def weight(self) -> Weight:
        """How much it explains."""
        return Weight.CASCADE if self.demoted else self.verdict.weight

    @property
    def is_wait(self) -> bool:
        """Whether it reports that a process waits for another one's compile."""
        return self.verdict.row is not None and self.verdict.row.name == WAITS


class JobProgress(msgspec.Struct):
    """How far a job has come, counted while its log is read."""

    steps: int = 0
    """Training steps, requests served."""
    compiles: int = 0
    """Compiles and lookups that went well."""


class Findings:
    """Findings in the order in which they first came."""

    def __init__(self) -> None:
        self.all: list[Finding] = []
        self._by_key: dict[str, Finding] = {}

    def copy(self) -> Findings:
        """The same findings, to be added to while these stay as they are."""
        twin = Findings()
        copies = {
            id(each): msgspec.structs.replace(each, ranks=set(each.ranks), evidence=list(each.evidence))
            for each in self.all
        }
        twin.all = list(copies.values())
        twin._by_key = {key: copies[id(each)] for key, each in self._by_key.items()}
        return twin

    def add(self, statement: Statement, verdict: CauseVerdict, progress: JobProgress) -> tuple[Finding, bool]:
        """The finding for a statement, and whether it is new."""
        key = _key(statement.text)
        finding = self._by_key.get(key)
        is_new = finding is None
        if finding is None:
            finding = Finding(
                verdict=verdict,
                line=statement.line,
                offset=statement.offset,
                text=_shown(statement.text),
                last_line=0,
                last_steps=0,
                last_compiles=0,
                at=statement.at,
            )
            if len(self.all) >= _MOST:
                self._drop_one()
            self.all.append(finding)
            self._by_key[key] = finding
        elif verdict.weight < finding.verdict.weight is Weight.CASCADE:  # it was quoted before it was printed
            is_new = True
            finding.verdict = verdict
            move(finding, statement)
        self.repeat(finding, statement, progress)
        return finding, is_new

    def repeat(self, finding: Finding, statement: Statement, progress: JobProgress) -> None:
        """Count it once more."""
        finding.count += statement.repeats
        finding.last_line, finding.last_steps = statement.line, progress.steps
        finding.last_compiles = progress.compiles
        is_of_launcher = finding.verdict.advice == LAUNCHERS_REPORT  # whose task is none of the workers it reports
        rank = statement.rank if is_of_launcher else statement.worker
        if rank is not None and len(finding.ranks) < _MOST_RANKS:
            finding.ranks.add(rank)

    def _drop_one(self) -> None:
        """Drop the latest of those that explain least."""
        worst = max(range(len(self.all)), key=lambda index: (self.all[index].weight, index))
        dropped = self.all.pop(worst)
        self._by_key = {key: finding for key, finding in self._by_key.items() if finding is not dropped}


def move(finding: Finding, statement: Statement) -> None:
    """Move a finding to this statement."""
    finding.line, finding.offset, finding.at = statement.line, statement.offset, statement.at
    finding.text, finding.evidence = _shown(statement.text), []


def evidence(line: int, text: str) -> Evidence:
    """A line as evidence: safe to show, bounded, and still indented, since `^` marks may point at it from below."""
    words = text.strip()
    indented = min(len(text) - len(text.lstrip()), _MOST_INDENTED)
    return Evidence(line, _bounded(" " * indented + _BLANKS.sub("  ", words), _LONGEST_EVIDENCE))


def _key(text: str) -> str:
    """What copies of a statement have in common, whoever printed them."""
    code = ERROR_CODE.search(text)
    return code[1] if code is not None else _VARYING.sub("#", text.lower())[:_KEY]


def _shown(text: str) -> str:
    return _bounded(text, _LONGEST_TEXT)


def _bounded(text: str, longest: int) -> str:
    return visible(shortened(text, longest))
