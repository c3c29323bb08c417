"""What is on this machine, as plain values: the doctor's gatherer. It looks only; what cannot be seen is None.

Judging is `runtime/doctor_checks.py`'s business: it sees only these records, so it is tested without a machine.
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
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from neuron_top.cache import filesystem
from neuron_top.cache.layout import DEFAULT_ROOT
from neuron_top.parsers.escapes import visible
from neuron_top.runtime import doctor_variables, places, processes, tools
from neuron_top.runtime.devices import Listing, list_devices
from neuron_top.runtime.holders import program_name
from neuron_top.runtime.sysfs import SysfsTree

TOOLS = ("neuron-ls", "neuron-monitor", "neuron-top", "neuronx-cc", "neuron_parallel_compile", "neuron-profile")
COMPILERS = ("c++", "g++", "clang++")
PACKAGES = (
    "torch", "torch-neuronx", "torch-xla", "neuronx-cc", "libneuronxla", "neuronx-distributed", "optimum-neuron",
    "transformers", "jax", "vllm",
)  # fmt: skip
_SYSTEM_PACKAGE = re.compile(r"^Package: (aws-neuron\S*)\n(?:(?!\n\n)[\s\S])*?^Version: (\S+)", re.MULTILINE)


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment says of its compile cache: URL, origin of that URL, and warnings about look-alikes."""

    url: str
    origin: str
    warnings: tuple[str, ...] = ()


ReadFlags = Callable[[Mapping[str, str]], Flags]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A running process that compiles or trains. `variables` is None when they may not be read."""

    pid: int
    name: str
    user: str
    variables: dict[str, str] | None
    cache_url: str | None = None
    warnings: tuple[str, ...] = ()


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """A compile-cache root. `kind` is `folder`, `file`, `missing` or `remote`; sizes in bytes."""

    url: str
    path: str | None
    origins: tuple[str, ...]
    kind: str
    owner: str = ""
    mode: int | None = None
    ours: bool | None = None
    """Whether it belongs to the user who asks."""
    writable: bool | None = None
    """Whether we can write there; for a missing one, whether we could make it."""
    filesystem: str | None = None
    why_shared: str | None = None
    free: int | None = None
    total: int | None = None
    free_inodes: int | None = None
    used_by: tuple[int, ...] = ()


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A device node `/dev/neuron<N>`."""

    path: str
    mode: int
    usable: bool


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """What the screen can be drawn on."""

    is_terminal: bool
    kind: str
    colours: str
    encoding: str
    columns: int
    lines: int


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found."""

    system: str
    python: str
    instance_type: str
    cpus: int | None
    memory: int | None
    driver: tuple[int, ...] | None
    counted_devices: int
    """Devices in the driver's sysfs tree."""
    unreadable: tuple[str, ...]
    listing: Listing
    nodes: tuple[Node, ...]
    tools: dict[str, str | None]
    on_path: dict[str, bool]
    compilers: dict[str, str | None]
    packages: dict[str, str | None]
    system_packages: dict[str, str]
    roots: tuple[Root, ...]
    jobs: tuple[Job, ...]
    variables: dict[str, str]
    warnings: tuple[str, ...]
    state: Root
    terminal: Terminal
    open_files: int
    watches: int | None


def gather(
    read_flags: ReadFlags,
    state_path: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    sysfs_root: Path | str = "/sys",
    dev: Path = Path("/dev"),
) -> Facts:
    """Look at this machine once; takes as long as neuron-ls does."""
    tree = SysfsTree(sysfs_root)
    listing = list_devices(tools.find("neuron-ls", environ))
    own = read_flags(environ)
    jobs = tuple(running_jobs(read_flags, {process.pid for device in listing.devices for process in device.processes}))
    found = {tool: tools.find(tool, environ) for tool in TOOLS}
    counted = len(tree.devices())
    tree.found()
    return Facts(
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        instance_type=tree.machine().instance_type,
        cpus=os.cpu_count(),
        memory=_host_memory(),
        driver=tree.driver(),
        counted_devices=counted,
        unreadable=tuple(sorted(tree.denied)),
        listing=listing,
        nodes=tuple(device_nodes(dev)),
        tools=found,
        on_path={tool: shutil.which(tool, path=environ.get("PATH")) is not None for tool in TOOLS},
        compilers={name: shutil.which(name, path=environ.get("PATH")) for name in COMPILERS},
        packages={name: _package(name) for name in PACKAGES},
        system_packages=system_packages(_text(Path("/var/lib/dpkg/status"))),
        roots=tuple(cache_roots(own, jobs)),
        jobs=jobs,
        variables=_relevant(environ),
        warnings=own.warnings,
        state=look_at_root(str(state_path), ("recordings",)),
        terminal=_terminal(environ),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        watches=_whole(_text(Path("/proc/sys/fs/inotify/max_user_watches"))),
    )


def running_jobs(read_flags: ReadFlags, holders: Iterable[int]) -> Iterable[Job]:
    """Processes that compile, train on a Neuron core, or were started with a variable that matters."""
    named = set(holders)
    for pid in processes.process_ids():
        if pid == os.getpid():
            continue
        command = processes.command_of(pid) or ""
        environment = processes.environment_of(pid)
        variables = None if environment is None else _relevant(environment)
        compiles = places.is_compiler(command)
        # A shell inherits the variables, too: only what can train or compile counts as a job.
        trains = "python" in command.split(" ")[0] and bool(variables) and "neurontop" not in command
        if not (compiles or trains or pid in named):
            continue
        flags = None if environment is None else read_flags(environment)
        yield Job(
            pid=pid,
            name=program_name(command.split(" ")),
            user=_owner(f"/proc/{pid}"),
            variables=variables,
            cache_url=_resolved(flags.url, pid) if flags else None,
            warnings=flags.warnings if flags else (),
        )


def cache_roots(own: Flags, jobs: Iterable[Job]) -> list[Root]:
    """Every root that we, a running job or the default names; who uses it beside it."""
    origins: dict[str, list[str]] = {own.url: [f"this shell ({own.origin})"]}
    users: dict[str, list[int]] = {}
    for job in jobs:
        if job.cache_url is not None:
            users.setdefault(job.cache_url, []).append(job.pid)
            origins.setdefault(job.cache_url, [])
            if "running jobs" not in origins[job.cache_url]:
                origins[job.cache_url].append("running jobs")
    origins.setdefault(DEFAULT_ROOT, ["default"])
    return [look_at_root(url, tuple(names), tuple(users.get(url, ()))) for url, names in origins.items()]


def look_at_root(url: str, origins: tuple[str, ...], used_by: tuple[int, ...] = ()) -> Root:
    """One root: what lies there, whose it is, and the file system below it."""
    path = _local(url)
    if path is None:
        return Root(url=url, path=None, origins=origins, kind="remote", used_by=used_by)
    try:
        status = path.stat()
    except OSError:
        parent = next((folder for folder in path.parents if folder.exists()), Path("/"))
        return _on_disk(
            Root(
                url=url, path=str(path), origins=origins, kind="missing", used_by=used_by, writable=_may_write(parent)
            ),
            parent,
        )
    root = Root(
        url=url,
        path=str(path),
        origins=origins,
        kind="folder" if stat.S_ISDIR(status.st_mode) else "file",
        owner=_owner(str(path)),
        mode=stat.S_IMODE(status.st_mode),
        ours=status.st_uid == os.geteuid(),
        writable=_may_write(path),
        used_by=used_by,
    )
    return _on_disk(root, path)


def device_nodes(dev: Path) -> list[Node]:
    """The device nodes and whether we may open them."""
    found = []
    for path in sorted(dev.glob("neuron[0-9]*"), key=lambda path: (len(path.name), path.name)):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        found.append(Node(path=str(path), mode=mode, usable=os.access(path, os.R_OK | os.W_OK)))
    return found


def system_packages(status: str) -> dict[str, str]:
    """The SDK's system packages in the text of dpkg's status file."""
    return {match[1]: match[2] for match in _SYSTEM_PACKAGE.finditer(status)}


def _on_disk(root: Root, path: Path) -> Root:
    disk = filesystem.describe(str(path))
    return msgspec.structs.replace(
        root,
        filesystem=disk.kind,
        why_shared=disk.why_shared,
        free=disk.free,
        total=disk.total,
        free_inodes=disk.free_inodes,
    )


def _local(url: str) -> Path | None:
    if url.startswith("file://"):
        return Path(url.removeprefix("file://"))
    return None if "://" in url else Path(url).expanduser().absolute()


def _resolved(url: str, pid: int) -> str:
    """A relative root counts from the job's own working directory."""
    if "://" in url or url.startswith(("/", "~")):
        return url
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink() / url)
    except OSError:
        return url


def _relevant(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: visible(environ[name]) for name in sorted(environ) if doctor_variables.matters(name)}


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK | os.X_OK) if path.is_dir() else os.access(path, os.W_OK)


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


def _host_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _terminal(environ: Mapping[str, str]) -> Terminal:
    size = shutil.get_terminal_size()
    return Terminal(
        is_terminal=sys.stdout.isatty(),
        kind=environ.get("TERM", ""),
        colours=environ.get("COLORTERM", ""),
        encoding=(getattr(sys.stdout, "encoding", "") or "").lower(),
        columns=size.columns,
        lines=size.lines,
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _whole(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None
