"""What holds for failures that nobody has met yet: exceptions, levels, and how people begin the sentence.

Warnings and headings that contain the word error are no failures: a statement counts by its shape (an exception's type,
a level in its header, a first word that says that something could not be done), never by a word somewhere in it.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

import msgspec

from neuron_top.diagnose.advice import (
    ADAPTER_FAILED,
    DISK_FAILED,
    ERROR_LINE,
    FAILED_WITHOUT_MESSAGE,
    NCCL_WARNED,
    SOURCE_REFUSED,
)
from neuron_top.diagnose.recognizers import OTHER_VERSION, Doubt, ReasonGiven, Recognizer, Weight, recognize
from neuron_top.diagnose.statements import COMPILERS_SOURCE, CROSSES, NCCL, Speaker, Statement
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import compiler
from neuron_top.parsers.runtime import SUPPORT_FUNCTIONS

WORDS: tuple[bytes, ...] = (
    b"error", b"exception", b"traceback", b"fatal", b"critical", b"panic", b"severe", b"abort", b"internal error",
    b"failed", b"panicked", b"(0) ", b"nccl warn", b"cannot ", b"can't ", b"could not", b"unable to", b"interrupt",
    b"\ne0", b"\ne1", b"\ne2", b"\nf0", b"\nf1", b"\nf2", b": e0", b": e1", b": e2", b"] e0", b"] e1", b"] e2",
    b") e0", b") e1", b") e2", b": e ", b": f ",
    b"\ne ", b"\nf ", b"what():", b"fata[", b"erro[", b"[e ", b"[f ", b'", line ',
    b"ret_check failure", b"non-ok-status", b"--- fail:",
    *(cross.encode() for cross in CROSSES),
    *(f"[{level}{month}".encode() for level in "ef" for month in range(10)),
)  # fmt: skip
"""A line without any of these, and without any word of `recognizers`, says of no failure."""

EXCEPTION = late_pattern(
    r"(?:E {2,80})?(?P<cause>Caused by: )?(?P<type>(?:[A-Za-z_$][\w$]{0,80}\.){0,12}[A-Za-z_]\w{0,80})"
    r"(?:: (?P<text>.*)|:?\s*)$",
    re.DOTALL,
)
_NAMED = late_pattern(
    r"(?:Error|Exception|Interrupt|Exit|Timeout|TimedOut|Failure|Fault|Empty|Full|StopIteration|NotFound|Killed"
    r"|Exhausted|Denied|Abort(?:ed)?|Unavailable|Refused|Invalid\w*)$"
)
"""How the names of exceptions end."""
_WARNING = late_pattern(r"\w*Warning$")
_ENDS_IN_ERRNO = late_pattern(r" \(\d{1,3}\)$")
_SURELY = late_pattern(r"(?:Error|Exception|Interrupt|SystemExit)$")
"""The same where no traceback stands before it."""
_NO_COMMAND = late_pattern(r"No such file or directory: ['\"][^/'\"]{1,200}['\"]$")
"""Of a command that is looked for: a name without a folder."""
_OF_A_MODULE = late_pattern(r"(?:partially initialized )?module '[\w.]{1,100}' has no attribute '")
_PROBES = frozenset({"KeyError", "StopIteration", "StopAsyncIteration", "Empty", "Full"})
"""Raised to look for something: what is raised in their place reports more."""
_DIED = late_pattern(r"CalledProcessError: Command .{1,5000} died with <Signals\.SIG(?:KILL|SEGV|ABRT|BUS|ILL|FPE)\b")
"""How Python says that a program that it started was ended by a signal, other than those that ask it to end."""
_JAVA = late_pattern(r"(?:javax?|ai\.djl|org|com|io|scala)\.")
_CASCADING = frozenset(
    {"CalledProcessError", "ChildFailedError", "BrokenPipeError", "EngineDeadError", "AsyncEngineDeadError",
     "RayTaskError", "RayActorError", "WorkerCrashedError", "ActorDiedError", "ProcessRaisedException",
     "ProcessExitedException", "BrokenProcessPool", "RemoteError", "SystemExit", "ConnectionResetError", "EOFError",
     "RuntimeEnvSetupError", "ExecuteUserScriptError", "TrainingFailedError", "TuneError", "CheckpointException",
     "PythonException"}
)  # fmt: skip
_CONDITION = late_pattern(
    r"(?:what\(\): {1,4}|(?:\w{1,80}\.){0,9}\w{0,80}(?:Error|Exception): )?(?:[A-Z][A-Z\d]{0,20}_)?"
    r"(?:FATAL|THROW|ASSERT|CHECK|ENFORCE|REQUIRE|VERIFY)(?:_\w{1,20})? (?:@|at) \S{1,300}"
    r"\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hip|inl):\d{1,7}: .{1,300}$"
)
"""How macros of C++ name a place and the condition that does not hold there; why stands below."""
_VALIDATION = late_pattern(r"(?:\w{1,80}\.){0,9}ValidationError: \d{1,4} validation errors? for \S{1,200}$")
"""How pydantic names a model; the field and why stand below."""
_FIELD = late_pattern(r"[A-Za-z_][\w.\[\]-]{0,100}$")
_REASONS_LABEL = late_pattern(r"(?i)(?:info|message|reason|details?):$")
_OPENING = late_pattern(
    r"(?:(?:[^\s:]{0,200}[/\\]|[A-Z]:\S{0,200}\\)?[\w.+-]{1,40}: )?(?:(?:Error|ERROR|Fatal|FATAL|Exception)"
    r"(?::|!| -| to | in | while | during | when | from "
    r"| (?!(?:handl|logg|report|check|correct|track|estimat|see|us)ing)\w{2,20}ing )\s*\S"
    r"|(?:Unhandled|Uncaught) (?:exception|error)\b|(?:ptxas|nvcc|cicc|nvlink|fatbinary) (?:fatal|error) {1,4}: (?=\S)"
    r"|(?:Status message|(?:Failure|Exit|Termination) (?:reason|message)): "
    r"(?=.{0,200}?(?i:fail|error|unable|cannot|could not))"
    r"|(?i:(?:failed|unable) to |cannot |could not |can't ))\S*"
)
_REPORTED = late_pattern(
    r"(?i)\b(?:encountered|failed with|got|raised|caught|hit|threw) (?:an? |the )?(?:\w+ ){0,2}?(?:error"
    r"|exception): (?!none\b|Traceback \()\S"
)
"""A worker's trouble in its parent's words."""
_AT_A_PLACE = late_pattern(
    r"[^\s:]{1,300}:\d{1,7}:(?:\d{1,5}:)? (?:fatal )?error: \S|loc\(.{1,400}\): error: \S"
    r"|CMake Error(?: at \S{1,300}:\d{1,7} \(\w{1,60}\))?:"
    r"|(?:\w{1,20} )?[Ee]rror:? .{1,300} (?:at|in) (?:line \d{1,7} (?:in|of) (?:file )?|file )?"
    r"\S{1,300}\.(?:c|cc|cpp|cu|cuh|h|hpp|hip)\b"
)
"""How compilers of C and of MLIR and CMake name what is wrong in a source, and how macros of C name the call that
failed."""
_SOURCE_REFUSED = late_pattern(
    r"[^\s:()]{1,300}\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hip|inl|m|mm|metal|cl|f|f90|rs|go|java|scala|kt|swift|S)"
    r"(?::\d{1,7}:(?:\d{1,5}:)?|\(\d{1,7}(?:,\d{1,5})?\) ?:) (?:(?:fatal|catastrophic) )?error"
    r"(?: [A-Z]{1,3}\d{1,6})?: \S"
    r"|(?:ptxas|nvcc|cicc|nvlink|fatbinary) (?:[^;]{1,300}, line \d{1,7}; )?(?:fatal|error) {1,4}: (?=\S)"
    r"|error\[E\d{4}\]: \S"
)
"""How compilers of C, C++, CUDA, Fortran, Rust and Java say what is wrong in a source."""
_MLIR = "loc("
"""How MLIR begins, which is nothing but compilers."""
_DEVICES_SOURCE = late_pattern(r"\.(?:cuh?|hip)\b")
_ASSERTION = late_pattern(r"Assertion [`'\"].{1,400}[`'\"] failed\b")
"""How C, C++ and CUDA end a process whose own check fails; the file stands in front of it."""
_ABORTS = late_pattern(r": Assertion `.{1,400}' failed\.?$")
"""The same in the words of C's own `assert`, which ends the process."""
_CHECK = late_pattern(r"(?:RET_CHECK failure \(|Non-OK-status: )\S")
"""How XLA says which of its checks did not hold, or with which status the process ends."""
_GRAPHS_CHECK = late_pattern(r"xla/service/|\bHLO\b|hlo_")
_DRIVER_FAILED = late_pattern(
    r"neuron:\w{1,80}: .{0,400}?(?i:\b(?:failed|failure|error|timed out|unable to|cannot|could not)\b)"
)
"""What Neuron's driver tells the kernel's log, function by function."""
_ADAPTER_FAILED = late_pattern(
    r"(?:infiniband )?(?:efa|mlx\d|rdma)\w{0,20}[ :].{0,400}?"
    r"(?i:\b(?:failed|failure|error|timed out|unable to|cannot|could not)\b)"
)
"""The same of the drivers of the network's adapters."""
_DISKS_DRIVER_FAILED = late_pattern(
    r"(?:blk_update_request|print_req_error): (?:I/O|critical \w{1,20}) error, dev \S|Buffer I/O error on dev \S"
    r"|nfs: server \S{1,200} not responding, timed out|Kernel panic - not syncing: \S"
    r"|.{0,80}\bMachine Check Exception\b"
    r"|EXT4-fs error \(|XFS \(\S{1,40}\): .{0,80}(?i:\bI/O error|shutting down filesystem)|BTRFS (?:error|critical) \("
)
"""The same of disks, file systems and the machine itself."""
_GPUS_DRIVER_FAILED = late_pattern(
    r"NVRM: (?!.{0,400}falling back).{0,400}?(?i:\bfailed\b|probe routine was not called)"
    r"|(?:nvidia|amdgpu|habanalabs|xe|i915)\b.{0,200}?(?i:\bprobe (?:of \S{1,40} )?failed with error"
    r"|\bfatal error during gpu init|\b(?:hw_init|device_ip_init|device init\w*) .{0,80}failed"
    r"|\bgpu reset\b.{0,60}\bfailed|\bring \S{1,40} timeout|failed to initialize)"
)
"""The same of the drivers of GPUs: what NVIDIA's says is meant for people, the others fail at much without harm."""
_STACK = late_pattern(
    r"(?:StackTrace:|\*{3} (?:Begin|End) stack trace \*{3}|clone|_{0,2}\w{0,40}start\w{0,20}|_?Py[A-Z_]\w{1,80}"
    r"|[\w:~<>*&, ]{1,400}::~?\w{1,200}(?:<.{0,400}>)?\((?!.{0,2000}(?i:\bfail|\berror)).{0,4000})$"
)
"""What XLA prints of the stack at level ERROR, name by name."""
_REPORT = 'ErrorMessage "'
"""How SageMaker's toolkit quotes the exception that ended the script."""
_PANIC = late_pattern(
    r"panic: (?!runtime error)\S|thread '.{0,80}' panicked at \S|panicked at \S.{0,300}\.rs:\d{1,7}:\d{1,5}:?$"
)
_FAILED = late_pattern(
    r"(?:[\w./'\"()-]+ ){0,6}(?:failed|FAILED|Failed)(?:$|[.!:]| (?:with|because|due to|after|during|while)\b)"
    r"|\S.{0,300}? \.{3,} ?FAILED$"
)
"""`Model export failed.`, `train.py FAILED`, and a check with dots up to its result."""
_HEADS_REASON = late_pattern(
    r"(?i)(?=.{3,100}:$)(?:[\w.'\"()*!-]+ +){0,8}?[\w.*!-]{0,20}(?:error|exception|failure|failed|fatal)\w*"
    r"(?: +[\w.'\"()*!-]+){0,8} ?:$"
)
"""`Fatal error:`, `Error in routine read (1):`, `The following error occurred:`."""
_BARE_HEADING = late_pattern(
    r"(?i)(?:(?:fatal|internal|unexpected|run-?time|critical|unknown) )?(?:error|exception): *$"
)
_NOTHING = late_pattern(
    r"(?i)\W*(?:none|no errors?|n/?a|null)\W*$"
    r"|(?:[\w.-]{1,40}(?: \w{1,20})? ?[:=] ?)?[-+]?\d[\d.,]*(?:e[-+]?\d+)?\s?%?$"
)
"""What stands below a heading under which nothing, or a number, is told."""
_SAYS_NO_REASON = late_pattern(r"File \"|at \S+\(|Traceback|[-=*#%+~]{3}|\{")
"""What stands below a heading and states no reason: frames, a rule."""
_ROUTINE = late_pattern(r"(?i:error in (?:routine|subroutine|procedure)) +\w")
"""How programs in Fortran say where they stop, in a box of signs that is indented."""
_HEADING_FAILED = late_pattern(r"(?:\S+\.(?:py|sh)|\w+(?:\.\w+)+) FAILED\s*$")
"""The heading of torchrun's report: the worker that ended is named below it."""
WHAT = late_pattern(r"what\(\): {1,4}\S")
_SIGNAL = late_pattern(r"exitcode\s{1,4}: -?[1-9]|traceback : Signal \d")
"""torchrun's report of how a worker ended, below its headings."""
_STATUS = late_pattern(r"OP_REQUIRES failed at |\(\d{1,4}\) [A-Z_]{2,30}: ")
"""A line of the status with which XLA's service fails, below its heading."""
_EVENT = late_pattern(
    r"(?:Warning|Normal)\s{1,20}[A-Z]\w{2,40}\s{1,20}\d|\"?[Rr]eason\"?:\s{1,20}\"?[A-Z]\w{1,40}\"?,?$"
    r"|\"(?:[Ss]tate|[Ss]tatus|[Pp]hase|Err)\": ?\"|\"?[Ee]xitCode\"?: [1-9]|Exit Code:\s{1,20}[1-9]"
    r"|[Mm]essage:\s{1,20}\S"
)
"""What kubectl prints of a pod: its events, why it waits, and how it ended; and what Snakemake prints of a job."""
_PROBE = late_pattern(
    r"\b(?:Readiness|Liveness|Startup) probe (?:failed|errored): (?!.{0,800}\bexecutable file not found\b)"
)
"""What Kubernetes prints while a server is not up yet; that it ends the container for it has a line of its own."""
_PIPS_REPORT = late_pattern(r"× \S.{0,200} did not run successfully\.$")
"""How pip heads what it reports of a step that failed."""
_WEIGHTS = late_pattern(r"size mismatch for \S{1,300}: copying a param|(?:Missing|Unexpected) key\(s\) in state_dict: ")
"""What PyTorch lists below the exception of a checkpoint that does not fit."""
_NCCL_FAILED = late_pattern(
    r"(?i)^(?!.{0,200}\bcan lead to\b|Failed to open libibverbs).{0,400}?\b(?:fail(?:ed|ure)?|errors?|abort\w*"
    r"|closed|refused|timed? ?out|timeout|mismatch|unhandled|not found|no socket interface)\b"
)
"""What NCCL warns of where something failed; the rest is advice on how the machine is set up."""
_PEER_LEFT = late_pattern(r"(?i)\b(?:closed|abort\w*|peer|remote|refused|reset)\b")
"""The same where another worker has gone, which NCCL is the first to notice: no reason by itself."""
_HEADS = late_pattern(
    r"^\d+ root error\(s\) found|.{0,400}\bThe details refer to '[^']{1,80}'|.{0,400}\b\d{1,4} errors? occurred:$"
)
"""How TensorFlow heads the errors that follow, each with its number, MindSpore those of its device, and programs in Go
those that they have gathered."""
_ROOT = late_pattern(
    r"\(0\) (?i:cancell?ed|unknown|invalid[ _]?argument|deadline[ _]?exceeded|not[ _]?found|already[ _]?exists"
    r"|permission[ _]?denied|resource[ _]?exhausted|failed[ _]?precondition|aborted|out[ _]?of[ _]?range"
    r"|unimplemented|internal|unavailable|data[ _]?loss|unauthenticated): \S"
)
"""The first of them, with its status."""
_PYTEST = late_pattern(
    r"FAILED [\w./-]{1,200}\.py::\S|=+ .*\b[1-9]\d* failed\b|FAILED \((?:errors|failures)="
    r"|--- FAIL: \S"
)
_PYTESTS_NAME = late_pattern(r"[\w./-]{1,200}\.py::\S+(?P<failed> (?:FAILED|ERROR)\b)?")
"""How pytest names a test: in front of how it ended, or behind that."""
NOISE = late_pattern(
    r"^[\W\d_]*$|^(?:ignored?|raise|warn|null|[Nn]one|[Tt]rue|[Ff]alse|continue|retry)$|^-- .{1,200} - Failed$"
    r"|(?i:register (?:cudnn|cufft|cublas)|(?:failed call to|unable to .{0,20}) ?cuInit|libcu\w+\.so|TensorRT"
    r"|pip's dependency resolver|but you(?:'ll)? have .{1,200} which is incompatible"
    r"|failed to exit gracefully|very slow compile\?)|^(?:The operation took \d|invoke-rc\.d: )"
    r"|not a git repository|Error running git command"
    r"|^subprocess-exited-with-error$|OFI plugin initNet|aws-ofi-nccl init"
    r"|^Unable to determine if Secure Boot is enabled"
    r"|^debconf: unable to initialize frontend: |^dpkg-preconfigure: unable to re-open stdin:"
    r"|^cannot configure rootless cgroup using the cgroupfs manager$"
    r"|^unable to write (?:system|pod|image|volume) event: |^check for SO_REUSEPORT: "
    r"|NET/OFI|raised OpenCV exception|Exception ignored in|^\((?i:non-fatal)\b"
    r"|^(?:task/cgroup: unable to add |Unable to create TMPDIR \[|Setting TMPDIR to |switch_g_job_postfini: "
    r"|TMPDIR \[[^\]]{1,300}\] is not writeable|xcpuinfo_hwloc_topo_load: failed"
    r"|Could not run slurm task_(?:pro|epi)log )"
    r"|^(?:Aligned allocations may fail|Retrying\b|See the (?:log|documentation)"
    r"|(?:Please|To) .{0,40}(?:open a|file a|report|contact))"
    r"|(?i:(?:errors?|failed|failures?)[\"']?\s?[:=]\s?0\b|\bno (?:errors?|failed|failures?)\b"
    r"|(?:^|[^\w.\s]\s*|\b(?:with|found|and|had|has|have|were|was|are|got) )0 (?:errors?|failed|failures?)\b)"
    r"|\bwith the following (?:error|exception)s?:$|^SLF4J: "
    r"|(?i:[:;,.] ?(?:going to|using|falling back (?:to|on)|defaulting to|switching to) .{1,200}\binstead[.!]?$)"
    r"|(?i:error (?:rate|bars?|function|_?injector)|\S error handling|errors? from kernel tracing)"
    r"|^(?:\[\[\{\{node \w+\}\}\]\]|\d+ (?:successful operations|derived errors ignored|root error)|Recent warning and)"
)
"""Error lines that are none."""
_ADVICE = late_pattern(r"If (?:you|this|the)\b|(?:Please|Make sure|Note|Hint|Tip)\b")
"""How sentences begin that say what to do about something."""
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
"""What a program of the shell says whose reader has seen enough, `head` say."""
_FAREWELL = late_pattern(
    r"(?i:\b(?:failed to|failure to|unable to|could not|cannot|error (?:while|during|when)) (?:\w+ ){0,2}?"
    r"(?:disconnect|shut(?:ting)? ?down|clos(?:e|ing)|clean(?:ing)? ?up|tear(?:ing)? ?down|finali[sz]e|unregister"
    r"|deregister|destroy)(?:ing)?\b)"
)
"""What a program complains of while it ends: it ends all the same."""
_IGNORED = late_pattern(
    r"(?:[,:;] ignor(?:ed|ing)(?: (?:it|this))?|\(ignored\)|[.,;] ?[Ff]alling back (?:to|on)(?: [\w-]{1,40}){1,5}"
    r"|[,;] skipp(?:ed|ing)(?: (?!fail|remaining|rest\b|all\b|every)[\w.'-]{1,40}){0,4})[.!]?$"
)
"""How a program ends that says of something that it does without."""
_DONE_WITHOUT = late_pattern(
    r"^Cleaning build area\W{1,8}bad exit status: "
    r"|^Error caught was: No module named |\bMODULE_\w{8,64}(?:\+\w{8})? not found in \S{1,200}: 404 Client Error\b"
)
"""How xFormers says what it does without, and optimum-neuron which graph the hub does not have: it is compiled."""
_TRIED_AGAIN = late_pattern(r"\bthrown while requesting [A-Z]{3,7} \S|\bconnect returned .{1,60}, retrying \(\d")
"""How the client of Hugging Face's hub and NCCL say what they try again; when they give up they say that."""
_TEST_NAME = late_pattern(r"\w*[Tt]est\w* \((?:[\w<>]+\.)*[\w<>]+\)$")
"""What unittest heads a traceback with, behind `ERROR:` or `FAIL:`: a name, whatever words it holds."""
_INITIAL = late_pattern(r"(?i)(?:\b|_)init|\bconfig|_open\b|device")
_CORES = late_pattern(r"(?i)neuron_?cores?\b")
_COLLECTIVE = late_pattern(r"^ENC|CCOM|(?i:_cc_|enc_|collective|nec_|efa)")
_ALLOCATION = late_pattern(r"(?i)\balloc|\bmem(?:ory)?\b")
_TEARDOWN = late_pattern(r"(?:^|_)(?:destroy|deinit|teardown|cleanup|shutdown)(?:_|$)")
"""Functions that give back what was taken: what they complain of follows from what failed before."""
_TOOL_NAME = late_pattern(r"\bneuron-(?:device-plugin|profile|monitor|ls|top|scheduler|explorer)\b|(?i:device plugin)")
_REPRESENTATION = late_pattern(r"[A-Za-z_]\w{0,80}(?:Error|Exception)\(.{0,4000}\)", re.DOTALL)
"""How PyTorch's RPC shows an exception of another worker above its traceback."""
_RELAYED = late_pattern(r"Caught \w{1,80} in .{1,200}\.$")
"""How PyTorch raises in the parent what a process or thread of its own has raised; the original stands below."""


class RaisedIn(Enum):
    """Whose code raised an exception, by the last frame of its traceback."""

    PROGRAM = auto()
    COMPILER = auto()
    LIBRARY = auto()
    """What is installed, not the program's own."""
    SUBPROCESS = auto()
    """Python's own, where it starts another program."""


class CauseVerdict(NamedTuple):
    """What a statement means."""

    cause_class: CauseClass
    weight: Weight
    advice: str
    """Name of the row whose advice holds; "" = that of the class."""
    confidence: Confidence
    reason: ReasonGiven = ReasonGiven.STATED
    doubt: Doubt = Doubt.NONE
    row: Recognizer | None = None
    stored_reason: bool = False
    """The failure is kept in the cache, and `advice` is of the reason that its message names."""
    exit_code: int | None = None
    """The job's, where nothing but it reports the failure."""


def judge(statement: Statement) -> CauseVerdict | None:
    """What a statement outside a traceback means; None = no failure."""
    if statement.text.startswith(_REPORT):
        text = statement.text.removeprefix(_REPORT).rstrip('"')
        return judge(msgspec.structs.replace(statement, text=text))
    if _PROBE.search(statement.text):
        return None
    if statement.level.is_error and _TEST_NAME.match(statement.text):
        return _consequence(CauseClass.SCRIPT_ERROR)
    row = None if _is_support(statement) else recognize(statement)
    if row is not None and row.weight is not Weight.REASON and _is_of_no_weight(statement, row):
        return None
    if row is not None and not _is_prose(statement, row):
        verdict = _by_row(row, _doubt(statement, row))
        is_tool = row.weight is Weight.CASCADE and _TOOL_NAME.search(statement.text)
        return verdict._replace(cause_class=CauseClass.TOOL_ERROR) if is_tool else verdict
    if statement.level.is_mild or _is_support(statement) or _is_noise(statement):
        return None
    raised = EXCEPTION.match(statement.text)
    if raised is not None and _SURELY.search(raised["type"]) and not _is_mere_name(statement, raised):
        return exception(statement, raised)
    if _ROOT.match(statement.text) and statement.level is LogLevel.NOTSET:
        return CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.STATEMENT, "", Confidence.MEDIUM, doubt=Doubt.SOME)
    if _is_failed_test(statement) or _HEADING_FAILED.match(statement.text):
        return _consequence(CauseClass.SCRIPT_ERROR)
    if statement.function == NCCL and statement.level is LogLevel.NOTSET:
        if _NCCL_FAILED.search(statement.text) is None:
            return None
        is_of_peer = _PEER_LEFT.search(statement.text) is not None
        return _consequence(CauseClass.COLLECTIVE, "" if is_of_peer else NCCL_WARNED)
    return _by_check(statement) or _by_driver(statement) or _by_level(statement) or _by_opening(statement)


def _is_mere_name(statement: Statement, raised: re.Match[str]) -> bool:
    """Whether what reads as an exception's type is that of a warning, or a field's name in a block of Open MPI's."""
    is_field = statement.indented and raised["type"] == "Error" and _ENDS_IN_ERRNO.search(raised["text"] or "")
    return _WARNING.search(raised["type"]) is not None or bool(is_field)


def _is_noise(statement: Statement) -> bool:
    """Whether an error line that nobody knows is none, or what a program complains of while it ends."""
    if NOISE.search(statement.text):
        return True
    if statement.level is LogLevel.FATAL:
        return False
    return any(pattern.search(statement.text) for pattern in (_IGNORED, _FAREWELL))


def _is_of_no_weight(statement: Statement, row: Recognizer) -> bool:
    """Whether known words only advise, tell of what is ignored or tried again, or of a connection not closed well."""
    if any(pattern.search(statement.text) for pattern in (_TRIED_AGAIN, _IGNORED, _DONE_WITHOUT)):
        return True
    if statement.level is LogLevel.NOTSET and (_ADVICE.match(statement.text) or _PIPE_CLOSED.match(statement.text)):
        return True
    if row.weight is Weight.STATEMENT and row.name in _SIGNALS and _KILLS.match(statement.text):
        return True
    is_of_others = row.cause_class in (CauseClass.NETWORK, CauseClass.COLLECTIVE)
    return is_of_others and _FAREWELL.search(statement.text) is not None


def rest_of_banner(statement: Statement) -> CauseVerdict | None:
    """What a line of the compiler's banner means where the log begins behind its message: that there was one."""
    is_rest = statement.speaker is Speaker.COMPILER and statement.level.is_error and statement.text.strip(" *")
    if not is_rest or not compiler.DETAIL.match(statement.text):
        return None
    return CauseVerdict(
        CauseClass.COMPILE_ERROR, Weight.CASCADE, FAILED_WITHOUT_MESSAGE, Confidence.LOW, ReasonGiven.MISSING
    )


def raised_by(statement: Statement) -> re.Match[str] | None:
    """The exception at the end of a traceback, if this line is one."""
    found = EXCEPTION.match(statement.text)
    if found is None or (found["text"] is None and not _NAMED.search(found["type"])):
        return None
    return found if _NAMED.search(found["type"]) or found["type"].split(".")[-1][:1].isupper() else None


def exception(statement: Statement, raised: re.Match[str], raised_in: RaisedIn = RaisedIn.PROGRAM) -> CauseVerdict:
    """What an exception means: by its words, else by its type or where it was raised, else it is the program's own."""
    name = raised["type"].split(".")[-1]
    if raised_in is RaisedIn.SUBPROCESS and name == "FileNotFoundError" and _NO_COMMAND.search(raised["text"] or ""):
        return CauseVerdict(CauseClass.MISSING_DEPENDENCY, Weight.STATEMENT, "", Confidence.HIGH)
    is_of_a_file = name == "EOFError" and bool(raised["text"])
    if (name in _CASCADING and not is_of_a_file) or name.endswith("CalledProcessError"):
        row = recognize(statement)
        cause_class = row.cause_class if row is not None else CauseClass.SCRIPT_ERROR
        if row is not None and row.weight is Weight.REASON:
            return _by_row(row)
        follows = _consequence(cause_class, row.name if row else "")
        return follows._replace(weight=Weight.DEATH, doubt=Doubt.MUCH) if died_of_signal(statement.text) else follows
    if _HEADS.match(raised["text"] or "") or _BARE_HEADING.match(statement.text):
        return _consequence(CauseClass.SCRIPT_ERROR)
    row = recognize(statement)
    if row is not None:
        return _by_row(row)
    if leaves_reason(statement.text):
        return _without_reason()
    if raised_in is RaisedIn.LIBRARY and name == "AttributeError" and _OF_A_MODULE.match(raised["text"] or ""):
        return CauseVerdict(CauseClass.MISSING_DEPENDENCY, Weight.STATEMENT, OTHER_VERSION, Confidence.MEDIUM)
    if _JAVA.match(raised["type"]) and not raised["cause"]:
        return CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.MESSAGE, "", Confidence.LOW)
    if name in ("TimeoutError", "Timeout"):
        return CauseVerdict(CauseClass.NETWORK, Weight.STATEMENT, "", Confidence.LOW)
    is_compilers = raised_in is RaisedIn.COMPILER or is_of_graph_compiler(statement.text)
    whose = CauseClass.COMPILE_ERROR if is_compilers else CauseClass.SCRIPT_ERROR
    if name == "Error" and _TOOL_NAME.match(raised["text"] or ""):
        whose = CauseClass.TOOL_ERROR
    return CauseVerdict(whose, Weight.STATEMENT, "", Confidence.MEDIUM)


def ends_process(text: str) -> bool:
    """Whether a line outside a traceback shows by its shape that a process has ended: a panic of Go or Rust."""
    return _PANIC.match(text) is not None


def reads_as_exception(text: str) -> bool:
    """Whether a line looks like the exception at the end of a traceback."""
    found = EXCEPTION.match(text)
    return found is not None and _SURELY.search(found["type"]) is not None


def is_named_as_exception(raised: re.Match[str]) -> bool:
    """Whether the name ends as those of exceptions do."""
    return _NAMED.search(raised["type"]) is not None


def names_exception(raised: re.Match[str]) -> bool:
    """Whether a name behind frames without a heading is an exception's: by its end, or a class with its modules."""
    modules, _, name = raised["type"].rpartition(".")
    return is_named_as_exception(raised) or (bool(modules) and name[:1].isupper())


def is_lost_connection(raised: re.Match[str], verdict: CauseVerdict) -> bool:
    """Whether an exception only says that the other side of a connection has gone."""
    is_end = raised["type"].split(".")[-1] == "EOFError" and not raised["text"]
    return verdict.weight is Weight.CASCADE and (verdict.cause_class is CauseClass.COLLECTIVE or is_end)


def died_of_signal(text: str) -> bool:
    """Whether an exception says that a signal ended a program which was started."""
    return _DIED.search(text) is not None


def heads_reason(statement: Statement, verdict: CauseVerdict) -> bool:
    """Whether a line that nobody knows is only the heading of what stands on the next one."""
    return verdict.weight is Weight.CASCADE and verdict.row is None and _HEADS_REASON.match(statement.text) is not None


def leaves_reason(text: str) -> bool:
    """Whether an exception's words only name a place and a condition in a source, or a model; why stands below."""
    return _CONDITION.match(text) is not None or _VALIDATION.match(text) is not None


def labels_reason(text: str, heading: str) -> bool:
    """Whether a line below `heading` only says that, or of which field, the reason stands on the next one."""
    is_field = _VALIDATION.match(heading) is not None and _FIELD.match(text) is not None
    return is_field or _REASONS_LABEL.match(text) is not None


def states_reason(statement: Statement) -> bool:
    """Whether a line below such a heading, in which no failure is seen, has the words of the reason."""
    text = statement.text
    is_other = statement.level.is_mild or _SAYS_NO_REASON.match(text) or NOISE.search(text)
    return len(text.split()) > 1 and not is_other


def states_nothing(statement: Statement) -> bool:
    """Whether a line below such a heading shows that nothing failed."""
    return _NOTHING.match(statement.text) is not None


def announces(raised: re.Match[str]) -> bool:
    """Whether an exception only quotes another one, which is printed behind it."""
    text = (raised["text"] or "").rstrip()
    return text.endswith(":") or _RELAYED.match(text) is not None


def is_relayed(statement: Statement) -> bool:
    """Whether a line outside a traceback reads as an exception that only quotes the one below it."""
    raised = EXCEPTION.match(statement.text)
    is_announced = raised is not None and is_named_as_exception(raised) and announces(raised)
    return is_announced or _REPRESENTATION.fullmatch(statement.text) is not None


def is_of_graph_compiler(text: str) -> bool:
    """Whether PyTorch says of the exception behind it that the compiler of a graph raised it."""
    return "BackendCompilerFailed: " in text


def is_probe(raised: re.Match[str]) -> bool:
    """Whether an exception only asks for something, so that the one raised while it was handled reports more."""
    return raised["type"].split(".")[-1] in _PROBES


def _without_reason() -> CauseVerdict:
    """What an exception means whose reason stands below."""
    return CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.DEATH, "", Confidence.LOW, ReasonGiven.MISSING)


def _consequence(cause_class: CauseClass, advice: str = "") -> CauseVerdict:
    """What only follows from a failure, or announces one: it counts where nothing else is said."""
    return CauseVerdict(cause_class, Weight.CASCADE, advice, Confidence.LOW, ReasonGiven.MISSING)


def _by_row(row: Recognizer, doubt: Doubt | None = None) -> CauseVerdict:
    return CauseVerdict(
        row.cause_class,
        row.weight,
        row.name,
        row.confidence,
        row.reason,
        row.doubt if doubt is None else doubt,
        row,
    )


def _doubt(statement: Statement, row: Recognizer) -> Doubt:
    """Known words without a level may stand in any text, but for those of an exception."""
    if row.weight is Weight.REASON or row.any_level or statement.level is not LogLevel.NOTSET:
        return row.doubt
    raised = EXCEPTION.match(statement.text)
    if raised is not None and _SURELY.search(raised["type"]) and row.cause_class is not CauseClass.NETWORK:
        return row.doubt
    return Doubt.MUCH if row.weight is Weight.STATEMENT else row.doubt


def _is_failed_test(statement: Statement) -> bool:
    named = _PYTESTS_NAME.match(statement.text)
    if named is not None:
        return statement.level.is_error or named["failed"] is not None
    return _PYTEST.match(statement.text) is not None


def _is_support(statement: Statement) -> bool:
    if statement.speaker is Speaker.COMPILER and compiler.DETAIL.match(statement.text):
        return True
    return statement.function.partition(":")[2] in SUPPORT_FUNCTIONS and "Failure:" not in statement.text


_SHELLS_REPORT = late_pattern(
    r"(?:STDERR: )?(?:/\S{1,100}/)?(?:ba|da|z|k)?sh: (?:(?:line )?\d{1,6}: )?\S{1,300}: "
    r"(?:(?:command )?not found|No such file or directory)$"
)


def _is_prose(statement: Statement, row: Recognizer) -> bool:
    """Source code, help texts and tables quote the words of failures. An exception of C++ is always indented, as
    reports of torchrun, pip and shells are, XLA's status, and what kubectl says of a pod."""
    is_said = any(
        shape.match(statement.text)
        for shape in (WHAT, _SIGNAL, _STATUS, _EVENT, _ROOT, _WEIGHTS, _PIPS_REPORT, _SHELLS_REPORT)
    )
    is_quoted = statement.level is LogLevel.NOTSET and statement.indented and not is_said
    return is_quoted and row.weight is not Weight.REASON


_BY_SPEAKER = {
    Speaker.COLLECTIVES: CauseClass.COLLECTIVE,
    Speaker.COMPILER: CauseClass.COMPILE_ERROR,
    Speaker.NATIVE: CauseClass.RUNTIME_EXEC,
    Speaker.TOOL: CauseClass.TOOL_ERROR,
    Speaker.WRAPPER: CauseClass.COMPILE_ERROR,
}
_BELOW_THE_FRAMEWORK = (Speaker.RUNTIME, Speaker.COLLECTIVES, Speaker.COMPILER, Speaker.NATIVE)


def _by_check(statement: Statement) -> CauseVerdict | None:
    if statement.indented or not _CHECK.match(statement.text):
        return None
    is_graphs = _GRAPHS_CHECK.search(statement.text) is not None
    cause_class = CauseClass.COMPILE_ERROR if is_graphs else CauseClass.SCRIPT_ERROR
    return CauseVerdict(cause_class, Weight.STATEMENT, "", Confidence.MEDIUM, doubt=Doubt.SOME)


def _by_driver(statement: Statement) -> CauseVerdict | None:
    if statement.speaker is not Speaker.KERNEL:
        return None
    if _DISKS_DRIVER_FAILED.match(statement.text):
        return CauseVerdict(CauseClass.TOOL_ERROR, Weight.STATEMENT, DISK_FAILED, Confidence.MEDIUM, doubt=Doubt.MUCH)
    is_adapters = _ADAPTER_FAILED.match(statement.text) is not None
    is_driver = _DRIVER_FAILED.match(statement.text) or _GPUS_DRIVER_FAILED.match(statement.text)
    if not is_adapters and not is_driver:
        return None
    cause_class = CauseClass.COLLECTIVE if is_adapters else CauseClass.RUNTIME_INIT
    advice = ADAPTER_FAILED if is_adapters else ""
    return CauseVerdict(cause_class, Weight.STATEMENT, advice, Confidence.MEDIUM, doubt=Doubt.MUCH)


def _by_level(statement: Statement) -> CauseVerdict | None:
    if not statement.level.is_error:
        return None
    speaker = statement.speaker
    if speaker is Speaker.FRAMEWORK and _STACK.match(statement.text):
        return None
    cause_class = _BY_SPEAKER.get(speaker, CauseClass.SCRIPT_ERROR)
    if speaker is Speaker.RUNTIME:
        cause_class = _runtime_class(statement)
        if _TEARDOWN.search(statement.function.partition(":")[2]):
            return _consequence(cause_class)
    elif _TOOL_NAME.search(statement.text):
        cause_class = CauseClass.TOOL_ERROR
    if speaker in _BELOW_THE_FRAMEWORK or statement.level is LogLevel.FATAL:
        is_end = speaker is Speaker.COMPILER and statement.level is LogLevel.FATAL
        weight = Weight.REASON if is_end else Weight.STATEMENT
        return CauseVerdict(cause_class, weight, "", Confidence.MEDIUM, doubt=Doubt.SOME)
    return _message(statement, cause_class)


def _message(statement: Statement, cause_class: CauseClass) -> CauseVerdict:
    """What an error line means that nobody knows; one that ends in a colon is the heading of what it announces."""
    advice = ERROR_LINE if cause_class is CauseClass.SCRIPT_ERROR else ""
    if statement.text.endswith((":", " -", " - ")):
        return _consequence(cause_class, advice)
    return CauseVerdict(cause_class, Weight.MESSAGE, advice, Confidence.LOW, doubt=Doubt.MUCH)


def _by_opening(statement: Statement) -> CauseVerdict | None:
    text = statement.text
    if leaves_reason(text):
        return _without_reason()
    if _PANIC.match(text) or WHAT.match(text):
        cause_class = CauseClass.TOOL_ERROR if text.startswith("panic:") else CauseClass.SCRIPT_ERROR
        return CauseVerdict(cause_class, Weight.STATEMENT, "", Confidence.MEDIUM)
    if not statement.indented and _ASSERTION.search(text):
        whose = CauseClass.SCRIPT_ERROR
        if COMPILERS_SOURCE.search(text):
            whose = CauseClass.COMPILE_CRASHED if _ABORTS.search(text) else CauseClass.COMPILE_ERROR
        speaker_class = _BY_SPEAKER.get(statement.speaker, whose)
        return CauseVerdict(speaker_class, Weight.STATEMENT, "", Confidence.MEDIUM, doubt=Doubt.SOME)
    if _SOURCE_REFUSED.match(text):
        return CauseVerdict(CauseClass.COMPILE_ERROR, Weight.STATEMENT, SOURCE_REFUSED, Confidence.MEDIUM)
    if _AT_A_PLACE.match(text):
        whose = CauseClass.RUNTIME_EXEC if _DEVICES_SOURCE.search(text) else CauseClass.SCRIPT_ERROR
        whose = CauseClass.COMPILE_ERROR if text.startswith(_MLIR) else whose
        return CauseVerdict(_BY_SPEAKER.get(statement.speaker, whose), Weight.STATEMENT, "", Confidence.MEDIUM)
    if statement.indented and not _ROUTINE.match(text):
        return None
    openings = (_OPENING.match, _REPORTED.search, _FAILED.match, _BARE_HEADING.match)
    if not any(is_in(text) for is_in in openings):
        return None
    is_tool = statement.speaker is Speaker.TOOL or _TOOL_NAME.search(text)
    return _message(statement, CauseClass.TOOL_ERROR if is_tool else CauseClass.SCRIPT_ERROR)


def _runtime_class(statement: Statement) -> CauseClass:
    """Which part of the runtime complains, by the function's name and the words."""
    if _CORES.search(statement.function):
        return CauseClass.RUNTIME_INIT
    if _ALLOCATION.search(statement.text):
        return CauseClass.RUNTIME_OOM
    if _COLLECTIVE.search(statement.function):
        return CauseClass.COLLECTIVE
    if _INITIAL.search(statement.function) or _INITIAL.search(statement.text):
        return CauseClass.RUNTIME_INIT
    return CauseClass.RUNTIME_EXEC
