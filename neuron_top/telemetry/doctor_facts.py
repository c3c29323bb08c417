"""Gathers facts about this machine for the doctor, as plain values. Changes nothing; what cannot be read is None.

`telemetry/doctor_checks.py` judges them: it gets only these records, so it is tested without a machine.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import pwd
import re
import resource
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from neuron_top.cache import filesystem, roots, trust
from neuron_top.cache.processes import bystanders, read_processes
from neuron_top.escapes import visible
from neuron_top.identity import Identity, identity
from neuron_top.parsers.secrets import without_secrets
from neuron_top.plain_files import is_folder, nearest_folder
from neuron_top.processes import proc
from neuron_top.telemetry import doctor_variables, tools, worker_placement
from neuron_top.telemetry.core_owners import program_name
from neuron_top.telemetry.devices import Listing, list_devices
from neuron_top.telemetry.observer import NoScrape, ObserverAddress, described, fetch
from neuron_top.telemetry.sysfs import SysfsTree

TOOLS = ("neuron-ls", "neuron-monitor", "neuron-top", "neuronx-cc", "neuron_parallel_compile", "neuron-profile")
COMPILERS = ("c++", "g++", "clang++")
PACKAGES = (
    "torch", "torch-neuronx", "torch-xla", "neuronx-cc", "libneuronxla", "neuronx-distributed", "optimum-neuron",
    "transformers", "jax", "vllm",
)  # fmt: skip
EXECUTED = (roots.CacheKind.NEURON, roots.CacheKind.INDUCTOR)
"""Kinds of caches that our compile component loads code from."""
_SYSTEM_PACKAGE = re.compile(r"^Package: (aws-neuron\S*)\n(?:(?!\n\n)[\s\S])*?^Version: (\S+)", re.MULTILINE)


Warn = Callable[[Mapping[str, str]], tuple[str, ...]]
"""Warnings about an environment's compile flags and look-alikes: `compile.flags` knows them, we may not import it."""


class RunningJob(msgspec.Struct, frozen=True, kw_only=True):
    """A running process that compiles or trains. `variables` is None when they may not be read."""

    pid: int
    name: str
    user: str
    variables: dict[str, str] | None
    root: str | None = None
    """The compile cache that it uses, by its own environment."""
    warnings: tuple[str, ...] = ()


class RootKind(StrEnum):
    """What kind of thing lies at the path of a cache root."""

    FOLDER = "folder"
    FILE = "file"
    MISSING = "missing"
    REMOTE = "remote"


class RootFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A cache root, or the folder of recordings; sizes in bytes."""

    path: str
    cache: roots.CacheKind | None
    """None for recordings."""
    origin: str
    found: RootKind
    owner: str = ""
    mode: int | None = None
    untrusted: str = ""
    """Why code may not be loaded from it (`cache/trust.py`); empty if it may."""
    writable: bool | None = None
    """Whether we can write there; for a missing folder, whether we could make it."""
    filesystem: str | None = None
    why_shared: str | None = None
    free: int | None = None
    total: int | None = None
    free_inodes: int | None = None
    used_by: tuple[int, ...] = ()


class DeviceNode(msgspec.Struct, frozen=True, kw_only=True):
    """A device node `/dev/neuron<N>`."""

    path: str
    mode: int
    usable: bool


class ObserverFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What answered at Neuron Observer's address: `found` in words, or the `reason` why nothing did."""

    url: str
    by_person: bool
    found: str = ""
    reason: str = ""


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of the terminal that matter for the screens."""

    is_terminal: bool
    kind: str
    colors: str
    encoding: str
    columns: int
    lines: int


class MachineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found on the machine."""

    system: str
    python: str
    identity: Identity
    instance_type: str
    cpus: int | None
    memory: int | None
    driver: tuple[int, ...] | None
    counted_devices: int
    """Devices in the driver's sysfs tree."""
    sysfs_layout: str = ""
    """Where their files are in the tree, in words; "" without devices."""
    unreadable: tuple[str, ...]
    listing: Listing
    nodes: tuple[DeviceNode, ...]
    tools: dict[str, str | None]
    on_path: dict[str, bool]
    compilers: dict[str, str | None]
    packages: dict[str, str | None]
    system_packages: dict[str, str]
    root_in_force: str
    """The compile cache that a job started from here would use."""
    roots: tuple[RootFacts, ...]
    jobs: tuple[RunningJob, ...]
    variables: dict[str, str]
    warnings: tuple[str, ...]
    state: RootFacts
    terminal: Terminal
    open_files: int
    watches: int | None
    observer: ObserverFacts | None = None
    """None if it is not to be asked."""


def gather(
    warn: Warn,
    state_path: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    sysfs_root: Path | str = "/sys",
    dev: Path = Path("/dev"),
    observer: ObserverAddress | None = None,
) -> MachineFacts:
    """Gather all facts once; takes as long as neuron-ls, and Neuron Observer if that is asked."""
    tree = SysfsTree(sysfs_root)
    listing = list_devices(tools.find("neuron-ls", environ))
    jobs = tuple(running_jobs(warn, {process.pid for device in listing.devices for process in device.processes}))
    tree.found()  # touches the files that only root may read on old drivers
    return MachineFacts(
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        identity=identity(environ),
        instance_type=tree.machine().instance_type,
        cpus=os.cpu_count(),
        memory=host_memory(),
        driver=tree.driver(),
        counted_devices=len(tree.devices()),
        sysfs_layout=tree.layout.describe(),
        unreadable=tuple(sorted(tree.denied)),
        listing=listing,
        nodes=tuple(device_nodes(dev)),
        tools={tool: tools.find(tool, environ) for tool in TOOLS},
        on_path={tool: shutil.which(tool, path=environ.get("PATH")) is not None for tool in TOOLS},
        compilers={name: shutil.which(name, path=environ.get("PATH")) for name in COMPILERS},
        packages={name: _package(name) for name in PACKAGES},
        system_packages=system_packages(text_of(Path("/var/lib/dpkg/status"))),
        root_in_force=roots.root_in_force(environ).path,
        roots=tuple(cache_roots(environ, jobs)),
        jobs=jobs,
        variables=_relevant(environ),
        warnings=warn(environ),
        state=look_at_root(str(state_path), cache=None, origin="settings"),
        terminal=_terminal(environ),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        watches=_whole(text_of(Path("/proc/sys/fs/inotify/max_user_watches"))),
        observer=None if observer is None else _ask_observer(observer),
    )


def _ask_observer(address: ObserverAddress) -> ObserverFacts:
    try:
        found = described(fetch(address.url))
    except NoScrape as problem:
        return ObserverFacts(url=address.url, by_person=address.by_person, reason=str(problem))
    return ObserverFacts(url=address.url, by_person=address.by_person, found=found)


def running_jobs(warn: Warn, holders: Iterable[int]) -> Iterator[RunningJob]:
    """Processes that compile, hold a device, or are Python programs started with a variable that matters."""
    named = set(holders)
    idle = bystanders(read_processes())
    for pid in proc.process_ids():
        if pid == os.getpid():
            continue
        command = proc.command_of(pid) or ""
        environment = proc.environment_of(pid)
        variables = None if environment is None else _relevant(environment)
        # Shells and viewers inherit the variables, too, so only programs that can train or compile count as jobs.
        trains = "python" in command.split(" ")[0] and bool(variables) and pid not in idle
        if not (trains or worker_placement.is_compiler(command) or pid in named):
            continue
        yield RunningJob(
            pid=pid,
            name=program_name(command.split(" ")),
            user=_owner(f"/proc/{pid}"),
            variables=variables,
            root=None if environment is None else _root_of(pid, environment),
            warnings=() if environment is None else warn(environment),
        )


def cache_roots(environ: Mapping[str, str], jobs: Iterable[RunningJob]) -> list[RootFacts]:
    """Every cache that a default, our environment or a running process names, and who uses it."""
    jobs = list(jobs)
    found = []
    for root in roots.find(environ, read_processes()):
        is_neuron = root.kind is roots.CacheKind.NEURON
        # By name alone a job's shell would count as a user of the cache, too.
        users = {job.pid for job in jobs if job.pid in root.users or (is_neuron and job.root == root.path)}
        found.append(
            look_at_root(
                root.path, cache=root.kind, origin=root.origin, used_by=tuple(sorted(users)), remote=root.remote
            )
        )
    return found


def look_at_root(
    path: str, *, cache: roots.CacheKind | None, origin: str, used_by: tuple[int, ...] = (), remote: bool = False
) -> RootFacts:
    """The facts about one root: what it is, its owner, and its file system."""
    place = Path(path)
    found = RootKind.REMOTE if remote else RootKind.MISSING
    root = RootFacts(path=path, cache=cache, origin=origin, used_by=used_by, found=found)
    if remote:
        return root
    try:
        status = place.stat()
    except OSError:
        above = nearest_folder(place)
        return _on_disk(msgspec.structs.replace(root, writable=_may_write(above)), above)
    seen = msgspec.structs.replace(
        root,
        found=RootKind.FOLDER if stat.S_ISDIR(status.st_mode) else RootKind.FILE,
        owner=_owner(path),
        mode=stat.S_IMODE(status.st_mode),
        untrusted=trust.problem_with(path) if cache in EXECUTED else "",
        writable=_may_write(place),
    )
    return _on_disk(seen, place)


def device_nodes(dev: Path) -> list[DeviceNode]:
    """The device nodes and whether we may open them."""
    found = []
    for path in sorted(dev.glob("neuron[0-9]*"), key=lambda path: (len(path.name), path.name)):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        found.append(DeviceNode(path=str(path), mode=mode, usable=os.access(path, os.R_OK | os.W_OK)))
    return found


def system_packages(status: str) -> dict[str, str]:
    """The SDK's system packages in the text of dpkg's status file."""
    return {match[1]: match[2] for match in _SYSTEM_PACKAGE.finditer(status)}


def _on_disk(root: RootFacts, path: Path) -> RootFacts:
    disk = filesystem.describe(str(path))
    return msgspec.structs.replace(
        root,
        filesystem=disk.kind,
        why_shared=disk.why_shared,
        free=disk.free,
        total=disk.total,
        free_inodes=disk.free_inodes,
    )


def _root_of(pid: int, environment: Mapping[str, str]) -> str | None:
    try:
        user = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None
    return roots.root_in_force(environment, proc.directory_of(pid), user).path


def _relevant(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: visible(without_secrets(environ[name])) for name in sorted(environ) if doctor_variables.matters(name)}


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK | os.X_OK) if is_folder(path) else os.access(path, os.W_OK)


def _owner(path: str) -> str:
    try:
        number = Path(path).stat().st_uid
        return pwd.getpwuid(number).pw_name
    except OSError:
        return ""
    except KeyError:
        return str(number)


def _package(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def host_memory() -> int | None:
    """Bytes of memory in this machine."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _terminal(environ: Mapping[str, str]) -> Terminal:
    size = shutil.get_terminal_size()
    return Terminal(
        is_terminal=sys.stdout.isatty(),
        kind=environ.get("TERM", ""),
        colors=environ.get("COLORTERM", ""),
        encoding=(getattr(sys.stdout, "encoding", "") or "").lower(),
        columns=size.columns,
        lines=size.lines,
    )


def text_of(path: Path) -> str:
    """A file's text; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _whole(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None
