"""What is known about failures: a row for each piece of knowledge, looked up by the words of its lines.

Adding knowledge is adding a row here, and under its name what to do about it in `views/cause_advice.py`. `words` are
bytes in lower case of which each of its lines holds one; lines without any word of the table are never looked at. Rows
are tried in the order of the table, and the first that matches decides: so what is narrow stands above what is wide.
Wordings that nobody has met yet are the business of `general`.
"""

from __future__ import annotations

import re
from enum import Enum, IntEnum, auto
from functools import cache
from typing import NamedTuple

import ahocorasick_rs

from neuron_top.diagnose.statements import Statement
from neuron_top.events.diagnosis import CauseClass, Confidence


class Weight(IntEnum):
    """How much a statement explains; less is more, see `ranking`."""

    REASON = 0
    """The compiler, the runtime, the driver or the kernel itself names the reason."""
    STATEMENT = 1
    """A wording that is known, or an exception that nobody caught: it says what failed."""
    MESSAGE = 2
    """A line of level error that nobody knows."""
    DEATH = 3
    """A process ended; why is not said."""
    CASCADE = 4
    """What follows from a failure somewhere else."""


class Doubt(IntEnum):
    """What shows that a statement stood for no failure."""

    NONE = 0
    """Nothing: it is one, unless it was overcome."""
    SOME = 1
    """Steps behind it."""
    MUCH = 2
    """Any sign of life behind it: steps, compiles, many more lines."""


class ReasonGiven(Enum):
    """Whether a line states why something failed."""

    STATED = auto()
    MISSING = auto()
    """It only says that something failed."""


class Recognizer(NamedTuple):
    """One row."""

    name: str
    cause_class: CauseClass
    weight: Weight
    words: tuple[bytes, ...]
    pattern: str
    """A regular expression; only those that a log asks for are compiled."""
    confidence: Confidence = Confidence.HIGH
    reason: ReasonGiven = ReasonGiven.STATED
    any_level: bool = False
    """Counts at every level; else lines that are marked as a warning or as information do not."""
    doubt: Doubt = Doubt.NONE

    def matches(self, text: str) -> bool:
        """Whether the pattern stands in this text."""
        return _compiled(self.pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _words(text: str) -> tuple[bytes, ...]:
    """Words written one behind the other, with a bar between."""
    return tuple(word.encode() for word in text.split("|"))


STOPS_WORKERS = "the launcher stops the other workers"
"""Row of what follows from every end of a worker, and is printed before the launcher reports which one ended."""
ENDED_BELOW = "a job's end, told above its last lines"
"""Row of reports that quote the log of the job behind them: what goes on there came before."""
_C, _W = CauseClass, Weight
_COMPILER = r"(?:neuronx?-cc|neuronxcc|walrus_driver|hlo2penguin|hlo-opt|tensorizer|hh_checker|birsim|penguin)"

ROWS: tuple[Recognizer, ...] = (
    Recognizer(
        "fallback failed too",
        _C.RUNTIME_EXEC,
        _W.CASCADE,
        _words("fallback failed|fallback also failed"),
        r"(?i)fallback (?:also )?failed",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    # --- the compiler ------------------------------------------------------------------------------------------------
    Recognizer(
        "compiler killed",
        _C.COMPILE_KILLED,
        _W.REASON,
        _words(
            "f137|forcibly killed|returned: -9|error code: -9|signals.sigkill|status -9|status 137|code 137|code -9"
            "|failed with -9|failed with 137"
        ),
        (
            r"\[?F137\]?|forcibly killed|[Cc]ompile command returned: -9|[Rr]eceived error code: -9"
            rf"|{_COMPILER} failed with (?:-9|137)\b"
            rf"|{_COMPILER}.{{0,4000}}(?:Signals\.SIGKILL|exit (?:status|code):? (?:-9|137)\b)"
        ),
    ),
    Recognizer(
        "compiler killed by the kernel",
        _C.COMPILE_KILLED,
        _W.REASON,
        _words("kill process|killed process"),
        rf"(?i)out of memory: kill(?:ed)? process \d+ \(?{_COMPILER}",
    ),
    Recognizer(
        "compiler crashed",
        _C.COMPILE_CRASHED,
        _W.REASON,
        _words(
            "f134|f139|f135|f136|terminated abnormally|signals.sig|core dumped|segmentation|status -6|status -11"
            "|status 134|status 139|exited with code -|code 139|code 134|failed with -|failed with 13"
        ),
        (
            r"\[F13[4-69]\]|terminated abnormally"
            rf"|{_COMPILER} failed with (?:-(?:4|6|7|8|11)|13[24-69])\b"
            rf"|{_COMPILER}.{{0,4000}}(?:Signals\.SIG(?:SEGV|ABRT|BUS|ILL|FPE)|core dumped|[Ss]egmentation fault"
            r"|exit (?:status|code):? (?:-6|-11|-7|134|135|139)\b)|Backend exited with code -(?:6|7|11)\b"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "compiler killed, told by torch-neuron",
        _C.COMPILE_KILLED,
        _W.REASON,
        _words("(sig_kill|(sigkill|command returned: -9"),
        r"neuron compiler\) process .{0,40}\(SIG_?KILL\)|^Compile command returned: -9\b",
        any_level=True,
    ),
    Recognizer(
        "compiler crashed, told by torch-neuron",
        _C.COMPILE_CRASHED,
        _W.REASON,
        _words("(sig_abort|(sigabrt|(sig_segv|(sigsegv|(sig_bus|neuron compiler) crashed"),
        r"neuron compiler\) (?:crashed\b|process .{0,40}\(SIG_?(?:ABORT|ABRT|SEGV|BUS)\))",
        Confidence.MEDIUM,
        any_level=True,
    ),
    Recognizer(
        "a stage of the compiler failed",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("driver failed to complete|exit status (|process pool was terminated|an exception was thrown"),
        (
            r"^(?:Error message: {1,8})?(?:\w+ driver failed to complete|Non-zero exit status \(-?\d+\) for command"
            r"|A process in the process pool was terminated)|^An exception was thrown:$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "compiler interrupted",
        _C.INTERRUPTED,
        _W.STATEMENT,
        _words("signals.sig"),
        rf"{_COMPILER}.{{0,4000}}Signals\.SIG(?:HUP|INT|TERM)",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "compile timeout",
        _C.COMPILE_TIMEOUT,
        _W.REASON,
        _words("timed out|timeout|time limit"),
        (
            rf"(?i)\bcompil(?:e|ation|ing|er)\b.{{0,80}}(?:timed out|\btimeout\b(?! ?[=:])|exceeded (?:the )?time)"
            rf"|(?:timed out|timeout) (?:while |during |waiting for )?(?:the )?compil"
            rf"|{_COMPILER}.{{0,3000}}timed out after"
        ),
    ),
    Recognizer(
        "compiler arguments",
        _C.BAD_USAGE,
        _W.REASON,
        _words("ncc_earg|ncc_eusg"),
        r"\bNCC_E(?:ARG|USG)\d{3}\b",
    ),
    Recognizer(
        "graph does not fit the device",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words("ncc_eoom|ncc_exsp|peak hbm|hbm limit"),
        r"\bNCC_E(?:OOM|XSP)\d{3}\b|peak HBM usage|exceeds HBM limit",
    ),
    Recognizer(
        "graph too large",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words("ncc_extp|too many instructions|instruction limit|instruction count|instruction-limit"),
        (
            r"\bNCC_EXTP\d{3}\b|[Tt]oo many instructions|exceed\w*.{0,60}instruction (?:limit|count)"
            r"|instruction (?:limit|count).{0,60}exceed"
        ),
    ),
    Recognizer(
        "operator not supported",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words("ncc_evrf|ncc_euoc|not supported by neuron"),
        r"\bNCC_E(?:VRF|UOC)\d{3}\b|HLO instructions? (?:is|are) not supported by neuronx?-cc",
    ),
    Recognizer(
        "compiler code",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words("ncc_|["),
        (
            r"\bNCC_[A-Z]{3,5}\d{3}\b|\[(?!F1)[A-Z]{3}\d{3}\] .{0,200}?"
            r"(?i:err|fail|unsupport|exceed|too many|assert|invalid|\bnot\b|n't\b|cannot|out of|ticket|illegal|no )"
        ),
    ),
    Recognizer(
        "compiler code without brackets",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words("error"),
        r"(?i:compiler error|compilation error|error class|error code)\W{1,4}[A-Z]{3}\d{3}\b",
    ),
    Recognizer(
        "compiler's error message",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words("error message:|bir error| inst."),
        r"^Error message: {0,8}(?=\S)(?!Traceback \()|^=+ BIR error =+ |^Instruction \w{1,60} inst\.\d+: \S",
    ),
    Recognizer(
        "native compile failed",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words("compilation failed:|compilationerror"),
        r"COMPILATION FAILED: ?(?=[^\s\"])|\bCompilationError: \S",
    ),
    Recognizer(
        "internal compiler error",
        _C.COMPILE_ERROR,
        _W.REASON,
        _words(
            "internal tensorizer error|internal transformation|backend exited with|compiler assertion|partitioned and"
            "|failed assertion check"
        ),
        (
            r"Internal (?:tensorizer error|transformation failed)|Backend exited with code [1-9]|compiler assertion"
            r"|No operations were successfully partitioned|\binst failed assertion check: \S"
        ),
    ),
    Recognizer(
        "LLVM gave up",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("llvm error: "),
        r"^LLVM ERROR: \S",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "internal compiler error without a message",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("internal compiler error"),
        r"(?i)an internal compiler error has occurred",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "native compile failed without a message",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("compilation error occurred"),
        r"Compilation error occurred on Neuron",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "compile gave up",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("compilation failed for|compiler status error|compiler status fail"),
        r"Compilation failed for \S+|Compiler status (?:ERROR|FAIL)",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "nothing of a model was compiled",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("no operator will be running on"),
        r"no operator will be running on (?:AWS|Neuron)",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "compiler failed, told by PyTorch/XLA's service",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("-cc compilation failed"),
        rf": {_COMPILER} compilation failed",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "a runtime call failed, told by the service",
        _C.RUNTIME_EXEC,
        _W.STATEMENT,
        _words("op_requires failed"),
        r"OP_REQUIRES failed at \S+ : .{0,200}?\b[Nn]rt(?:::|_|$)",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a graph is refused, told by the service",
        _C.COMPILE_ERROR,
        _W.STATEMENT,
        _words("op_requires failed"),
        r"OP_REQUIRES failed at tpu_\w+\.cc:\d+ : [A-Z_]{3,30}: (?!From /job|\S*neuronx?-cc compilation failed)\S",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "compiler failed",
        _C.COMPILE_ERROR,
        _W.DEATH,
        _words(
            "-cc compilation failed|neuron-cc failed|neuronx-cc failed|status 70|code 70|exit status: 70"
            "|command returned:|runneuronccimpl|non-zero exit status|calledprocesserror: "
        ),
        (
            rf"{_COMPILER} (?:compilation )?failed|exit (?:status|code):? 70\b|Compile command returned: (?!0\b)-?\d"
            rf"|{_COMPILER}.{{0,4000}}non-zero exit status|CalledProcessError: Command .{{0,60}}{_COMPILER}"
            r"|RunNeuronCCImpl: error"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "a compile made nothing",
        _C.COMPILE_ERROR,
        _W.DEATH,
        _words("neff bytes as none|executable (neff) is empty"),
        r"load with neff bytes as None|Neuron executable \(neff\) is empty",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "compiler ended with a status",
        _C.COMPILE_ERROR,
        _W.DEATH,
        _words("exitcode="),
        r"Subcommand returned with exitcode=(?!0\b)",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "failed graphs in a summary",
        _C.COMPILE_ERROR,
        _W.DEATH,
        _words("failed: |failed compilations|failed, "),
        r"Compilation summary.{0,80}(?:Failed: [1-9]|: [1-9]\d*/\d+ failed)|Total failed compilations: [1-9]",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "native lock broken",
        _C.LOCK_TIMEOUT,
        _W.REASON,
        _words("stale lock"),
        r"Lock acquisition timed out, breaking stale lock path=",
        any_level=True,
    ),
    Recognizer(
        "lock timeout",
        _C.LOCK_TIMEOUT,
        _W.REASON,
        _words(
            "lock acquisition|stale lock|filelock|file lock|acquire lock|acquire the lock|for lock|on lock|the lock"
        ),
        (
            r"(?i)lock acquisition timed out|breaking stale lock|filelock\.\w*\.?Timeout"
            r"|(?:timed out|timeout|time-out).{0,40}\block\b|\block\b.{0,80}(?:timed out|could not be acquired)"
            r"|(?:could not|failed to|unable to|cannot) acquire (?:\w+ ){0,3}lock"
        ),
        any_level=True,
    ),
    # --- device memory -----------------------------------------------------------------------------------------------
    Recognizer(
        "device memory",
        _C.RUNTIME_OOM,
        _W.REASON,
        _words("failed to allocate|mempool"),
        (
            r"Failed to allocate [\d.]{1,20} ?[KMGT]?i?B.{0,120}\bon ND"
            r"|device mempool .{1,200} needed \d+ available \d+"
        ),
    ),
    Recognizer(
        "device memory without a place",
        _C.RUNTIME_OOM,
        _W.STATEMENT,
        _words(
            "alloc device memory|pages allowed|mla dram|no more pages|allocation failure|nrt_resource|nerr_resource"
            "|resource_exhausted|resource exhausted|device memory|cache blocks|status=4"
        ),
        (
            r"Failed to alloc(?:ate)? DEVICE memory|exceeded the max number of pages allowed|buffer in MLA DRAM"
            r"|No more pages for ring"
            r"|message=\"?Allocation Failure|\bnrt_\w+ status=4\b"
            r"|\bN(?:RT|ERR)_RESOURCE\b|RESOURCE[_ ]EXHAUSTED|[Rr]esource exhausted"
            r"|(?i:(?:out of|insufficient|not enough|ran out of) (?:neuron )?device memory)"
            r"|No available memory for the cache blocks"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "KV cache too small",
        _C.RUNTIME_OOM,
        _W.REASON,
        _words("kv cache"),
        r"larger than the (?:maximum number of tokens that can be stored in|available) KV cache",
    ),
    # --- GPUs --------------------------------------------------------------------------------------------------------
    Recognizer(
        "GPU memory",
        _C.RUNTIME_OOM,
        _W.REASON,
        _words(
            "cuda out of memory|hip out of memory|xpu out of memory|error: out of memory|status_alloc_failed"
            "|cudaerrormemoryallocation|triton error [cuda]"
        ),
        (
            r"\b(?:CUDA|HIP|XPU)(?: error:)? out of memory|Triton Error \[CUDA\]: out of memory"
            r"|\bCU(?:BLAS|DNN|SPARSE)_STATUS_ALLOC_FAILED"
            r"|\bcudaErrorMemoryAllocation\b"
        ),
    ),
    Recognizer(
        "GPU memory, told by NCCL",
        _C.RUNTIME_OOM,
        _W.REASON,
        _words("cuda failure"),
        r"Cuda failure (?:2 )?'out of memory'",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "an assertion on a GPU",
        _C.RUNTIME_EXEC,
        _W.REASON,
        _words("thread: [|device-side assert"),
        (
            r"\.cuh?:\d+: .{0,400}thread: \[[\d,]+\] Assertion .{1,400} failed"
            r"|(?:CUDA error: |Cuda failure (?:\d+ )?')device-side assert"
        ),
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "no GPU",
        _C.RUNTIME_INIT,
        _W.STATEMENT,
        _words("nvidia driver|nvidia-smi has failed|cuda-capable device|with cuda enabled|cuda driver version"),
        (
            r"[Nn]o NVIDIA driver|NVIDIA-SMI has failed|^(?!failed call to cuInit).*[Nn]o CUDA-capable device"
            r"|not compiled with CUDA enabled"
            r"|CUDA driver version is insufficient|NVIDIA driver on your system is too old"
        ),
    ),
    Recognizer(
        "a call to CUDA failed",
        _C.RUNTIME_EXEC,
        _W.STATEMENT,
        _words(
            "cuda error:|hip error:|triton error [cuda]|unspecified launch failure"
            "|unhandled cuda error|cuda failure|blas_status_|cudnn_status_|illegal memory access"
        ),
        (
            r"\b(?:CUDA|HIP) error: (?!\(null\))\S|Triton Error \[CUDA\]: |unspecified launch failure"
            r"|unhandled cuda error|Cuda failure (?:\d+ )?'"
            r"|\bCU(?:BLAS|DNN)_STATUS_(?!SUCCESS)[A-Z_]+|an illegal memory access"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "NCCL refuses the ranks",
        _C.BAD_USAGE,
        _W.STATEMENT,
        _words("duplicate gpu detected|invalid rank requested|mismatch in rank count"),
        r"Duplicate GPU detected|Invalid rank requested|mismatch in rank count",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "NCCL states no reason",
        _C.COLLECTIVE,
        _W.STATEMENT,
        _words("ncclsystemerror|ncclinternalerror|ncclinvalidusage|nccl error"),
        (
            r"\bnccl(?:System|Internal)Error\b|\bncclInvalidUsage\b"
            r"|NCCL error\b.{0,300}(?:unhandled system error|internal error|invalid usage)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    # --- the runtime's start -----------------------------------------------------------------------------------------
    Recognizer(
        "number of cores",
        _C.BAD_USAGE,
        _W.REASON,
        _words("unsupported topology|supported number of neuron"),
        r"(?i)unsupported topology|supported number of neuron ?cores",
    ),
    Recognizer(
        "cores taken or missing",
        _C.RUNTIME_INIT,
        _W.REASON,
        _words(
            "not available|physical core|nrt_load_not_enough_nc|nrt_exec_nc_busy|logical core|insufficient aws|enough"
            "|nerr_resource_nc|ncs for the"
        ),
        (
            r"(?i:neuron ?cores?(?:\(s\))? not available)|Unable to find a physical core|NRT_LOAD_NOT_ENOUGH_NC"
            r"|Insufficient aws\.amazon\.com/neuron|NRT_EXEC_NC_BUSY|\b(?i:not enough (?:free )?(?:neuron ?)?cores)"
            r"|NERR_RESOURCE_NC\b|(?i:insuffici?ent NCs)"
        ),
    ),
    Recognizer(
        "no node for a pod",
        _C.TOOL_ERROR,
        _W.REASON,
        _words("nodes are available:|incompatible with nodepool|to schedule pod"),
        r"\b0/\d+ nodes are available: |(?:[Ff]ailed to|[Cc]ould not) schedule pod\b",
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "no room in Ray's cluster",
        _C.TOOL_ERROR,
        _W.REASON,
        _words("no available node types|exceeds the total number of available|cannot provide a placement group"),
        (
            r"No available node types can fulfill resource request|number of required \w+ exceeds the total number of"
            r" available|Cannot provide a placement group"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "no capacity, or a limit of the account",
        _C.TOOL_ERROR,
        _W.REASON,
        _words(
            "insufficient|capacityerror|limitexceeded|countexceeded|capacity block|capacityexceeded|ml compute capacity"
            "|allocate resources|unfulfillablecapacity|node configuration is not available|vcpu capacity"
        ),
        (
            r"Insufficient(?:Instance|Host|ReservedInstances?|Address)?Capacity|\bCapacityError\b|UnfulfillableCapacity"
            r"|\b(?:Resource|Instance|Vcpu|Service|Volume|Spot)\w*LimitExceeded|MaxSpotInstanceCountExceeded"
            r"|ReservationCapacityExceeded|(?i:insufficient capacity(?:,| error)(?!.{0,80}retrying)"
            r"|requested ml compute capacity|more vcpu capacity)"
            r"|(?i:capacity block.{0,80}(?:expired|not active|ended|not started|not yet|no longer))"
            r"|Unable to allocate resources|Requested node configuration is not available"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "Slurm refuses a job",
        _C.TOOL_ERROR,
        _W.MESSAGE,
        _words("batch job submission failed|unable to create step|unable to submit batch"),
        r"(?:Batch job submission failed|Unable to (?:create step for job \S{1,40}|submit batch job)): \S",
        Confidence.HIGH,
    ),
    Recognizer(
        "no devices for a pod",
        _C.TOOL_ERROR,
        _W.REASON,
        _words("allocate failed due to"),
        r"\bAllocate failed due to\b",
        any_level=True,
    ),
    Recognizer(
        "a pod is not admitted",
        _C.TOOL_ERROR,
        _W.STATEMENT,
        _words("unexpectedadmissionerror"),
        r"\bUnexpectedAdmissionError\b",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "driver or device missing",
        _C.RUNTIME_INIT,
        _W.REASON,
        _words(
            "neuron driver|neuron device|/dev/neuron|engines are running|failed to reset|driver version"
            "|devices found|neuron_device|compatible driver|no devices|module neuron|neuron:fw_io"
            "|device information from|open the device|open the nd|[hal] request"
        ),
        (
            r"Unable to (?:determine Neuron|read compatible) Driver version|requires Neuron Driver version"
            r"|(?i:no neuron devices?\b|neuron devices? (?:\w+ ){0,3}(?:not (?:found|available|detected|present)))"
            r"|(?i:/dev/neuron\d*.{0,60}(?:no such|denied|busy))|(?:open|access) /dev/neuron"
            r"|(?i:driver version .{0,40}(?:too old|not supported|unsupported|incompatible))"
            r"|\bNo devices specified|One or more engines are running|Failed to reset nd|\bnd ?\d+: failed to reset"
            r"|neuron:fw_io_\w+: .{0,40}timed out|(?i:neuron driver (?:is )?not (?:loaded|installed|found))"
            r"|[Mm]odule neuron is (?:in use|not currently loaded)|device information from the driver"
            r"|Could not open the (?:device index|nd)|\[hal\] request .{1,60} timed out"
        ),
    ),
    Recognizer(
        "the driver's module is not built",
        _C.RUNTIME_INIT,
        _W.STATEMENT,
        _words(
            "return status for module build|kernel headers for this kernel|module neuron not found|pre_install failed"
            "|error processing package aws-neuron|/dkms/"
        ),
        (
            r"Bad return status for module build|kernel headers for this kernel .{0,40}not|Module neuron not found"
            r"|\bpre_install failed|error processing package aws-neuron"
            r"|/dkms/\S{1,200}:\d+:(?:\d+:)? (?:fatal )?error: "
        ),
    ),
    Recognizer(
        "runtime does not start, told by torch-neuron",
        _C.RUNTIME_INIT,
        _W.STATEMENT,
        _words("runtime could not be initialized"),
        r"Neuron [Rr]untime could not be initialized",
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
        True,
        Doubt.SOME,
    ),
    Recognizer(
        "runtime does not start",
        _C.RUNTIME_INIT,
        _W.STATEMENT,
        _words(
            "nrt_init|could not be initialized|nrt_uninitialized|initialize devices|tdrv_init|initialize neuron"
            "|neuron runtime|initialize backend|neuron.sock|neuron-rtd|unknown backend|pjrt"
        ),
        (
            r"(?:Unable to initialize|Unknown) backend:? '?neuron|(?i:unknown pjrt (?:backend|plugin|device))"
            r"|PJRT_Client_Create: |(?i:neuron\.sock.{0,60}(?:unavailable|refused|no such))"
            r"|Is neuron-rtd running|"
            r"NRT_\w+ in nrt_init\b|nrt_init\w*\W.{0,60}(?i:fail|error|status)|(?i:fail\w*|error|unable"
            r"|could not).{0,60}nrt_init"
            r"|(?i:neuron runtime.{0,40}(?:could not|failed|cannot) .{0,20}initiali[sz]ed?)|NRT_UNINITIALIZED"
            r"|(?i:failed to initialize (?:the )?(?:neuron|devices|nrt|runtime))|tdrv_init\w* failed"
        ),
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
    # --- collectives -------------------------------------------------------------------------------------------------
    Recognizer(
        "port taken",
        _C.NETWORK,
        _W.STATEMENT,
        _words("address already in use|eaddrinuse|failed to listen on any|address in use"),
        r"(?i:address (?:already )?in use)|\bEADDRINUSE\b|failed to listen on any local network address",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "a peer left a collective",
        _C.COLLECTIVE,
        _W.CASCADE,
        _words("remote process exit|communicator was aborted|peer process has unexpectedly"),
        r"remote process exit(?:ed|ing)\b|NCCL communicator was aborted|peer process has unexpectedly disconnected",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "ranks disagree",
        _C.COLLECTIVE,
        _W.STATEMENT,
        _words("mismatch between collectives|running different collectives"),
        r"mismatch between collectives|running different collectives",
    ),
    Recognizer(
        "collective hangs",
        _C.COLLECTIVE,
        _W.REASON,
        _words(
            "collectives|collective operation|collective timeout|nrt_network_proxy|nrt_coll|status=120|status: 120"
            "|err=120|err: 120|error=120|error: 120"
        ),
        (
            r"missing collectives status|suspected hang in collectives|NRT_EXEC_HW_ERR_COLLECTIVES|HANG_ON_COLLECTIVES"
            r"|(?i:collective operation timeout)|(?i:collectives? .{0,60}(?:timed out|time-?out|hang|hung))"
            r"|NRT_NETWORK_PROXY_FAILURE|NRT_COLL_PENDING|\b(?:status|error|err)[:=] ?120[06]\b"
        ),
    ),
    Recognizer(
        "an endpoint's error",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words("(modelerror)"),
        r"\(ModelError\) when calling the InvokeEndpoint",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "too many sockets",
        _C.SCRIPT_ERROR,
        _W.REASON,
        _words("too many open files"),
        r"(?i:\b(?:call to \w+|socket creation) failed.{0,20}too many open files)",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "fork beside EFA",
        _C.COLLECTIVE,
        _W.REASON,
        _words("libfabric efa provider"),
        r"libfabric EFA provider is operating in",
    ),
    Recognizer(
        "the network's plugin reports a failure",
        _C.COLLECTIVE,
        _W.STATEMENT,
        _words("net/ofi"),
        r"NET/OFI .{0,300}(?:completed with error|\bfail(?:ed|ure)(?: with\b.{0,40})?: )",
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "collective set-up",
        _C.COLLECTIVE,
        _W.STATEMENT,
        _words(
            "waiting for rx|timed out|communicator|waiting for tx|waiting for incoming|call to connect"
            "|connect to |call to accept|rendezvous|clients joined|distbackenderror|diststoreerror|distnetworkerror"
            "|waiting for clients|init global comm|global comm|bootstrap|root_comm_id|tcpstore|client socket"
            "|buildglobalcomm"
            "|processgroup|process group|barrier|connectfullmesh|workers joined"
        ),
        (
            r"Timeout waiting for (?:[RT]X|incoming connection)|Call to (?:connect|accept|bind|recv|send)\b.{0,80}fail"
            r"|Connect to \S{1,100}<\d+> failed"
            r"|connectFullMesh failed|(?i:rendezvous\w*.{0,80}(?:timed? ?out|timeout|fail|refused|closed|error))"
            r"|RendezvousTimeoutError"
            r"|(?i:timed out .{0,60}(?:waiting for|clients))|\d+/\d+ clients joined"
            r"|(?i:timed out waiting \d+ ?\w{1,12} for)"
            r"|(?i:(?:failed to|cannot|unable to) (?:init\w*|bootstrap|create|establish).{0,60}(?:comm\b|communicator|"
            r"process ?group|collective))|(?i:client socket has (?:failed|timed out))|ProcessGroup\w*.{0,80}[Tt]imeout"
            r"|(?i:barrier.{0,60}(?:timed out|timeout))|(?i:bootstrap.{0,60}(?:fail|timed out))"
            r"|(?<!::)\bDist(?:Backend|Store|Network)Error\b|ROOT_COMM_ID.{0,40}(?:not set|missing|invalid)"
            r"|\bBuildGlobalComm failed"
        ),
        Confidence.MEDIUM,
        any_level=True,
        doubt=Doubt.SOME,
    ),
    # --- execution ---------------------------------------------------------------------------------------------------
    Recognizer(
        "hardware",
        _C.RUNTIME_EXEC,
        _W.REASON,
        _words(
            "neuron_hw_err|uncorrectable|abort state|nrt_exec_hw_err|nrt_hw_error|status=120|status: 120|err=120"
            "|err: 120|error=120|error: 120|nrt_exec_unit|fallen off the bus|nvrm: xid"
        ),
        (
            r"NEURON_HW_ERR=|[Uu]ncorrectable|is in an abort state|NRT_EXEC_HW_ERR_\w+|NRT_HW_ERROR"
            r"|NRT_EXEC_UNIT_UNRECOVERABLE|\b(?:status|error|err)[:=] ?120[1235]\b|fallen off the bus"
            r"|NVRM: Xid \(.{1,60}\): (?:48|6[1-4]|74|79|9[45]|1(?:10|19|20|21|40|43))\b"
        ),
    ),
    Recognizer(
        "execution timeout",
        _C.RUNTIME_EXEC,
        _W.REASON,
        _words("execution timeout|inference timeout|nrt_timeout|execution timed out|fatal-rt"),
        r"(?i)(?<!non-fatal, )(?:execution|inference) time(?:out|d out)(?!=)|NRT_TIMEOUT\b|FATAL-RT-UNDEFINED",
    ),
    Recognizer(
        "index out of bounds",
        _C.RUNTIME_EXEC,
        _W.REASON,
        _words("out-of-bound|out of bound|nrt_exec_oob|indirect memory copy|error: 1006|status=1006"),
        (
            r"(?i:out[- ]of[- ]bounds? (?:access|indirect|error|memory))|NRT_EXEC_OOB|indirect memory copy"
            r"|(?:error|status)[:=] ?1006\b"
        ),
    ),
    Recognizer(
        "numerical error",
        _C.RUNTIME_EXEC,
        _W.REASON,
        _words("numerical error|nrt_exec_completed_with_num_err|status=1003|error: 1003|err: 1003"),
        r"NRT_EXEC_COMPLETED_WITH_NUM_ERR|message=\"?Numerical [Ee]rror|\b(?:status|error|err)[:=] ?1003\b",
    ),
    Recognizer(
        "program too new",
        _C.BAD_USAGE,
        _W.REASON,
        _words("operator code|nrt_unsupported_neff|neff version"),
        (
            r"Unsupported hardware operator code|NRT_UNSUPPORTED_NEFF_VERSION|(?i:unsupported neff version"
            r"|neff version\b.{0,80}not supported)"
        ),
    ),
    Recognizer(
        "a runtime call failed, in the framework's words",
        _C.RUNTIME_EXEC,
        _W.REASON,
        _words("nrt::"),
        r"\b[Nn]rt::\w+ failed",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "execution failed",
        _C.RUNTIME_EXEC,
        _W.STATEMENT,
        _words(
            "nrt_exec|nrt execution|execute model|execute the model|nrt_invalid|nrt_failure|nrt_queue_full|nrt_closed"
            "|status_code=|message=|nrt_load|nrt_tensor|execution failed|load neff|load nn|load subgraph|load the neff"
            "|stage graph|nrt status code|neff is invalid|invalid neff"
        ),
        (
            r"NRT_EXEC_\w+|NRT E(?:XECUTION FAILED|xecution error)|[Ff]ailed to execute (?:the )?model"
            r"|NRT_(?:INVALID(?:_HANDLE)?|FAILURE|QUEUE_FULL|CLOSED)\b|nrt_(?:execute|load|tensor)\w*.{0,80}(?i:fail"
            r"|error|status[_ ]?(?:code)?[= ]*[1-9])"
            r"|status_code=[1-9]|\bnrt status code [1-9]|\bstatus=[1-9]\d{0,3},? (?:error )?message="
            r"|(?i:failed to (?:load (?:the )?(?:neff|nn|subgraph)|stage graph)\b|neff is invalid|invalid neff\b)"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a program in TorchScript failed",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words("failed in the torchscript interpreter"),
        r"operation failed in the TorchScript interpreter",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    # --- the host's memory -------------------------------------------------------------------------------------------
    Recognizer(
        "Ray guesses why a worker died",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words("some potential root causes"),
        r"There are some potential root causes",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "host memory limit, perhaps",
        _C.HOST_OOM,
        _W.STATEMENT,
        _words("pod memory limit|container memory limit"),
        r"(?i)(?:may|might) have exceeded .{0,20}(?:pod|container) memory limits?",
        Confidence.MEDIUM,
    ),
    Recognizer(
        "shared memory",
        _C.HOST_OOM,
        _W.REASON,
        _words("insufficient shared memory|out of shared memory|by signal: bus"),
        r"insufficient shared memory|out of shared memory|[Kk]illed by signal: Bus error",
    ),
    Recognizer(
        "host memory",
        _C.HOST_OOM,
        _W.REASON,
        _words(
            "kill process|killed process|oom-kill|oom_kill|oomkilled|oom kill|cgroup out of memory|memoryerror"
            "|allocate memory|bad_alloc|nrt_fail_host_mem|memory pressure|outofmemoryerror|memory usage threshold"
            "|by signal: killed|exceeded memory limit|exceeded job memory limit"
            "|defaultcpuallocator|running out of memory|out of memory allocating"
        ),
        (
            r"(?i:out of memory: kill|(?<!invoked )oom[-_ ]?kill)|Memory cgroup out of memory|\bMemoryError\b"
            r"|Cannot allocate memory"
            r"|can't allocate memory|bad_alloc|NRT_FAIL_HOST_MEM_ALLOC|memory pressure|(?<!CUDA)OutOfMemoryError"
            r"|[Kk]illed by signal: Killed|[Ee]xceeded (?:job )?memory limit|_ArrayMemoryError"
            r"|\bout of memory allocating \d+ bytes"
            r"|DefaultCPUAllocator: (?:not enough|can't allocate) memory"
            r"|exceeds the memory usage threshold|killing .{1,200} to avoid running out of memory"
        ),
    ),
    Recognizer(
        "node short of memory",
        _C.HOST_OOM,
        _W.REASON,
        _words("low on resource: memory"),
        r"low on resource: memory",
        any_level=True,
    ),
    Recognizer(
        "pod evicted",
        _C.INTERRUPTED,
        _W.REASON,
        _words("node was low on resource|evicted"),
        r"[Nn]ode was low on resource|\bEvicted\b.{0,80}\b(?:kubelet|taint)|\b[Rr]eason:\s{1,20}\w*Evicted\b",
        any_level=True,
    ),
    Recognizer(
        "image cannot be pulled",
        _C.NETWORK,
        _W.REASON,
        _words(
            "failed to pull image|cannot pull the container image|pulling image|errimagepull|imagepullbackoff"
            "|pull access denied|manifest unknown"
        ),
        (
            r"[Ff]ailed to pull image|[Cc]annot pull the container image|\b(?:ErrImagePull|ImagePullBackOff)\b"
            r"|pull access denied|manifest unknown"
        ),
        any_level=True,
    ),
    Recognizer(
        "disk full",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words("no space left|quota exceeded|read-only file system|ephemeral local storage"),
        r"No space left on device|[Dd]isk quota exceeded|Read-only file system|local storage usage exceeds",
    ),
    Recognizer(
        "a volume cannot be mounted",
        _C.TOOL_ERROR,
        _W.REASON,
        _words("mountvolume.|attach or mount volumes|attachvolume.|unable to mount volumes|volumes to attach"),
        (
            r"\b(?:Mount|Attach)Volume\.\w+ failed for volume|Unable to (?:attach or )?mount volumes"
            r"|waiting for volumes to attach"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "the API of Kubernetes refuses",
        _C.TOOL_ERROR,
        _W.MESSAGE,
        _words("error from server"),
        r"^Error from server(?: \(\w{1,60}\))?: \S",
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a probe of Kubernetes ends a container",
        _C.INTERRUPTED,
        _W.STATEMENT,
        _words("ness probe, will be restarted|startup probe, will be restarted"),
        r"failed (?:liveness|startup) probe, will be restarted",
        any_level=True,
        doubt=Doubt.SOME,
    ),
    Recognizer(
        "an image's import failed",
        _C.TOOL_ERROR,
        _W.DEATH,
        _words(
            "child |failed to import docker|container start failed|couldn't start container|contents of log file"
            "|enroot log file|plugin spank_|spank plugin stack|spank_task_init"
        ),
        (
            r"^(?:child \d+ failed with error code|failed to import docker image|container start failed with"
            r"|couldn't start container|printing (?:contents of|enroot) log file|spank: required plugin spank_"
            r"|spank_task_init\w* failed|Failed to invoke spank plugin stack)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a container does not start",
        _C.TOOL_ERROR,
        _W.REASON,
        _words(
            "oci runtime|exec format error|start container process|createcontainererror|runcontainererror"
            "|error response from daemon"
        ),
        (
            r"Error response from daemon: (?!.{0,200}(?i:no such container|is not running))\S|"
            r"(?i:oci runtime (?:create failed|error))|exec format error|unable to start container process"
            r"|\b(?:Create|Run)ContainerError\b"
        ),
        any_level=True,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "a file could not be read or written",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words(
            "input/output error|stale file handle|stale nfs|file write failed|streamwriter failed"
            "|endpoint is not connected"
        ),
        (
            r"\bInput/output error|[Ss]tale (?:NFS )?file handle|file write failed|PytorchStreamWriter failed writing"
            r"|Transport endpoint is not connected"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "a file is damaged",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words(
            "deserializing header|streamreader failed|unpicklingerror|badzipfile|ran out of input|badgzipfile"
            "|file signature not found"
        ),
        (
            r"Error while deserializing header|PytorchStreamReader failed|\bUnpicklingError: (?!Weights only)"
            r"|\bBad(?:Zip|Gzip)File\b|\bEOFError: Ran out of input|file signature not found"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "too many open files",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words("too many open files|open shared memory object|can't start new thread|pthread_create failed"),
        (
            r"[Tt]oo many open files|unable to open shared memory object|can't start new thread"
            r"|pthread_create failed"
        ),
    ),
    Recognizer(
        "no permission",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words("permissionerror: |execve(): "),
        r"\bPermissionError: |\bexecve\(\): .{1,300}: Permission denied",
    ),
    Recognizer(
        "no such file",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words("filenotfounderror: |can't open file '|notadirectoryerror: "),
        (
            r"\bFileNotFoundError: (?!.{0,200}No such file or directory: ['\"](?:\S*/)?(?:neuronx?-\w"
            r"|libneuronpjrt-path))|\bcan't open file '.{1,400}No such file|\bNotADirectoryError: "
        ),
    ),
    Recognizer(
        "a script's syntax",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words(": syntax error"),
        r": line \d+: syntax error\b|^(?:\S{0,200}/)?(?:sh|bash|dash): \d+: Syntax error: ",
        Confidence.HIGH,
    ),
    Recognizer(
        "the shell cannot run something",
        _C.SCRIPT_ERROR,
        _W.MESSAGE,
        _words(
            "no such file or directory|: permission denied|: is a directory|: not a directory|bad interpreter"
            "|cannot execute"
        ),
        (
            r"^(?:\S{1,300}: line \d+|(?:\([^)]{1,80}\) )?-?(?:ba|da|z)?sh): .{1,400}: "
            r"(?:No such file or directory|Permission denied|Is a directory"
            r"|Not a directory|bad interpreter: .{1,200}|cannot execute.{0,80})$"
        ),
        Confidence.MEDIUM,
        doubt=Doubt.MUCH,
    ),
    Recognizer(
        "numbers overflow",
        _C.SCRIPT_ERROR,
        _W.STATEMENT,
        _words("loss scale|floatingpointerror|loss is nan|loss is inf|gradients are nan"),
        (
            r"(?i:loss scale (?:is )?(?:already )?(?:at minimum|reached)|minimum loss scale reached)"
            r"|\bFloatingPointError: |(?i:loss is (?:nan|inf)\w*,? (?:stopping|aborting|exiting|training))"
        ),
    ),
    # --- dependencies ------------------------------------------------------------------------------------------------
    Recognizer(
        "missing dependency",
        _C.MISSING_DEPENDENCY,
        _W.STATEMENT,
        _words(
            "is not a supported wheel|following module(s)|locate a modulefile|environmentnamenotfound"
            "|environmentlocationnotfound"
            "|no module named|cannot import name|shared object file|undefined symbol|command not found|: not found"
            "|modulenotfounderror|importerror|packagenotfounderror|distributionnotfound|no matching distribution"
            "|satisfies the requirement|is not installed|executable file not found|libneuronpjrt"
            "|no such file or directory: 'neuron|glibc|libxml2|unable to locate package|no package |execve(): "
            "|-cc is installed|module compiled against|compiled using numpy"
        ),
        (
            r"is not a supported wheel\b|following module\(s\) (?:are unknown|cannot be loaded)"
            r"|[Uu]nable to locate a modulefile"
            r"|\bEnvironment(?:Name|Location)NotFound\b"
            r"|\bNo module named\b|cannot import name|Unable to locate package|^No package \S+ available"
            r"|cannot open shared object file"
            r"|undefined symbol|command not found"
            r"|\b(?:sh|bash|dash|zsh|exec): .{0,60}: not found|ModuleNotFoundError|ImportError|PackageNotFoundError"
            r"|DistributionNotFound|No matching distribution found|satisfies the requirement|executable file not found"
            r"|(?:is|are) not installed\b|No such file or directory: ['\"](?:\S*/)?(?:neuronx?-\w+"
            r"|libneuronpjrt-path)['\"]"
            r"|[Mm]odule compiled against A[BP]I version|compiled using NumPy \d"
            r"|version `GLIBC|\bexecve\(\): .{1,300}: No such file or directory|check that neuronx?-cc is installed"
            r"|(?:missing|not find|requires?|install) .{0,30}lib(?:xml2|neuron\w*|nrt|fabric)\b"
        ),
    ),
    Recognizer(
        "a lazy import failed",
        _C.MISSING_DEPENDENCY,
        _W.DEATH,
        _words("because of the following error"),
        r"Failed to import \S{1,200} because of the following error",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    # --- usage -------------------------------------------------------------------------------------------------------
    Recognizer(
        "wrong arguments",
        _C.BAD_USAGE,
        _W.STATEMENT,
        _words(
            "unrecognized arguments|arguments are required|invalid choice|expected one argument|no such option"
            "|unknown flag|unknown option|invalid value for|expected at least one argument|unknown argument"
            "|unknown command|not allowed with argument|is not a valid option|unrecognized option"
            "|flag provided but|unexpected keyword argument '-|: unbound variable|.py: error: |argument -|argument {"
            "|invalid int value|invalid float value|one of the arguments|ambiguous option|missing option"
            "|missing argument|missing parameter|missing command|unexpected extra argument|flags parsing error"
            "|unknown command line flag|could not consume arg"
        ),
        (
            r"(?i)unrecognized (?:arguments|option)|arguments are required|invalid choice|expected (?:one"
            r"|at least one) argument"
            r"|no such option|unknown (?:flag|option|argument|command)s?\b|invalid value for|not allowed with argument"
            r"|is not a valid option|flag provided but not defined|: line \d+: \w+: unbound variable$"
            r"|^[\w./-]{1,200}\.py(?: [\w-]{1,40})?: error: \S|^argument [-{]\S{0,200}?: \S"
            r"|invalid (?:int|float) value: '|one of the arguments .{1,300} is required|ambiguous option: "
            r"|flags parsing error:|unknown command line flag"
            r"|\bmissing (?:option|argument|parameter|command)(?: ['\"]|\.)|unexpected extra arguments? \("
            r"|could not consume arg"
        ),
    ),
    Recognizer(
        "Hydra finds no such choice",
        _C.BAD_USAGE,
        _W.STATEMENT,
        _words("could not find '|could not load '|could not override '|primary config"),
        (
            r"^(?:In '[^']{1,200}': )?Could not (?:find|load|override) '[^']{1,300}'"
            r"|Primary config (?:module|directory) (?:'[^']{1,200}' )?not found"
        ),
        Confidence.MEDIUM,
    ),
    Recognizer(
        "versions do not match",
        _C.BAD_USAGE,
        _W.STATEMENT,
        _words(
            "incompatible|version mismatch|mismatched|not compatible with|requires torch"
            "|is required but found|unsupported version"
        ),
        (
            r"(?i)^(?!.{1,200}, but you have )(?:.*?)(?:version mismatch|mismatched .{0,40}version"
            r"|incompatible .{0,40}version|versions? .{0,60}(?:incompatible|not compatible)"
            r"|is required but found|requires torch|unsupported version)"
        ),
        Confidence.MEDIUM,
    ),
    # --- network -----------------------------------------------------------------------------------------------------
    Recognizer(
        "peer closed the connection",
        _C.COLLECTIVE,
        _W.CASCADE,
        _words(
            "closed by peer|reset by peer|by remote peer|broken pipe|brokenpipe|to pass monitoredbarrier"
            "|for send/recv from rank"
        ),
        (
            r"(?i)connection (?:closed|reset) by (?:remote )?peer|broken ?pipe|failed to pass monitoredBarrier"
            r"|errors while waiting for send/recv from rank"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "no access",
        _C.NETWORK,
        _W.STATEMENT,
        _words(
            "gated repo|gatedrepo|401 client error|403 client error|access denied|accessdenied|expiredtoken"
            "|unable to locate credentials|nocredentials|unrecognizedclientexception|invalidclienttokenid"
            "|signaturedoesnotmatch|invalidaccesskeyid|(forbidden)|(403)|401 unauthorized|403 forbidden"
        ),
        (
            r"(?i:gated ?repo)|\b40[13] Client Error"
            r"|(?i:code|status|returned|error)\W{1,3}40[13] (?:Unauthorized|Forbidden)"
            r"|AccessDenied|ExpiredToken|(?i:unable to locate credentials)"
            r"|NoCredentials|An error occurred \((?:403|Forbidden|UnrecognizedClientException|InvalidClientTokenId"
            r"|SignatureDoesNotMatch|InvalidAccessKeyId)\) when calling"
        ),
    ),
    Recognizer(
        "mpirun cannot start its daemons",
        _C.TOOL_ERROR,
        _W.STATEMENT,
        _words("start one or more daemons|start a daemon on|orte daemon|orte_init failed"),
        (
            r"unable to reliably start one or more daemons|Unable to start a daemon on|ORTE daemon has unexpectedly"
            r" failed|orte_init failed"
        ),
        Confidence.MEDIUM,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "network",
        _C.NETWORK,
        _W.STATEMENT,
        _words(
            "dial tcp|i/o timeout|connection refused|econnrefused|name resolution|name or service"
            "|could not resolve|max retries exceeded|network is unreachable|no route to host|tls handshake"
            "|certificate|endpointconnection|endpoint url|read timed out|connecttimeout|readtimeout"
            "|connectionerror|connection timed out|connection aborted|server error|client error|deadline exceeded"
            "|couldn't connect|failed to connect|no such host|httperror|urlerror|gaierror|connection was closed"
            "|aws_error_|aws_io_|commerror: |initialization has timed out"
            "|cannot reach http|remotedisconnected|serverdisconnected|incompleteread|proxyerror|sslerror"
            "|toomanyrequests|slowdown|repositorynotfound|localentrynotfound|connection timeout|) when calling the"
            "|inactiverpcerror|() timed out"
        ),
        (
            r"dial tcp|i/o timeout|(?i:connection refused)|ECONNREFUSED|(?i:failure in name resolution"
            r"|name or service not known)"
            r"|(?i:could not resolve host)|Max retries exceeded|Network is unreachable|(?i:no route to host)"
            r"|TLS handshake"
            r"|CERTIFICATE_VERIFY_FAILED|certificate (?:has expired|verify failed|signed by unknown)"
            r"|EndpointConnectionError"
            r"|(?i:read timed out|connect ?timeout|readtimeout)|\bConnectionError\b|(?i:connection timed? ?out)"
            r"|Connection aborted"
            r"|\b[45]\d\d (?:Server|Client) Error|(?i:context deadline exceeded)|(?i:couldn't connect|(?:failed"
            r"|unable) to connect)"
            r"|\bAWS_(?:ERROR|IO)_[A-Z_]+|\bCommError: |Run initialization has timed out"
            r"|Cannot reach https?://|Connection was closed before|\b(?:RemoteDisconnected|ServerDisconnectedError"
            r"|IncompleteRead|ProxyError|SSLError)\b|no such host|\bHTTPError\b|\bURLError\b|\bgaierror\b"
            r"|\b(?:connect|accept|recv|send|read|poll)\(\) timed out"
            r"|TooManyRequests|SlowDown|An error occurred \((?:[45]\d\d|NoSuchBucket|NoSuchKey"
            r"|InternalError|ServiceUnavailable|Throttling\w*|RequestLimitExceeded|RequestTimeTooSkewed)\) when calling"
            r"|RepositoryNotFound|_InactiveRpcError\b"
            r"|LocalEntryNotFound"
        ),
    ),
    # --- stopped from outside ----------------------------------------------------------------------------------------
    Recognizer(
        "stopped",
        _C.INTERRUPTED,
        _W.STATEMENT,
        _words(
            "keyboardinterrupt|sigterm|sigint|sighup|signal 15|signal 2|signal 1 |raising signal|specified deadline"
            "|time limit|cancelled at"
            "|canceled at|preempt|spot instance|spot training|signalexception|exitcode: -15|exitcode  : -15"
            "|exit code 143|exit code 130|code: 143|code: 130|code: -15|code: -2|status 143|status 130"
            "|stopping job|terminated by user"
            "|interrupted by user|evicted|maxruntimeexceeded|terminated|status=15/term|status=2/int"
        ),
        (
            r"\bKeyboardInterrupt\b|(?i:(?:received|got|caught|by|with|on"
            r"|death)\W{1,3}(?:signal\W{0,3})?(?:\d+\W{0,3})?SIG(?:TERM|INT|HUP)\b)"
            r"|\bSIG(?:TERM|INT|HUP) received\b|Raising signal (?:1|2|15)\b"
            r"|Signal (?:1|2|15) \(SIG|SignalException|DUE TO (?:TIME LIMIT|PREEMPTION)"
            r"|(?<!STEP)(?: \S{1,40} ON \S{1,80}) CANCELL?ED AT"
            r"|exitcode\s*: -(?:15|2|1)\b|exit(?:ed with)?(?: status| code):? (?:143|130|-15|-2)\b"
            r"|(?i:preempted(?!/|,? or\b| node, etc)|spot (?:instance )?interruption|spot training interrupted"
            r"|terminated by user|interrupted by user|pod was evicted)"
            r"|MaxRuntimeExceeded|active longer than specified deadline"
            r"|^(?:\S{1,80}: line \d+: +\d+ )?Terminated(?:$|\s{2,})"
            r"|code=killed, status=(?:15/TERM|2/INT)"
        ),
    ),
)
CASCADES: tuple[Recognizer, ...] = (
    Recognizer(
        "failure that another task states",
        _C.RUNTIME_EXEC,
        _W.CASCADE,
        _words("from /job:localservice"),
        r"From /job:localservice/\S{1,80}:\s*$",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "Slurm stops the other tasks of a step",
        _C.INTERRUPTED,
        _W.CASCADE,
        _words("cancelled at|: terminated"),
        r"\bSTEP \S{1,40} ON \S{1,80} CANCELLED AT|\btasks? [\d,-]{1,80}: Terminated",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "another worker ended",
        _C.COLLECTIVE,
        _W.CASCADE,
        _words("on one of the rank|another task died|from this or another task|shut down too early|[c10d] "),
        (
            r"(?i)caused by an exception on one of the ranks?|most likely indicates that another task died"
            r"|an error from this or another task|TCPStore server has shut down too early"
            r"|\[c10d\] (?:send|recv)\w* failed on SocketImpl.{0,400}(?:broken pipe|connection reset)"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        STOPS_WORKERS,
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words("closing signal|forcefully exiting via"),
        r"closing signal SIG|forcefully exiting via Signals\.SIG",
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "launcher's report",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words(
            "childfailederror|local_rank:|first observed failure|to enable traceback|error_file"
            "|exit barrier"
            "|exitcode  :|exitcode :|failures:"
        ),
        (
            r"ChildFailedError|failed \(exitcode: \d+\) local_rank|first observed failure"
            r"|exitcode\s*: [1-9]\d* \(pid|waiting on exit barrier"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "a container ends again and again",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words("crashloopbackoff|restarting failed container| exited with code |specified backoff limit"),
        (
            r"\bCrashLoopBackOff\b|[Bb]ack-off (?:\S{1,20} )?restarting failed container"
            r"|^Pod: \S{1,200} exited with code [1-9]|has reached the specified backoff limit"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "what Hydra prints around an error",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words("error executing job with overrides|hydra_full_error=1"),
        r"^Error executing job with overrides: \[|^Set the environment variable HYDRA_FULL_ERROR=1",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a worker failed, in its parent's words",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words("failed|died|crashed"),
        (
            r"^(?:[\w.-]{1,60}: ){0,2}(?i:worker|rank|shard|task|replica|trial|process|node|actor|child|job)s? "
            r"\S{0,40} ?(?:has |have )?(?:failed|died|crashed)(?: to start| unexpectedly)?[.!]?$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "engine died",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words(
            "enginecore failed|enginecore encountered|enginecore died|enginecore_dp0 died|enginecoreproc"
            "|enginecore hit|engine core|enginedead|engine process|worker proc|workerproc|engine loop"
            "|root cause above|rayactorerror|actordied|actor died|workercrashed|raytaskerror|engine is dead"
            "|failed to start workers|worker died|executeuserscript|algorithmerror|training job failed"
            "|shardcannotstart|shardfailed|webserverfailed"
        ),
        (
            r"(?i)enginecore\w* (?:\w+ )?(?:fail|died|hit an|encountered)|engine core .{0,30}(?:fail|died)"
            r"|EngineDeadError"
            r"|engine process .{0,30}(?:fail|died)|worker ?proc\w*\b.{0,60}(?:fail|died|unexpectedly)"
            r"|see root cause above"
            r"|RayActorError|ActorDied|actor died|WorkerCrashed|engine is dead|failed to start workers|worker died"
            r"|ExecuteUserScriptError|AlgorithmError|training job failed"
            r"|\b(?:ShardCannotStart|ShardFailed|WebserverFailed)\b"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
        True,
    ),
    Recognizer(
        "exit status",
        _C.SCRIPT_ERROR,
        _W.CASCADE,
        _words(
            "exit code|exit status|exitcode|exited with|exits with|non-zero|systemexit|*** [|completed with exit"
            "|back-off restarting|main process exited|failed with result|mpi_abort was"
        ),
        (
            r"(?i)exit(?:ed|s)?(?: with)?(?: a)? (?:return )?(?:code|status)\W{0,4}(?:code )?[1-9]\d*"
            r"|non-?zero (?:exit )?(?:status|code)|SystemExit: [1-9]"
            r"|make(?:\[\d+\])?: \*\*\* .{0,200}Error \d|back-off restarting failed"
            r"|main process exited, code=exited, status=[1-9]|: failed with result '|MPI_ABORT was invoked"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
"""What only follows from something else; tried after all other knowledge."""
DEATHS: tuple[Recognizer, ...] = (
    Recognizer(
        ENDED_BELOW,
        _C.SCRIPT_ERROR,
        _W.DEATH,
        _words("job entrypoint command failed"),
        r"Job entrypoint command failed with exit code",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "killed",
        _C.HOST_OOM,
        _W.STATEMENT,
        _words(
            "killed|sigkill|signal 9|exitcode: -9|exitcode  : -9|code 137|code -9|status 137|status -9|exitcode=-9"
            "|code: 137|status=9/kill|code = -9|code: -9|code=-9|returncode -9"
        ),
        (
            r"^(?:.{0,120}?: line \d+: *\d+ )?Killed\b(?!.{0,40}process)|\bSIGKILL\b|[Ss]ignal 9\b|exitcode\W{1,4}-9\b"
            r"|(?i:(?:exit(?:ed with)?(?: status| code)|return ?code)\W{1,3}(?:137|-9)\b)|(?i:was killed\b)"
            r"|status=9/KILL"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a node was lost",
        _C.INTERRUPTED,
        _W.DEATH,
        _words("marked dead|heartbeat timeout|due to node fail"),
        (
            r"\bnode\b.{0,200} has been marked dead because|\b[Tt]ask \S{1,100} heartbeat timeout"
            r"|DUE TO NODE FAIL"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a worker process died",
        _C.SCRIPT_ERROR,
        _W.DEATH,
        _words("abruptly died|terminated abruptly|exited unexpectedly"),
        (
            r"subprocess\w* (?:has |have )?abruptly died|process pool was terminated abruptly"
            r"|worker .{0,60}exited unexpectedly$"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "a Go program crashed",
        _C.TOOL_ERROR,
        _W.DEATH,
        _words("panic: runtime error|http: panic serving"),
        r"panic: runtime error|http: panic serving",
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
    Recognizer(
        "crashed",
        _C.SCRIPT_ERROR,
        _W.DEATH,
        _words(
            "segmentation fault|sigsegv|sigabrt|sigbus|core dumped|aborted|fatal python error|terminate called"
            "|exitcode: -|exitcode  : -|code 139|code 134|code: 139|code: 134|code -11|code -6"
            "|code = -|code: -|code=-|returncode -"
            "|status 139|status 134|free():|double free|malloc|signal 11|signal 4|signal 6|signal 7|signal 8|bus error"
            "|illegal instruction|stack trace|invalid pointer"
        ),
        (
            r"[Ss]egmentation fault|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b|[Cc]ore dumped|^Aborted|Fatal Python error"
            r"|terminate called|exitcode\W{1,4}-(?:6|7|8|11|4)\b|(?i:exit(?:ed with)?(?: status"
            r"| code)\W{1,3}(?:13[4569]|-6|-11)\b)|(?i:return ?code\W{1,3}-(?:4|6|7|8|11)\b)"
            r"|free\(\): |double free|malloc\(\): |free invalid pointer|[Ss]ignal (?:11|[4678])\b|Bus error"
            r"|Illegal instruction"
        ),
        Confidence.LOW,
        ReasonGiven.MISSING,
    ),
)
"""How processes end by a signal: tried when no row above knows the line."""

TERMINAL = frozenset(
    {
        STOPS_WORKERS,
        "launcher's report",
        "engine died",
        "exit status",
        "compiler ended with a status",
        "stopped",
        "killed",
        "crashed",
        "a Go program crashed",
    }
)
"""Rows whose lines show that a process has ended."""

_ALL = (*ROWS, *DEATHS, *CASCADES)
WORDS: tuple[bytes, ...] = tuple(dict.fromkeys(word for row in _ALL for word in row.words if word != b"["))
_OWNERS: dict[str, list[int]] = {}
for _number, _row in enumerate(_ALL):
    for _word in _row.words:
        _OWNERS.setdefault(_word.decode(), []).append(_number)
_SEARCH = ahocorasick_rs.AhoCorasick(list(_OWNERS), implementation=ahocorasick_rs.Implementation.ContiguousNFA)
"""For single statements; made in an eighth of the time that the fastest kind takes."""
_NUMBERS = list(_OWNERS.values())


def recognize(statement: Statement) -> Recognizer | None:
    """The first row that knows this statement."""
    matches = _SEARCH.find_matches_as_indexes(statement.text.lower(), overlapping=True)
    if not matches:
        return None
    quiet = statement.level.is_mild
    for number in sorted({row for index, _, _ in matches for row in _NUMBERS[index]}):
        row = _ALL[number]
        if (row.any_level or not quiet) and row.matches(statement.text):
            return row
    return None
