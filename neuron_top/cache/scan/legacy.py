"""Entries that the state table does not cover: the layout of 2022, and whole exported models.

In 2022 ("era one"), entries lay in `<root>/[neuron-compile-cache/]USER_neuroncc-<version>/MODULE_<n>/MODULE_<n>_…/
<uuid>/….neff`. Such a NEFF serves only clients of that time, so a valid one is a *hit-legacy*. A traced model of
optimum-neuron is a folder `MODULE_<hash>` without a flags part, of which only the size is known.
"""

from __future__ import annotations

import os
import stat

from neuron_top.cache.model.entry import Artifact, Entry, Part
from neuron_top.cache.model.states import State
from neuron_top.cache.noatime_reader import NoAtimeReader, why_unreadable
from neuron_top.cache.tree import measure
from neuron_top.parsers.neff import HEAD_BYTES, head_problem

_DEEPEST = 3


def read_old(
    root: str, compiler: str, module: str, reader: NoAtimeReader, *, access_times: bool = True
) -> Entry | None:
    """The entry of a module folder without a flags part; None if it is gone or is no folder.

    `access_times` is False if the mount does not keep them.
    """
    path = f"{root}/{compiler}/{module}"
    try:
        own = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISDIR(own.st_mode):
        return None
    size = measure(path, reader)
    era_one = "USER_neuroncc-" in compiler
    state, artifact, neff, problems = _era_one(path, reader) if era_one else (State.TRACED, Artifact.NONE, None, ())
    return Entry(
        compiler=compiler,
        module=module,
        state=state,
        parts=Part.NEFF if neff is not None else 0,
        allocated=size.allocated,
        apparent=size.apparent,
        kept=0,
        artifact_bytes=neff.st_size if neff is not None else None,
        graph_bytes=None,
        artifact=artifact,
        artifact_inode=neff.st_ino if neff is not None else 0,
        artifact_mtime_ns=neff.st_mtime_ns if neff is not None else 0,
        flags=None,
        flags_hash_ok=None,
        compiled_at=neff.st_mtime if neff is not None and artifact is Artifact.VALID else None,
        changed_at=max(own.st_mtime, size.newest or 0.0),
        read_at=neff.st_atime if access_times and neff is not None and neff.st_atime > neff.st_mtime else None,
        compile_seconds=None,
        lock=None,
        failure=None,
        folder_inode=own.st_ino,
        folder_mtime_ns=own.st_mtime_ns,
        problems=problems if size.complete else (*problems, "not all of it could be read"),
    )


def _era_one(path: str, reader: NoAtimeReader) -> tuple[State, Artifact, os.stat_result | None, tuple[str, ...]]:
    """(state, artifact, the NEFF's status, problems) from the first valid NEFF below, else from the last one."""
    last: os.stat_result | None = None
    problem: str | None = None
    for neff in _neffs(path, _DEEPEST, reader):
        try:
            last = os.stat(neff, follow_symlinks=False)
            problem = head_problem(reader.read(neff, HEAD_BYTES), last.st_size)
        except OSError as refused:
            problem = why_unreadable(refused)
        if problem is None:
            return State.HIT_LEGACY, Artifact.VALID, last, ()
    if problem is None:
        return State.EMPTY, Artifact.NONE, None, ()
    return State.PARTIAL, Artifact.BROKEN, last, (problem,)


def _neffs(path: str, depth: int, reader: NoAtimeReader) -> list[str]:
    """Paths of the NEFFs below a folder; those of a folder that cannot be read are left out."""
    try:
        descriptor = reader.open_folder(path)
    except OSError:
        return []
    try:
        with os.scandir(descriptor) as members:
            rows = sorted((member.name, member.is_dir(follow_symlinks=False)) for member in members)
    except OSError:
        return []
    finally:
        os.close(descriptor)
    found = [f"{path}/{name}" for name, folder in rows if not folder and name.endswith(".neff")]
    for name, folder in rows:
        if folder and depth:
            found += _neffs(f"{path}/{name}", depth - 1, reader)
    return found
