"""Finds the processes of this machine that use a cache root, and the entries that they have open.

A compiler at work, an open Neuron device and an open file of the cache prove a use. An environment that names the root
only shows that the process may use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from neuron_top.cache import processes, torch_neuron
from neuron_top.cache.model.entry import NEFF_FILE
from neuron_top.cache.model.filenames import CACHE_FOLDER, SDK_COMPILERS
from neuron_top.cache.processes import CacheProcess
from neuron_top.cache.roots import cache_dir_flag, local_path
from neuron_top.cache.use import CacheUse
from neuron_top.units import counted

_DEVICE = "/dev/neuron"


class RootUsers(msgspec.Struct, frozen=True):
    """What the processes of this machine do with one root."""

    use: CacheUse | None
    """None: nobody was seen to use it."""
    unseen: int
    """Number of processes whose open files we may not see."""
    work_open: dict[str, int]
    """Module → pid of a process that has a file of the module's work folder open."""


def users_of(
    root: str, modules: Sequence[str], running: Sequence[CacheProcess], boot: float | None, proc: str = "/proc"
) -> RootUsers:
    """The users of `root` among the processes that are `running`. Work folders are recognized by the names of
    `modules`."""
    real = os.path.realpath(root)
    bystanders = processes.bystanders(running, proc)
    proofs: dict[int, str] = {}
    named: dict[int, str] = {}
    held: set[str] = set()
    work_open: dict[str, int] = {}
    unseen = 0
    for process in running:
        pid = process.pid
        if process.compiles:
            proofs[pid] = f"process {pid} is a Neuron compiler"
        elif pid not in bystanders and _names_root(process, real):
            who = f"process {pid} ({process.name})" if process.name else f"process {pid}"
            named[pid] = f"{who} may use this cache, as its environment names it"
        paths = processes.open_paths(pid, proc)
        if paths is None:
            unseen += not process.only_looks
            continue
        if process.only_looks:  # it has entries open only for a moment, to list them
            paths = [path for path in paths if path.startswith(_DEVICE)]
        if opened := next(filter(None, (_proof(path, real) for path in paths)), ""):
            proofs.setdefault(pid, f"process {pid} has {opened} open")
        held.update(entry for path in paths for entry in _entry_of(path, real))
        work_open.update((module, pid) for path in paths for module in _module_at_work(path, modules))
    users = proofs | {pid: why for pid, why in named.items() if pid not in proofs}
    if not users:
        return RootUsers(None, unseen, work_open)
    starts = [processes.start_time(pid, boot, proc) for pid in users]
    held.update(entry for pid in users for path in processes.mapped_paths(pid, proc) for entry in _entry_of(path, real))
    use = CacheUse(
        why=_why(users, running),
        certain=bool(proofs),
        since=None if None in starts else min(start for start in starts if start is not None),
        held=frozenset(held),
        named=frozenset().union(*(process.modules for process in running)),
    )
    return RootUsers(use, unseen, work_open)


def _proof(path: str, root: str) -> str:
    """What an open file proves to be in use, in words; "" if it proves nothing about the root."""
    if path.startswith(_DEVICE):
        return path
    return "a file of the cache" if path == root or path.startswith(root + "/") else ""


def _module_at_work(path: str, modules: Iterable[str]) -> list[str]:
    """The modules whose work folder a file lies in, which its name shows: it contains the module's key.

    A name that is exactly the key is that of an entry, in whatever cache.
    """
    name = os.path.basename(path)
    return [module for module in modules if module in name and module != name]


def _why(users: Mapping[int, str], running: Iterable[CacheProcess]) -> str:
    """How one user of the cache is known, and how many more there are. `users` has the certain ones first.

    A job is named rather than the `neurontop run` that started it, as a person recognizes the job.
    """
    ours = {process.pid for process in running if process.is_ours}
    shown = next((pid for pid in users if pid not in ours), next(iter(users)))
    others = len(users) - 1
    more = f"; {counted(others, 'more process', 'more processes')} may use it too" if others else ""
    return f"{users[shown]}{more}"


def _entry_of(path: str, root: str) -> list[str]:
    """The entry below `root` that a path lies in, or is (TorchNeuron's); an empty list if there is none."""
    below = path.removeprefix(root + "/") if path.startswith(root + "/") else ""
    if NEFF_FILE.match(below):
        return [below]
    parts = below.split("/")
    place = next((number for number, part in enumerate(parts) if part.startswith("MODULE_")), None)
    return ["/".join(parts[: place + 1])] if place is not None else []


def _names_root(process: CacheProcess, root: str) -> bool:
    """Whether the process's cache variables name `root` (a real path), or a folder above it: that of a rank or of one
    compiler lies in the cache that a job names. A folder below it counts if entries of the root lie there."""
    environ = process.environ or {}
    named = [environ.get(variable) for variable in (torch_neuron.SHARED, torch_neuron.LOCAL)]
    named += [environ.get("NEURON_COMPILE_CACHE_URL"), cache_dir_flag(environ.get("NEURON_CC_FLAGS", ""))]
    places = [os.path.realpath(local_path(path, process.cwd or "/")) for path in named if path]
    return any(root == place or root.startswith(place.rstrip("/") + "/") or _is_part(place, root) for place in places)


def _is_part(place: str, root: str) -> bool:
    """Whether a path below the root is of a folder that is listed with it: see `scan.discovery`."""
    above = root.rstrip("/") + "/"
    first = place.removeprefix(above).partition("/")[0] if place.startswith(above) else ""
    return first == CACHE_FOLDER or first.startswith(SDK_COMPILERS)
