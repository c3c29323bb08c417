"""The doctor's judgement: one row per check, each a pure function from the gathered facts to findings.

`ok` and `note` are for information; a `problem` will hurt and comes with the next step. A machine without Neuron
hardware is no problem: graphs are then compiled and trained locally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from neuron_top.parsers.sysfs_values import LIVE_COUNTERS_SINCE
from neuron_top.runtime import doctor_variables
from neuron_top.runtime.doctor_facts import Facts, Root
from neuron_top.runtime.instances import generation
from neuron_top.units import bytes_text

_ROOT_ONLY_BEFORE = (2, 28)
_LEAST_FREE = 2 * 1024**3
_LEAST_SHARE = 0.03
_LEAST_INODES = 10_000
_LEAST_OPEN_FILES = 4096
_LEAST_WATCHES = 8192
_GROUP_OR_WORLD_WRITE = 0o022
_STICKY = 0o1000
_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check says. `level` is `ok`, `note` or `problem`; `next_step` is "" where nothing is to be done."""

    check: str
    level: str
    text: str
    next_step: str = ""


class Check(NamedTuple):
    """One row: `judge` yields (level, text, next step)."""

    name: str
    judge: Callable[[Facts], Iterator[tuple[str, str, str]]]


def examine(facts: Facts) -> list[Finding]:
    """All findings, in the order of the table."""
    return [
        Finding(check=check.name, level=level, text=text, next_step=step)
        for check in CHECKS
        for level, text, step in check.judge(facts)
    ]


def is_neuron_machine(facts: Facts) -> bool:
    """Neuron hardware is here, or ought to be by the instance's type."""
    by_type = generation(instance_type=facts.instance_type) is not None
    return by_type or bool(facts.nodes or facts.counted_devices or facts.listing.devices)


def _machine(facts: Facts) -> Iterator[tuple[str, str, str]]:
    kind = f" · {facts.instance_type}" if facts.instance_type else ""
    cpus = f"{facts.cpus} CPUs" if facts.cpus else "unknown CPUs"
    yield "ok", f"{facts.system} · {cpus} · {bytes_text(facts.memory)}{kind} · Python {facts.python}", ""


def _devices(facts: Facts) -> Iterator[tuple[str, str, str]]:
    if not is_neuron_machine(facts):
        yield "note", "no Neuron device: graphs are compiled and trained locally, each worker stands for a core", ""
        return
    count = max(len(facts.listing.devices), facts.counted_devices, len(facts.nodes))
    if not count:
        step = "install aws-neuronx-dkms and run `sudo modprobe neuron`; in a container, pass /dev/neuron* in"
        yield "problem", f"{facts.instance_type} should have Neuron devices, but there is none", step
        return
    yield "ok", f"{count} Neuron device{'s' if count != 1 else ''}", ""
    if facts.listing.reason and facts.tools.get("neuron-ls"):
        step = "run it by hand; before SDK 2.28 it fails while another Neuron tool runs"
        yield "problem", f"neuron-ls: {facts.listing.reason}", step


def _driver(facts: Facts) -> Iterator[tuple[str, str, str]]:
    if facts.driver is None:
        if facts.nodes:
            yield "note", "the driver's version cannot be seen (a container without /sys/module/neuron?)", ""
        return
    version = ".".join(map(str, facts.driver))
    yield "ok", f"neuron driver {version}", ""
    if facts.driver < LIVE_COUNTERS_SINCE:
        since = ".".join(map(str, LIVE_COUNTERS_SINCE))
        text = f"driver {version} adds a process's status counters up only when it ends; live counts come with {since}"
        yield "note", text, "update aws-neuronx-dkms when you need them"
    if facts.unreadable and facts.driver < _ROOT_ONLY_BEFORE:
        yield "note", f"{len(facts.unreadable)} of the driver's files are readable by root alone before 2.28", ""


def _nodes(facts: Facts) -> Iterator[tuple[str, str, str]]:
    closed = [node.path for node in facts.nodes if not node.usable]
    if closed:
        step = f"`ls -l {closed[0]}` shows who may; the driver's udev rule normally gives 0666"
        yield "problem", f"no permission to open {', '.join(closed)}", step


def _sdk_tools(facts: Facts) -> Iterator[tuple[str, str, str]]:
    if not is_neuron_machine(facts):
        return
    for tool in ("neuron-monitor", "neuron-ls"):
        path = facts.tools.get(tool)
        if path is None:
            yield "problem", f"{tool} is not installed: less telemetry", "install the package aws-neuronx-tools"
        elif not facts.on_path.get(tool):
            step = "add /opt/aws/neuron/bin to PATH for the SDK's own neuron-top"
            yield "note", f"{path} is not on the PATH; neurontop finds it all the same", step
        else:
            yield "ok", path, ""
    for name, version in facts.system_packages.items():
        yield "ok", f"{name} {version}", ""


def _compilers(facts: Facts) -> Iterator[tuple[str, str, str]]:
    neuron = facts.tools.get("neuronx-cc")
    if neuron:
        yield "ok", f"{neuron} {facts.packages.get('neuronx-cc') or '(version unknown)'}", ""
    if facts.packages.get("torch") is None:
        yield (
            "note",
            "PyTorch is not installed beside neurontop: nothing can be compiled locally",
            ("pip install 'neuron-top[torch]'"),
        )
        return
    found = [name for name, path in facts.compilers.items() if path]
    if not found:
        step = "install g++ (Debian, Ubuntu: apt-get install g++; Amazon Linux: dnf install gcc-c++)"
        yield "problem", "PyTorch's Inductor needs a C++ compiler, and there is none on the PATH", step
    else:
        yield "ok", f"Inductor can compile with {found[0]}: {facts.compilers[found[0]]}", ""


def _packages(facts: Facts) -> Iterator[tuple[str, str, str]]:
    found = [f"{name} {version}" for name, version in facts.packages.items() if version]
    if found:
        yield "ok", ", ".join(found), ""


def _roots(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for root in facts.roots:
        origin = " · ".join(root.origins)
        pids = f" · used by {', '.join(map(str, root.used_by))}" if root.used_by else ""
        yield from _root(root, f"{root.url} ({origin}){pids}")


def _root(root: Root, title: str) -> Iterator[tuple[str, str, str]]:
    if root.kind == "remote":
        yield "note", f"{title}: a remote cache; its contents are not read here", ""
    elif root.kind == "file":
        step = "give another root in NEURON_COMPILE_CACHE_URL, or move the file away"
        yield "problem", f"{title}: a file lies where the cache should be", step
    elif root.kind == "missing":
        if root.writable:
            yield "ok", f"{title}: not there yet; the first compile makes it", ""
        else:
            yield "problem", f"{title}: not there, and we may not make it", f"mkdir it as the owner of {root.path}"
    else:
        yield from _folder(root, title)
    yield from _disk(root)


def _folder(root: Root, title: str) -> Iterator[tuple[str, str, str]]:
    yield "ok", f"{title}: {root.filesystem or 'unknown file system'}, {bytes_text(root.free)} free", ""
    if not root.writable:
        step = f"ask {root.owner or 'its owner'}, or set NEURON_COMPILE_CACHE_URL to a folder of your own"
        yield "problem", f"{root.path} may not be written: every compile in it will fail", step
    loose = root.mode is not None and root.mode & _GROUP_OR_WORLD_WRITE
    if loose and not root.ours:
        step = "use a root of your own: loading an artefact is running code"
        yield "problem", f"{root.path} belongs to {root.owner} and others may write there ({root.mode:o})", step
    elif root.mode is not None and root.mode & 0o002:
        yield "note", f"{root.path} may be written by everybody ({root.mode:o})", f"chmod o-w {root.path}"


def _disk(root: Root) -> Iterator[tuple[str, str, str]]:
    if root.filesystem in _MEMORY_FILE_SYSTEMS:
        step = "set NEURON_COMPILE_CACHE_URL to a folder on a disk"
        yield "problem", f"{root.path} lies in memory ({root.filesystem}): it is lost at the next boot", step
    if root.why_shared:
        step = "one root per host avoids waiting for locks of hosts that have died"
        yield "note", f"{root.path}: {root.why_shared}", step
    if root.free is not None and root.total:
        few = root.free < min(_LEAST_FREE, root.total * 0.5) or root.free < root.total * _LEAST_SHARE
        if few:
            step = "make room: `neurontop cache ls --sort size` shows what is large"
            yield "problem", f"{root.path}: only {bytes_text(root.free)} of {bytes_text(root.total)} free", step
    if root.free_inodes is not None and root.free_inodes < _LEAST_INODES:
        yield "problem", f"{root.path}: only {root.free_inodes} files can still be made (inodes)", "remove old entries"


def _agreement(facts: Facts) -> Iterator[tuple[str, str, str]]:
    ours = next((root for root in facts.roots if any(o.startswith("this shell") for o in root.origins)), None)
    others = sorted({job.cache_url for job in facts.jobs if job.cache_url} - {ours.url if ours else ""})
    if ours and others:
        text = f"running jobs use {', '.join(others)}, this shell would use {ours.url}"
        yield "note", text, "start jobs that should share a cache with the same NEURON_COMPILE_CACHE_URL"


def _jobs(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for job in facts.jobs:
        who = f"{job.pid} {job.name}" + (f" ({job.user})" if job.user else "")
        if job.variables is None:
            yield "note", f"{who}: its environment cannot be read", "ask as its user, or as root"
        else:
            yield "ok", f"{who}: {_listed(job.variables)}", ""
        for warning in job.warnings:
            yield "problem", f"{who}: {warning}", "restart the job with the right name"


def _variables(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for name, value in facts.variables.items():
        if name in doctor_variables.EFFECTS:
            yield "ok", f"{name}={value}: {doctor_variables.EFFECTS[name]}", ""
    for warning in facts.warnings:
        yield "problem", warning, "correct it in your shell or job script"
    yield from _unknown_variables(facts)
    if {"NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES"} <= facts.variables.keys():
        yield "note", "NEURON_RT_NUM_CORES has no effect beside NEURON_RT_VISIBLE_CORES", ""


def _unknown_variables(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for name in facts.variables:
        if doctor_variables.known(name) or any(name in warning for warning in facts.warnings):
            continue
        nearest = doctor_variables.nearest(name)
        step = f"did you mean {nearest}?" if nearest else ""
        yield "note", f"{name} is not a variable that the SDK documents", step


def _state(facts: Facts) -> Iterator[tuple[str, str, str]]:
    state = facts.state
    if state.kind == "file" or not state.writable:
        step = "set NEURONTOP_STATE_DIR to a folder that you may write"
        yield "problem", f"recordings cannot be kept in {state.path}", step
    else:
        yield "ok", f"recordings go to {state.path} ({bytes_text(state.free)} free)", ""
        yield from ((level, text, step) for level, text, step in _disk(state) if "free" in text or "inodes" in text)


def _terminal(facts: Facts) -> Iterator[tuple[str, str, str]]:
    terminal = facts.terminal
    if not terminal.is_terminal:
        yield "note", "stdout is no terminal: commands print plain text", ""
        return
    yield "ok", f"{terminal.kind or 'unknown terminal'} {terminal.columns}×{terminal.lines}, {terminal.encoding}", ""
    if "utf" not in terminal.encoding:
        yield "problem", f"the terminal's encoding is {terminal.encoding}", "use a UTF-8 locale, or NEURONTOP_ASCII=1"
    if terminal.kind in ("", "dumb"):
        yield "problem", "TERM does not name a terminal that can place text", "set TERM, for example xterm-256color"
    elif terminal.columns < 80 or terminal.lines < 24:
        yield "note", "smaller than 80×24: some panels will be left out", "enlarge the window"


def _limits(facts: Facts) -> Iterator[tuple[str, str, str]]:
    if facts.open_files < _LEAST_OPEN_FILES and is_neuron_machine(facts):
        step = "ulimit -n 65536 before the job"
        yield "note", f"only {facts.open_files} open files are allowed: collectives over many cores need more", step
    if facts.watches is not None and facts.watches < _LEAST_WATCHES:
        step = "sudo sysctl fs.inotify.max_user_watches=524288"
        yield "note", f"only {facts.watches} file notifications are allowed: large caches are polled instead", step


CHECKS = (
    Check("machine", _machine),
    Check("devices", _devices),
    Check("driver", _driver),
    Check("device permissions", _nodes),
    Check("SDK tools", _sdk_tools),
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
