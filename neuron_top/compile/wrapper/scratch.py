"""The scratch folder of a process, for compiles that its cache cannot take; it moves when its disk is full.

The first place is the usual one (TMPDIR). Once a compile has found no room there either, the process moves on: its
temporary files, those of its compilers and Inductor's folder go below the next place, so that loading has room, too.
The folder is deleted when the process ends; one left by a killed process, known by its owner's record, is deleted when
another process needs a folder or starts a compile server.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from neuron_top.cache.locks import lock_owner
from neuron_top.compile.wrapper.compile_end import full_place
from neuron_top.errors import DiskFull
from neuron_top.folders import FOLDER_FLAGS, open_folder, remove_folders

PREFIX = "neurontop-scratch-"
_OWNER = "owner.json"
_OTHER_PLACES = ("/var/tmp", "/tmp", "/dev/shm")  # noqa: S108 (each process makes a folder of its own there, mode 700)


def usual_places() -> Iterator[Path]:
    """Candidates for temporary files, the user's own choice first and memory nearly last."""
    with contextlib.suppress(OSError):  # raised if tempfile finds no room in any of its places
        yield Path(tempfile.gettempdir())
    yield from (Path(place) for place in _OTHER_PLACES)
    with contextlib.suppress(OSError):
        yield Path.cwd()


def work_in(folder: Path) -> None:
    """Put this process's temporary files, and what PyTorch compiles, below this folder from now on.

    PyTorch asks for its folder each time, but works out at its import where its precompiled headers go.
    """
    os.environ.update({"TMPDIR": str(folder), "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")})
    tempfile.tempdir = None
    headers = folder / "inductor" / "precompiled_headers"
    codecache = sys.modules.get("torch._inductor.codecache")
    for name, place in (("_HEADER_DIR", headers), ("_HEADER_LOCK_DIR", headers / "locks")):
        if codecache is not None and hasattr(codecache, name):
            setattr(codecache, name, str(place))
    forget_probes()


def forget_probes() -> None:
    """Let PyTorch test again which vector instructions there are.

    If its test programs found no room, the machine seems to have none, and a kernel that was generated for vectors but
    is built without them is broken.
    """
    vectors = sys.modules.get("torch._inductor.cpu_vec_isa")
    if vectors is None:
        return
    vectors.valid_vec_isa_list.cache_clear()
    kinds = [vectors.VecISA]
    for kind in kinds:  # each kind caches its own answers
        kinds += kind.__subclasses__()
        for member in vars(kind).values():
            if hasattr(member, "cache_clear"):
                member.cache_clear()


def remove_dead(places: Iterable[Path]) -> None:
    """Remove the scratch folders of this user's processes that are proved dead; doubtful ones stay."""
    for place in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            above = os.open(place, FOLDER_FLAGS & ~os.O_NOFOLLOW)
            try:
                if not _others_move_things_in(os.fstat(above)):
                    _remove_dead_in(above)
            finally:
                os.close(above)


def _remove_dead_in(above: int) -> None:
    for name in os.listdir(above):
        if not name.startswith(PREFIX):
            continue
        with contextlib.suppress(OSError):
            folder = open_folder(name, above)
            try:
                is_ours = os.fstat(folder).st_uid == os.geteuid()
                is_left = is_ours and lock_owner.is_dead(lock_owner.read_record(_OWNER, folder))
            finally:
                os.close(folder)
            if is_left:
                remove_folders(above, [name])


def _others_move_things_in(facts: os.stat_result) -> bool:
    """Whether somebody else could rename another folder of ours to the name that was checked."""
    return bool(facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) and not facts.st_mode & stat.S_ISVTX


class Scratch:
    """The scratch folder of one process. Safe to share between threads; a forked child makes its own."""

    def __init__(self, places: Iterable[Path] | None = None) -> None:
        self._given = None if places is None else tuple(places)
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._left: Iterator[Path] | None = None
        self._folder: Path | None = None
        self._moved_to: Path | None = None
        self._tried: list[Path] = []
        self._kept: list[tempfile.TemporaryDirectory[str]] = []

    @property
    def moved_to(self) -> Path | None:
        """The folder that this process moved to when the usual disk was full; None: it has not moved."""
        return self._moved_to if self._owner == os.getpid() else None

    def folder(self) -> Path:
        """A folder for this process alone. Raises DiskFull if none can be made anywhere."""
        with self._lock:
            self._owned()
            return self._folder if self._folder is not None else self._next()

    def move(self, found_full: Path | None) -> Path | None:
        """Move on from `found_full`, the former `moved_to`, which has no room; None if there is nowhere to go.

        If another thread has moved already, returns its choice.
        """
        with self._lock:
            self._owned()
            if self._moved_to != found_full:
                return self._moved_to
            try:
                folder = self._next(skip_full=True)
            except DiskFull:
                return None
            self._moved_to = folder
            work_in(folder)
            return folder

    def _owned(self) -> None:
        """Start afresh in a forked child, as the folders belong to the parent."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._left = self._folder = self._moved_to = None
            self._tried, self._kept = [], []

    def _next(self, *, skip_full: bool = False) -> Path:
        if self._left is None:
            self._left = iter(dict.fromkeys(usual_places() if self._given is None else self._given))
        for place in self._left:
            self._tried.append(place)
            if skip_full and full_place([place]):
                continue
            with contextlib.suppress(OSError):
                remove_dead([place])
                made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True)
                self._kept.append(made)
                atexit.register(_cleanup, made, os.getpid())
                Path(made.name, _OWNER).write_bytes(msgspec.json.encode(lock_owner.current()))
                self._folder = Path(made.name)
                return self._folder
        tried = ", ".join(map(str, self._tried))
        raise DiskFull(
            f"no disk has room for a compile (tried {tried}): free some space, or set TMPDIR to a folder that has some"
        )


def _cleanup(made: tempfile.TemporaryDirectory[str], owner: int) -> None:
    if owner == os.getpid():  # a forked child inherits this exit handler, but not the folder
        made.cleanup()


_of_this_process = Scratch()


def process_scratch() -> Scratch:
    """The scratch folder that all wrappers of a process share, as they share the folder that Inductor works in."""
    return _of_this_process
