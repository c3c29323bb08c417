"""Finds the living process that holds a lock file, by the kernel's list of locks and by what processes have open.

The file's age proves nothing: it may be older than the machine's last start and held nevertheless, because taking the
lock again does not change the file's times. The evidence is `/proc/locks` (flock, fcntl, open file descriptions), the
open files of each process that we may look at, and, for locks of processes that we cannot see, the kernel's answer to
an attempt. A process that has the file open for writing may hold a lock that the kernel does not list (on a network
file system, or an emulated kernel). One that has it open only for reading just looks at it, as our own viewers do, or
a shell's `<`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from neuron_top.cache.filesystem import device_of
from neuron_top.cache.noatime_reader import NoAtimeReader

_LINE = re.compile(r"\d+: (FLOCK|POSIX|OFDLCK) +\w+ +\w+ +(-?\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) ", re.ASCII)
"""A line with a lock in force. One that a process waits for has `->` before its kind, and does not match; nor does an
incomplete line."""
_KINDS = {"FLOCK": "flock", "POSIX": "fcntl", "OFDLCK": "fcntl, open file description"}
_F_OFD_GETLK = getattr(fcntl, "F_OFD_GETLK", 36)
_FLOCK = struct.Struct("hhqqi4x")
"""`struct flock` of 64-bit Linux: type, whence, start, length, process."""

Identity = tuple[int, int]
"""(device as `stat` reports it, inode)."""


class Held(NamedTuple):
    """A lock file that a living process holds. `pid` is None if it is not known."""

    proof: str
    pid: int | None
    locked: bool = True
    """False if the process only has it open for writing."""


class _Listed(NamedTuple):
    """What a line of /proc/locks says. `pid` is -1 for a lock that no single process owns."""

    kind: str
    pid: int


def find(root: str, names: Iterable[str], proc: str = "/proc") -> dict[str, Held]:
    """Lock file → who holds it, for the files `names` (paths below `root`) of which a holder is proved. Changes
    nothing."""
    files: dict[Identity, str] = {}
    for name in names:
        with suppress(OSError):
            facts = os.lstat(f"{root}/{name}")
            if stat.S_ISREG(facts.st_mode):
                files[facts.st_dev, facts.st_ino] = name
    if not files:
        return {}
    listed = _listed(files, device_of(root, proc), proc)
    opened = _opened(files, listed, proc)
    found = {}
    for identity, name in files.items():
        held = _held(listed.get(identity), opened.get(identity, {}), f"{root}/{name}", proc)
        if held is not None:
            found[name] = held
    return found


def of_open_file(handle: int) -> str | None:
    """Why an open lock file must stay: somebody holds a flock or fcntl lock on it. None: nobody does, and we hold its
    flock now.

    For a check right before it is removed: unlike `/proc`, the kernel also knows of processes in other namespaces.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in (errno.EWOULDBLOCK, errno.EACCES):  # else a file system without such locks
            return "a living process holds a lock on it (flock)"
    return "a living process holds a lock on it (fcntl)" if _fcntl_locked(handle) else None


def _held(listed: _Listed | None, opened: Mapping[int, Sequence[str]], path: str, proc: str) -> Held | None:
    """The holder and its proof. A process whose open file is locked holds the lock, even if the process that took it is
    gone."""
    for pid, descriptors in sorted(opened.items()):
        for descriptor in descriptors:
            kind = _kind_held(descriptor)
            if kind:
                return Held(f"process {pid} holds a lock on it ({kind})", pid)
    if listed is not None and listed.pid > 0 and os.path.exists(f"{proc}/{listed.pid}"):
        return Held(f"process {listed.pid} holds a lock on it ({_KINDS[listed.kind]})", listed.pid)
    if listed is not None:
        return Held(f"a process that cannot be seen from here holds a lock on it ({_KINDS[listed.kind]})", None)
    if _is_locked(path):
        return Held(f"a process that cannot be seen from here holds a lock on it ({_KINDS['POSIX']})", None)
    for pid, descriptors in sorted(opened.items()):
        if any(map(_is_for_writing, descriptors)):
            return Held(f"process {pid} has it open for writing", pid, locked=False)
    return None


def _listed(files: Collection[Identity], mounted: int | None, proc: str) -> dict[Identity, _Listed]:
    """The locks in force on these files. `mounted`: the device as the kernel lists it, which `stat` may not report."""
    inodes: dict[int, list[Identity]] = {}
    for identity in files:
        inodes.setdefault(identity[1], []).append(identity)
    found: dict[Identity, _Listed] = {}
    with suppress(OSError, OverflowError), open(f"{proc}/locks", encoding="ascii", errors="replace") as lines:
        for line in lines:
            match = _LINE.match(line)
            if match is None:
                continue
            kind, pid, major, minor, inode = match.groups()
            device = os.makedev(int(major, 16), int(minor, 16))
            for identity in inodes.get(int(inode), ()):
                if device in (identity[0], mounted):
                    found[identity] = _Listed(kind, int(pid))
    return found


def _opened(
    files: Mapping[Identity, str], listed: Collection[Identity], proc: str
) -> dict[Identity, dict[int, list[str]]]:
    """File → pid → paths of its descriptors of the file. A file that `/proc` shows under another name is found only if
    the kernel lists some lock."""
    names = {os.path.basename(name) for name in files.values()}
    found: dict[Identity, dict[int, list[str]]] = {}
    own = str(os.getpid())
    for pid in _processes(proc):
        for descriptor, target in _open_files(pid, proc) if pid != own else ():
            if not listed and os.path.basename(target.removesuffix(" (deleted)")) not in names:
                continue
            with suppress(OSError):
                facts = os.stat(descriptor)
                identity = facts.st_dev, facts.st_ino
                if identity in files:
                    found.setdefault(identity, {}).setdefault(int(pid), []).append(descriptor)
    return found


def _kind_held(descriptor: str) -> str:
    """The kind of lock that a process holds through a descriptor, from `fdinfo`; empty if none."""
    with suppress(OSError), open(descriptor.replace("/fd/", "/fdinfo/"), encoding="ascii", errors="replace") as lines:
        for line in lines:
            match = _LINE.match(line.removeprefix("lock:").lstrip())
            if match is not None:
                return _KINDS[match[1]]
    return ""


def _is_for_writing(descriptor: str) -> bool:
    """Whether the descriptor is open for writing, as that of a lock's holder is; True if that is unknown."""
    with suppress(OSError, ValueError), open(descriptor.replace("/fd/", "/fdinfo/"), encoding="ascii") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name == "flags":
                return int(value, 8) & os.O_ACCMODE != os.O_RDONLY
    return os.path.lexists(descriptor)


def _processes(proc: str) -> list[str]:
    try:
        return sorted((name for name in os.listdir(proc) if name.isdigit()), key=int)
    except OSError:
        return []


def _open_files(pid: str, proc: str) -> Iterator[tuple[str, str]]:
    """(path of the descriptor, path that it leads to) of each file that a process has open; none if that is hidden."""
    folder = f"{proc}/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            target = os.readlink(f"{folder}/{name}")
        except OSError:
            continue
        if target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/sys/")):
            yield f"{folder}/{name}", target


def _is_locked(path: str) -> bool:
    """Whether the kernel knows of an fcntl lock on the file, whoever holds it."""
    try:
        handle = NoAtimeReader().open_file(path)
    except OSError:
        return False
    try:
        return _fcntl_locked(handle)
    finally:
        os.close(handle)


def _fcntl_locked(handle: int) -> bool:
    asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    try:
        answer = fcntl.fcntl(handle, _F_OFD_GETLK, asked)
    except OSError:
        return False  # a file system without such locks
    return bool(_FLOCK.unpack(answer)[0] != fcntl.F_UNLCK)
