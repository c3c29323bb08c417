"""The work folders of compilers: they lie outside the cache, grow while a compile runs, and stay behind if it dies.

A folder that grows is the best sign that a compile is alive; the space of what dead compiles left can be reclaimed. The
names are those of the SDK's wrapper, of its parallel compile and of NxD.
"""

from __future__ import annotations

import glob
import os
import tempfile
import time
from collections.abc import Iterable, Mapping

import msgspec

from neuron_top.cache.processes import MODULE_KEY, CacheProcess
from neuron_top.cache.tree import measure

QUIET_SECONDS = 600.0
"""A work folder that changed within this time belongs to a live compile, whatever the process list says."""
_SCANNED_FOLDERS = 20_000
_MEASURED_FILES = 50_000
"""Most files of one folder that are looked at for its last change."""
_NXD = "_tp[0-9]*_bk[0-9]*"
"""The folder of one compile of NxD, in that of its graph (and, with images, in that of a part of the model). The
variable may name a folder where other things lie too."""


class WorkDir(msgspec.Struct, frozen=True, kw_only=True):
    """One work folder. `modules` are the cache keys in the names of its files."""

    path: str
    kind: str
    """`compile` (one graph), `nxd`, `parallel`."""
    modules: tuple[str, ...]
    allocated: int | None
    """Bytes of disk blocks; None if it was not measured."""
    newest: float | None
    alive: bool | None
    """Whether a process names it, or it changed in the last ten minutes. None if that was not checked."""
    files: int | None = None


def places(environ: Mapping[str, str] = os.environ, tmp: str | None = None) -> list[tuple[str, str]]:
    """(kind, glob pattern) of all places where work folders may lie on this machine."""
    tmp = tmp or tempfile.gettempdir()
    nxd = environ.get("BASE_COMPILE_WORK_DIR") or f"{tmp}/nxd_model"
    return [
        ("compile", f"{glob.escape(tmp)}/*/neuroncc_compile_workdir/*/"),
        ("nxd", f"{glob.escape(nxd)}/*/{_NXD}/"),
        ("nxd", f"{glob.escape(nxd)}/*/*/{_NXD}/"),
        ("parallel", f"{glob.escape(tmp)}/*/parallel_compile_workdir/"),
    ]


def find(
    processes: Iterable[CacheProcess] = (),
    environ: Mapping[str, str] = os.environ,
    tmp: str | None = None,
    now: float | None = None,
) -> list[WorkDir]:
    """All work folders with their sizes and whether somebody works in them."""
    now = time.time() if now is None else now
    commands = [" ".join(process.command) for process in processes]
    found = []
    for kind, path in _folders(environ, tmp):
        size = measure(path)
        named = any(path in command for command in commands)
        recent = size.newest is not None and now - size.newest < QUIET_SECONDS
        found.append(
            WorkDir(
                path=path,
                kind=kind,
                modules=tuple(sorted(_modules(path))),
                allocated=size.allocated,
                newest=size.newest,
                alive=named or recent,
                files=size.files,
            )
        )
    return found


def is_work_folder(path: str, environ: Mapping[str, str] = os.environ, tmp: str | None = None) -> bool:
    """Whether `find` would list `path`; measures nothing."""
    name = os.path.basename(path)
    if name.startswith(".") or os.path.islink(path):  # no `*` finds the former
        return False
    patterns = [pattern for _, pattern in places(environ, tmp)]
    # The name in place of a last `*`: to look at all neighbors of the folder would take long.
    of_name = [f"{pattern[:-2]}{glob.escape(name)}/" if pattern.endswith("/*/") else pattern for pattern in patterns]
    return any(f"{path}/" in glob.iglob(pattern) for pattern in of_name)


def newest_by_module(
    modules: Iterable[str], environ: Mapping[str, str] = os.environ, tmp: str | None = None
) -> dict[str, float]:
    """Module → when its work folder last changed, in seconds since the epoch, for those of `modules` that have one."""
    wanted = set(modules)
    newest: dict[str, float] = {}
    for _, path in _folders(environ, tmp):
        keys = wanted & _modules(path)
        if not keys:
            continue
        changed = measure(path, limit=_MEASURED_FILES).newest
        if changed is not None:
            newest.update({key: max(changed, newest.get(key, changed)) for key in keys})
    return newest


def _folders(environ: Mapping[str, str], tmp: str | None) -> Iterable[tuple[str, str]]:
    count = 0
    for kind, pattern in places(environ, tmp):
        for path in glob.iglob(pattern):
            if os.path.islink(path.rstrip("/")):
                continue
            yield kind, path.rstrip("/")
            count += 1
            if count >= _SCANNED_FOLDERS:
                return


def _modules(path: str) -> set[str]:
    try:
        return {match[0] for name in os.listdir(path) if (match := MODULE_KEY.search(name))}
    except OSError:
        return set()
