"""Recognizes failures that are not in the table, by level, form, and the first words of the sentence.

Warnings and headings that contain the word error are no failures: a statement counts by its form (an exception's type,
a level in its header, first words that say that something could not be done), never by a word somewhere in it.
"""

from __future__ import annotations

import re

import msgspec

from neuron_top.diagnose.advice import (
    ADAPTER_FAILED,
    DISK_FAILED,
    ERROR_LINE,
    FAILED_WITHOUT_MESSAGE,
    NCCL_WARNED,
    SOURCE_REFUSED,
)
from neuron_top.diagnose.exceptions import EXCEPTION, SURELY, exception
from neuron_top.diagnose.headers.neuron import COMPILERS_SOURCE, NCCL
from neuron_top.diagnose.headers.tools import CROSSES
from neuron_top.diagnose.no_failures import (
    PROBE,
    ROOT,
    TEST_NAME,
    WHAT,
    is_noise,
    is_of_no_weight,
    is_prose,
    is_survived,
)
from neuron_top.diagnose.reasons_below import BARE_HEADING, leaves_reason
from neuron_top.diagnose.recognizers import (
    BUILD_CRASHED,
    BUILD_KILLED,
    CALLS_COMPILER,
    CRASHES,
    Doubt,
    ReasonGiven,
    Recognizer,
    Weight,
    recognize,
)
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.diagnose.verdicts import TOOL_NAME, CauseVerdict, by_row, consequence, without_reason
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import compiler
from neuron_top.parsers.runtime import SUPPORT_FUNCTIONS

WORDS: tuple[bytes, ...] = (
    b"error", b"exception", b"traceback", b"fatal", b"critical", b"panic", b"severe", b"abort", b"internal error",
    b"failed", b": fail", b"panicked", b"(0) ", b"nccl warn", b"cannot ", b"can't ", b"could not",
    b"unable to", b"interrupt", b"\ne   ", b"failure in test ",
    b"\ne0", b"\ne1", b"\ne2", b"\nf0", b"\nf1", b"\nf2", b": e0", b": e1", b": e2", b"] e0", b"] e1", b"] e2",
    b") e0", b") e1", b") e2", b": e ", b": f ",
    b"\ne ", b"\nf ", b"[e::", b"] [e] ", b"] [f] ", b"what():", b"fata[", b"erro[", b"[e ", b"[f ", b" <e> ",
    b'", line ',
    b"\ne: file:", b"what went wrong:", b"ret_check failure", b"non-ok-status", b"--- fail:",
    *(cross.encode() for cross in CROSSES),
    *(f"[{level}{month}".encode() for level in "ef" for month in range(10)),
)  # fmt: skip
"""A line without any of these, and without any word of `recognizers`, reports no failure."""
_WARNING = late_pattern(r"\w*Warning$")
_ENDS_IN_ERRNO = late_pattern(r" \(\d{1,3}\)$")
_OPENING = late_pattern(
    r"(?:(?:[^\s:]{0,200}[/\\]|[A-Z]:\S{0,200}\\)?[\w.+-]{1,40}: )?(?:(?:Error|ERROR|Fatal|FATAL|Exception)"
    r"(?::| :(?= [A-Za-z=])|!| -| to | in | while | during | when | from "
    r"| (?!(?:handl|logg|report|check|correct|track|estimat|see|us)ing)\w{2,20}ing )\s*\S"
    r"|(?:\w{1,20} )?Configuration Error: (?=\S)|[A-Za-z]\w{1,20} (?:ERROR|FATAL): (?![-+\d.])\S"
    r"|(?:Unhandled|Uncaught) (?:exception|error)\b|(?:ptxas(?:-\w{1,20})?|nvcc|cicc|nvlink|fatbinary) "
    r"(?:fatal|error) {1,4}: (?=\S)|(?:Status message|(?:Failure|Exit|Termination) (?:reason|message)): "
    r"(?=.{0,200}?(?i:fail|error|unable|cannot|could not))"
    r"|(?i:(?:failed|unable) to |cannot |could not |can't ))\S*"
)
_REPORTED = late_pattern(
    r"(?i)\b(?:encountered|failed with|got|raised|caught|hit|threw) (?:an? |the )?(?:\w+ ){0,2}?(?:error"
    r"|exception): (?!none\b|Traceback \()\S"
)
"""A worker's error, in its parent's words."""
_AT_A_PLACE = late_pattern(
    r"[^\s:]{1,300}:\d{1,7}:(?:\d{1,5}:)? (?:fatal )?error: \S|loc\(.{1,400}\): error: \S"
    r"|CMake Error(?: at \S{1,300}:\d{1,7} \(\w{1,60}\))?:"
    r"|(?:\w{1,20} )?[Ee]rror:? .{1,300} (?:at|in) (?:line \d{1,7} (?:in|of) (?:file )?|file )?"
    r"\S{1,300}\.(?:c|cc|cpp|cu|cuh|h|hpp|hip)\b"
)
"""How C compilers, MLIR and CMake report an error in source code, and how C macros name the call that failed."""
_SOURCE_REFUSED = late_pattern(
    r"[^\s:()]{1,300}\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hip|inl|m|mm|metal|cl|f|f90|rs|go|java|scala|kt|swift|S|tsx?|cs)"
    r"(?::\d{1,7}:(?:\d{1,5}:)?|\(\d{1,7}(?:,\d{1,5})?\) ?:) (?:(?:fatal|catastrophic) )?(?i:error)"
    r"(?: [A-Z]{1,3}\d{1,6})?: \S"
    r"|(?:ptxas(?:-\w{1,20})?|nvcc|cicc|nvlink|fatbinary) (?:[^;]{1,300}, line \d{1,7}; )?(?:fatal|error) {1,4}: (?=\S)"
    r"|error\[E\d{4}\]: \S|e: (?:file:///?)?\S{1,300}\.kts?:\d{1,7}:\d{1,5}:? \S"
    r"|-- (?:\[E\d{1,4}\] )?(?:[A-Z]\w{1,20} ){0,3}Error: \S{1,300}\.scala:\d"
)
"""How compilers of C, C++, CUDA, Fortran, Rust, Java, Kotlin and Scala report an error in source code."""
_MLIR = late_pattern(r"loc\(|\S{1,300}\.mlir:\d|\S{1,300}\.py:\d{1,7}:\d{1,5}: error: (?!.*\[[\w-]{3,40}\]$)")
"""How errors of MLIR begin, which only compilers use, also for kernels in Python; mypy puts a code behind its own."""
_DEVICES_SOURCE = late_pattern(r"\.(?:cuh?|hip)\b")
_ASSERTION = late_pattern(
    r"Assertion [`'\"].{1,400}[`'\"] failed\b|:\d{1,7}: [A-Z]{2,20}_ASSERT\(.{1,400}\) failed\b"
    r"|^assertion .{1,300} failed with message \S|\bThe condition \[ .{1,400} \] failed\. \S"
)
"""How C, C++ and CUDA end a process whose own check fails, and how libraries of Gaudi report one; the file comes before
it."""
_ABORTS = late_pattern(r": Assertion `.{1,400}' failed\.?$")
"""The same, as C's own `assert` prints it, which ends the process."""
_LLVMS_SOURCE = late_pattern(r"/(?:llvm-project|llvm|mlir|clang)/(?:llvm|mlir|clang|lib|include)/")
"""Folders of LLVM's C++, on which compilers are built."""
_CHECK = late_pattern(r"(?:RET_CHECK failure \(|Non-OK-status: )\S")
"""How XLA reports which of its checks failed, or the status with which the process ends."""
_GRAPHS_CHECK = late_pattern(r"xla/service/|\bHLO\b|hlo_")
_DRIVER_FAILED = late_pattern(
    r"neuron:\w{1,80}: .{0,400}?(?i:\b(?:failed|failure|error|timed out|unable to|cannot|could not)\b)"
)
"""Errors of the Neuron driver in the kernel's log, which begin with the function's name."""
_ADAPTER_FAILED = late_pattern(
    r"(?:infiniband )?(?:efa|mlx\d|rdma)\w{0,20}[ :].{0,400}?"
    r"(?i:\b(?:failed|failure|error|timed out|unable to|cannot|could not)\b)"
)
"""The same of the drivers of network adapters."""
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
"""The same of the drivers of GPUs: NVIDIA's prints failures for people; in others many failures are harmless."""
_STACK = late_pattern(
    r"(?:StackTrace:|\*{3} (?:Begin|End) stack trace \*{3}|clone|_{0,2}\w{0,40}start\w{0,20}|_?Py[A-Z_]\w{1,80}"
    r"|[\w:~<>*&, ]{1,400}::~?\w{1,200}(?:<.{0,400}>)?\((?!.{0,2000}(?i:\bfail|\berror)).{0,4000})$"
)
"""What XLA prints of the stack at level ERROR, one function per line."""
_REPORT = 'ErrorMessage "'
"""How SageMaker's toolkit quotes the exception that ended the script."""
_PANIC = late_pattern(
    r"panic: (?!runtime error)\S|thread '.{0,80}'(?: \(\d{1,10}\))? panicked at \S"
    r"|panicked at \S.{0,300}\.rs:\d{1,7}:\d{1,5}:?$"
)
_FAILED = late_pattern(
    r"(?:[\w./'\"()-]+ ){0,6}(?:failed|FAILED|Failed)(?:$|[.!:]| (?:with|because|due to|after|during|while)\b)"
    r"|\S.{0,300}? \.{3,} ?FAILED$|[A-Z][A-Z\d ._/-]{3,60}: FAIL(?:ED)?$"
)
"""`Model export failed.`, `train.py FAILED`, a check with dots up to its result, a verdict in capitals."""
_ROUTINE = late_pattern(r"(?i:error in (?:routine|subroutine|procedure)) +\w|-{3,} FATAL CALLED -{3,}$|what\(\):$")
"""How Fortran programs report where they stop, inside an indented box of characters, and the indented heading of a C++
exception's words."""
_REASON_BEFORE_LIST = late_pattern(r"\bfailed: \S+ \S.{0,1000}:$|^(?:\S{1,60} ){4,30}\S{1,60}\. [A-Z].{0,1000}:$")
"""A line that states a reason before a list that begins below it."""
_HEADING_FAILED = late_pattern(r"(?:\S+\.(?:py|sh)|\w+(?:\.\w+)+) FAILED\s*$")
"""The heading of torchrun's report, which names the worker that ended below it."""
_NCCL_FAILED = late_pattern(
    r"(?i)^(?!.{0,200}\bcan lead to\b|Failed to open libibverbs).{0,400}?\b(?:fail(?:ed|ure)?|errors?|abort\w*"
    r"|closed|refused|timed? ?out|timeout|mismatch|unhandled|not found|no socket interface)\b"
)
"""NCCL's warnings of which something failed; the others are advice on the set-up of the machine."""
_PEER_LEFT = late_pattern(r"(?i)\b(?:closed|abort\w*|peer|remote|refused|reset)\b")
"""Those of another worker that has gone, which NCCL notices first: no reason by themselves."""
_PYTEST = late_pattern(
    r"FAILED [\w./-]{1,200}\.py::\S|=+ .*\b[1-9]\d* failed\b|FAILED \((?:errors|failures)="
    r"|--- FAIL: \S|(?:[\w .#-]{1,60}: )?\d{1,7}(?:/\d{1,7})? passed, [1-9]\d{0,6} failed\b"
)
_PYTESTS_NAME = late_pattern(r"[\w./-]{1,200}\.py::\S+(?P<failed> (?:FAILED|ERROR)\b)?")
"""How pytest names a test, before or after its result."""
_PYTESTS_REASON = late_pattern(r"E {2,80}(?:Failed: \S|assert \S)")
"""How pytest prints why a test failed, where that is no exception by its name."""
_DIED = late_pattern(rf"(?:Killed|{CRASHES})(?: \(core dumped\))?")
_FORTRAN_STOPS = late_pattern(r"STOP(?: \d{1,4})?")
"""What is left of `ERROR STOP`, with which a program in Fortran ends; why stands above."""
_INITIAL = late_pattern(r"(?i)(?:\b|_)init|\bconfig|_open\b|device")
_CORES = late_pattern(r"(?i)neuron_?cores?\b")
_COLLECTIVE = late_pattern(r"^ENC|CCOM|(?i:_cc_|enc_|collective|nec_|efa)")
_ALLOCATION = late_pattern(r"(?i)\balloc(?!ated (?:on|by|in)\b)|\bmem(?:ory)?\b")
FOR_DEVELOPERS = (LogLevel.TRACE, LogLevel.DEBUG)
"""Levels at which programs tell what they do: what fails for good is said at another one."""
_TEARDOWN = late_pattern(r"(?:^|_)(?:destroy|deinit|teardown|cleanup|shutdown)(?:_|$)")
"""Functions that release resources: their errors follow from an earlier failure."""


def judge(statement: Statement) -> CauseVerdict | None:
    """What a statement outside a traceback means; None = no failure."""
    if statement.text.startswith(_REPORT):
        text = statement.text.removeprefix(_REPORT).rstrip('"')
        return judge(msgspec.structs.replace(statement, text=text))
    if statement.level in FOR_DEVELOPERS or PROBE.search(statement.text):
        return None
    if statement.level.is_error and TEST_NAME.match(statement.text):
        return consequence(CauseClass.SCRIPT_ERROR)
    row = None if _is_support(statement) else recognize(statement)
    if row is not None and _is_overcome(statement, row):
        return None
    if row is not None and not is_prose(statement, row):
        verdict = by_row(row, _doubt(statement, row))
        is_tool = row.weight is Weight.CASCADE and TOOL_NAME.search(statement.text)
        return verdict._replace(cause_class=CauseClass.TOOL_ERROR) if is_tool else verdict
    if statement.level.is_mild or _is_support(statement) or is_noise(statement):
        return None
    raised = EXCEPTION.match(statement.text)
    if raised is not None and SURELY.search(raised["type"]) and not _is_mere_name(statement, raised):
        return exception(statement, raised)
    is_reason = ROOT.match(statement.text) or _PYTESTS_REASON.match(statement.text)
    if is_reason and statement.level is LogLevel.NOTSET:
        return CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.STATEMENT, "", Confidence.MEDIUM, doubt=Doubt.SOME)
    if _is_failed_test(statement) or _HEADING_FAILED.match(statement.text):
        return consequence(CauseClass.SCRIPT_ERROR)
    if statement.function == NCCL and statement.level is LogLevel.NOTSET:
        if _NCCL_FAILED.search(statement.text) is None:
            return None
        is_of_peer = _PEER_LEFT.search(statement.text) is not None
        return consequence(CauseClass.COLLECTIVE, "" if is_of_peer else NCCL_WARNED)
    return _by_check(statement) or _by_driver(statement) or _by_level(statement) or _by_opening(statement)


def _is_overcome(statement: Statement, row: Recognizer) -> bool:
    """Whether known words tell of something that does no harm."""
    return (row.weight is not Weight.REASON and is_of_no_weight(statement, row)) or is_survived(statement)


def _is_mere_name(statement: Statement, raised: re.Match[str]) -> bool:
    """Whether what reads like an exception's type is that of a warning, or a field's name in a block of Open MPI."""
    is_field = statement.indented and raised["type"] == "Error" and _ENDS_IN_ERRNO.search(raised["text"] or "")
    return _WARNING.search(raised["type"]) is not None or bool(is_field)


def rest_of_banner(statement: Statement) -> CauseVerdict | None:
    """What a line of the compiler's banner means in a log that begins after its message: that there was a failure."""
    is_rest = statement.speaker is Speaker.COMPILER and statement.level.is_error and statement.text.strip(" *")
    if not is_rest or not compiler.DETAIL.match(statement.text):
        return None
    return CauseVerdict(
        CauseClass.COMPILE_ERROR, Weight.CASCADE, FAILED_WITHOUT_MESSAGE, Confidence.LOW, ReasonGiven.MISSING
    )


def reports_signal(text: str) -> bool:
    """Whether a line is all that a shell prints of a program that a signal ended."""
    return _DIED.fullmatch(text) is not None


def compilers_death(statement: Statement, command: str) -> CauseVerdict | None:
    """What a shell's report of a signal means below the command that was run; None if that calls no compiler."""
    if not CALLS_COMPILER.match(command):
        return None
    if statement.text.startswith("Killed"):
        return CauseVerdict(CauseClass.COMPILE_KILLED, Weight.REASON, BUILD_KILLED, Confidence.HIGH)
    return CauseVerdict(CauseClass.COMPILE_CRASHED, Weight.REASON, BUILD_CRASHED, Confidence.MEDIUM)


def ends_process(text: str) -> bool:
    """Whether a line outside a traceback shows by its form that a process has ended: a panic of Go or Rust."""
    return _PANIC.match(text) is not None


def heads_panics_words(text: str) -> bool:
    """Whether a panic of Rust names only its place, as it does since 1.73; its words are the next line."""
    return text.endswith(":") and " panicked at " in text and _PANIC.match(text) is not None


def _doubt(statement: Statement, row: Recognizer) -> Doubt:
    """How doubtful a row's match is: without a level, known words may stand in any text, unless an exception's type
    comes first."""
    if row.weight is Weight.REASON or row.any_level or statement.level is not LogLevel.NOTSET:
        return row.doubt
    raised = EXCEPTION.match(statement.text)
    if raised is not None and SURELY.search(raised["type"]) and row.cause_class is not CauseClass.NETWORK:
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
            return consequence(cause_class)
    elif TOOL_NAME.search(statement.text):
        cause_class = CauseClass.TOOL_ERROR
    if speaker in _BELOW_THE_FRAMEWORK or statement.level is LogLevel.FATAL:
        is_end = speaker is Speaker.COMPILER and statement.level is LogLevel.FATAL
        weight = Weight.REASON if is_end else Weight.STATEMENT
        return CauseVerdict(cause_class, weight, "", Confidence.MEDIUM, doubt=Doubt.SOME)
    return _message(statement, cause_class)


def _message(statement: Statement, cause_class: CauseClass) -> CauseVerdict:
    """What an unknown error line means; one that ends in a colon is only a heading."""
    advice = ERROR_LINE if cause_class is CauseClass.SCRIPT_ERROR else ""
    is_heading = statement.text.endswith((":", " -", " - ")) and _REASON_BEFORE_LIST.search(statement.text) is None
    if is_heading or BARE_HEADING.match(statement.text) or _FORTRAN_STOPS.fullmatch(statement.text):
        return consequence(cause_class, advice)
    return CauseVerdict(cause_class, Weight.MESSAGE, advice, Confidence.LOW, doubt=Doubt.MUCH)


def _by_opening(statement: Statement) -> CauseVerdict | None:
    text = statement.text
    if leaves_reason(text):
        return without_reason()
    if _PANIC.match(text) or WHAT.match(text):
        cause_class = CauseClass.TOOL_ERROR if text.startswith("panic:") else CauseClass.SCRIPT_ERROR
        return CauseVerdict(cause_class, Weight.STATEMENT, "", Confidence.MEDIUM)
    if statement.indent <= 1 and _ASSERTION.search(text):  # Fortran begins each line with a blank
        whose = CauseClass.SCRIPT_ERROR
        if COMPILERS_SOURCE.search(text) or _LLVMS_SOURCE.search(text):
            whose = CauseClass.COMPILE_CRASHED if _ABORTS.search(text) else CauseClass.COMPILE_ERROR
        speaker_class = _BY_SPEAKER.get(statement.speaker, whose)
        return CauseVerdict(speaker_class, Weight.STATEMENT, "", Confidence.MEDIUM, doubt=Doubt.SOME)
    if _SOURCE_REFUSED.match(text):
        return CauseVerdict(CauseClass.COMPILE_ERROR, Weight.STATEMENT, SOURCE_REFUSED, Confidence.MEDIUM)
    if _AT_A_PLACE.match(text):
        whose = CauseClass.RUNTIME_EXEC if _DEVICES_SOURCE.search(text) else CauseClass.SCRIPT_ERROR
        whose = CauseClass.COMPILE_ERROR if _MLIR.match(text) else whose
        whose = CauseClass.TOOL_ERROR if text.startswith("CMake ") else whose
        return CauseVerdict(_BY_SPEAKER.get(statement.speaker, whose), Weight.STATEMENT, "", Confidence.MEDIUM)
    if statement.indented and not _ROUTINE.match(text):
        return None
    openings = (_OPENING.match, _REPORTED.search, _FAILED.match, BARE_HEADING.match)
    if not any(is_in(text) for is_in in openings):
        return None
    is_tool = statement.speaker is Speaker.TOOL or TOOL_NAME.search(text)
    return _message(statement, CauseClass.TOOL_ERROR if is_tool else CauseClass.SCRIPT_ERROR)


def _runtime_class(statement: Statement) -> CauseClass:
    """The class of an error of the runtime, by the function's name and the text."""
    if _CORES.search(statement.function):
        return CauseClass.RUNTIME_INIT
    if _ALLOCATION.search(statement.text):
        return CauseClass.RUNTIME_OOM
    if _COLLECTIVE.search(statement.function):
        return CauseClass.COLLECTIVE
    if _INITIAL.search(statement.function) or _INITIAL.search(statement.text):
        return CauseClass.RUNTIME_INIT
    return CauseClass.RUNTIME_EXEC
