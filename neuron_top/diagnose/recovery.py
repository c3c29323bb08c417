"""Reads lines that report that earlier failures were overcome: a program goes on, starts again, or succeeds later."""

from __future__ import annotations

from collections.abc import Callable

from neuron_top.diagnose.findings import Findings
from neuron_top.diagnose.recognizers import (
    ENGINE_DIED,
    HOST_TAKEN,
    NO_CAPACITY,
    PIPS_BUILD,
    RSYNC_FAILED,
    RSYNC_LOST,
    STEP_WAITS,
    TRIAL_FAILED,
    TRIED_AGAIN,
    Weight,
)
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.diagnosis import CauseClass
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

WORDS: tuple[bytes, ...] = (
    b"ignoring this", b"skipping this", b"falling back", b"continuing without", b"continuing anyway",
    b"ignore the above", b"ignore the previous",
    b"successfully assigned", b"successfully pulled", b"successfully provisioned", b"cluster launched: ",
    b"h succeeded for v", b"started container", b"admitted by clusterqueue", b" succeeded",
    b"initialized inferentia", b"essential container in task exited",
    b"restart worker", b"restart the worker", b"restart all worker", b"restarting worker", b"restarting the worker",
    b"restarting all worker", b"restarting training worker", b"recover training worker",
    b"   compiling ", b"   checking ", b"   finished ", b"successfully installed ", b"head is now at ",
    b"building wheels for collected packages: ",
    b"new session will be created", b"...ignoring", b"task [", b"running handler [", b"trying to restart job ",
    b"requeued job ", b"starting with jobenvironment(", b"shutdown triggered", b"[shutdown] ",
    b"shutting down gracefully",
    b"draining requests", b" finished with value",
    b"fitfailedwarning)", b"neuron successfully compiled ", b"  speedup is ", b"step created", b"dagscheduler: job ",
    b" rescued=", b"sending sigterm ",
)  # fmt: skip
"""Words of such lines; Slurm's are already among those of its failures."""

_OVERCAME = late_pattern(
    r"(?:\[[\w/.: -]{1,40}\] )?(?:(?:Ignoring|Skipping) (?:this|it)\b|Falling back (?:to|on)\b"
    r"|Continuing (?:without|anyway)\b)(?!.{0,300}(?i:fail|error|cannot|could not))"
    r"|.{0,300}\byou can (?:safely )?ignore the (?:above|previous) (?:error|failure)"
)
"""How a program says that it goes on after the error before."""
_SUCCEEDED = late_pattern(r"Attempt \d{1,3}/\d{1,3} succeeded$|(?:\S )?Cluster launched: \S")
"""What rclone prints when a retry has succeeded, and SkyPilot when a place had machines; errors before that were
overcome."""
_LINES_TO_TAKE_BACK = 2
"""Between an error line and the one which says that it was overcome."""
_REQUEUED = late_pattern(r"\*\*\* (?:JOB|STEP) \S{1,40} ON \S{1,200} CANCELLED AT \S{1,40} DUE TO JOB REQUEUE \*\*\*")
"""How Slurm reports that it stops a job in order to start it again."""
_LINES_OF_A_REQUEUE = 20
"""Lines after it in which Slurm reports how it ends the steps of such a job."""
_RESTARTS = late_pattern(
    r"(?i)\b(?:will (?:now )?restart|restarting|(?:attempting|trying) to (?:restart|recover)) "
    r"(?:(?:the|all|training) ){0,2}worker(?: ?groups?|s)\b"
)
"""How an elastic launcher reports that it starts all its workers again, since some have failed."""
_NEW_SESSION = "session will be closed and a new session will be created"
"""The heading of an error of another task, after which TensorFlow starts a new session; the quotation stands below."""
_LINES_OF_A_QUOTATION = 60
"""Lines in which it quotes that error, with the stack of the operation that raised it."""
_JOB_GOES_ON = late_pattern(
    r"Trying to restart job \d{1,9}\.$"
    r"|(?:submitit INFO \([^)]{1,40}\) - )?Requeued job \S{1,40} \(\d{1,6} remaining timeouts\)$"
    r"|DAGScheduler: Job \d{1,9} finished: "
)
"""How Snakemake says that it tries a job again whose failure it has just reported, and submitit that it has queued the
job again that is about to be stopped; how Spark says that a job has ended, so its lost tasks were done elsewhere."""
_STARTED_AGAIN = late_pattern(r"(?:submitit INFO \([^)]{1,40}\) - )?Starting with JobEnvironment\(")
"""How submitit begins a job, also one that was queued again."""
_SHUTDOWN = late_pattern(
    r"\bshutdown triggered\b|\[shutdown\] \w|\bSIGTERM received\. Draining requests\b"
    r"|^Caught signal \d{1,2}, shutting down gracefully\b"
)
"""How the servers of vLLM, SGLang and whisper.cpp say that a signal has asked them to end, which they do in order;
vLLM's then ends its engine, and reports that as a failure."""
_ENDS_ALL = late_pattern(r"\bsending SIGTERM (?:to all processes$|for \S{1,80} {1,8}at pid \d)")
"""How foreman and programs like it say that one of their processes has ended, so the others must."""
_TRIAL = late_pattern(r"Trial \d{1,9} (?P<end>finished|failed) with (?:value|parameters)")
"""How Optuna reports the end of a trial."""
_FITS_FAILED = late_pattern(r"warnings\.warn\(.{0,200}\bFitFailedWarning\)$")
"""How a warning of scikit-learn ends: fits of a search failed, but not all; it quotes their exceptions."""
_LINES_OF_FITS = 30
"""Lines in which it quotes the last of them."""
_GRAPHS_COMPILED = late_pattern(r"Neuron successfully compiled [1-9]\d* sub-graphs\b")
"""How torch-neuron (inf1) sums up a trace in which some graphs were compiled; the others stay on the processor."""
_TASK = late_pattern(r"(?:TASK|RUNNING HANDLER) \[.{1,300}\] \*{3}")
"""The heading of Ansible's output of a task."""
_BUILDS_WHEELS = late_pattern(r"Building wheels for collected packages: ")
_PIP_INSTALLED = r"^Successfully installed \S+-\d"
_INSTALLED = late_pattern(_PIP_INSTALLED)
"""What pip prints before it builds packages, and in the end: what failed in between was done in another way."""
_RESCUED = late_pattern(r"\S{1,200} +: ok=\d+ .{0,40}\bfailed=0 .{0,40}\brescued=[1-9]")
"""The line of a host in Ansible's recap: tasks failed, and others were run in their place."""
_TASK_IGNORED = "...ignoring"
"""What it prints below the failure of a task that may fail."""
_DONE_AFTER_ALL = (
    (("no node for a pod", "no Neuron device for a pod"), late_pattern(r"\bSuccessfully assigned \S+ to \S")),
    (("image cannot be pulled", "a container waits for its image"), late_pattern(r"\bSuccessfully pulled image\b")),
    (
        ("a volume cannot be mounted",),
        late_pattern(r"\bAttachVolume\.Attach succeeded for volume\b|\bStarted container\b"),
    ),
    (
        (TRIED_AGAIN, PIPS_BUILD),
        late_pattern(
            r"^(?:Compiling|Checking) [\w-]{1,80} v\d|^Finished .{1,80} target\(s\) in \d"
            rf"|{_PIP_INSTALLED}"
        ),
    ),
    (
        (NO_CAPACITY,),
        late_pattern(
            r"\bSuccessfully provisioned (?:cluster|or found existing|instance|node|VM)\b|\bCluster launched: "
        ),
    ),
    ((HOST_TAKEN,), late_pattern(r"\bEssential container in task exited\b")),
    ((NO_CAPACITY, "no node for a pod"), late_pattern(r"\bAdmitted by ClusterQueue \S")),
    (("driver or device missing",), late_pattern(r"\bInitialized Inferentia: \S")),
    ((TRIAL_FAILED,), late_pattern(r"^Trial \d{1,9} finished with value")),
    ((STEP_WAITS,), late_pattern(r"^(?:Job step|Step) created\b")),
    ((RSYNC_FAILED, RSYNC_LOST), late_pattern(r"\btotal size is [\d,]{1,30}  speedup is \d")),
    (("git lacks an object",), late_pattern(r"^HEAD is now at [0-9a-f]{7}")),
)
"""By rows that report that something could not be done: what the tool prints when it succeeds later; for AWS Batch,
that another attempt has ended."""
DONE_LATER = frozenset(row for rows, _ in _DONE_AFTER_ALL for row in rows)
_POD = late_pattern(r"\bpod/[\w.-]{1,253}")
"""The pod of an event, in a table of several pods."""


class Recovery:
    """Reads the lines of one log outside tracebacks, and marks the findings before them that were overcome."""

    def __init__(self, findings: Findings, steps_made: Callable[[], int]) -> None:
        """`steps_made` returns the number of steps up to the line that is being read."""
        self._findings, self._steps_made = findings, steps_made
        self._queued_again: int | None = None
        """Line in which Slurm has reported that it starts the job again."""
        self._quotes_until = 0
        """Last line in which a program may quote an error that it survives; a line with a level ends the quotation
        earlier. 0: there is none."""
        self._shuts_down = False
        """A server has been asked to end."""
        self._ends_all = False
        """A program like foreman ends all that it has started."""
        self._task = 0
        """Line in which the last task of Ansible begins."""
        self._a_trial_finished = False
        """Of a study of Optuna."""
        self._wheels: int | None = None
        """Line in which pip has begun to build packages."""
        self.depends_on_place = False
        """Whether what the last line means depends on the lines before it: a copy of it may mean something else."""

    @property
    def is_quoting(self) -> bool:
        """Whether the next line may belong to an error that a program quotes."""
        return self._quotes_until > 0

    def read(self, statement: Statement) -> bool:
        """Whether the line reports that something goes on or succeeded later, or is part of a quoted error."""
        self.depends_on_place = False
        if self._is_quoted(statement):
            return True
        if _OVERCAME.match(statement.text) is not None:
            self._take_back(statement, _LINES_TO_TAKE_BACK)
            return True
        if _SUCCEEDED.match(statement.text) is not None:
            self._take_back(statement, statement.line)
            self._is_done_after_all(statement)
            return True
        if "REQUEUE" in statement.text and _REQUEUED.search(statement.text) is not None:
            self._queued_again = statement.line
            return True
        if _SHUTDOWN.search(statement.text) is not None:
            self._shuts_down = True
            return True
        if _ENDS_ALL.search(statement.text) is not None:
            self._ends_all = True
            return False
        self._read_pip(statement)
        parts = (
            self._goes_on,
            self._is_of_task,
            self._is_rescued,
            self._is_of_study,
            self._is_of_fits,
            self._sums_up_trace,
        )
        if any(is_of(statement) for is_of in parts):
            return True
        if _NEW_SESSION in statement.text:
            self.depends_on_place = True
            self._quotes_until = statement.line + _LINES_OF_A_QUOTATION
            return True
        if "orker" in statement.text and _RESTARTS.search(statement.text) is not None:
            self.depends_on_place = True
            self._note_restart(statement)
        return self._is_done_after_all(statement)

    def is_wanted_end(self, statement: Statement, verdict: CauseVerdict) -> bool:
        """Whether it is a consequence of an end that was asked for: a server's, that of a job that Slurm has just
        queued again, or of what a program like foreman ends because one of its processes has ended."""
        if self._ends_all and verdict.cause_class is CauseClass.INTERRUPTED:
            return True
        if verdict.weight is not Weight.CASCADE:
            return False
        if self._queued_again is None or statement.speaker is not Speaker.TOOL:
            return self._shuts_down and verdict.advice == ENGINE_DIED
        return statement.line - self._queued_again <= _LINES_OF_A_REQUEUE

    def _is_quoted(self, statement: Statement) -> bool:
        """Whether it is part of an error that a program quotes and survives; a line with a level is not."""
        if statement.level is not LogLevel.NOTSET or statement.line > self._quotes_until:
            self._quotes_until = 0
        return self._quotes_until > 0

    def _take_back(self, statement: Statement, lines: int) -> None:
        """Mark unknown error lines, up to so many lines back, as overcome."""
        for finding in self._findings.all:
            is_vague = finding.verdict.row is None or finding.weight is Weight.CASCADE
            if is_vague and not finding.terminal:
                finding.recovered |= statement.line - finding.last_line <= lines

    def _goes_on(self, statement: Statement) -> bool:
        """Whether a job that could not go on is tried again, or has started again."""
        is_queued = _JOB_GOES_ON.match(statement.text) is not None
        has_started = _STARTED_AGAIN.match(statement.text) is not None
        for finding in self._findings.all if is_queued or has_started else ():
            if is_queued:
                finding.goes_on_at = statement.line
            finding.recovered |= has_started and finding.goes_on_at > finding.last_line
        self.depends_on_place |= is_queued or has_started
        return is_queued or has_started

    def _is_of_task(self, statement: Statement) -> bool:
        """Whether Ansible reports that a task begins, or that it ignores the failure of the last one."""
        begins, is_ignored = _TASK.match(statement.text) is not None, statement.text == _TASK_IGNORED
        self.depends_on_place = begins or is_ignored
        if begins:
            self._task = statement.line
        for finding in self._findings.all if is_ignored else ():
            if finding.last_line > self._task:
                finding.goes_on_at = statement.line
        return begins or is_ignored

    def _is_rescued(self, statement: Statement) -> bool:
        """Whether Ansible reports that tasks were run in the place of those that failed on a host."""
        if _RESCUED.match(statement.text) is None:
            return False
        self._take_back(statement, statement.line)
        return True

    def _is_of_study(self, statement: Statement) -> bool:
        """Whether a trial of Optuna fails after another one has finished: its study goes on."""
        trial = _TRIAL.match(statement.text)
        if trial is None:
            return False
        self.depends_on_place = True
        self._a_trial_finished |= trial["end"] == "finished"
        return self._a_trial_finished and trial["end"] == "failed"

    def _is_of_fits(self, statement: Statement) -> bool:
        """Whether scikit-learn has just quoted why some fits of a search failed, which goes on with the others."""
        if _FITS_FAILED.match(statement.text) is None:
            return False
        self.depends_on_place = True
        for finding in self._findings.all:
            finding.recovered |= statement.line - finding.last_line <= _LINES_OF_FITS
        return True

    def _read_pip(self, statement: Statement) -> None:
        """Take back what failed while pip built packages, if it has installed them after all."""
        if _BUILDS_WHEELS.match(statement.text) is not None:
            self.depends_on_place, self._wheels = True, statement.line
        elif self._wheels is not None and _INSTALLED.match(statement.text) is not None:
            self.depends_on_place = True
            self._take_back(statement, statement.line - self._wheels)
            self._wheels = None

    def _sums_up_trace(self, statement: Statement) -> bool:
        """Whether torch-neuron reports that it has compiled some graphs of a trace, whose others it does without."""
        if _GRAPHS_COMPILED.match(statement.text) is None:
            return False
        self.depends_on_place = True
        for finding in self._findings.all:
            finding.recovered |= finding.verdict.cause_class is CauseClass.COMPILE_ERROR
        return True

    def _note_restart(self, statement: Statement) -> None:
        """Note for all findings so far that workers are started again; a finding that comes again later has ended those
        workers too."""
        before = [finding for finding in self._findings.all if finding.restarted_at <= finding.last_line]
        steps = self._steps_made() if before else 0
        for finding in before:
            finding.restarted_at, finding.restarted_steps = statement.line, steps

    def _is_done_after_all(self, statement: Statement) -> bool:
        """Whether a tool reports success in what it could not do before."""
        rows = next((rows for rows, shape in _DONE_AFTER_ALL if shape.search(statement.text)), ())
        self.depends_on_place |= bool(rows)
        for finding in self._findings.all if rows else ():
            if finding.verdict.row is not None and finding.verdict.row.name in rows:
                pod = _POD.search(finding.text)
                finding.recovered |= pod is None or pod[0] in statement.text
        return bool(rows)
