"""The owners of cores: finds the program's name and the container of a host process id.

neuron-monitor reports process ids of the host, also inside a container, where the number is some other process: there
nothing is looked up. Elsewhere the name is in `/proc/<pid>/cmdline`, the container in its cgroup path.
Both may be unreadable (another user's, another namespace, already gone): then they stay unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec

from neuron_top.cache.processes import sees_all_processes
from neuron_top.escapes import visible
from neuron_top.events import CoreSample
from neuron_top.process_stat import stat_of
from neuron_top.telemetry.worker_placement import place_of

_ID = r"([0-9a-f]{64}|[0-9a-f]{32}-[0-9]+)"
_ENGINES = (
    ("docker", re.compile(rf"/docker[/-]{_ID}")),
    ("podman", re.compile(rf"/libpod-(?:payload-)?{_ID}")),
    ("ecs", re.compile(rf"/ecs/(?:[^/]+/)*{_ID}")),
    ("containerd", re.compile(rf"cri-containerd[-:]{_ID}")),
    ("cri-o", re.compile(rf"/crio-{_ID}")),
    ("lxc", re.compile(r"/lxc(?:\.payload)?[./]([^/]+)")),
)
_POD = re.compile(r"/kubepods[^\n]*?pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})")
_PLAIN_ID = re.compile(rf"/{_ID}(?:\.scope)?$")
_JOB = re.compile(r"/slurm[^\n]*/job_([0-9]+)")
_INTERPRETERS = re.compile(r"(?:python|pypy)[0-9.]*|bash|sh|env|time|nohup|stdbuf")


class CoreOwner(msgspec.Struct, frozen=True, kw_only=True):
    """A process that holds a core. `name` is the script or module that it runs, not its interpreter."""

    pid: int
    name: str = ""
    container: str = ""
    rank: int | None = None
    """Its global rank in the job, by its own environment."""


class CoreOwners:
    """Looks process ids up, each once while the process lives. `proc` stands for /proc."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._sees_host = sees_all_processes(str(proc)) is not False
        self._known: dict[tuple[int, int | None], CoreOwner] = {}

    def owner(self, pid: int) -> CoreOwner:
        """The process with this id; a reused id is recognized by its start time."""
        found = stat_of(pid, self._proc)
        key = (pid, found and found.start_ticks)
        if key not in self._known or found is None:
            self._known = {known: value for known, value in self._known.items() if known[0] != pid}
            self._known[key] = self._look(pid)
        return self._known[key]

    def named(self, core: CoreSample) -> CoreSample:
        """The sample with its owner's name and container filled in, if they can be known."""
        if core.pid is None or not self._sees_host:
            return core
        owner = self.owner(core.pid)
        return msgspec.structs.replace(
            core,
            process=core.process or owner.name,
            container=core.container or owner.container,
            rank=owner.rank if core.rank is None else core.rank,
        )

    def _look(self, pid: int) -> CoreOwner:
        folder = self._proc / str(pid)
        arguments = _text(folder / "cmdline").rstrip("\0").split("\0")
        name = program_name(arguments) or visible(_text(folder / "comm").strip())
        place = place_of(_variables(_text(folder / "environ")))
        container = container_of(_text(folder / "cgroup"))
        return CoreOwner(pid=pid, name=name, container=container, rank=place.rank if place else None)


def program_name(arguments: Sequence[str]) -> str:
    """What a person calls it: `python -u /x/train.py --lr 1` → `train.py`, `python -m pkg.train` → `pkg.train`."""
    words = [word for word in arguments if word]
    if not words:
        return ""
    first = PurePosixPath(words[0]).name
    if not _INTERPRETERS.fullmatch(first):
        return visible(first)
    rest = iter(words[1:])
    for word in rest:
        if word == "-m":
            return visible(next(rest, first))
        if word == "-c":
            return visible(f"{first} -c")
        if word in ("-W", "-X"):
            next(rest, None)
        elif not word.startswith("-") and "=" not in word.split("/")[0]:
            return visible(PurePosixPath(word).name)
    return visible(first)


def container_of(cgroup: str) -> str:
    """The container or pod in the text of `/proc/<pid>/cgroup`: `docker 0123456789ab`, `pod 1b4e…/0123456789ab`."""
    paths = [line.split(":", 2)[-1] for line in cgroup.splitlines()]
    for path in paths:
        if pod := _POD.search(path):
            inner = next((match[1] for _, pattern in _ENGINES if (match := pattern.search(path))), "")
            inner = inner or next(iter(match[1] for match in [_PLAIN_ID.search(path)] if match), "")
            return visible("/".join(part for part in (f"pod {pod[1].replace('_', '-')}", inner[:12]) if part))
    for path in paths:
        for engine, pattern in _ENGINES:
            if match := pattern.search(path):
                return visible(f"{engine} {match[1][:12]}")
        if job := _JOB.search(path):
            return f"slurm job {job[1]}"
    return ""


def _variables(environ: str) -> dict[str, str]:
    parts = (item.partition("=") for item in environ.split("\0"))
    return {name: value for name, equals, value in parts if equals}


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(65536).decode("utf-8", "replace")
    except OSError:
        return ""
