"""The doctor's judgment: one row per check, each a pure function from the gathered facts to findings.

Findings are codes with values (`doctor_findings.py`). `ok` and `note` are for information; a `problem` will hurt, and
has a next step. A machine without Neuron hardware is no problem: graphs are then compiled and trained locally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from neuron_top.cache.model.filenames import DEFAULT_ROOT
from neuron_top.cache.roots import CacheKind, user_root
from neuron_top.parsers.sysfs_values import LIVE_COUNTERS_SINCE
from neuron_top.telemetry import doctor_variables
from neuron_top.telemetry.doctor_facts import MachineFacts, RootFacts, RootKind
from neuron_top.telemetry.doctor_findings import (
    CheckLevel,
    CodedFinding,
    FindingCode,
    FindingValue,
    FindingValues,
    JobName,
    RootTitle,
    Version,
)
from neuron_top.telemetry.instances import generation

_ROOT_ONLY_BEFORE = (2, 28)
_LEAST_FREE = 2 * 1024**3
_LEAST_SHARE = 0.02
_LEAST_INODES = 10_000
_LEAST_OPEN_FILES = 4096
_LEAST_WATCHES = 8192
_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")


class Judgment(NamedTuple):
    """A finding without its check."""

    level: CheckLevel
    code: FindingCode
    values: FindingValues


def _ok(code: FindingCode, **values: FindingValue) -> Judgment:
    return Judgment(CheckLevel.OK, code, values)


def _note(code: FindingCode, **values: FindingValue) -> Judgment:
    return Judgment(CheckLevel.NOTE, code, values)


def _problem(code: FindingCode, **values: FindingValue) -> Judgment:
    return Judgment(CheckLevel.PROBLEM, code, values)


class Check(NamedTuple):
    """One row of the table of checks."""

    name: str
    judge: Callable[[MachineFacts], Iterator[Judgment]]


def examine(facts: MachineFacts, warned: frozenset[str] = frozenset()) -> list[CodedFinding]:
    """All findings, in the order of the table. `warned`: variables that `facts.warnings` already cover."""
    return [
        CodedFinding(check.name, found.level, found.code, found.values)
        for check in CHECKS
        for found in check.judge(facts)
        if found.code not in _UNKNOWN or found.values["variable"] not in warned
    ]


def is_neuron_machine(facts: MachineFacts) -> bool:
    """Whether Neuron hardware is present, or should be by the type of the instance."""
    by_type = generation(instance_type=facts.instance_type) is not None
    return by_type or bool(facts.nodes or facts.counted_devices or facts.listing.devices)


def _machine(facts: MachineFacts) -> Iterator[Judgment]:
    values: dict[str, FindingValue] = {
        "system": facts.system,
        "cpus": facts.cpus,
        "memory": facts.memory,
        "python": facts.python,
    }
    if facts.instance_type:
        yield _ok(FindingCode.INSTANCE, instance=facts.instance_type, **values)
    else:
        yield _ok(FindingCode.MACHINE, **values)


def _names(facts: MachineFacts) -> Iterator[Judgment]:
    who = facts.identity
    yield _ok(FindingCode.NODE_NAME, name=who.node.value, origin=who.node.origin)
    yield _ok(FindingCode.JOB_NAME, name=who.job.value, origin=who.job.origin)


def _devices(facts: MachineFacts) -> Iterator[Judgment]:
    if not is_neuron_machine(facts):
        yield _note(FindingCode.NO_DEVICE)
        if facts.listing.reason and facts.tools.get("neuron-ls"):
            yield _note(FindingCode.TOOL_WITHOUT_DEVICE, reason=facts.listing.reason)
        return
    count = max(len(facts.listing.devices), facts.counted_devices, len(facts.nodes))
    if not count:
        yield _problem(FindingCode.DEVICES_MISSING, instance=facts.instance_type)
        return
    yield _ok(FindingCode.ONE_DEVICE) if count == 1 else _ok(FindingCode.DEVICES, count=count)
    if facts.listing.reason and facts.tools.get("neuron-ls"):
        yield _problem(FindingCode.LISTING_FAILED, reason=facts.listing.reason)


def _driver(facts: MachineFacts) -> Iterator[Judgment]:
    if facts.driver is None:
        if facts.nodes:
            yield _note(FindingCode.DRIVER_UNSEEN)
        return
    version = Version(facts.driver)
    yield _ok(FindingCode.DRIVER, version=version)
    if facts.sysfs_layout:
        yield _ok(FindingCode.COUNTERS, layout=facts.sysfs_layout)
    elif facts.nodes:
        yield _problem(FindingCode.COUNTERS_MISSING)
    if facts.driver < LIVE_COUNTERS_SINCE:
        yield _note(FindingCode.COUNTERS_AT_THE_END, version=version, since=Version(LIVE_COUNTERS_SINCE))
    if facts.unreadable and facts.driver < _ROOT_ONLY_BEFORE:
        yield _note(FindingCode.COUNTERS_OF_ROOT, count=len(facts.unreadable), before=Version(_ROOT_ONLY_BEFORE))


def _nodes(facts: MachineFacts) -> Iterator[Judgment]:
    closed = tuple(node.path for node in facts.nodes if not node.usable)
    if closed:
        yield _problem(FindingCode.NODES_CLOSED, paths=closed, first=closed[0])


def _sdk_tools(facts: MachineFacts) -> Iterator[Judgment]:
    if not is_neuron_machine(facts):
        return
    for tool in ("neuron-monitor", "neuron-ls"):
        path = facts.tools.get(tool)
        if path is None:
            yield _problem(FindingCode.TOOL_MISSING, tool=tool)
        elif not facts.on_path.get(tool):
            yield _note(FindingCode.TOOL_OFF_PATH, path=path)
        else:
            yield _ok(FindingCode.TOOL, path=path)
    for name, version in facts.system_packages.items():
        yield _ok(FindingCode.SYSTEM_PACKAGE, name=name, version=version)


def _observer(facts: MachineFacts) -> Iterator[Judgment]:
    observer = facts.observer
    if observer is None:
        return
    if observer.found:
        yield _ok(FindingCode.OBSERVER, url=observer.url, found=observer.found)
    elif observer.by_person:
        yield _problem(FindingCode.OBSERVER_ASKED_FOR, url=observer.url, reason=observer.reason)
    elif is_neuron_machine(facts):
        yield _note(FindingCode.OBSERVER_SILENT, url=observer.url, reason=observer.reason)


def _compilers(facts: MachineFacts) -> Iterator[Judgment]:
    neuron = facts.tools.get("neuronx-cc")
    if neuron:
        yield _ok(FindingCode.NEURON_COMPILER, path=neuron, compiler=facts.packages.get("neuronx-cc"))
    if facts.packages.get("torch") is None:
        yield _note(FindingCode.NO_TORCH)
        return
    found = [name for name, path in facts.compilers.items() if path]
    if not found:
        yield _problem(FindingCode.NO_CXX_COMPILER)
    else:
        yield _ok(FindingCode.INDUCTOR_COMPILER, name=found[0], path=facts.compilers[found[0]])


def _packages(facts: MachineFacts) -> Iterator[Judgment]:
    found = tuple(f"{name} {version}" for name, version in facts.packages.items() if version)
    if found:
        yield _ok(FindingCode.PACKAGES, packages=found)


def _roots(facts: MachineFacts) -> Iterator[Judgment]:
    for root in facts.roots:
        in_force = root.path == facts.root_in_force and root.cache is CacheKind.NEURON
        title = RootTitle(root.cache, root.path, root.origin, in_force, root.used_by)
        if root.cache is CacheKind.NEURON:
            yield from _root(root, title)
        elif root.found is RootKind.FOLDER:
            yield _there(root, title)
            yield from _trust(root)
        else:
            yield _note(_OTHERS[root.found], root=title)


def _root(root: RootFacts, title: RootTitle) -> Iterator[Judgment]:
    if root.found is RootKind.REMOTE:
        yield _note(FindingCode.CACHE_REMOTE, root=title)
        return
    if root.found is RootKind.FILE:
        yield _problem(FindingCode.CACHE_IS_FILE, root=title)
    elif root.found is RootKind.FOLDER:
        yield _there(root, title)
        if not root.writable:
            yield _problem(FindingCode.CACHE_CLOSED, path=root.path, owner=root.owner)
        yield from _trust(root)
    elif root.writable:
        yield _ok(FindingCode.CACHE_TO_COME, root=title)
    else:
        yield _problem(FindingCode.CACHE_NOT_CREATABLE, root=title, path=root.path)
    yield from _disk(root)


_OTHERS = {
    RootKind.FILE: FindingCode.OTHER_CACHE_IS_FILE,
    RootKind.MISSING: FindingCode.OTHER_CACHE_MISSING,
    RootKind.REMOTE: FindingCode.CACHE_REMOTE,
}
"""For caches that we only read: what is there is not a folder."""


def _there(root: RootFacts, title: RootTitle) -> Judgment:
    return _ok(FindingCode.CACHE, root=title, filesystem=root.filesystem, free=root.free)


def _trust(root: RootFacts) -> Iterator[Judgment]:
    """Findings about roots where others could place files: loading these runs code, so local compiles refuse it."""
    if not root.untrusted:
        return
    variable = "NEURON_COMPILE_CACHE_URL" if root.cache is CacheKind.NEURON else "TORCHINDUCTOR_CACHE_DIR"
    values: dict[str, FindingValue] = {"path": root.path, "reason": root.untrusted, "variable": variable}
    if root.path == DEFAULT_ROOT:
        yield _note(FindingCode.CACHE_REPLACED, user_root=user_root(), **values)
    else:
        yield _problem(FindingCode.CACHE_REFUSED, **values)


def _disk(root: RootFacts) -> Iterator[Judgment]:
    if root.filesystem in _MEMORY_FILE_SYSTEMS:
        yield _problem(FindingCode.CACHE_IN_MEMORY, path=root.path, filesystem=root.filesystem)
    if root.why_shared:
        yield _note(FindingCode.CACHE_SHARED, path=root.path, reason=root.why_shared)
    yield from _space(root)


def _space(root: RootFacts) -> Iterator[Judgment]:
    if root.free is not None and root.total and root.free < max(_LEAST_SHARE * root.total, _LEAST_FREE):
        yield _problem(FindingCode.DISK_FULL, path=root.path, free=root.free, total=root.total)
    if root.free_inodes is not None and root.free_inodes < _LEAST_INODES:
        yield _problem(FindingCode.FEW_INODES, path=root.path, count=root.free_inodes)


def _agreement(facts: MachineFacts) -> Iterator[Judgment]:
    others = tuple(sorted({job.root for job in facts.jobs if job.root} - {facts.root_in_force}))
    if others:
        yield _note(FindingCode.CACHES_DIFFER, others=others, path=facts.root_in_force)


def _jobs(facts: MachineFacts) -> Iterator[Judgment]:
    for job in facts.jobs:
        name = JobName(job.pid, job.name, job.user)
        if job.variables is None:
            yield _note(FindingCode.JOB_UNREADABLE, job=name)
        else:
            yield _ok(FindingCode.JOB, job=name, variables=job.variables)
        for warning in job.warnings:
            yield _problem(FindingCode.JOB_WARNING, job=name, warning=warning)


def _variables(facts: MachineFacts) -> Iterator[Judgment]:
    for name, value in facts.variables.items():
        if doctor_variables.is_documented(name):
            yield _ok(FindingCode.VARIABLE, variable=name, value=value)
    for warning in facts.warnings:
        yield _problem(FindingCode.VARIABLE_WARNING, warning=warning)
    yield from _unknown_variables(facts)
    if {"NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES"} <= facts.variables.keys():
        yield _note(FindingCode.CORE_COUNT_UNUSED)
    yield from _compile_only(facts)


def _compile_only(facts: MachineFacts) -> Iterator[Judgment]:
    """Findings about variables with which vLLM-Neuron refuses to start."""
    on = {name for name, value in facts.variables.items() if value == "1"}
    if "VLLM_NEURON_CPU_COMPILE" in on and "NEURON_PLATFORM_TARGET_OVERRIDE" not in facts.variables:
        yield _problem(FindingCode.TARGET_MISSING)
    if {"VLLM_NEURON_DISABLE_WARMUP_COMPILE", "NEURON_LIBTORCH_DISABLE_COMPILE_CACHE"} <= on:
        yield _problem(FindingCode.WARM_CACHE_OFF)


_UNKNOWN = (FindingCode.VARIABLE_UNKNOWN, FindingCode.VARIABLE_NEARLY)


def _unknown_variables(facts: MachineFacts) -> Iterator[Judgment]:
    for name in facts.variables:
        if doctor_variables.known(name):
            continue
        nearest = doctor_variables.nearest(name)
        if nearest is None:
            yield _note(FindingCode.VARIABLE_UNKNOWN, variable=name)
        else:
            yield _note(FindingCode.VARIABLE_NEARLY, variable=name, nearest=nearest)


def _state(facts: MachineFacts) -> Iterator[Judgment]:
    state = facts.state
    if state.found is RootKind.FILE or not state.writable:
        yield _problem(FindingCode.RECORDINGS_IMPOSSIBLE, path=state.path)
    else:
        yield _ok(FindingCode.RECORDINGS, path=state.path, free=state.free)
        yield from _space(state)


def _terminal(facts: MachineFacts) -> Iterator[Judgment]:
    terminal = facts.terminal
    if not terminal.is_terminal:
        yield _note(FindingCode.NO_TERMINAL)
        return
    yield _ok(
        FindingCode.TERMINAL,
        kind=terminal.kind,
        columns=terminal.columns,
        lines=terminal.lines,
        encoding=terminal.encoding,
    )
    if "utf" not in terminal.encoding:
        yield _problem(FindingCode.TERMINAL_ENCODING, encoding=terminal.encoding)
    if terminal.kind in ("", "dumb"):
        yield _problem(FindingCode.TERMINAL_UNNAMED)
    elif terminal.columns < 80 or terminal.lines < 24:
        yield _note(FindingCode.TERMINAL_SMALL)


def _limits(facts: MachineFacts) -> Iterator[Judgment]:
    if facts.open_files < _LEAST_OPEN_FILES and is_neuron_machine(facts):
        yield _note(FindingCode.FEW_OPEN_FILES, count=facts.open_files)
    if facts.watches is not None and facts.watches < _LEAST_WATCHES:
        yield _note(FindingCode.FEW_WATCHES, count=facts.watches)


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
