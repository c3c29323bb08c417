"""Splits a line into statements, and separates their text from prefixes, headers, levels, escapes and colors.

One physical line can hold several statements: processes share the stream, progress bars leave carriage returns, and a
notebook or a log service may write the line ends of a whole traceback as `\\n`. All of them have the line's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from neuron_top import escapes
from neuron_top.diagnose import joined_lines
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import base, json_lines

_MOST_PIECES = 400
_LONGEST = 6000
"""Characters of a statement that are looked at."""
_MOST_HEADERS = 5
"""One after the other: timestamp, program, level, part of the program, level of what that quotes."""


class Speaker(StrEnum):
    """Who printed it, as far as its header shows."""

    UNKNOWN = ""
    WRAPPER = "wrapper"
    COMPILER = "compiler"
    RUNTIME = "runtime"
    COLLECTIVES = "collectives"
    NATIVE = "native"
    """TorchNeuron's C++ back end."""
    FRAMEWORK = "framework"
    """C++ of PyTorch/XLA and TensorFlow."""
    TOOL = "tool"
    """Go programs and the vendor's tools: device plugin, neuron-profile."""
    KERNEL = "kernel"


Process = tuple[int | None, int | None, str]
"""Rank, process id, and the prefix of its lines."""


class Statement(msgspec.Struct):
    """One message of one process."""

    text: str
    line: int
    offset: int
    level: LogLevel = LogLevel.NOTSET
    speaker: Speaker = Speaker.UNKNOWN
    rank: int | None = None
    pid: int | None = None
    repeats: int = 1
    """How often it was printed, if a log that leaves out copies reports that."""
    indent: int = 0
    indented: bool = False
    """It is indented more than the log as a whole: web pages and test runners indent all of it."""
    function: str = ""
    """For the runtime, component and function; for NCCL, its name."""

    host: str = ""
    """What a launcher puts in front of the lines of one machine or task."""

    @property
    def process(self) -> Process:
        """What lines of the same process have in common."""
        return self.rank, self.pid, self.host


_NAMES = (
    "TRACE|DEBUG|INFO|NOTICE|USER|WARNING|WARN|ERROR|ERR|SEVERE|CRITICAL|CRIT|FATAL|EMERG|ALERT"
    "|trace|debug|info|notice|warning|warn|error|severe|critical|fatal"
)
_RUNTIME = late_pattern(
    r"(?:(?P<pid>\d{1,10}):\d{1,10}\s+)?(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL)\s+"
    r"(?P<component>[A-Z]{2,10}):(?P<function>[^\s(]{1,200})\s*(?P<text>.*)",
    re.DOTALL,
)
_BARE_RUNTIME = late_pattern(
    r"(?:NRT:\s+)?(?:(?P<pid>\d{1,10}):\d{1,10}\s+)?(?:(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL)\s+|\[)"
    r"(?P<component>TDRV|NRT|NMGR|KMGR|ENC|ENCD|HAL|NEFF):(?P<function>\w{1,100})\]?:?\s+(?P<text>.*)",
    re.DOTALL,
)
"""A header of the runtime without its timestamp, which a web page or a log shipper has dropped, or syslog replaced."""
_COLLECTIVES = late_pattern(
    r"(?:(?P<pid>\d{1,10}):\d{1,10}\s+)?\[(?P<rank>\d{1,6}|-1)\]\s+.{0,300}?\s(?:CCOM|NCCL)\s+"
    r"(?P<level>WARN|INFO|ERROR|TRACE|ABORT)\s*(?P<text>.*)",
    re.DOTALL,
)
_GLOG = late_pattern(
    r"\[?(?P<level>[IWEF])(?:\d{4})?\d{3,4} \d\d:\d\d:(?:\d\d|\d{10})\.\d{1,9}\s+(?:\d{1,20}\s+)?"
    r"(?P<file>[^\s\]]{1,300}?)(?::\d{1,6})?\]\s*"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{1,9}: (?P<short>[IWEF]) (?P<python>[^\s\]]{1,300})\] ?(?:> )?"
    r"|\[?(?P<xla>[IWEF]) \S{1,300}\.(?:cc|h|cpp):\d{1,6}\] ?"
    r"|(?P<sky>[DIWE]) \d\d-\d\d \d\d:\d\d:\d\d [\w.-]{1,80}\.py:\d{1,6}\] {0,8}"
    r"|(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{1,9} )?(?P<ray>[IWECFD]) \d{1,10} \d{1,10}\] (?:\([\w.-]{1,60}\) )?"
    r"\S{1,300}\.(?:cc|h|cpp):\d{1,6}:\s*"
)
"""Headers of glog (newer ones have the year too) and klog, of PyTorch (no leading zero in the month, or no timestamp),
Abseil, NxD's core, XLA without its timestamp, SkyPilot, and Ray's C++."""
_NCCL = late_pattern(
    r"(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] )?[\w.-]{1,200}:\d{1,10}(?::\d{1,10})? \[-?\d{1,6}\] "
    r"(?:\S{1,200}[: ]\d{1,6} )?NCCL (?P<level>INFO|WARN|TRACE|ERROR|ABORT) +"
)
"""NCCL's own header. It prints its errors as warnings; their text shows whether they are failures."""
NCCL = "NCCL"
"""Stands for the function of its statements."""
_WORKFLOW = late_pattern(r"##\[(?P<level>error|warning|debug|notice)\]")
"""How GitHub Actions and Azure Pipelines mark the lines of a step."""
COMPILERS_SOURCE = late_pattern(r"(?:^|/)(?:hilo|penguin|walrus|neuronx?cc|tensorizer|birsim|birverifier)/")
"""Folders of the compiler's C++, as glog's header names them."""
_LETTER = late_pattern(
    r"\[(?P<level>[DIW])"
    r"(?: (?:\d{4}-\d\d-\d\d|\d{6}) \d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [\w.-]{1,80}(?::\d{1,6})?)?)?\] ?"
)
"""The header of Tornado's logger and of similar ones (Optuna, Jupyter), and a lone letter after a timestamp. Only for
levels below an error: Jupyter greets at level C, and prints at level E what it does without."""
_HTSLIB = late_pattern(r"\[(?P<level>[EWMDT])::[\w:.<>~]{1,100}\] ")
"""How programs that read genomes name their level and function; M is a message."""
_APTS_WARNING = late_pattern(r"(?P<level>W): (?=[A-Z])")
_NATIVE = late_pattern(r"\[Neuron\] \[(?P<level>[A-Z]{4,10})\]\s*(?:\[[^\]\s]{1,200}:\d{1,6}\]\s*)?")
_LOGFMT = late_pattern(r"\blevel=\"?(?P<level>[a-zA-Z]{3,8})\"?")
_LOGRUS = late_pattern(r"(?P<level>TRAC|DEBU|INFO|WARN|ERRO|FATA|PANI)\[\d{4,}\] ")
"""The header of the Go logger logrus on a terminal; fields follow the message, after blanks."""
_LOGRUS_LEVELS = {"ERRO": LogLevel.ERROR, "FATA": LogLevel.FATAL, "PANI": LogLevel.FATAL, "WARN": LogLevel.WARNING}
_FIELD = late_pattern(r"\b(msg|message|err|error|reason)=(\"(?:[^\"\\]|\\.){0,2000}\"|\S{1,500})")
_COMPILER = late_pattern(
    r"\.{0,200}(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M) "
    r"(?:(?P<level>[A-Z]{4,8})(?: \d{1,20}){0,2}(?: \(\w{1,40}\))? \[(?P<component>[^\]]{1,200})\]: ?)?"
)
_COMPILER_WITHIN = late_pattern(
    r".{1,400}?(?<![\w:/-])(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M) "
    r"(?P<level>[A-Z]{4,8})(?: \d{1,20}){0,2}(?: \(\w{1,40}\))? \[(?P<component>[^\]]{1,200})\]: ?"
)
"""The whole header, after a launcher's prefix or after the progress that the compiler draws."""
_COMPILER_WITHOUT_STAMP = late_pattern(
    r"E{0,20}(?P<level>ERROR|WARNING|INFO|FATAL|CRITICAL) \d{1,20} \[(?P<component>neuronx?-cc|job\.\w[\w.]{0,80})\]: ?"
)
"""The header without its timestamp, as in documents and excerpts."""
_TO_ITS_USER = "USER"
"""How the compiler marks messages to its user, failures as well: not a level."""
_TOOL = late_pattern(
    r"(?P<name>neuron-(?:device-plugin|profile|monitor|ls|top|scheduler|explorer|dra-driver|node-problem\w*)[\w.-]*"
    r"|k8s-neuron-[\w-]+|nobs|srun|sbatch|salloc|slurmstepd|flux-shell|pyxis|modprobe|rmmod|insmod|kubectl)"
    r"(?:\[\d+\]| {1,8}0x[0-9a-f]{6,16})?: ?"
)
_ANSIBLE = late_pattern(
    r"(?P<level>fatal|failed): (?=\[[^\]\n]{1,300}\](?: \(item=.{0,1000}?\))?(?:: (?:FAILED|UNREACHABLE)!)?"
    r"(?: \(item=.{0,1000}?\))? => )"
)
"""How Ansible's output begins for a task that failed on a machine, or for one item of its list."""
CROSSES = ("✖", "✘", "❌")
_CROSS = late_pattern(rf"\[?(?:{'|'.join(CROSSES)})\]?\ufe0f?\s{{1,4}}(?=\S)")
"""What interactive programs print before a failure instead of a level."""
_CLOUD_LOGGING = late_pattern(
    r"(?:INFO|ERROR|DEFAULT) \d{4}-\d\d-\d\dT[\d:.]{8,18}Z \[resource\.labels\.[^\]]{1,200}\] ?"
)
"""Google's header for the output of containers: its levels only tell the two streams apart."""
_TOOLS_LOGGER = late_pattern(r"\[slurm_plugin\.")
"""How AWS ParallelCluster's programs name themselves in their headers."""
_GO_STAMP = late_pattern(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? (?:[\w./-]{1,80}\.go:\d{1,6}: )?")
_KERNEL = late_pattern(
    r"(?:kernel: ?)?\[ {0,6}\d{1,9}\.\d{6}\] |kernel: |<\d>\[ {0,6}\d{1,9}\.\d{6}\] "
    r"|\[(?:[A-Z][a-z]{2} ){2}[ \d]\d \d\d:\d\d:\d\d \d{4}\] (?=\S)"
)
"""With the seconds since the machine started, or as `dmesg -T` shows them."""
_STAMP = late_pattern(
    r"[\[(]?(?:\d{4}[-/](?:\d\d|[A-Z][a-z]{2})[-/]\d\d"
    r"(?:(?:[ T]|-(?=\d\d:\d\d:\d\d))\d\d:\d\d(?::\d\d)?(?:[.,:]{1,2}\d{1,9})?)?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|\d{1,6}\.\d{3}s(?=: flux)|\d{1,5}\.\d{1,3}(?= (?:WARNING|ERROR|DEPRECATION): )"
    r"|#\d{1,4}(?: \d{1,6}\.\d{1,3}(?= )|(?= ERROR: ))"
    r"|\d\d/\d\d(?:/\d\d(?:\d\d)?)? \d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?"
    r"|\d\d?[- ][A-Z][a-z]{2}[- ]\d{4} \d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|[A-Z][a-z]{2}(?:\s{1,2}\d{1,2}|-\d\d) \d\d:\d\d:\d\d(?:\.\d{1,9}(?: \d{1,10}(?= slurm))?)?"
    r"|(?:[A-Z][a-z]{2} ){2} ?\d{1,2} \d\d:\d\d:\d\d \d{4})"
    r"(?:Z| ?[+-]\d\d:?\d\d| UTC)?[\])]?[\s:|,-]{0,6}"
)
"""A date, a time or both; BuildKit prints the number and the seconds of a step instead, Slurm's daemons add their
process."""
_LOGGERS_NAME = late_pattern(r"[\w.-]{1,80} {1,8}(?=(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) {1,8}\S)")
"""A logger's name, which Python's loggers often put between timestamp and level with only blanks around it."""
_LEVEL = late_pattern(
    rf"(?:(?:\[[^\]\n]{{1,80}}\]|[\w./$-]{{1,60}}(?= ?[-|:] )|[\w./$-]{{1,60}}:(?=(?:{_NAMES})\b)"
    rf"|[\w./-]{{1,60}}\.py(?::\d{{1,6}})?(?= [A-Z])|\{{[\w.]{{1,60}}\.py:\d{{1,6}}\}}(?= [A-Z])"
    rf"|[A-Z][\w-]{{2,40}}(?= \[)"
    rf"|\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?Z?|\d{{1,10}}|[-|:>])\s*){{0,5}}?"
    rf"[\[(<]?(?P<level>{_NAMES})[ \t]{{0,8}}(?:(?P<close>[\])>|:])"
    rf"|(?<=WARNING)!|(?=\s-\s)|(?:(?<=[A-Z] )|(?<=[A-Z]  ))(?=\S))"
    rf"[\s|:-]{{0,4}}"
)
"""A level with whatever headers put before it; in lower case only if a bracket, a bar or a colon closes it."""
_EXCEPTION = late_pattern(r"(?:\w{1,80}\.){0,12}\w{1,80}(?:Error|Exception): ")
"""An exception's type is no header, even if its message is a line that has one."""
_REFUSAL = late_pattern(r"[\w./-]{1,200}\.py(?: [\w-]{1,40})?: error: \S")
"""How errors of Python's argparse begin, with the program's name."""
_LOGGER = late_pattern(
    r"(?:\[(?=[^\]]*[./:])[\w./-]{1,120}(?::\d{1,6})?\]\s*:?|[\w./-]{1,100}\.py:\d{1,6}:?"
    r"|[\w.]{1,80}:[\w<>]{1,60}:\d{1,6}(?= - )"
    r"|[a-z]\w{0,40}(?:\.\w{1,60}){1,9}(?= - \S)"
    r"|[\w.-]{1,60}:(?=[^\s:])(?!//))\s*(?:- )?"
)
"""What stands between level and text: `[file.py:12]`, `module:function:12 -`, Python's `name:`."""
_SOURCE = late_pattern(r"^\S{1,300}:\d{1,7}\] ?")
_SUFFIX = late_pattern(r"\s*\[repeated (\d{1,9})x across [^\]]{1,60}\].*$")
_NEXT_ACTOR = late_pattern(r"\((?:\w[\w.:()=-]{0,80},? )?(?:rank=\d+,? )?pid=\d{1,10}(?:, ip=[\w.:]{1,60})?\)\s?$")
"""Ray's prefix of the next record, where a web page has joined lines."""
_ESCAPED_ANSI = late_pattern(r"\\(?:u001b|x1b|033|e)\[[0-9;]{0,12}m")
_ESCAPES = {r"\"": '"', r"\t": "\t", r"\'": "'", r"\/": "/"}
_BAR = late_pattern(
    r"\s*(?:(?:[^|\n%]{1,80}[:)] *)?\d{1,3}%\|[^|]{0,400}\|)?\s*\d+\S{0,9}/\d+\S{0,9} "
    r"\[\d*:?\d+:\d\d<(?:[^\[\]\n]{1,400}\](?=\S)"
    r"|[^\[\]\n]{1,400}?(?=(?:slurmstepd|srun|wandb): |Error executing job with |Traceback \(most)"
    r"|[^\]\n]{1,60}?(?:it/s|s/it)\]?(?=[^\s,]))"
)
"""A progress bar after which, or in the middle of which, something was printed without a line end."""
_BETWEEN_BARS = late_pattern(r"(?<=\]) {1,4}(?=(?:[^|\n%\]]{1,60}: {0,2})?\d{1,3}%\|)")
"""Between two states of a progress bar that were printed on the same line."""
_STRING = late_pattern(r"\s{0,40}\"(.*?)(?:\\n)?\",?\s*$", re.DOTALL)
"""A line of a notebook: a string of a JSON list."""
_DIED = late_pattern(r"(?:Killed|Segmentation fault|Floating point exception|Aborted|Bus error|Illegal instruction)\b")
"""A shell's report of a signal. The compiler's dots before it show which program died, so they stay with it."""
_TORCH_WARNING = "Warning: "
_PYTHON_WARNING = late_pattern(r"(?:.{0,400}:\d{1,7}: )?\w{0,60}Warning: ")
"""`/path/file.py:12: UserWarning: …`, or the category alone."""


def statements(raw: bytes, line: int, offset: int, indent: int = 0) -> Iterator[Statement]:
    """The statements of one physical line; `indent` is that of the log as a whole."""
    text = escapes.strip_ansi(raw.decode("utf-8", "replace"))
    structured = _structured(text) if text.startswith('{"') else None
    if structured is not None:
        level, words, traceback = structured
        speaker = Speaker.TOOL if not traceback and _may_be_from_go(text) else Speaker.UNKNOWN
        yield Statement(words[:_LONGEST], line, offset, level, speaker)
        yield from (_of_traceback(piece, line, offset, level) for piece in traceback[:_MOST_PIECES])
        return
    for piece in _pieces(text):
        records, dots = base.records(piece[:_LONGEST], offset), ""
        for record in records:
            if record is not records[-1] and "pid=" in record.text:
                record.text = _NEXT_ACTOR.sub("", record.text)
            if record.shape is base.DOTS:
                dots = record.text
                continue
            if dots and _DIED.match(record.text):
                record.text = dots + record.text
            statement = _statement(record, line, offset)
            statement.indented = statement.indent > indent
            yield statement


def _of_traceback(text: str, line: int, offset: int, level: LogLevel) -> Statement:
    """A line of a traceback that has its own member in a JSON object."""
    indent = len(text) - len(text.lstrip())
    return Statement(text.strip()[:_LONGEST], line, offset, level, indent=indent, indented=indent > 0)


def _structured(text: str) -> tuple[LogLevel, str, list[str]] | None:
    """Level, text and traceback of a JSON object as structured loggers write it; None where it is something else."""
    try:
        fields = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None
    level = next((fields[key] for key in ("level", "severity", "levelname", "lvl") if key in fields), None)
    words = [fields[key] for key in ("msg", "message", "event", "error", "err", "exception") if key in fields]
    said = [word for word in words if isinstance(word, str) and json_lines.HEADING not in word]
    if not isinstance(level, str) or not said or not LogLevel.named(level) or "\n" in ": ".join(said):
        return None
    return LogLevel.named(level), ": ".join(said), json_lines.traceback(fields)


def _may_be_from_go(text: str) -> bool:
    """Whether a structured logger of Go wrote it, or an unknown one; those of Python and Rust have more members."""
    return not any(f'"{key}":' in text for key in ("target", "span", "spans", "funcName", "lineno", "pathname"))


def _pieces(text: str) -> list[str]:
    """The lines that a line holds: shipped as JSON, with escaped line ends, or separated by carriage returns."""
    pieces = json_lines.lines(text) if text.startswith('{"') else [text]
    result: list[str] = []
    for piece in pieces:
        if "\\n" in piece or "\\u001b" in piece or "\\x1b" in piece or piece.lstrip()[:1] == '"':
            result += _unescaped(piece)
        elif len(lines := joined_lines.parts(piece)) > 1:
            result += lines
        elif "\r" in piece:
            result += filter(None, piece.split("\r"))
        elif "%|" in piece and _tells_pace(piece):
            result.append(_BETWEEN_BARS.split(piece)[-1])
        else:
            result.append(piece)
    return result[:_MOST_PIECES]


def _tells_pace(text: str) -> bool:
    """Whether it may hold a progress bar; checked first, since the patterns for one are slow."""
    return "it/s" in text or "s/it" in text or ("%|" in text and "/s" in text)


def _unescaped(text: str) -> list[str]:
    string = _STRING.match(text)
    body = string[1] if string else text
    body = _ESCAPED_ANSI.sub("", body)
    for escape, character in _ESCAPES.items():
        body = body.replace(escape, character)
    if not string and "Traceback" not in body and "rror: " not in body:
        return [body]  # `\n` in a Windows path or a regular expression is no line end
    return re.split(r"\\r\\n|\\n", body)


def _statement(record: base.Record, line: int, offset: int) -> Statement:
    text, repeats = _without_suffix(record.text)
    statement = Statement(
        text=text,
        line=line,
        offset=offset,
        rank=record.rank,
        pid=record.pid,
        repeats=repeats,
        indent=len(text) - len(text.lstrip()),
        level=record.level,
    )
    if record.shape is base.WRAPPER:
        statement.speaker = Speaker.WRAPPER
    elif record.shape is base.XLA:
        source = _SOURCE.match(text)
        is_compiler = source is not None and COMPILERS_SOURCE.search(source[0])
        statement.speaker = Speaker.COMPILER if is_compiler else Speaker.FRAMEWORK
        statement.text = text[source.end() :] if source is not None else text
    elif record.shape is base.RUNTIME:
        _read_runtime(statement)
    else:
        bar = _BAR.match(text) if _tells_pace(text) else None
        if bar is not None:
            statement.text, statement.indent = text[bar.end() :], 0
        _read_header(statement)
    statement.text = statement.text.strip(" \t\xa0\r")
    return statement


def _without_suffix(text: str) -> tuple[str, int]:
    """The text without Ray's remark on copies that it left out, and the number of copies."""
    found = _SUFFIX.search(text) if "[repeated " in text else None
    return (text[: found.start()], int(found[1])) if found else (text, 1)


def _read_runtime(statement: Statement) -> None:
    found = _RUNTIME.match(statement.text)
    if found is not None:
        found = _RUNTIME.match(found["text"]) or found  # two processes wrote their headers before either wrote words
        statement.speaker = Speaker.RUNTIME
        statement.function = f"{found['component']}:{found['function']}"
    else:
        found = _COLLECTIVES.match(statement.text)
        if found is None:
            return
        statement.speaker = Speaker.COLLECTIVES
        statement.rank = None if found["rank"] == "-1" else int(found["rank"])
    statement.pid = int(found["pid"]) if found["pid"] else statement.pid
    statement.level = LogLevel.named(found["level"])
    statement.text = found["text"]


def _read_header(statement: Statement) -> None:
    """Take headers off the front, one after another; the innermost level counts."""
    if _PYTHON_WARNING.match(statement.text.lstrip()):
        statement.level = LogLevel.WARNING
        return
    for _ in range(_MOST_HEADERS):
        before = statement.text
        for reader in _READERS:
            if reader(statement):
                break
        if statement.text == before:
            return


def _glog(statement: Statement) -> bool:
    found = _GLOG.match(statement.text.lstrip())
    if found is None:
        return False
    level = found["level"] or found["short"] or found["xla"] or found["sky"] or found["ray"]
    statement.level = LogLevel.FATAL if level == "C" else LogLevel.named(level)  # Ray's: a check failed
    file = found["file"] or ""
    statement.speaker = Speaker.TOOL if file.endswith(".go") else Speaker.FRAMEWORK
    if COMPILERS_SOURCE.search(file):
        statement.speaker = Speaker.COMPILER
    statement.text = statement.text.lstrip()[found.end() :]
    if not statement.level.is_error and statement.text.startswith(_TORCH_WARNING):
        statement.text = statement.text.removeprefix(_TORCH_WARNING)
    return True


def _nccl(statement: Statement) -> bool:
    found = _NCCL.match(statement.text)
    if found is None:
        return False
    level = LogLevel.named(found["level"])
    statement.level = LogLevel.NOTSET if level is LogLevel.WARNING else level
    statement.speaker = Speaker.COLLECTIVES
    statement.function = NCCL
    statement.text = statement.text[found.end() :]
    return True


def _level_alone(statement: Statement) -> bool:
    """Read a header that has only a level: of a workflow's step, or a letter as in Tornado's and apt's."""
    text = statement.text
    found = _WORKFLOW.match(text) or _LETTER.match(text) or _APTS_WARNING.match(text)
    if found is None and text[2:4] == "::":
        found = _HTSLIB.match(text)
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"]) or LogLevel.INFO
    statement.text = text[found.end() :]
    return True


def _native(statement: Statement) -> bool:
    found = _NATIVE.match(statement.text)
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"])
    statement.speaker = Speaker.NATIVE
    statement.text = statement.text[found.end() :]
    return True


def _compiler(statement: Statement) -> bool:
    text = statement.text.lstrip()
    found = _COMPILER.match(text) or _COMPILER_WITHIN.match(text) or _COMPILER_WITHOUT_STAMP.match(text)
    if found is None:
        return False
    statement.speaker = Speaker.COMPILER
    if found["level"] != _TO_ITS_USER:
        statement.level = LogLevel.named(found["level"] or "") or statement.level
    statement.text = text[found.end() :]
    return True


def _bare_runtime(statement: Statement) -> bool:
    found = _BARE_RUNTIME.match(statement.text.lstrip())
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"] or "ERROR")
    statement.speaker = Speaker.RUNTIME
    statement.function = f"{found['component']}:{found['function']}"
    statement.pid = int(found["pid"]) if found["pid"] else statement.pid
    statement.text = found["text"]
    return True


def _logfmt(statement: Statement) -> bool:
    found = _LOGFMT.search(statement.text, 0, 400)
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"])
    statement.speaker = Speaker.TOOL
    fields = [
        value[1:-1].replace('\\"', '"') if value[:1] == '"' else value for _, value in _FIELD.findall(statement.text)
    ]
    statement.text = ": ".join(fields) if fields else _LOGFMT.sub("", statement.text)
    return True


def _logrus(statement: Statement) -> bool:
    found = _LOGRUS.match(statement.text)
    if found is None:
        return False
    statement.level = _LOGRUS_LEVELS.get(found["level"], LogLevel.INFO)
    statement.speaker = Speaker.TOOL
    statement.text = re.sub(r"\s{2,}", " ", statement.text[found.end() :])
    return True


def _cloud_logging(statement: Statement) -> bool:
    found = _CLOUD_LOGGING.match(statement.text)
    if found is None:
        return False
    statement.text = statement.text[found.end() :]
    return True


def _tool(statement: Statement) -> bool:
    found = _TOOL.match(statement.text)
    if found is None:
        return False
    statement.speaker = Speaker.TOOL
    statement.text = statement.text[found.end() :]
    return True


def _ansible(statement: Statement) -> bool:
    found = _ANSIBLE.match(statement.text)
    if found is None:
        return False
    statement.level = LogLevel.FATAL if found["level"] == "fatal" else LogLevel.ERROR
    statement.speaker = Speaker.TOOL
    statement.text = statement.text[found.end() :]
    return True


def _cross(statement: Statement) -> bool:
    found = _CROSS.match(statement.text)
    if found is None:
        return False
    statement.level = LogLevel.ERROR
    statement.text = statement.text[found.end() :]
    return True


def _kernel(statement: Statement) -> bool:
    found = _KERNEL.match(statement.text)
    if found is None:
        return False
    statement.speaker = Speaker.KERNEL
    statement.text = statement.text[found.end() :]
    return True


def _stamp(statement: Statement) -> bool:
    found = _GO_STAMP.match(statement.text)
    if found is not None:
        statement.speaker = Speaker.TOOL
    found = found or _STAMP.match(statement.text)
    if found is None:
        return False
    name = _LOGGERS_NAME.match(statement.text, found.end()) if "," in found[0] else None
    statement.text = statement.text[found.end() if name is None else name.end() :]
    return True


def _level(statement: Statement) -> bool:
    found = _LEVEL.match(statement.text.lstrip())
    if found is None or (found["level"].islower() and not found["close"]) or _EXCEPTION.match(statement.text):
        return False
    if _REFUSAL.match(statement.text):
        statement.level = LogLevel.ERROR
        return False
    body = statement.text.lstrip()
    if body[:1] == "[" and found.end() < 4:
        return False
    statement.level = LogLevel.named(found["level"])
    if _TOOL.match(body) or _TOOLS_LOGGER.search(body, 0, found.end()):
        statement.speaker = Speaker.TOOL
    statement.text = body[found.end() :]
    logger = _LOGGER.match(statement.text)
    if logger is not None and logger.end() < len(statement.text):
        statement.text = statement.text[logger.end() :]
    return True


_READERS = (
    _cloud_logging,
    _glog,
    _nccl,
    _level_alone,
    _native,
    _compiler,
    _bare_runtime,
    _kernel,
    _tool,
    _ansible,
    _cross,
    _logrus,
    _logfmt,
    _stamp,
    _level,
)
