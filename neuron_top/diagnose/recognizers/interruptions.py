"""Jobs that were stopped from outside."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import SHELLS_JOB, Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.late_pattern import late_pattern

STOPPED, TIME_LIMIT, PREEMPTED = "stopped", "a time limit ended it", "its machine was taken for another"
"""Rows of jobs that were asked to end: by somebody, by a scheduler's limit, by a scheduler or a cloud that needs the
machine."""
BY_SCHEDULER = late_pattern(
    r"\bTERM_[A-Z]{4,20}: job killed\b|\bJOB \S{1,40} ON \S{1,80} CANCELL?ED AT|[Jj]ob deleted at request of\b"
    r"|\bhas exceeded its time limit\b|\bDUE TO (?:TIME LIMIT|PREEMPTION)"
    r"|\bState of this instance has been externally set to\b"
)
"""How a scheduler says why it stopped a job: more than the exception with which its program ended."""
HOST_TAKEN = "the host of a container was taken away"
"""Row of what AWS Batch and ECS report of an attempt whose machine was taken away; Batch may try again."""
_STATES = r"(?:CANCELLED|NODE_FAIL)\b"
"""Slurm's states of a job that was ended from outside."""
_STATES_BY_TIME = r"(?:TIMEOUT|DEADLINE)\b"
"""The same by a limit of time."""
_PREEMPTED = r"PREEMPTED\b"


def _with_state(states: str) -> str:
    """Pattern of Slurm's mails, reports and tables that name one of these states."""
    return (
        rf"(?i:slurm|job).{{0,120}}?(?i:state|status)(?: is)?\W{{1,4}}{states}|^State: {states}"
        rf"|\bRun time [\d:-]{{4,20}}, {states}|^\d.{{0,200}} {states}\+? +\d+:\d+$"
    )


INTERRUPTIONS: tuple[Recognizer, ...] = (
    Recognizer(
        TIME_LIMIT,
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words(
            "time limit|specified deadline|maximum execution time|execution took longer than|build timed out (after"
            "|exceeded limit|wallclock|wall clock|walltime limit|run time limit"
            "|runtime limit|: job killed|attempt duration exceeded|maxruntimeexceeded"
            "|: 'timeout'|state: timeout|status: timeout|state=timeout|, timeout| timeout  |: deadline| deadline  "
        ),
        (
            r"\bDUE TO TIME LIMIT|active longer than specified deadline|\bhas exceeded the maximum execution time of \d"
            r"|\bexecution took longer than \d|^Build timed out \(after \d|\bwalltime \d+ exceeded limit\b"
            r"|(?i:exceeded (?:its |the )?(?:wall ?time|wall ?clock|run ?time)(?: time)? limit)"
            r"|^Job \d{1,12}\S{0,20} has exceeded its time limit and its allocation"
            r"|\bTERM_(?:RUNLIMIT|CPULIMIT|DEADLINE): job killed\b|\bJob attempt duration exceeded timeout\b"
            rf"|\bMaxRuntimeExceeded\b|{_with_state(_STATES_BY_TIME)}"
        ),
    ),
    Recognizer(
        PREEMPTED,
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words("preempt|spot instance|spot interruption|spot training"),
        (
            r"\bDUE TO PREEMPTION|(?i:preempted(?!/|,? or\b| node, etc)|spot (?:instance )?interruption"
            rf"|spot training interrupted)|\bTERM_PREEMPT: job killed\b|{_with_state(_PREEMPTED)}"
        ),
    ),
    Recognizer(
        STOPPED,
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words(
            "keyboardinterrupt|sigterm|sigint|sighup|signal 15|signal 2|signal 1 |raising signal|cancelled at"
            "|canceled at|signalexception|exitcode: -15|exitcode  : -15"
            "|exit code 143|exit code 130|code: 143|code: 130|code: -15|code: -2|status 143|status 130"
            "|received a shutdown signal|build was aborted"
            "|stopping job|terminated by user"
            "|operation was cancel|job was cancel|run was cancel"
            "|: job killed|job deleted at|killing job..."
            "|stopping - stopping|stopped - training"
            "|: 'cancelled'|node_fail|state: cancelled"
            "|interrupted by user|evicted|terminated|status=15/term|status=2/int"
            "|cancelled by user|user aborted: stopping|sending ctrl-c to| cancelled+ |wtermsig 1"
            "|wtermsig 2"
        ),
        (
            r"\bKeyboardInterrupt\b|(?i:(?:received|got|caught|by|with|on"
            r"|death)\W{1,3}(?:signal\W{0,3})?(?:\d+\W{0,3})?SIG(?:TERM|INT|HUP)\b)"
            r"|\bSIG(?:TERM|INT|HUP) received\b|(?:Raising signal|WTERMSIG) (?:1|2|15)\b"
            r"|Signal (?:1|2|15) \(SIG|SignalException"
            r"|(?<!STEP)(?: \S{1,40} ON \S{1,80}) CANCELL?ED AT"
            r"|exitcode\s*: -(?:15|2|1)\b|exit(?:ed with)?(?: status| code):? (?:143|130|-15|-2)\b"
            r"|(?i:terminated by user|(?:operation|job|run) was cancell?ed\b|interrupted by user|pod was evicted"
            r"|^operation cancelled by user)"
            r"|^User aborted: stopping task\b|^\[mpiexec@\S{1,200}\] Sending Ctrl-C to processes"
            r"|^Stopp(?:ing - Stopping the|ed - Training) .{0,20}job\b"
            r"|\brunner has received a shutdown signal\b|^Build was aborted$"
            r"|^(?:\S{1,80}: line \d+: +\d+ )?Terminated(?:$|\s{2,})"
            rf"|{SHELLS_JOB}[Tt]erminated\b"
            r"|code=killed, status=(?:15/TERM|2/INT)|\bexited on signal (?:2|15) \("
            r"|^(?:\^C)?mpi(?:run|exec): killing job\.\.\."
            r"|\bTERM_(?!MEM|SWAP)[A-Z]{4,20}: job killed\b"
            rf"|[Jj]ob deleted at request of\b|{_with_state(_STATES)}"
        ),
    ),
    Recognizer(
        "Ctrl-C in a pool of processes",
        CauseClass.INTERRUPTED,
        Weight.DEATH,
        words("^cprocess "),
        r"^\^CProcess \S{1,80}:$",
    ),
    Recognizer(
        HOST_TAKEN,
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words("host ec2 (instance|spot task was interrupted"),
        r"\bHost EC2 \(instance \S{1,40}\) (?:terminated|stopped)|\bYour Spot Task was interrupted\b",
        any_level=True,
    ),
    Recognizer(
        "Airflow's state of a task was changed",
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words("been externally set to"),
        r"\bState of this instance has been externally set to (?!success)\w",
        any_level=True,
    ),
    Recognizer(
        "a worker of a TPU went away",
        CauseClass.INTERRUPTED,
        Weight.STATEMENT,
        words("lame workers found"),
        r"\bShutdownHook: lame workers found",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a signal asked it to end",
        CauseClass.INTERRUPTED,
        Weight.CASCADE,
        words(
            "signal 15|signal 2|signal 1|signal (|signal: |forrtl: |death signal|interruption notice|termination signal"
            "|^c|detected keyboardinterrupt"
        ),
        (
            r"(?i:(?:received|got|caught|handling) (?:the |a )?(?:termination |interrupt )?signal:? \(?(?:15|2|1)\b"
            r"|signal \((?:15|2|1)\) received"
            r"|received (?:(?:Signals\.)?SIG(?:TERM|INT|HUP)|15|2|1) death signal"
            r"|received (?:the |a )?termination signal|^forrtl: error \(\d{1,4}\): process (?:killed|interrupted)\b"
            r"|spot (?:instance )?interruption notice)|\bDetected KeyboardInterrupt, attempting graceful shutdown"
            r"|^\^C$|^(?:\^C)?signal: (?:interrupt|terminated|hangup)$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
    ),
)
