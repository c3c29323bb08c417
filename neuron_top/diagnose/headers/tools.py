"""Headers of tools and services: Go programs, schedulers, Ansible, workflows, the kernel."""

from __future__ import annotations

import re

from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import logfmt as parsed_logfmt

_WORKFLOW = late_pattern(r"##\[(?P<level>error|warning|debug|notice)\]")
"""How GitHub Actions and Azure Pipelines mark the lines of a step."""
_STEP = late_pattern(r"[^\t\n]{1,100}\t[^\t\n]{1,100}\t\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ?")
"""Job, step and time, as `gh run view --log` prints them in front of each line."""
_LETTER = late_pattern(
    r"\[(?P<level>[DIW])"
    r"(?: (?:\d{4}-\d\d-\d\d|\d{6}) \d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [\w.-]{1,80}(?::\d{1,6})?)?)?\] ?"
)
"""The header of Tornado's logger and of similar ones (Optuna, Jupyter), and a lone letter after a timestamp. Only for
levels below an error: Jupyter greets at level C, and prints at level E what it does without."""
_HTSLIB = late_pattern(r"\[(?P<level>[EWMDT])::[\w:.<>~]{1,100}\] ")
"""How programs that read genomes name their level and function; M is a message."""
_TENSORRT = late_pattern(
    r"(?=\[\d|\[TRT)(?:\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] )?(?:\[TRT(?:-LLM)?\] )?(?:\[RANK \d{1,6}\] )?"
    r"\[(?P<level>[VIWEF])\] (?:\[TRT\] )?"
)
"""The header of TensorRT, its programs and TensorRT-LLM; V is verbose."""
_ONNX = late_pattern(r"\[(?P<level>[VIWEF]):onnxruntime:[^,\]]{0,60}, [^\]]{1,200}\] ")
"""The header of ONNX Runtime, behind a time."""
_QUALCOMM = late_pattern(r"\w{1,40} <(?P<level>[VDIWEF])> (?=\S)")
"""The header of Qualcomm's runtime."""
_ROCKCHIP = late_pattern(r"(?P<level>[DIWE]) (?:RKNN(?:API|Toolkit2?)?|rkllm): (?:\[\d\d:\d\d:\d\d\.\d{3}\] )?(?=\S)")
"""The header of Rockchip's runtimes."""
_LIBMAMBA = late_pattern(r"(?P<level>trace|debug|info|warning|error|critical) {1,5}libmamba (?=\S)")
"""The header of mamba's logger."""
_APTS_WARNING = late_pattern(r"(?P<level>W): (?=[A-Z])")
_LOGRUS = late_pattern(r"(?P<level>TRAC|DEBU|INFO|WARN|ERRO|FATA|PANI)\[\d{4,}\] ")
"""The header of the Go logger logrus on a terminal; fields follow the message, after blanks."""
_LOGRUS_LEVELS = {"ERRO": LogLevel.ERROR, "FATA": LogLevel.FATAL, "PANI": LogLevel.FATAL, "WARN": LogLevel.WARNING}
_AIRFLOW = late_pattern(
    r"(?:\[\d{4}-\d\d-\d\d[T,] ?\d\d:\d\d:\d\d(?:\.\d{1,9})?(?: ?UTC|Z|[+-]\d\d:?\d\d)?\] )?"
    r"\{(?:subprocess|bash\w*|process_utils|pod_\w+|kubernetes_pod|docker|ssh|ecs\w*|spark_\w+|logging_mixin)\.py:\d{1,6}\}"
    r" (?:INFO|WARNING) -(?: \[base\])? ?"
)
"""Airflow's header for a line that a task's program has printed: its level tells nothing of the line."""
_TERRAFORM = late_pattern(r"[\w.\[\]\"-]{1,200} \((?:local|remote)-exec\): ?|│ (?=(?:Error|Warning): )")
"""What Terraform prints before the output of a command, and beside what it says itself."""
_ANSIBLES_LOG = late_pattern(r"p=\d{1,10} u=\S{1,60} n=\S{1,60} (?:[A-Z]{4,8})?\| ?")
"""The process, the user and the logger in Ansible's log file, behind the time."""
METAFLOWS_TASK = r"\[\d{1,20}/\w{1,80}/\d{1,10} \(pid \d{1,10}\)\]"
"""Metaflow's header for a line of a task: the run, the step, the task and its process."""
_METAFLOW = late_pattern(METAFLOWS_TASK + " ?")
TOOL = late_pattern(
    r"(?P<name>neuron-(?:device-plugin|profile|monitor|ls|top|scheduler|explorer|dra-driver|node-problem)[\w.-]*"
    r"|k8s-neuron-[\w-]+|nobs|srun|sbatch|salloc|slurmstepd|flux-shell|pyxis|modprobe|rmmod|insmod|kubectl)"
    r"(?:\[\d+\]| {1,8}0x[0-9a-f]{6,16})?: ?"
)
_ANSIBLE = late_pattern(
    r"(?P<level>fatal|failed): (?=\[[^\]\n]{1,300}\](?: \(item=.{0,1000}?\))?(?:: (?:FAILED|UNREACHABLE)!)?"
    r"(?: \(item=.{0,1000}?\))? => )"
)
"""How Ansible's output begins for a task that failed on a machine, or for one item of its list."""
_APPTAINER = late_pattern(r"FATAL: {3}(?=\S)")
"""How Apptainer and Singularity begin what ends them; their levels are padded to nine characters."""
_NIX = late_pattern(r" {1,8}> (?=\S)")
"""What Nix prints in front of the last lines of a build that failed."""
CROSSES = ("✖", "✘", "❌")
_CROSS = late_pattern(rf" ?\[?(?:{'|'.join(CROSSES)}){{1,5}}\]?\ufe0f?\s{{1,4}}(?=\S)")
"""What interactive programs print before a failure instead of a level, behind a blank at most: crosses that stand
further in are items of a list."""
_PETSC = late_pattern(r"\[(?P<rank>\d{1,6})\]PETSC ERROR: ?")
_PY4J = late_pattern(r": (?=(?:\w{1,60}\.){2,9}\w{1,80}(?:Exception|Error)\b)")
"""How Py4J begins the line of Java's exception, below its own."""
_NESTED = "nested task error: "
"""How Julia heads, indented, the exception of a task that ended the program."""
_CLOUD_LOGGING = late_pattern(
    r"(?:INFO|ERROR|DEFAULT) \d{4}-\d\d-\d\dT[\d:.]{8,18}Z \[resource\.labels\.[^\]]{1,200}\] ?"
)
"""Google's header for the output of containers: its levels only tell the two streams apart."""
_KERNEL = late_pattern(
    r"(?:kernel: ?)?\[ {0,6}\d{1,9}\.\d{6}\] |kernel: |<\d>\[ {0,6}\d{1,9}\.\d{6}\] "
    r"|\[(?:[A-Z][a-z]{2} ){2}[ \d]\d \d\d:\d\d:\d\d \d{4}\] (?=\S)"
)
"""With the seconds since the machine started, or as `dmesg -T` shows them."""
_CLOUD_INIT = late_pattern(r"cloud-init\[\d{1,10}\]: ")
"""What cloud-init prints on the machine's console has the kernel's header too."""


_PASSED_ON = (_CLOUD_LOGGING, _AIRFLOW, _STEP, _METAFLOW, _TERRAFORM, _ANSIBLES_LOG, _NIX)
_WITH_LEVEL = (_WORKFLOW, _LETTER, _TENSORRT, _ONNX, _QUALCOMM, _ROCKCHIP, _APTS_WARNING, _LIBMAMBA)


def level_alone(statement: Statement) -> bool:
    """Read a header that has only a level: of a workflow's step, or a letter as in Tornado's, TensorRT's and apt's."""
    text = statement.text
    found = next(filter(None, (shape.match(text) for shape in _WITH_LEVEL)), None)
    if found is None and text[2:4] == "::":
        found = _HTSLIB.match(text)
    if found is None:
        return False
    statement.level = LogLevel.named(found["level"]) or LogLevel.INFO
    statement.text = text[found.end() :]
    return True


def logfmt(statement: Statement) -> bool:
    line = parsed_logfmt.read(statement.text)
    if line is None:
        return False
    statement.level = LogLevel.named(line.level)
    statement.speaker = Speaker.TOOL
    statement.text = line.words or parsed_logfmt.without_level(statement.text)
    return True


def logrus(statement: Statement) -> bool:
    found = _LOGRUS.match(statement.text)
    if found is None:
        return False
    statement.level = _LOGRUS_LEVELS.get(found["level"], LogLevel.INFO)
    statement.speaker = Speaker.TOOL
    statement.text = re.sub(r"\s{2,}", " ", statement.text[found.end() :])
    return True


def passed_on(statement: Statement) -> bool:
    """Take off the header of a program that only passes on what another one has printed."""
    return any(statement.take_off(shape) is not None for shape in _PASSED_ON)


def tool(statement: Statement) -> bool:
    if statement.take_off(TOOL) is None:
        return False
    statement.speaker = Speaker.TOOL
    return True


def ansible(statement: Statement) -> bool:
    found = statement.take_off(_ANSIBLE)
    if found is None:
        return False
    statement.level = LogLevel.FATAL if found["level"] == "fatal" else LogLevel.ERROR
    statement.speaker = Speaker.TOOL
    return True


def apptainer(statement: Statement) -> bool:
    if statement.take_off(_APPTAINER) is None:
        return False
    statement.level, statement.speaker = LogLevel.FATAL, Speaker.TOOL
    return True


def cross(statement: Statement) -> bool:
    if statement.take_off(_CROSS) is None:
        return False
    statement.level = LogLevel.ERROR
    return True


def petsc(statement: Statement) -> bool:
    found = statement.take_off(_PETSC)
    if found is None:
        return False
    statement.level, statement.rank = LogLevel.ERROR, int(found["rank"])
    return True


def py4j(statement: Statement) -> bool:
    return statement.take_off(_PY4J) is not None


def nested(statement: Statement) -> bool:
    text = statement.text.lstrip()
    if not text.startswith(_NESTED):
        return False
    statement.level = LogLevel.ERROR
    statement.text = text.removeprefix(_NESTED)
    return True


def kernel(statement: Statement) -> bool:
    if statement.take_off(_KERNEL) is None:
        return False
    if statement.take_off(_CLOUD_INIT) is None:
        statement.speaker = Speaker.KERNEL
    return True
