"""Failures that only follow from another failure."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

STOPS_WORKERS = "the launcher stops the other workers"
"""Row of what a launcher prints whenever a worker ends, before it reports which one ended."""
LAUNCHERS_REPORT = "launcher's report"
"""Row of the lines in which torchrun reports how its workers ended."""
STOPS_TASKS = "Slurm stops the other tasks of a step"
"""Row of what Slurm prints of the tasks that it ends since another one has ended."""
KILLED_TASK = "Slurm reports a task that was killed"
"""Row of tasks of which Slurm only says that a signal ended them."""
ENGINE_DIED = "engine died"
"""Row of what servers and launchers say of a process of theirs that has ended."""
PIPS_BUILD = "pip could not build a package"
"""Row of pip's heading above the output of a step that failed; it may then succeed with another version."""
CASCADES: tuple[Recognizer, ...] = (
    Recognizer(
        "conda reports that pip failed",
        CauseClass.TOOL_ERROR,
        Weight.CASCADE,
        words("condaenvexception: pip failed"),
        r"\bCondaEnvException: Pip failed$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        PIPS_BUILD,
        CauseClass.TOOL_ERROR,
        Weight.CASCADE,
        words("did not run successfully."),
        r"^× .{1,200} did not run successfully\.$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a task of Julia failed",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("taskfailedexception"),
        r"\bTaskFailedException$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "Java's exception stands below",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("py4jjavaerror: "),
        r"\bPy4JJavaError: An error occurred while calling \S",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "failure that another task states",
        CauseClass.RUNTIME_EXEC,
        Weight.CASCADE,
        words("from /job:"),
        r"From /job:\w{1,40}/\S{1,80}:\s*$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        STOPS_TASKS,
        CauseClass.INTERRUPTED,
        Weight.CASCADE,
        words("cancelled at|: terminated|force terminated|stepd terminated"),
        (
            r"\bSTEP \S{1,40} ON \S{1,80} CANCELLED AT|\bSTEPD TERMINATED ON \S|\btasks? [\d,-]{1,80}: Terminated"
            r"|\bForce Terminated (?:job|StepId)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        KILLED_TASK,
        CauseClass.HOST_OOM,
        Weight.CASCADE,
        words(": killed"),
        r"\btasks? [\d,-]{1,80}: Killed$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "an event says that something failed",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words('"failed"|status.failed'),
        r'"name": ?"torchelastic\.[\w.]{1,40}\.FAILED"|(?i:"(?:job)?_?(?:state|status|phase)": ?"failed")',
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a count of what failed",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("number of errored|number of failed|total failed"),
        r"^(?:Number of|Total) (?:errored|failed) (?:trials|jobs|tasks|workers|ranks|runs|tests|steps): [1-9]",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "another worker ended",
        CauseClass.COLLECTIVE,
        Weight.CASCADE,
        words(
            "coordination agent is set to error|an error from coordination service"
            "|on one of the rank|another task died|from this or another task|shut down too early|[c10d] |/pair.cc:"
        ),
        (
            r"(?i)Coordination agent is set to ERROR: |an error from coordination service"
            r"|caused by an exception on one of the ranks?|most likely indicates that another task died"
            r"|an error from this or another task|TCPStore server has shut down too early"
            r"|\[c10d\] (?:send|recv)\w* failed on SocketImpl.{0,400}(?:broken pipe|connection reset)"
            r"|gloo/transport/\w{1,20}/pair\.cc:\d{1,6}\]\s*$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        STOPS_WORKERS,
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("closing signal|forcefully exiting via|killing subprocess|sending sigterm to all processes"),
        (
            r"closing signal SIG|forcefully exiting via Signals\.SIG|\bsigkill_handler\] Killing subprocess \d"
            r"|\bsending SIGTERM to all processes$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        LAUNCHERS_REPORT,
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words(
            "childfailederror|local_rank:|first observed failure|to enable traceback|error_file"
            "|exit barrier|out of all "
            "|exitcode  :|exitcode :|failures:"
        ),
        (
            r"ChildFailedError|failed \(exitcode: -?\d+\) local_rank|first observed failure"
            r"|exitcode\s*: [1-9]\d* \(pid|waiting on exit barrier"
            r"|\bABORT!!! Out of all \d+ trainers"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "a container ends again and again",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words(
            "crashloopbackoff|restarting failed container| exited with code |specified backoff limit|replica(s) failed"
        ),
        (
            r"\bCrashLoopBackOff\b|[Bb]ack-off (?:\S{1,20} )?restarting failed container"
            r"|^Pod: \S{1,200} exited with code [1-9]|has reached the specified backoff limit"
            r"|\bis failed because \d+ \w+ replica\(s\) failed"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "what Hydra prints around an error",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words("error executing job with overrides|hydra_full_error=1"),
        r"^Error executing job with overrides: \[|^Set the environment variable HYDRA_FULL_ERROR=1",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a worker failed, in its parent's words",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words(
            "failed|died|crashed|error executing process >|: error processing|: error starting|: error stopping"
            "|error target |: error saving|: error restoring|build did not complete"
        ),
        (
            r"^(?:[\w.-]{1,60}: ){0,2}(?i:worker|rank|shard|task|replica|trial|process|node|actor|child|job)s? "
            r"\S{0,40} ?(?:has |have )?(?:failed|died|crashed)(?: to start| unexpectedly)?[.!]?$"
            r"|^FAILED: Build did NOT complete successfully"
            r"|^(?:\w{1,20} )?(?i:run|workflow|pipeline|build) (?:has )?failed[.!]?$"
            r"|^error target \S{1,200}$|^failed/(?:EXIT|ERR)$"
            r"|^(?:~ )?Error executing process > \S|^All the \d{1,6} fits failed\.$"
            r"|^(?:-- )?Trial (?:task failed for trial \S|\S{1,200}: Error (?:process|start|stopp|sav|restor)ing\b)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        ENGINE_DIED,
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words(
            "enginecore failed|enginecore encountered|enginecore died|enginecore_dp0 died|enginecoreproc"
            "|enginecore hit|engine core|enginedead|engine process|worker proc|workerproc|engine loop"
            "|root cause above|stack trace above|rayactorerror|killedworker|actordied|actor died|workercrashed"
            "|raytaskerror"
            "|engine is dead"
            "|failed to start workers|worker died|executeuserscript|algorithmerror|training job failed"
            "|shardcannotstart|shardfailed|webserverfailed|output_handler failed"
        ),
        (
            r"(?i)enginecore\w* (?:\w+ )?(?:fail|died|hit an|encountered)|engine core .{0,30}(?:fail|died)"
            r"|EngineDeadError"
            r"|engine process .{0,30}(?:fail|died)|worker ?proc\w*\b.{0,60}(?:fail|died|unexpectedly)"
            r"|see (?:root cause|stack trace) above"
            r"|RayActorError|\bKilledWorker\b|ActorDied|actor died|WorkerCrashed|engine is dead"
            r"|failed to start workers|worker died"
            r"|ExecuteUserScriptError|AlgorithmError|training job failed"
            r"|\bAsyncLLM output_handler failed|\b(?:ShardCannotStart|ShardFailed|WebserverFailed)\b"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "exit status",
        CauseClass.SCRIPT_ERROR,
        Weight.CASCADE,
        words(
            "exit code|exit status|exitcode|exited with|exits with|non-zero|systemexit|*** [|completed with exit"
            "|ed with code|ed with status|ed with return code"
            "|back-off restarting|main process exited|failed with result|mpi_abort was|called mpi_abort"
            "|exiting because a job execution failed"
            '|build stopped: |"exitcode": |exitcode: |err99999 |wexitstatus |bad termination of|to finish... (failed'
            "|normal termination (return value |code elifecycle|. error code is: |failed: (exit "
        ),
        (
            r"(?i)exit(?:ed|s)?(?: with)?(?: a)? (?:return )?(?:code|status)\W{0,4}(?:code )?[1-9]\d*"
            r"|^Exiting because a job execution failed\b"
            r"|\bCannot execute: .{1,2000}\. Error code is: [1-9]"
            r"|\bfailed: \(Exit [1-9]\d{0,2}\): \S"
            r"|\bbuild stopped: subcommand failed|\bexitcode\"?: [1-9]|application called MPI_Abort\("
            r"|\b(?:terminat|end|fail|finish|di)ed with (?:return )?(?:code|status):? [1-9]\d*"
            r"|non-?zero (?:exit )?(?:status|code)(?! code returned while running)"
            r"|non-zero exit \([1-9]|SystemExit: [1-9]"
            r"|make(?:\[\d+\])?: \*\*\* (?:.{0,200}Error|\[.{1,400}\] \w{3,10}) \d|back-off restarting failed"
            r"|\bERR99999 UNKNOWN appl|\bWEXITSTATUS [1-9]|\bBAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
            r"|\bW&B process to finish\.\.\. \(failed [1-9]"
            r"|^\(1\) Normal termination \(return value [1-9]|^(?:npm (?:ERR!|error)|\d{1,6} error) code ELIFECYCLE"
            r"|main process exited, code=exited, status=[1-9]|: failed with result '|MPI_ABORT was invoked"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
"""What only follows from something else; tried after all other knowledge."""
