"""Processes that ended by a signal, or without stating a reason."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import SHELLS_JOB, Doubt, ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

ENDED_BELOW = "a job's end, told above its last lines"
"""Row of reports of a job's end that are followed by its log: progress in that log came before the end."""
CRASHED = "crashed"
"""Row of signals that end a program which has failed."""
DEATHS: tuple[Recognizer, ...] = (
    Recognizer(
        "an exception of C++, told by its library",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("terminating due to uncaught|terminating with uncaught|terminating with unexpected"),
        r"\bterminating (?:due to|with) (?:uncaught|unexpected) (?:foreign )?exception\b",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "what a program of Boost prints of an exception",
        CauseClass.TOOL_ERROR,
        Weight.STATEMENT,
        words("*] = |std::exception::what: "),
        r"^\[(?:\w{1,80}::){0,8}\w{1,80}\*\] = \S|^std::exception::what: \S{1,200} \S",
        Confidence.MEDIUM,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a Fortran program ends",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words("forrtl: |fortran runtime error"),
        r"^forrtl: (?:severe|error) \(\d{1,4}\): (?!process (?:killed|interrupted)\b)\S|^Fortran runtime error: \S",
    ),
    Recognizer(
        "an exception of Ruby",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words(":in `|:in '"),
        r"^\S{1,300}:\d{1,7}:in [`'][^']{1,200}': \S.{0,2000} \((?:[A-Z]\w*::)*[A-Z]\w*\)$",
    ),
    Recognizer(
        "a sanitizer reports undefined behavior",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words(": runtime error: "),
        r"^\S{1,300}:\d{1,7}:\d{1,5}: runtime error: \S",
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a test failed",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words(" failed|dubious, test returned "),
        r"^\w\S{0,200} > \S.{0,200} FAILED$|\bDubious, test returned [1-9]",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a worker of pytest ended",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("node down: not properly terminated|' crashed while running '"),
        r"^\[gw\d{1,4}\] node down: Not properly terminated$|^worker 'gw\d{1,4}' crashed while running '",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "Python shows where it hangs",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("timeout ("),
        r"^Timeout \(\d{1,4}:\d\d:\d\d(?:\.\d{1,6})?\)!$",
        Confidence.LOW,
        ReasonGiven.MISSING,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        ENDED_BELOW,
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("job entrypoint command failed|conda run "),
        r"Job entrypoint command failed with exit code|\bexecute\(\d{1,5}\): `?(?:conda|mamba) run \S",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "killed",
        CauseClass.HOST_OOM,
        Weight.STATEMENT,
        words(
            "killed|sigkill|signal 9|exitcode: -9|exitcode  : -9|code 137|code -9|status 137|status -9|exitcode=-9"
            "|已杀死|已砍掉|getötet|processus arrêté|強制終了"
            '|code: 137|status=9/kill|code = -9|code: -9|code=-9|returncode -9|exitcode": 137|exit (137)'
            "|status (137)|wtermsig 9|died through signal"
        ),
        (
            rf"(?:{SHELLS_JOB}[Kk]|^zsh: k)illed\b"
            r"|^(?:.{0,120}?: line \d+: *\d+ )?Killed\b(?!.{0,40}process)|\bSIGKILL\b|[Ss]ignal 9\b|exitcode\W{1,4}-9\b"
            r"|(?i:(?:exit(?:ed with)?(?: status| ?code)|return ?code)\W{1,3}(?:137|-9)\b)|(?i:was killed\b)"
            r"|^(?:.{0,120}?: \S{1,8} \d+:? *\d+ )?(?:已杀死|已砍掉|Getötet|Processus arrêté|強制終了)(?: |$)"
            r"|status=9/KILL|non-zero exit \(137\)|\bWTERMSIG 9\b|\bdied through signal KILL\b"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a node was lost",
        CauseClass.INTERRUPTED,
        Weight.DEATH,
        words(
            "marked dead|heartbeat timeout|due to node fail|due to the node dying|update_node: node |by resumetimeout"
            "|node failure on "
        ),
        (
            r"\bnode\b.{0,200} has been marked dead because|\b[Tt]ask \S{1,100} heartbeat timeout"
            r"|DUE TO NODE FAIL|due to the node dying|^Node failure on \S"
            r"|^update_node: node \S{1,200} reason set to: \S|^node \S{1,200} not resumed by ResumeTimeout"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a worker process died",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("abruptly died|terminated abruptly|exited unexpectedly"),
        (
            r"subprocess\w* (?:has |have )?abruptly died|process pool was terminated abruptly"
            r"|worker .{0,60}exited unexpectedly(?:$| with exit code \d)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a worker of RLlib crashed",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("training without the failed worker"),
        r"\bTo try to continue training without the failed worker, set\b",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
    ),
    Recognizer(
        "Slurm's table lists a failed job",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words(" failed  "),
        r"^\d.{0,200} FAILED +(?!0:0)\d+:\d+$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "PBS sums up a failed job",
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words("exit status:  "),
        r"^Exit Status:\s{2,20}[1-9]\d{0,2}$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a Go program crashed",
        CauseClass.TOOL_ERROR,
        Weight.DEATH,
        words("panic: runtime error|http: panic serving"),
        r"panic: runtime error|http: panic serving",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        CRASHED,
        CauseClass.SCRIPT_ERROR,
        Weight.DEATH,
        words(
            "segmentation fault|sigsegv|sigabrt|sigbus|core dumped|aborted|fatal python error|terminate called"
            "|exitcode: -|exitcode  : -|code 134|code 135|code 136|code 139|code: 134|code: 135|code: 136|code: 139"
            "|code -11|code -6"
            "|code = -|code: -|code=-|returncode -"
            "|status 134|status 135|status 136|status 139|floating point exception|free():|double free|malloc"
            "|signal 11|signal 4|signal 6|signal 7|signal 8|bus error"
            "|wtermsig |illegal instruction|stack trace|invalid pointer|corrupted |stack smashing|munmap_chunk"
            "|speicherzugriffsfehler|speicherabzug geschrieben|erreur de segmentation|核心已转储|段错误|吐核"
            "|n de segmento|errore di segmentazione|falha de segment"
            "|died through signal|]: segfault at |general protection|trap invalid opcode|abort  |***: terminated"
        ),
        (
            r"[Ss]egmentation fault|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b|[Cc]ore dumped|^Aborted|Fatal Python error"
            r"|terminate called|exitcode\W{1,4}-(?:6|7|8|11|4)\b|(?i:exit(?:ed with)?(?: status"
            r"| code)\W{1,3}(?:13[4569]|-6|-11)\b)|(?i:return ?code\W{1,3}-(?:4|6|7|8|11)\b)"
            r"|free\(\): |double free|malloc\w*\(\): |munmap_chunk\(\): |free invalid pointer|stack smashing detected"
            r"|corrupted (?:size vs|double-linked list|unsorted chunks|top size)|[Ss]ignal (?:11|[4678])\b|Bus error"
            rf"|^(?:.{{0,120}}?: line \d+: *\d+ )?Floating point exception\b|{SHELLS_JOB}[Ff]loating point exception\b"
            r"|Speicherzugriffsfehler|Speicherabzug geschrieben|Erreur de segmentation|核心已转储|段错误|吐核"
            r"|Violación de segmento|Errore di segmentazione|Falha de segmentação"
            r"|\bdied through signal (?:SEGV|ABRT|BUS|ILL|FPE)\b"
            r"|Illegal instruction|\bWTERMSIG (?:[4678]|11)\b"
            r"|\S\[\d+\]:? (?:segfault at [0-9a-f]|general protection fault |trap invalid opcode )"
            rf"|{SHELLS_JOB}abort\b|^zsh: (?:abort|trace trap)\b|^\*\*\* .{{1,80}} \*\*\*: terminated$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
"""Ends of processes: tried when none of ROWS matches the line."""
