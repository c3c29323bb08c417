"""Recognizes headings of a reason, and what the lines below them are to them; `headings` follows these lines."""

from __future__ import annotations

from neuron_top.diagnose.no_failures import NOISE
from neuron_top.diagnose.recognizers import HTCONDOR_STOPPED, HTCONDORS_EVENT, Weight
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.late_pattern import late_pattern

_CONDITION = late_pattern(
    r"(?:what\(\): {1,4}|(?:\w{1,80}\.){0,9}\w{0,80}(?:Error|Exception): )?(?:[A-Z][A-Z\d]{0,20}_)?"
    r"(?:FATAL|THROW|ASSERT|CHECK|ENFORCE|REQUIRE|VERIFY)(?:_\w{1,20})? (?:@|at) \S{1,300}"
    r"\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hip|inl):\d{1,7}: .{1,300}$"
)
"""How C++ macros name a source location and the condition that does not hold there; the reason stands below."""
_VALIDATION = late_pattern(r"(?:\w{1,80}\.){0,9}ValidationError: \d{1,4} validation errors? for \S{1,200}$")
"""How pydantic names a model; the field and the reason stand below."""
_FIELD = late_pattern(r"[A-Za-z_][\w.\[\]-]{0,100}$")
_REASONS_LABEL = late_pattern(
    r"(?i)(?:info|message|reason|details?):$|(?:\+\+\+ )?error$|\([\w./-]{1,200}\.(?:cc|cpp|cxx|c|h|hpp):\d{1,7}\) \S"
    r"|fatal (?:called from|in) file: .{1,200} line: *\d{1,7}$"
)
_BANNER = late_pattern(r"(?:what\(\): {1,4})?([-=*#~])\1{1,79} {0,3}[^\s=*#~-].{0,200}?[^\s=*#~-] {0,3}\1{2,80}$")
"""Words between two rules on one line."""
_NAMES_REASON = late_pattern(r"(?i)(?:reason|cause|message|details?|error): {0,4}\S+ \S")
_GRAPH_FAILED = late_pattern(r"(?:\w{1,80}\.){0,9}\w{1,80}: Graph execution error:$")
"""How TensorFlow heads what an operation of a graph has said."""
_SOURCE_FAILED = late_pattern(r"(?:\w{1,80}\.){0,9}CompilationError: at \d{1,6}:\d{1,6}:$")
"""How Triton names the place in a kernel; the kernel's source follows up to there, a mark, and then the reason."""
_OPERATION = late_pattern(
    r"(?:Detected at node\b|Node: '|<stack traces unavailable>|\d+ root error\(s\) found|File \")"
)
"""What it says below of the operation: its name, and the stack that made it."""
_HEADS_REASON = late_pattern(
    r"(?i)(?=.{3,100}:$)(?:[\w.'\"()*!-]+ +){0,8}?[\w.*!-]{0,20}(?:error|exception|failure|failed|fatal)\w*"
    r"(?: +[\w.'\"()*!-]+){0,8} ?:$"
    r"|Error in .{1,400} :$"
)
"""`Fatal error:`, `Error in routine read (1):`, `The following error occurred:`; R names the call that failed."""
BARE_HEADING = late_pattern(
    r"(?i)(?:(?:fatal|internal|unexpected|run-?time|critical|unknown|system i/o|file input/output"
    r"|software inconsistency|parallel consistency) )?(?:error|exception): *$|(?:error|inconsistency) in user input: *$"
    r"|\w{1,40}(?:Error|Exception) in file .{1,300}, line \d{1,7}:$"
    r"|\* What went wrong:$|what\(\):$|-{3,} FATAL CALLED -{3,}$|HDF5-DIAG: Error detected in .{1,80}:$"
    r"|(?:Runtime|Database|Compilation|Parsing|Dependency) Error in \w{1,20} \S{1,200} \(\S{1,300}\)$"
    r"|Failure in test \S{1,200} \(\S{1,300}\)$"
    r"|(?:\[\d{1,6}\] )?--> FOAM FATAL (?:IO )?ERROR:(?: \(.{1,80}\))?$|\{?Error using \S{1,200}(?: \(line \d{1,7}\))?$"
)
"""Also of a C++ exception whose words begin on the next line, of Gradle, of dbt, of OpenFOAM, of MATLAB, of HDF5, and
of climate models in Fortran (WRF, RegCM), which name the place before the reason."""
_CMAKES = late_pattern(r"CMake Error(?: at \S{1,300}:\d{1,7} \(\w{1,60}\))?:$")
_COMPILER = late_pattern(r"The \S{1,10} compiler")
_NOTHING = late_pattern(
    r"(?i)\W*(?:none|no errors?|n/?a|null)\W*$"
    r"|(?:[\w.-]{1,40}(?: \w{1,20})? ?[:=] ?)?[-+]?\d[\d.,]*(?:e[-+]?\d+)?\s?%?$"
)
"""A line below a heading that shows that nothing failed: `none`, or a number."""
_SAYS_NO_REASON = late_pattern(r"File \"|at \S+\(|Traceback|[-=*#%+~]{3}|\{")
"""A line below a heading that states no reason: a frame, a rule."""


def heads_reason(statement: Statement, verdict: CauseVerdict) -> bool:
    """Whether an unknown line is only the heading of what stands on the next one."""
    if verdict.row is not None:
        return verdict.row.name in (HTCONDORS_EVENT, HTCONDOR_STOPPED) and "evicted" not in statement.text
    if _CMAKES.match(statement.text) or BARE_HEADING.match(statement.text):
        return True
    return verdict.weight is Weight.CASCADE and _HEADS_REASON.match(statement.text) is not None


def is_banner(text: str) -> bool:
    """Whether a line only has words between two rules, below which a reason may be named."""
    return _BANNER.match(text) is not None


def names_reason(text: str) -> bool:
    """Whether a line below a banner names the reason behind a label."""
    return _NAMES_REASON.match(text) is not None


def heads_graphs_words(text: str) -> bool:
    """Whether an exception of TensorFlow's only heads what an operation of a graph has said."""
    return _GRAPH_FAILED.match(text) is not None


def heads_source(text: str) -> bool:
    """Whether an exception of Triton's only heads a kernel's source, below which it says what is wrong there."""
    return _SOURCE_FAILED.match(text) is not None


def names_operation(text: str) -> bool:
    """Whether a line below it says which operation failed, or where that was made."""
    return _OPERATION.match(text) is not None


def leaves_reason(text: str) -> bool:
    """Whether an exception only names a source location and a condition, or a model; the reason then stands below."""
    return _CONDITION.match(text) is not None or _VALIDATION.match(text) is not None


def labels_reason(text: str, heading: str) -> bool:
    """Whether a line below `heading` only announces the reason on the next one, or names the field that it is about."""
    is_field = _VALIDATION.match(heading) is not None and _FIELD.match(text) is not None
    return is_field or _REASONS_LABEL.match(text) is not None


def states_reason(statement: Statement) -> bool:
    """Whether a line below such a heading, which is no failure by itself, states the reason."""
    text = statement.text
    is_other = statement.level.is_mild or _SAYS_NO_REASON.match(text) or NOISE.search(text)
    return len(text.split()) > 1 and not is_other


def names_compiler(text: str) -> bool:
    """Whether a line below CMake's heading only names the compiler that it cannot use: what that said comes below."""
    return _COMPILER.fullmatch(text) is not None


def states_nothing(statement: Statement) -> bool:
    """Whether a line below such a heading shows that nothing failed."""
    return _NOTHING.match(statement.text) is not None
