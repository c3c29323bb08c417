"""Recognizes what sounds like a failure and is none: advice, errors during exit, what is ignored or retried, quotes."""

from __future__ import annotations

from neuron_top.diagnose.recognizers import Recognizer, Weight
from neuron_top.diagnose.statement import Statement
from neuron_top.events.diagnosis import CauseClass
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

WHAT = late_pattern(r"what\(\): {1,4}\S")
_SIGNAL = late_pattern(r"exitcode\s{1,4}: -?[1-9]|traceback : Signal \d")
"""torchrun's report of how a worker ended, below its headings."""
_STATUS = late_pattern(r"OP_REQUIRES failed at |\(\d{1,4}\) [A-Z_]{2,30}: ")
"""A line of the status with which XLA's service fails, below its heading."""
_CHILDS_END = late_pattern(r"Command .{1,5000} died with <Signals\.SIG\w+")
"""How Python says that a signal ended a program that it had started."""
_EVENT = late_pattern(
    r"(?:Warning|Normal)\s{1,20}[A-Z]\w{2,40}\s{1,20}\d|\"?[Rr]eason\"?:\s{1,20}\"?[A-Z]\w{1,40}\"?,?$"
    r"|\"(?:[Ss]tate|[Ss]tatus|[Pp]hase|Err)\": ?\"|\"?[Ee]xitCode\"?: [1-9]|Exit Code:\s{1,20}[1-9]"
    r"|[Mm]essage:\s{1,20}\S|Last error: \S"
)
"""What kubectl prints about a pod (its events, why it waits, how it ended), Snakemake about a job, and targets in R
about a pipeline."""
PROBE = late_pattern(
    r"\b(?:Readiness|Liveness|Startup) probe (?:failed|errored): (?!.{0,800}\bexecutable file not found\b)"
    r"|^sh: (?:line )?\d: (?:lspci|lshw|dmidecode|lsb_release|lscpu): (?:command )?not found$"
)
"""What Kubernetes prints while a server is not up yet; if it ends the container for that, it prints another line. And
what a shell prints for a program that looks at the machine, with tools that a container often has not."""
_PIPS_REPORT = late_pattern(r"× \S.{0,200} did not run successfully\.$")
"""The heading of pip's report of a step that failed."""
_WEIGHTS = late_pattern(r"size mismatch for \S{1,300}: copying a param|(?:Missing|Unexpected) key\(s\) in state_dict: ")
"""What PyTorch lists below the exception of a checkpoint that does not fit."""
ROOT = late_pattern(
    r"\(0\) (?i:cancell?ed|unknown|invalid[ _]?argument|deadline[ _]?exceeded|not[ _]?found|already[ _]?exists"
    r"|permission[ _]?denied|resource[ _]?exhausted|failed[ _]?precondition|aborted|out[ _]?of[ _]?range"
    r"|unimplemented|internal|unavailable|data[ _]?loss|unauthenticated): {1,4}\S"
)
"""The first of TensorFlow's numbered errors, with its status."""
NOISE = late_pattern(
    r"^[\W\d_]*$|^(?:ignored?|raise|warn|null|[Nn]one|[Tt]rue|[Ff]alse|continue|retry)$|^-- .{1,200} - Failed$"
    r"|(?i:register (?:cudnn|cufft|cublas)|(?:failed call to|unable to .{0,20}) ?cuInit"
    r"|(?<!error: )(?<!exception: )libcu\w+\.so"
    r"|could not find TensorRT|dlopen some TensorRT|TF-TRT"
    r"|pip's dependency resolver|but you(?:'ll)? have .{1,200} which is incompatible"
    r"|\bsub-?optimal (?:accuracy|performance)\b|\bperformance (?:may|might|will) (?:be |degrade|suffer)"
    r"|failed to exit gracefully|very slow compile\?)|^(?:The operation took \d|invoke-rc\.d: )"
    r"|^ALSA lib |^Cannot connect to server (?:socket err = |request channel)|^jack server is not running\b"
    r"|\bCUDA-aware support is disabled\b|^OpKernel \('op: \".{1,200} for unknown op: "
    r"|^Unkn?own op target: \d|not a git repository|Error running git command"
    r"|^subprocess-exited-with-error$|OFI plugin initNet|aws-ofi-nccl init"
    r"|^Unable to determine if Secure Boot is enabled|: cannot properly format tensor name |^Unable to poll TPU "
    r"|^AttributeError: 'MessageFactory' object has no attribute 'GetPrototype'$"
    r"|^(?:\w{1,60}::)?[\w.]{1,60}\(\)\s{1,20}masks (?:\w{1,60}::)?[\w.]{1,60}\(\)$"
    r"|^Could not find image processor class in .{1,200}\. Loading based on "
    r"|^debconf: unable to initialize frontend: |^No supported GPU\(s\) detected to run this container$"
    r"|: no version information available \(required by |^(?i:cache miss)\b"
    r"|\bUnable to do partial parsing because\b"
    r"|\bline \d{1,6}: \[: .{0,80}(?:integer expression expected|unary operator expected|too many arguments)$"
    r"|^could not find arguments in the checkpoint\b|^-{5,} ?Error Message -{5,}$"
    r"|^Error starting ApplicationContext\. To display |^No such comm target registered: "
    r"|^\+ (?:CategoryInfo|FullyQualifiedErrorId) {1,10}: "
    r"|^RuleException:$|^CalledProcessError in file \""
    r"|^Unable to find image '[^']{1,300}' locally$|^!! (?:Begin|End) .{0,40}Error Captured by Flyte !!$"
    r"|^dpkg-preconfigure: unable to re-open stdin:|\bInappropriate ioctl for device$"
    r"|^(?:locale|manpath|(?:/\S{1,100}/)?(?:ba)?sh): .{0,40}?\b[Cc]an(?:no|')t (?:set|change) (?:LC_|(?:the )?locale)"
    r"|^cannot configure rootless cgroup using the cgroupfs manager$"
    r"|^unable to write (?:system|pod|image|volume) event: |^check for SO_REUSEPORT: "
    r"|NET/OFI|raised OpenCV exception|Exception ignored in|^\((?i:non-fatal)\b"
    r"|^(?:task/cgroup: unable to add |Unable to create TMPDIR \[|Setting TMPDIR to |switch_g_job_postfini: "
    r"|TMPDIR \[[^\]]{1,300}\] is not writeable|xcpuinfo_hwloc_topo_load: failed"
    r"|Could not run slurm task_(?:pro|epi)log )"
    r"|^chdir\(/var/log\): Permission denied$|^Configured MailProg is invalid$"
    r"|^If [^.]{3,120}, (?:please )?(?:restart|retry|try|use|set|run|check|consider|increase|add|install)\b"
    r"|^(?:Aligned allocations may fail|Retrying\b|See the (?:log|documentation)"
    r"|(?:Please|To) .{0,40}(?:open a|file a|report|contact))"
    r"|(?i:(?:errors?|failed|failures?)[\"']?\s?[:=]\s?0\b|\bno (?:errors?|failed|failures?)\b"
    r"|(?:^|[^\w.\s]\s*|\b(?:with|found|and|had|has|have|were|was|are|got) )0 (?:errors?|failed|failures?)\b)"
    r"|\bwith the following (?:error|exception)s?:$|^SLF4J: "
    r"|(?i:[:;,.] ?(?:going to|use|using|falling back (?:to|on)|defaulting to|switching to) .{1,200}\binstead[.!]?$)"
    r"|(?i:error (?:rate|bars?|function|_?injector)|\S error handling|errors? from kernel tracing)"
    r"|^(?:\[\[\{\{node \w+\}\}\]\]|\d+ (?:successful operations|derived errors ignored|root error)|Recent warning and)"
)
"""Error lines that are none."""
_ADVICE = late_pattern(r"If (?:you|this|the)\b|(?:Please|Make sure|Note|Hint|Tip)\b")
"""How sentences begin that give advice."""
_KILLS = late_pattern(
    r"(?i)(?:(?:now |gracefully )?(?:kill|terminat|stopp|interrupt|signall?|end)ing (?!(?:with|on|by|due)\b)\S"
    r"|send(?:s|ing)? )"
    r"(?=.{0,200}\b(?:SIG(?:TERM|INT|KILL|HUP)|signal \d))"
    r"(?!.{0,200}\b(?:time ?limit|wall ?time|preempt\w*|deadline|memory)\b)"
)
"""How a program says that it ends others with a signal: it is not the one that was ended."""
_SIGNALS = ("stopped", "killed")
"""Rows of signals that ended a process."""
_PIPE_CLOSED = late_pattern(r"\w{1,20}: (?:write error|standard output|stdout): Broken pipe$")
"""What a shell program prints when its reader, for example `head`, has ended first."""
_FAREWELL = late_pattern(
    r"(?i:\b(?:failed to|failure to|unable to|could not|cannot|error (?:while|during|when)) (?:\w+ ){0,2}?"
    r"(?:disconnect|shut(?:ting)? ?down|clos(?:e|ing)|clean(?:ing)? ?up|tear(?:ing)? ?down|finali[sz]e|unregister"
    r"|deregister|destroy)(?:ing)?\b)"
)
"""Errors during a program's exit, which do not keep it from ending."""
_IGNORED = late_pattern(
    r"(?:[,:;] ignor(?:ed|ing)(?: (?:it|this))?|\(ignored\)|[.,;] ?[Ff]all(?:ing )?back (?:to|on)(?: [\w-]{1,40}){1,5}"
    r"|[,;] skipp(?:ed|ing)(?: (?!fail|remaining|rest\b|all\b|every)[\w.'-]{1,40}){0,4})[.!]?$"
)
"""How a message ends that says that the program ignores the error, or does without something."""
PART_LEFT_OUT = r"^Cannot import \S{1,300} module for custom nodes: "
"""How ComfyUI says, below a traceback, that it starts without an extension."""
_DONE_WITHOUT = late_pattern(
    r"^Cleaning build area\W{1,8}bad exit status: "
    r"|/profile\.d/\S{1,100}\.sh: line \d{1,6}: \S{1,300}: (?:No such file|command not found)"
    r"|\bline \d{1,6}: ps: command not found$"
    r"|^(?:/\S{1,200}/)?libcuda\.\S{2,6}: cannot open shared object file: No such"
    r"|/tensorboard_data_server/bin/server: \S{1,200}: version `|\bSKIPPING OPTIONAL DEPENDENCY: "
    r"|^Check failed with unknown exit code: -\d|^Unable to initialize backend '\w{1,20}': "
    r"|\bbackground worker \"logical replication launcher\" \(PID \d{1,10}\) exited with exit code 1$"
    rf"|{PART_LEFT_OUT}"
    r"|\berror copying from (?:remote stream to local connection|local connection to remote stream)\b"
    r"|^Error caught was: No module named |\bskipped: No module named "
    r"|\bMODULE_\w{8,64}(?:\+\w{8})? not found in \S{1,200}: 404 Client Error\b"
)
"""Messages about what is done without, of a clean-up, a shell's start-up, Spark's scripts, ComfyUI, xFormers,
diffusers, JAX and a probe of TPUs; of `kubectl port-forward` about one of its connections, of PostgreSQL about a part
that it stops, and of optimum-neuron about a graph that the hub does not have, and that is then compiled."""
_SURVIVED = late_pattern(r"\bOOM: Ran out of memory with exception: ")
"""What fairseq logs of a batch that was too large and is left out; where it gives up, the exception comes too."""
_LATER = late_pattern(r"^debconf: delaying package configuration, since ")
"""How a package's setup says what it does only when all packages are there."""
_TRIED_AGAIN = late_pattern(
    r"\b(?:[Ss]leeping|[Ww]aiting) (?:\S{1,20} ){0,4}before (?:the )?(?:next )?(?:retry|attempt)\b"
    r"|\bthrown while requesting [A-Z]{3,7} \S|\bconnect returned .{1,60}, retrying \(\d"
    r"|\bentering retry loop\b| -- (?:Execution is retried \(\d|Error is ignored$)"
)
"""How Airflow, the client of the Hugging Face hub and NCCL announce a retry; when they give up, they print another
line."""
TEST_NAME = late_pattern(r"\w*[Tt]est\w* \((?:[\w<>]+\.)*[\w<>]+\)$")
"""The heading that unittest prints above a traceback, after `ERROR:` or `FAIL:`: a name, whatever words it holds."""


def is_noise(statement: Statement) -> bool:
    """Whether an unknown error line is no failure, or an error during a program's exit."""
    if NOISE.search(statement.text):
        return True
    if statement.level is LogLevel.FATAL:
        return False
    return any(pattern.search(statement.text) for pattern in (_IGNORED, _FAREWELL, _TRIED_AGAIN, _DONE_WITHOUT))


def is_survived(statement: Statement) -> bool:
    """Whether a program tells of a failure that it goes on from, whatever the failure is."""
    return _SURVIVED.search(statement.text) is not None


def is_of_no_weight(statement: Statement, row: Recognizer) -> bool:
    """Whether known words only advise, or report what is ignored, retried, or a connection that was not closed well."""
    if any(pattern.search(statement.text) for pattern in (_TRIED_AGAIN, _IGNORED, _DONE_WITHOUT, _LATER)):
        return True
    if statement.level is LogLevel.NOTSET and (_ADVICE.match(statement.text) or _PIPE_CLOSED.match(statement.text)):
        return True
    if row.weight is Weight.STATEMENT and row.name in _SIGNALS and _KILLS.match(statement.text):
        return True
    is_of_others = row.cause_class in (CauseClass.NETWORK, CauseClass.COLLECTIVE)
    return is_of_others and _FAREWELL.search(statement.text) is not None


_CONDORS_END = late_pattern(r"\([01]\) (?:N|Abn)ormal termination \(")
"""How HTCondor says below an event that a job has ended."""
_SHELLS_REPORT = late_pattern(
    r"(?:STDERR: )?(?:/\S{1,100}/)?(?:ba|da|z|k)?sh: (?:(?:line )?\d{1,6}: )?\S{1,300}: "
    r"(?:(?:command )?not found|No such file or directory)$"
)
_LINKERS = late_pattern(r"(?:\S{1,300}[/-])?ld(?:\.\w{2,5})?: \S")


def is_prose(statement: Statement, row: Recognizer) -> bool:
    """Whether known words are only quoted, as in source code, help texts and tables, which are indented.

    Some real failures are indented too: C++ exceptions, reports of torchrun, pip, shells and linkers, XLA's status, and
    what kubectl prints about a pod.
    """
    is_said = any(
        shape.match(statement.text)
        for shape in (
            WHAT,
            _SIGNAL,
            _STATUS,
            _CHILDS_END,
            _EVENT,
            ROOT,
            _WEIGHTS,
            _PIPS_REPORT,
            _SHELLS_REPORT,
            _LINKERS,
            _CONDORS_END,
        )
    )
    is_quoted = statement.level is LogLevel.NOTSET and statement.indented and not is_said
    return is_quoted and row.weight is not Weight.REASON
