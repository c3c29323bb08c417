"""Judges exceptions by their form: how their names end, whose code raised them, which only announce another one."""

from __future__ import annotations

import re
from enum import Enum, auto

from neuron_top.diagnose.reasons_below import BARE_HEADING, leaves_reason
from neuron_top.diagnose.recognizers import OTHER_VERSION, Doubt, Weight, recognize
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import TOOL_NAME, CauseVerdict, by_row, consequence, without_reason
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.late_pattern import late_pattern

EXCEPTION = late_pattern(
    r"(?:E {2,80})?(?P<cause>Caused by: )?(?:<class ')?"
    r"(?P<type>(?:[A-Za-z_$][\w$]{0,80}\.){0,12}[A-Za-z_]\w{0,80})(?:'>)?(?:: (?P<text>.*)|:?\s*)$",
    re.DOTALL,
)
_NAMED = late_pattern(
    r"(?:Error|Exception|Interrupt|Exit|Timeout|TimedOut|Failure|Fault|Empty|Full|StopIteration|NotFound|Killed"
    r"|Exhausted|Denied|Abort(?:ed)?|Unavailable|Refused|Invalid\w*)$"
)
"""How the names of exceptions end."""
SURELY = late_pattern(r"(?:Error|Exception|Interrupt|SystemExit)$")
"""The same where no traceback stands before it."""
_NO_COMMAND = late_pattern(r"No such file or directory: ['\"][^/'\"]{1,200}['\"]$")
"""A command was not found: a name without a folder."""
_OF_A_MODULE = late_pattern(r"(?:partially initialized )?module '[\w.]{1,100}' has no attribute '")
_PROBES = frozenset({"KeyError", "StopIteration", "StopAsyncIteration", "Empty", "Full"})
"""Raised when a lookup finds nothing; an exception raised while one is handled explains more."""
_NO_FILE = late_pattern(r"\bHTTP Error 404\b")
"""How Python says that a server has no such file."""
_CALLED = r"CalledProcessError: Command '\['(?:\S{0,200}/)?"
"""How it begins to report that a program failed, up to the program's name."""
_BUILD_FAILED = late_pattern(rf"(?:subprocess\.)?{_CALLED}(?:ninja|cmake|make|gcc|g\+\+)'")
_COMPILER_FAILED = late_pattern(rf"{_CALLED}(?:ptxas|nvcc|hipcc|neuronx?-cc)'")
"""Of a build; of a compiler of kernels or graphs."""
_NO_MODULE = late_pattern(r"(?:ModuleNotFoundError|ImportError): No module named \S")
_WANTED_EXIT = late_pattern(r"SystemExit(?:: (?:0|None))?")
_DIED = late_pattern(r"CalledProcessError: Command .{1,5000} died with <Signals\.SIG(?:KILL|SEGV|ABRT|BUS|ILL|FPE)\b")
"""How Python reports that a program that it started was ended by a signal, other than those that ask it to end."""
_JAVA = late_pattern(r"(?:javax?|ai\.djl|org|com|io|scala)\.")
_CASCADING = frozenset(
    {"CalledProcessError", "ChildFailedError", "BrokenPipeError", "EngineDeadError", "AsyncEngineDeadError",
     "RayTaskError", "RayActorError", "WorkerCrashedError", "ActorDiedError", "ProcessRaisedException",
     "ProcessExitedException", "BrokenProcessPool", "RemoteError", "SystemExit", "ConnectionResetError", "EOFError",
     "RuntimeEnvSetupError", "ExecuteUserScriptError", "TrainingFailedError", "TuneError", "CheckpointException",
     "PythonException", "SimplifiedTraceback", "UnfilteredStackTrace", "CellExecutionError",
     "PapermillExecutionError", "DagsterExecutionStepExecutionError"}
)  # fmt: skip
_HEADS = late_pattern(
    r"^\d+ root error\(s\) found|.{0,400}\bThe details refer to '[^']{1,80}'|.{0,400}\b\d{1,4} errors? occurred:$"
)
"""Headings that TensorFlow prints above its numbered errors, MindSpore above those of its device, and Go programs above
those that they have collected."""
_REPRESENTATION = late_pattern(r"[A-Za-z_]\w{0,80}(?:Error|Exception)\(.{0,4000}\)", re.DOTALL)
"""How PyTorch's RPC prints an exception of another worker above its traceback."""
_RELAYED = late_pattern(r"Caught \w{1,80} in .{1,200}\.$")
"""How PyTorch raises in the parent what one of its processes or threads has raised; the original stands below."""


_BEGINNING = 12
"""Characters by which a second copy of an exception is found on its line."""
_SUMS_UP = late_pattern(
    r"(?:OSError|EnvironmentError): (?:We couldn't connect to '|There was a specific connection error when "
    r"|You are trying to access a gated repo|\S{1,200} is not a local folder and is not a valid model identifier)"
)
"""How transformers says which model or file it looked for, on the hub and in its cache."""
_REFUSAL = "MisconfigurationException"
"""How Lightning refuses what it was asked for."""


class RaisedIn(Enum):
    """Whose code raised an exception, by the last frame of its traceback."""

    PROGRAM = auto()
    COMPILER = auto()
    LIBRARY = auto()
    """An installed package."""
    SUBPROCESS = auto()
    """Python's standard library, where it starts another program."""


def raised_by(statement: Statement) -> re.Match[str] | None:
    """The exception at the end of a traceback, if this line is one."""
    found = EXCEPTION.match(statement.text)
    if found is None or (found["text"] is None and not _NAMED.search(found["type"])):
        return None
    return found if _NAMED.search(found["type"]) or found["type"].split(".")[-1][:1].isupper() else None


def exception(statement: Statement, raised: re.Match[str], raised_in: RaisedIn = RaisedIn.PROGRAM) -> CauseVerdict:
    """What an exception means: by its message, else its type or where it was raised, else it is the program's own."""
    name = raised["type"].split(".")[-1]
    if raised_in is RaisedIn.SUBPROCESS and name == "FileNotFoundError" and _NO_COMMAND.search(raised["text"] or ""):
        return CauseVerdict(CauseClass.MISSING_DEPENDENCY, Weight.STATEMENT, "", Confidence.HIGH)
    is_of_a_file = name == "EOFError" and bool(raised["text"])
    if (name in _CASCADING and not is_of_a_file) or name.endswith("CalledProcessError"):
        return _cascading(statement)
    if _HEADS.match(raised["text"] or "") or BARE_HEADING.match(statement.text):
        return consequence(CauseClass.SCRIPT_ERROR)
    row = recognize(statement)
    if row is not None:
        return by_row(row)
    if leaves_reason(statement.text):
        return without_reason()
    if raised_in is RaisedIn.LIBRARY and name == "AttributeError" and _OF_A_MODULE.match(raised["text"] or ""):
        return CauseVerdict(CauseClass.MISSING_DEPENDENCY, Weight.STATEMENT, OTHER_VERSION, Confidence.MEDIUM)
    if _JAVA.match(raised["type"]) and not raised["cause"]:
        return CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.MESSAGE, "", Confidence.LOW)
    if name == _REFUSAL:
        return CauseVerdict(CauseClass.BAD_USAGE, Weight.STATEMENT, "", Confidence.MEDIUM)
    if name in ("TimeoutError", "Timeout"):
        return CauseVerdict(CauseClass.NETWORK, Weight.STATEMENT, "", Confidence.LOW)
    is_compilers = raised_in is RaisedIn.COMPILER or is_of_graph_compiler(statement.text)
    whose = CauseClass.COMPILE_ERROR if is_compilers else CauseClass.SCRIPT_ERROR
    if name == "Error" and TOOL_NAME.match(raised["text"] or ""):
        whose = CauseClass.TOOL_ERROR
    return CauseVerdict(whose, Weight.STATEMENT, "", Confidence.MEDIUM)


def _cascading(statement: Statement) -> CauseVerdict:
    """What an exception means that follows from another failure."""
    row = recognize(statement)
    if row is not None and row.weight is Weight.REASON:
        return by_row(row)
    cause_class = row.cause_class if row is not None else CauseClass.SCRIPT_ERROR
    if _COMPILER_FAILED.search(statement.text):
        cause_class = CauseClass.COMPILE_ERROR
    follows = consequence(cause_class, row.name if row else "")
    return follows._replace(weight=Weight.DEATH, doubt=Doubt.MUCH) if died_of_signal(statement.text) else follows


def reads_as_exception(text: str) -> bool:
    """Whether a line looks like the exception at the end of a traceback."""
    found = EXCEPTION.match(text)
    return found is not None and SURELY.search(found["type"]) is not None


def is_bare(text: str) -> bool:
    """Whether a line is an exception's name with a colon, and nothing beside it; of a mere `Error`, whether its words
    end in a colon."""
    is_mere = text.startswith("Error: ") or " " not in text
    return text.endswith(":") and is_mere and reads_as_exception(text)


def is_name(text: str) -> bool:
    """Whether a line is an exception's name and nothing else."""
    found = EXCEPTION.match(text)
    return found is not None and found["text"] is None and _NAMED.search(found["type"]) is not None


def is_named_as_exception(raised: re.Match[str]) -> bool:
    """Whether the name ends like that of an exception."""
    return _NAMED.search(raised["type"]) is not None


def names_exception(raised: re.Match[str]) -> bool:
    """Whether a name after frames without a heading is an exception's: by its ending, or a class with its modules."""
    modules, _, name = raised["type"].rpartition(".")
    return is_named_as_exception(raised) or (bool(modules) and name[:1].isupper())


def is_lost_connection(raised: re.Match[str], verdict: CauseVerdict) -> bool:
    """Whether an exception only reports that the other side of a connection has gone."""
    is_end = raised["type"].split(".")[-1] == "EOFError" and not raised["text"]
    return verdict.weight is Weight.CASCADE and (verdict.cause_class is CauseClass.COLLECTIVE or is_end)


def died_of_signal(text: str) -> bool:
    """Whether an exception reports that a signal ended a program that Python had started."""
    return _DIED.search(text) is not None


def is_of_java(text: str) -> bool:
    """Whether a line reads as an exception of Java, that of a library or the language itself."""
    return _JAVA.match(text) is not None and reads_as_exception(text)


def announces(raised: re.Match[str]) -> bool:
    """Whether an exception only quotes another one, which is printed after it."""
    text = (raised["text"] or "").rstrip()
    return text.endswith(":") or _RELAYED.match(text) is not None


def is_relayed(statement: Statement) -> bool:
    """Whether a line outside a traceback reads as an exception that only quotes the one below it."""
    raised = EXCEPTION.match(statement.text)
    is_announced = raised is not None and is_named_as_exception(raised) and announces(raised)
    return is_announced or _REPRESENTATION.fullmatch(statement.text) is not None


def is_of_graph_compiler(text: str) -> bool:
    """Whether PyTorch reports that a graph's compiler raised the exception that follows."""
    return "BackendCompilerFailed: " in text


def is_wanted_exit(text: str) -> bool:
    """Whether an exception is how a program ended that wanted to end, and did well."""
    return _WANTED_EXIT.fullmatch(text) is not None


def sums_up(text: str) -> bool:
    """Whether an exception says what could not be had, and from where, behind those of the connection."""
    return _SUMS_UP.match(text) is not None


def is_probe(raised: re.Match[str]) -> bool:
    """Whether an exception only means that a lookup found nothing: one raised while it was handled explains more."""
    return raised["type"].split(".")[-1] in _PROBES


def is_of_substitute(handled: str, raised: str) -> bool:
    """Whether the second is of what was tried in place of the first, which was not there either: another module, or a
    build of a package of which there was no file to download."""
    if _NO_FILE.search(handled) and _BUILD_FAILED.match(raised):
        return True
    return handled != raised and all(map(_NO_MODULE.match, (handled, raised)))


def without_copies(text: str) -> tuple[str, int]:
    """An exception that several ranks have printed on one line, the line ends behind them all: once, and how often."""
    length = text.find(text[:_BEGINNING], 1) if len(text) >= 2 * _BEGINNING else 0
    copies = len(text) // length if length >= _BEGINNING else 1
    return (text[:length], copies) if copies > 1 and text[:length] * copies == text else (text, 1)
