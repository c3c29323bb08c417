"""The doctor's judgment: one row per check, each a pure function from the gathered facts to findings.

`ok` and `note` are for information; a `problem` will hurt and comes with the next step. A machine without Neuron
hardware is no problem: graphs are then compiled and trained locally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

import msgspec

from neuron_top.cache.model.filenames import DEFAULT_ROOT
from neuron_top.cache.roots import CacheKind, user_root
from neuron_top.parsers.sysfs_values import LIVE_COUNTERS_SINCE
from neuron_top.telemetry import doctor_variables
from neuron_top.telemetry.doctor_facts import MachineFacts, RootFacts, RootKind
from neuron_top.telemetry.instances import generation
from neuron_top.units import bytes_text

_ROOT_ONLY_BEFORE = (2, 28)
_LEAST_FREE = 2 * 1024**3
_LEAST_SHARE = 0.02
_LEAST_INODES = 10_000
_LEAST_OPEN_FILES = 4096
_LEAST_WATCHES = 8192
_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")


class CheckLevel(StrEnum):
    """Whether a finding needs a person."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


class DoctorFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found. `next_step` is "" where nothing is to be done."""

    check: str
    level: CheckLevel
    text: str
    next_step: str = ""


class Judgment(NamedTuple):
    """A finding before it is known which check it belongs to."""

    level: CheckLevel
    text: str
    next_step: str = ""


def _ok(text: str) -> Judgment:
    return Judgment(CheckLevel.OK, text)


def _note(text: str, next_step: str = "") -> Judgment:
    return Judgment(CheckLevel.NOTE, text, next_step)


def _problem(text: str, next_step: str) -> Judgment:
    return Judgment(CheckLevel.PROBLEM, text, next_step)


class Check(NamedTuple):
    """One row."""

    name: str
    judge: Callable[[MachineFacts], Iterator[Judgment]]


def examine(facts: MachineFacts) -> list[DoctorFinding]:
    """All findings, in the order of the table."""
    return [
        DoctorFinding(check=check.name, level=found.level, text=found.text, next_step=found.next_step)
        for check in CHECKS
        for found in check.judge(facts)
    ]


def is_neuron_machine(facts: MachineFacts) -> bool:
    """Neuron hardware is here, or ought to be by the instance's type."""
    by_type = generation(instance_type=facts.instance_type) is not None
    return by_type or bool(facts.nodes or facts.counted_devices or facts.listing.devices)


def _machine(facts: MachineFacts) -> Iterator[Judgment]:
    kind = f" · {facts.instance_type}" if facts.instance_type else ""
    cpus = f"{facts.cpus} CPUs" if facts.cpus else "unknown CPUs"
    yield _ok(f"{facts.system} · {cpus} · {bytes_text(facts.memory)}{kind} · Python {facts.python}")


def _names(facts: MachineFacts) -> Iterator[Judgment]:
    who = facts.identity
    yield _ok(f"node {who.node.value} ({who.node.origin})")
    yield _ok(f"job {who.job.value} ({who.job.origin})")


def _devices(facts: MachineFacts) -> Iterator[Judgment]:
    if not is_neuron_machine(facts):
        yield _note("no Neuron device: graphs are compiled and trained locally, each worker stands for a core")
        if facts.listing.reason and facts.tools.get("neuron-ls"):
            step = "run it by hand if this machine should have devices"
            yield _note(f"neuron-ls is installed, but {facts.listing.reason}", step)
        return
    count = max(len(facts.listing.devices), facts.counted_devices, len(facts.nodes))
    if not count:
        step = "install aws-neuronx-dkms and run `sudo modprobe neuron`; in a container, pass /dev/neuron* in"
        yield _problem(f"{facts.instance_type} should have Neuron devices, but there is none", step)
        return
    yield _ok(f"{count} Neuron device{'s' if count != 1 else ''}")
    if facts.listing.reason and facts.tools.get("neuron-ls"):
        step = "run it by hand; before SDK 2.28 it fails while another Neuron tool runs"
        yield _problem(f"neuron-ls: {facts.listing.reason}", step)


def _driver(facts: MachineFacts) -> Iterator[Judgment]:
    if facts.driver is None:
        if facts.nodes:
            yield _note("the driver's version cannot be seen (a container without /sys/module/neuron?)")
        return
    version = ".".join(map(str, facts.driver))
    yield _ok(f"neuron driver {version}")
    if facts.sysfs_layout:
        yield _ok(f"the driver's counters, {facts.sysfs_layout}")
    elif facts.nodes:
        yield _problem("the driver is loaded, but its counters are nowhere below /sys", "report the driver's version")
    if facts.driver < LIVE_COUNTERS_SINCE:
        since = ".".join(map(str, LIVE_COUNTERS_SINCE))
        text = f"driver {version} adds a process's status counters up only when it ends; live counts come with {since}"
        yield _note(text, "update aws-neuronx-dkms when you need them")
    if facts.unreadable and facts.driver < _ROOT_ONLY_BEFORE:
        yield _note(f"{len(facts.unreadable)} of the driver's files are readable by root alone before 2.28")


def _nodes(facts: MachineFacts) -> Iterator[Judgment]:
    closed = [node.path for node in facts.nodes if not node.usable]
    if closed:
        step = f"`ls -l {closed[0]}` shows who may; the driver's udev rule normally gives 0666"
        yield _problem(f"no permission to open {', '.join(closed)}", step)


def _sdk_tools(facts: MachineFacts) -> Iterator[Judgment]:
    if not is_neuron_machine(facts):
        return
    for tool in ("neuron-monitor", "neuron-ls"):
        path = facts.tools.get(tool)
        if path is None:
            yield _problem(f"{tool} is not installed: less telemetry", "install the package aws-neuronx-tools")
        elif not facts.on_path.get(tool):
            step = "add /opt/aws/neuron/bin to PATH for the SDK's own neuron-top"
            yield _note(f"{path} is not on the PATH; neurontop finds it all the same", step)
        else:
            yield _ok(path)
    for name, version in facts.system_packages.items():
        yield _ok(f"{name} {version}")


def _observer(facts: MachineFacts) -> Iterator[Judgment]:
    observer = facts.observer
    if observer is None:
        return
    if observer.found:
        yield _ok(f"{observer.url}: {observer.found}")
    elif observer.by_person:
        yield _problem(f"{observer.url} {observer.reason}", "correct the setting observer_url, or start the daemon")
    elif is_neuron_machine(facts):
        yield _note(f"{observer.url} {observer.reason}; neuron-monitor is read all the same")


def _compilers(facts: MachineFacts) -> Iterator[Judgment]:
    neuron = facts.tools.get("neuronx-cc")
    if neuron:
        yield _ok(f"{neuron} {facts.packages.get('neuronx-cc') or '(version unknown)'}")
    if facts.packages.get("torch") is None:
        text = "PyTorch is not installed beside neurontop: nothing can be compiled locally"
        yield _note(text, "run `pip install 'neuron-top[torch]'`")
        return
    found = [name for name, path in facts.compilers.items() if path]
    if not found:
        step = "install g++ (Debian, Ubuntu: apt-get install g++; Amazon Linux: dnf install gcc-c++)"
        yield _problem("PyTorch's Inductor needs a C++ compiler, and there is none on the PATH", step)
    else:
        yield _ok(f"Inductor can compile with {found[0]}: {facts.compilers[found[0]]}")


def _packages(facts: MachineFacts) -> Iterator[Judgment]:
    found = [f"{name} {version}" for name, version in facts.packages.items() if version]
    if found:
        yield _ok(", ".join(found))


def _roots(facts: MachineFacts) -> Iterator[Judgment]:
    for root in facts.roots:
        force = " · in force here" if root.path == facts.root_in_force and root.cache is CacheKind.NEURON else ""
        pids = f" · used by {', '.join(map(str, root.used_by))}" if root.used_by else ""
        title = f"{root.cache}: {root.path} ({root.origin}){force}{pids}"
        if root.cache is CacheKind.NEURON:
            yield from _root(root, title)
        elif root.found is RootKind.FOLDER:
            yield _ok(f"{title}: {_place(root)}")
            yield from _trust(root)
        else:
            yield _note(f"{title}: {_FOUND[root.found]}")


def _root(root: RootFacts, title: str) -> Iterator[Judgment]:
    if root.found is RootKind.REMOTE:
        yield _note(f"{title}: a remote cache; its contents are not read here")
        return
    if root.found is RootKind.FILE:
        step = "give another root in NEURON_COMPILE_CACHE_URL, or move the file away"
        yield _problem(f"{title}: a file is in the place of the cache", step)
    elif root.found is RootKind.FOLDER:
        yield from _folder(root, title)
    elif root.writable:
        yield _ok(f"{title}: not there yet; the first compile makes it")
    else:
        yield _problem(
            f"{title}: it does not exist, and this user may not create it", f"ask its owner to create {root.path}"
        )
    yield from _disk(root)


_FOUND = {
    RootKind.FOLDER: "a folder",
    RootKind.FILE: "a file lies there, no folder",
    RootKind.MISSING: "not there yet",
    RootKind.REMOTE: "a remote cache; its contents are not read here",
}


def _place(root: RootFacts) -> str:
    return f"{root.filesystem or 'unknown file system'}, {bytes_text(root.free)} free"


def _folder(root: RootFacts, title: str) -> Iterator[Judgment]:
    yield _ok(f"{title}: {_place(root)}")
    if not root.writable:
        step = f"ask {root.owner or 'its owner'}, or set NEURON_COMPILE_CACHE_URL to a folder of your own"
        yield _problem(f"{root.path} may not be written: every compile in it will fail", step)
    yield from _trust(root)


def _trust(root: RootFacts) -> Iterator[Judgment]:
    """Others could place files there, and loading them is running code: local compiles refuse it."""
    if not root.untrusted:
        return
    variable = "NEURON_COMPILE_CACHE_URL" if root.cache is CacheKind.NEURON else "TORCHINDUCTOR_CACHE_DIR"
    step = f"set {variable} to a folder of your own (chmod go-w where only the mode is wrong), or "
    step += "NEURONTOP_TRUST_CACHE=1 if you trust everyone who can write there"
    if root.path == DEFAULT_ROOT:
        text = f"local compiles use {user_root()} instead of {root.path}: {root.untrusted}"
        yield _note(text, step)
    else:
        yield _problem(f"local compiles refuse {root.path}: {root.untrusted}", step)


def _disk(root: RootFacts) -> Iterator[Judgment]:
    if root.filesystem in _MEMORY_FILE_SYSTEMS:
        step = "set NEURON_COMPILE_CACHE_URL to a folder on a disk"
        yield _problem(f"{root.path} is in memory ({root.filesystem}): it is lost at the next boot", step)
    if root.why_shared:
        step = "one root per host avoids waiting for locks of hosts that have died"
        yield _note(f"{root.path}: {root.why_shared}", step)
    yield from _space(root)


def _space(root: RootFacts) -> Iterator[Judgment]:
    if root.free is not None and root.total and root.free < max(_LEAST_SHARE * root.total, _LEAST_FREE):
        step = "make room: `neurontop cache ls --sort size` shows what is large"
        yield _problem(f"{root.path}: only {bytes_text(root.free)} of {bytes_text(root.total)} free", step)
    if root.free_inodes is not None and root.free_inodes < _LEAST_INODES:
        text = f"{root.path}: only {root.free_inodes} more files can be made there (inodes)"
        yield _problem(text, "remove what is not needed there; many small files are the cause")


def _agreement(facts: MachineFacts) -> Iterator[Judgment]:
    others = sorted({job.root for job in facts.jobs if job.root} - {facts.root_in_force})
    if others:
        text = f"running jobs use {', '.join(others)}, this shell would use {facts.root_in_force}"
        yield _note(text, "start jobs that should share a cache with the same NEURON_COMPILE_CACHE_URL")


def _jobs(facts: MachineFacts) -> Iterator[Judgment]:
    for job in facts.jobs:
        who = f"{job.pid} {job.name}" + (f" ({job.user})" if job.user else "")
        if job.variables is None:
            yield _note(f"{who}: its environment cannot be read", "ask as its user, or as root")
        else:
            yield _ok(f"{who}: {_listed(job.variables)}")
        for warning in job.warnings:
            yield _problem(f"{who}: {warning}", "restart the job with the right name")


def _variables(facts: MachineFacts) -> Iterator[Judgment]:
    for name, value in facts.variables.items():
        if name in doctor_variables.EFFECTS:
            yield _ok(f"{name}={value}: {doctor_variables.EFFECTS[name]}")
    for warning in facts.warnings:
        yield _problem(warning, "correct it in your shell or job script")
    yield from _unknown_variables(facts)
    if {"NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES"} <= facts.variables.keys():
        yield _note("NEURON_RT_NUM_CORES has no effect beside NEURON_RT_VISIBLE_CORES")
    yield from _compile_only(facts)


def _compile_only(facts: MachineFacts) -> Iterator[Judgment]:
    """What vLLM-Neuron refuses to start with."""
    on = {name for name, value in facts.variables.items() if value == "1"}
    if "VLLM_NEURON_CPU_COMPILE" in on and "NEURON_PLATFORM_TARGET_OVERRIDE" not in facts.variables:
        what = "VLLM_NEURON_CPU_COMPILE needs a target: without a device nothing else names it"
        yield _problem(what, "set NEURON_PLATFORM_TARGET_OVERRIDE, as to trn2")
    if {"VLLM_NEURON_DISABLE_WARMUP_COMPILE", "NEURON_LIBTORCH_DISABLE_COMPILE_CACHE"} <= on:
        what = "VLLM_NEURON_DISABLE_WARMUP_COMPILE needs the cache that NEURON_LIBTORCH_DISABLE_COMPILE_CACHE turns off"
        yield _problem(what, "unset one of them")


def _unknown_variables(facts: MachineFacts) -> Iterator[Judgment]:
    for name in facts.variables:
        if doctor_variables.known(name) or any(name in warning for warning in facts.warnings):
            continue
        nearest = doctor_variables.nearest(name)
        step = f"did you mean {nearest}?" if nearest else ""
        yield _note(f"{name} is not a variable that the SDK documents", step)


def _state(facts: MachineFacts) -> Iterator[Judgment]:
    state = facts.state
    if state.found is RootKind.FILE or not state.writable:
        step = "set NEURONTOP_STATE_DIR to a folder that you may write"
        yield _problem(f"recordings cannot be kept in {state.path}", step)
    else:
        yield _ok(f"recordings go to {state.path} ({bytes_text(state.free)} free)")
        yield from _space(state)


def _terminal(facts: MachineFacts) -> Iterator[Judgment]:
    terminal = facts.terminal
    if not terminal.is_terminal:
        yield _note("stdout is not a terminal: commands print plain text")
        return
    yield _ok(f"{terminal.kind or 'unknown terminal'} {terminal.columns}×{terminal.lines}, {terminal.encoding}")
    if "utf" not in terminal.encoding:
        yield _problem(f"the terminal's encoding is {terminal.encoding}", "use a UTF-8 locale, or NEURONTOP_ASCII=1")
    if terminal.kind in ("", "dumb"):
        yield _problem("TERM does not name a terminal that can place text", "set TERM, for example xterm-256color")
    elif terminal.columns < 80 or terminal.lines < 24:
        yield _note("smaller than 80×24: some panels will be left out", "enlarge the window")


def _limits(facts: MachineFacts) -> Iterator[Judgment]:
    if facts.open_files < _LEAST_OPEN_FILES and is_neuron_machine(facts):
        step = "ulimit -n 65536 before the job"
        yield _note(f"only {facts.open_files} open files are allowed: collectives over many cores need more", step)
    if facts.watches is not None and facts.watches < _LEAST_WATCHES:
        step = "sudo sysctl fs.inotify.max_user_watches=524288"
        yield _note(f"only {facts.watches} file notifications are allowed: large caches are polled instead", step)


CHECKS = (
    Check("machine", _machine),
    Check("names", _names),
    Check("devices", _devices),
    Check("driver", _driver),
    Check("device permissions", _nodes),
    Check("SDK tools", _sdk_tools),
    Check("Neuron Observer", _observer),
    Check("compilers", _compilers),
    Check("packages", _packages),
    Check("caches", _roots),
    Check("caches agree", _agreement),
    Check("running jobs", _jobs),
    Check("environment", _variables),
    Check("recordings", _state),
    Check("terminal", _terminal),
    Check("limits", _limits),
)


def _listed(variables: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items()) or "no variable that matters"
