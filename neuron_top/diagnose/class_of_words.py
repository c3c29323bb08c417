"""Guesses the class of a failure that no row of the table knows, by what its words are about.

Such a failure counts as the program's own. But whoever wrote "could not find a ROCm installation" or "the server closed
the connection" has said what kind of failure it is, in words that thousands of programs share.
"""

from __future__ import annotations

import re

from neuron_top.diagnose.advice import ERROR_LINE, LAST_LINE
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.diagnosis import CauseClass
from neuron_top.late_pattern import late_pattern

_PROGRAMS_OWN = late_pattern(
    r"(?:\w+\.)*(?:(?:Type|Value|Key|Index|Lookup|Attribute|Name|UnboundLocal|Assertion|NotImplemented|Recursion"
    r"|Arithmetic|ZeroDivision|Overflow|FloatingPoint|Unicode\w*|Syntax|Indentation|JSONDecode)Error|Exception)(?::|$)"
)
"""Python's exceptions for a mistake in a program, whatever their message is about."""
_DEVICE = r"(?:device|gpu|tpu|npu|ipu|accelerator)"
_FAILS = r"\b(?:fail\w*|error)\b"
_CANNOT = r"\b(?:cannot|can't|could not|couldn't|unable to|failed to)"
_BROKE_OFF = r"\b(?:closed|reset|refused|lost|aborted|unreachable|timed? ?out)\b"


def _about(*words: str) -> re.Pattern[str]:
    return late_pattern("|".join(words), re.IGNORECASE)


_BY_WORDS: tuple[tuple[CauseClass, re.Pattern[str]], ...] = (
    (
        CauseClass.INTERRUPTED,
        _about(
            r"\b(?:cancell?ed|aborted|interrupted|stopped|terminated) by (?:the )?(?:user|operator|admin\w*|request)\b"
        ),
    ),
    (
        CauseClass.RUNTIME_OOM,
        _about(
            rf"\b(?:out of|insufficient|not enough|no more) (?:\w+ )?(?:{_DEVICE}|hbm|vram|on-chip) memory\b",
            r"memory_allocation_err",
            r"\bfailed to allocate \d+ bytes\b",
            rf"\b(?:cuda|hip|acl|rt)\w{{0,12}}malloc\w*\b.{{0,40}}{_FAILS}",
        ),
    ),
    (
        CauseClass.HOST_OOM,
        _about(
            r"\b(?:out of|insufficient|not enough|cannot allocate) (?:(?:host|system|virtual|shared) )?memory\b",
            r"\bpaging file is too small\b",
        ),
    ),
    (
        CauseClass.COLLECTIVE,
        _about(
            r"\b(?:nccl|rccl|hccl|oneccl|gloo|ucx|libfabric|infiniband|ibv_\w+|rdma|all_?reduce|all_?gather"
            rf"|reduce_?scatter|rendezvous|communicator)\b.{{0,80}}(?:{_FAILS}|{_BROKE_OFF})"
        ),
    ),
    (
        CauseClass.COMPILE_ERROR,
        _about(
            rf"\bcompil(?:ation|er|ing|e)\b(?!/).{{0,60}}(?:{_FAILS}|{_CANNOT})",
            r"\bfail\w* to (?:compile|legalize|lower|codegen)\b",
            r"\bfailed to build (?:the )?(?:engine|graph|kernel)",
            rf"\b(?:hlo|tensorizer|neuronx?-cc|libneuronxla|ptxas|nvcc|hipcc|tvm|iree)\b.{{0,80}}{_FAILS}",
            r"\bCould not open input file: |\bPassManager::run failed\b",
            r"['/](?:ptxas|cicc|nvcc|clang\S{0,9}|hipcc)' died with\b"
            r"|\bError building extension '",
            r"\b(?:mlir|llvm)\b|\bConverterError\b",
            r"\b(?:program|shader|kernel) build failed\b|\bld returned [1-9]\d{0,2} exit status\b",
        ),
    ),
    (
        CauseClass.MISSING_DEPENDENCY,
        _about(
            rf"{_CANNOT} (?:find|locate|load)\b.{{0,30}}(?<![\w/\\-])(?:installation|librar(?:y|ies)|toolkit|compiler"
            r"|plug-?in|executable|shared object|dll)\b",
            rf"{_CANNOT} find [\w.-]{{1,40}}-config\b|\blibrary \S{{1,100}} (?:is )?(?:not found|missing)\b",
            r"\blibdevice not found\b|\bCan't exec \".{1,200}\": No such file or directory\b"
            rf"|{_CANNOT} find (?:rocm|cuda|hip) \w",
            r"\bno such (?:module|library|command|program)\b",
            r"(?:^|[\s:])\S{0,200}/(?:ptxas|nvcc|hipcc|gcc|g\+\+|cc|ld|clang|cmake|ninja|make|python\d?) (?:was )?"
            r"not found\b",
        ),
    ),
    (
        CauseClass.RUNTIME_INIT,
        _about(
            rf"\bno \S{{1,40}} {_DEVICE}s? (?:was |were )?(?:found|available|detected)\b",
            rf"\b{_DEVICE} is (?:already in use|not available)\b",
            rf"{_CANNOT} (?:acquire|open|attach|init\w*)\b.{{0,40}}\b(?:{_DEVICE}|driver|runtime|cuda|rocm|hip)\b",
            r"\bcuDNN failed to initialize\b|\bset device \d{1,3} failed\b",
            r"\binstalled \w+ driver\b|\bdriver (?:is )?(?:too old|not found|not loaded)\b|\bcannot assign a device\b",
        ),
    ),
    (
        CauseClass.RUNTIME_EXEC,
        _about(
            r"\bNative API (?:failed|returns: -)",
            r"\bCUDA_ERROR_\w|\bhipError\w|\b(?:device|core) halted\b|\bGPU (?:hang|fault|reset)\b",
            r"\bXlaRuntimeError: (?:INTERNAL|UNIMPLEMENTED|UNKNOWN|ABORTED)\b|\bexecution of replica \d+ failed\b",
            rf"\b(?:nrt|neff|neuron runtime)\b.{{0,60}}{_FAILS}|\bkernel (?:launch|execution)\b.{{0,40}}{_FAILS}",
        ),
    ),
    (
        CauseClass.NETWORK,
        _about(
            rf"\b(?:remote end|connection|socket|server|host|request|download\w*)\b.{{0,60}}{_BROKE_OFF}",
            r"\bnodename nor servname provided\b|\bcannot retrieve repository metadata\b",
            r"\bUnknownHost|\bcould not resolve\b|\bfailed to (?:fetch|download)\b",
            r"\bauthentication (?:fail|error)|\bHTTP (?:error|status)\b|^(?:\w{1,40}: )?timed out\b",
            rf"\bhttps?://\S{{1,300}} .{{0,80}}(?:{_FAILS}|\bnot found\b|\bdenied\b|\bunavailable\b|\bforbidden\b)",
        ),
    ),
    (
        CauseClass.TOOL_ERROR,
        _about(
            r"\bquota\b",
            r"\bruntime[_ ]env(?:ironment)? setup failed\b|\bdocker (?:build|run|pull|push|context|compose|daemon)",
        ),
    ),
    (
        CauseClass.BAD_USAGE,
        _about(
            r"\b(?:use|specify|provide|pass|set) (?:the )?--?[a-z][\w-]+",
            r"\b(?:unrecognized|unknown|invalid|unsupported|illegal) (?:option|argument|flag|parameter|subcommand"
            r"|choice|value|dtype|data type|architecture|backend)s?\b",
            r"\bmust be one of\b|\bmutually exclusive\b|\bnot a valid (?:value|choice|option|argument)\b",
            r"\bversions?\b.{0,60}\b(?:mismatch\w*|incompatible|too old|too new)\b",
            r"\bincompatible\b.{0,40}\bversions?\b",
            r"^Loaded runtime \w+ library: \S.{0,80} but source was compiled with ",
        ),
    ),
)
"""In the order in which they are tried."""


def class_of(verdict: CauseVerdict, text: str) -> CauseClass:
    """The class of a failure with this verdict and these words: the verdict's own unless it is a mere default."""
    is_default = verdict.cause_class is CauseClass.SCRIPT_ERROR and verdict.row is None and verdict.exit_code is None
    if not is_default or verdict.advice not in ("", ERROR_LINE, LAST_LINE) or _PROGRAMS_OWN.match(text):
        return verdict.cause_class
    return next((named for named, words in _BY_WORDS if words.search(text)), verdict.cause_class)
