"""What the doctor says: a sentence for each finding, and the next step of each that needs one.

Change any of them: nothing but screens and texts changes.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from neuron_top.telemetry.doctor_findings import (
    CheckLevel,
    CodedFinding,
    FindingCode,
    FindingValue,
    JobName,
    RootTitle,
    Version,
)
from neuron_top.units import bytes_text
from neuron_top.views.variable_effects import EFFECTS


class DoctorFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found. `next_step` is "" where nothing is to be done."""

    check: str
    level: CheckLevel
    text: str
    next_step: str = ""


_REMOTE = "a remote cache; its contents are not read here"
_UNKNOWN = "{variable} is not a variable that the SDK or neurontop documents"
_TRUST = (
    "set {variable} to a folder of your own (chmod go-w where only the mode is wrong), or NEURONTOP_TRUST_CACHE=1 if "
    "you trust everyone who can write there"
)

SENTENCES = {
    FindingCode.MACHINE: "{system} · {cpus} CPUs · {memory} · Python {python}",
    FindingCode.INSTANCE: "{system} · {cpus} CPUs · {memory} · {instance} · Python {python}",
    FindingCode.NODE_NAME: "node {name} ({origin})",
    FindingCode.JOB_NAME: "job {name} ({origin})",
    FindingCode.NO_DEVICE: "no Neuron device: graphs are compiled and trained locally, each worker stands for a core",
    FindingCode.TOOL_WITHOUT_DEVICE: "neuron-ls is installed, but {reason}",
    FindingCode.DEVICES_MISSING: "{instance} should have Neuron devices, but there is none",
    FindingCode.ONE_DEVICE: "1 Neuron device",
    FindingCode.DEVICES: "{count} Neuron devices",
    FindingCode.LISTING_FAILED: "neuron-ls: {reason}",
    FindingCode.DRIVER_UNSEEN: "the driver's version cannot be seen (a container without /sys/module/neuron?)",
    FindingCode.DRIVER: "neuron driver {version}",
    FindingCode.COUNTERS: "the driver's counters, {layout}",
    FindingCode.COUNTERS_MISSING: "the driver is loaded, but its counters are nowhere below /sys",
    FindingCode.COUNTERS_AT_THE_END: "driver {version} adds a process's status counters up only when it ends; live "
    "counts come with {since}",
    FindingCode.COUNTERS_OF_ROOT: "of the driver's files, {count} can be read by root alone before {before}",
    FindingCode.NODES_CLOSED: "no permission to open {paths}",
    FindingCode.TOOL_MISSING: "{tool} is not installed: less telemetry",
    FindingCode.TOOL_OFF_PATH: "{path} is not on the PATH; neurontop finds it all the same",
    FindingCode.TOOL: "{path}",
    FindingCode.SYSTEM_PACKAGE: "{name} {version}",
    FindingCode.OBSERVER: "{url}: {found}",
    FindingCode.OBSERVER_SILENT: "{url} {reason}; neuron-monitor is read all the same",
    FindingCode.OBSERVER_ASKED_FOR: "{url} {reason}",
    FindingCode.NEURON_COMPILER: "{path} {compiler}",
    FindingCode.NO_TORCH: "PyTorch is not installed beside neurontop: nothing can be compiled locally",
    FindingCode.NO_CXX_COMPILER: "PyTorch's Inductor needs a C++ compiler, and there is none on the PATH",
    FindingCode.INDUCTOR_COMPILER: "Inductor can compile with {name}: {path}",
    FindingCode.PACKAGES: "{packages}",
    FindingCode.CACHE: "{root}: {filesystem}, {free} free",
    FindingCode.CACHE_REMOTE: f"{{root}}: {_REMOTE}",
    FindingCode.CACHE_IS_FILE: "{root}: a file is in the place of the cache",
    FindingCode.CACHE_TO_COME: "{root}: not there yet; the first compile makes it",
    FindingCode.CACHE_NOT_CREATABLE: "{root}: it does not exist, and this user may not create it",
    FindingCode.CACHE_CLOSED: "{path} may not be written: every compile in it will fail",
    FindingCode.OTHER_CACHE_IS_FILE: "{root}: a file lies there, no folder",
    FindingCode.OTHER_CACHE_MISSING: "{root}: not there yet",
    FindingCode.CACHE_REPLACED: "local compiles use {user_root} instead of {path}: {reason}",
    FindingCode.CACHE_REFUSED: "local compiles refuse {path}: {reason}",
    FindingCode.CACHE_IN_MEMORY: "{path} is in memory ({filesystem}): it is lost at the next boot",
    FindingCode.CACHE_SHARED: "{path}: {reason}",
    FindingCode.DISK_FULL: "{path}: only {free} of {total} free",
    FindingCode.FEW_INODES: "{path}: only {count} more files can be made there (inodes)",
    FindingCode.CACHES_DIFFER: "running jobs use {others}, this shell would use {path}",
    FindingCode.JOB_UNREADABLE: "{job}: its environment cannot be read",
    FindingCode.JOB: "{job}: {variables}",
    FindingCode.JOB_WARNING: "{job}: {warning}",
    FindingCode.VARIABLE: "{variable}={value}: {effect}",
    FindingCode.VARIABLE_WARNING: "{warning}",
    FindingCode.VARIABLE_UNKNOWN: _UNKNOWN,
    FindingCode.VARIABLE_NEARLY: _UNKNOWN,
    FindingCode.CORE_COUNT_UNUSED: "NEURON_RT_NUM_CORES has no effect beside NEURON_RT_VISIBLE_CORES",
    FindingCode.TARGET_MISSING: "VLLM_NEURON_CPU_COMPILE needs a target: without a device nothing else names it",
    FindingCode.WARM_CACHE_OFF: "VLLM_NEURON_DISABLE_WARMUP_COMPILE needs the cache that "
    "NEURON_LIBTORCH_DISABLE_COMPILE_CACHE turns off",
    FindingCode.RECORDINGS: "recordings go to {path} ({free} free)",
    FindingCode.RECORDINGS_IMPOSSIBLE: "recordings cannot be kept in {path}",
    FindingCode.NO_TERMINAL: "stdout is not a terminal: commands print plain text",
    FindingCode.TERMINAL: "{kind} {columns}×{lines}, {encoding}",
    FindingCode.TERMINAL_ENCODING: "the terminal's encoding is {encoding}",
    FindingCode.TERMINAL_UNNAMED: "TERM does not name a terminal that can place text",
    FindingCode.TERMINAL_SMALL: "smaller than 80×24: some panels will be left out",
    FindingCode.FEW_OPEN_FILES: "only {count} open files are allowed: collectives over many cores need more",
    FindingCode.FEW_WATCHES: "only {count} file notifications are allowed: large caches are polled instead",
    FindingCode.DATABASE: "{place} answers, with the schema of this version; this clock is {offset:+.1f} s off its",
    FindingCode.DATABASE_UNUSABLE: "{problem}",
}
"""Filled with the values that `FindingCode` names."""
NEXT_STEPS = {
    FindingCode.TOOL_WITHOUT_DEVICE: "run it by hand if this machine should have devices",
    FindingCode.DEVICES_MISSING: "install aws-neuronx-dkms and run `sudo modprobe neuron`; in a container, pass "
    "/dev/neuron* in",
    FindingCode.LISTING_FAILED: "run it by hand; before SDK 2.28 it fails while another Neuron tool runs",
    FindingCode.COUNTERS_MISSING: "report the driver's version",
    FindingCode.COUNTERS_AT_THE_END: "update aws-neuronx-dkms when you need them",
    FindingCode.NODES_CLOSED: "`ls -l {first}` shows who may; the driver's udev rule normally gives 0666",
    FindingCode.TOOL_MISSING: "install the package aws-neuronx-tools",
    FindingCode.TOOL_OFF_PATH: "add /opt/aws/neuron/bin to PATH for the SDK's own neuron-top",
    FindingCode.OBSERVER_ASKED_FOR: "correct the setting observer_url, or start the daemon",
    FindingCode.NO_TORCH: "run `pip install 'neuron-top[torch]'`",
    FindingCode.NO_CXX_COMPILER: "install g++ (Debian, Ubuntu: apt-get install g++; Amazon Linux: dnf install gcc-c++)",
    FindingCode.CACHE_IS_FILE: "give another root in NEURON_COMPILE_CACHE_URL, or move the file away",
    FindingCode.CACHE_NOT_CREATABLE: "ask its owner to create {path}",
    FindingCode.CACHE_CLOSED: "ask {owner}, or set NEURON_COMPILE_CACHE_URL to a folder of your own",
    FindingCode.CACHE_REPLACED: _TRUST,
    FindingCode.CACHE_REFUSED: _TRUST,
    FindingCode.CACHE_IN_MEMORY: "set NEURON_COMPILE_CACHE_URL to a folder on a disk",
    FindingCode.CACHE_SHARED: "one root per host avoids waiting for locks of hosts that have died",
    FindingCode.DISK_FULL: "make room: `neurontop cache ls --sort size` shows what is large",
    FindingCode.FEW_INODES: "remove what is not needed there; many small files are the cause",
    FindingCode.CACHES_DIFFER: "start jobs that should share a cache with the same NEURON_COMPILE_CACHE_URL",
    FindingCode.JOB_UNREADABLE: "ask as its user, or as root",
    FindingCode.JOB_WARNING: "restart the job with the right name",
    FindingCode.VARIABLE_WARNING: "correct it in your shell or job script",
    FindingCode.VARIABLE_NEARLY: "did you mean {nearest}?",
    FindingCode.TARGET_MISSING: "set NEURON_PLATFORM_TARGET_OVERRIDE, as to trn2",
    FindingCode.WARM_CACHE_OFF: "unset one of them",
    FindingCode.RECORDINGS_IMPOSSIBLE: "set NEURONTOP_STATE_DIR to a folder that you may write",
    FindingCode.TERMINAL_ENCODING: "use a UTF-8 locale, or NEURONTOP_ASCII=1",
    FindingCode.TERMINAL_UNNAMED: "set TERM, for example xterm-256color",
    FindingCode.TERMINAL_SMALL: "enlarge the window",
    FindingCode.FEW_OPEN_FILES: "ulimit -n 65536 before the job",
    FindingCode.FEW_WATCHES: "sudo sysctl fs.inotify.max_user_watches=524288",
    FindingCode.DATABASE_UNUSABLE: "check NEURONTOP_STORE; docs/fleet.md says what the database needs",
}
"""A finding that is not here needs none."""
MISSING = {
    "cpus": "unknown",
    "compiler": "(version unknown)",
    "filesystem": "unknown file system",
    "owner": "its owner",
    "variables": "no variable that matters",
    "kind": "unknown terminal",
}
"""By the name of a value that was not found."""
NAMES = {
    "root": "{cache}: {path} ({origin})",
    "root in force": " · in force here",
    "root in use": " · used by {pids}",
    "job": "{pid} {name}",
    "job's user": " ({user})",
}
"""How a cache root and a running process are named; parts that do not hold are left out."""
_BYTES = frozenset({"memory", "free", "total"})


def worded(found: CodedFinding) -> DoctorFinding:
    """A finding as it is printed."""
    words = {name: _shown(name, value) for name, value in found.values.items()}
    if found.code is FindingCode.VARIABLE:
        words["effect"] = EFFECTS[str(found.values["variable"])]
    return DoctorFinding(
        check=found.check,
        level=found.level,
        text=SENTENCES[found.code].format_map(words),
        next_step=NEXT_STEPS.get(found.code, "").format_map(words),
    )


def _shown(name: str, value: FindingValue) -> str | int | float:
    if name in _BYTES and (value is None or isinstance(value, int)):
        return bytes_text(value)
    match value:
        case RootTitle():
            return _root_name(value)
        case JobName():
            return _job_name(value)
        case Version():
            return ".".join(map(str, value.numbers))
        case tuple():
            return ", ".join(value)
        case Mapping():
            return " ".join(f"{key}={text}" for key, text in value.items()) or MISSING[name]
        case None | "":
            return MISSING.get(name, "")
        case _:
            return value


def _root_name(root: RootTitle) -> str:
    parts = [NAMES["root"].format(cache=root.cache, path=root.path, origin=root.origin)]
    parts += [NAMES["root in force"]] if root.in_force else []
    parts += [NAMES["root in use"].format(pids=", ".join(map(str, root.used_by)))] if root.used_by else []
    return "".join(parts)


def _job_name(job: JobName) -> str:
    user = NAMES["job's user"].format(user=job.user) if job.user else ""
    return NAMES["job"].format(pid=job.pid, name=job.name) + user
