"""What kind of file system a cache lies on: shared or local, access times kept or not, space left."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import NamedTuple

import msgspec

from neuron_top.cache.processes import sees_all_processes

SHARED_KINDS = frozenset(
    {
        "nfs",
        "nfs4",
        "lustre",
        "cifs",
        "smb3",
        "9p",
        "ceph",
        "glusterfs",
        "afs",
        "beegfs",
        "gpfs",
        "orangefs",
        "virtiofs",
    }
)
"""Kinds that several hosts may write to at once. EFS mounts as nfs4, FSx for Lustre as lustre."""


class AccessTimes(StrEnum):
    """Whether, and how exactly, a mount keeps when a file was last read."""

    RELATIME = "relatime"
    """To the day."""
    STRICTATIME = "strictatime"
    NOATIME = "noatime"


class Filesystem(msgspec.Struct, frozen=True, kw_only=True):
    """What matters to a cache about the mount that it lies on."""

    kind: str | None = None
    """`ext4`, `xfs`, `nfs4`, `tmpfs`…; None when it could not be determined."""
    shared: bool = False
    """Other hosts, or processes we cannot see, may write here."""
    why_shared: str | None = None
    access_times: AccessTimes | None = None
    """None when unknown."""
    writable: bool | None = None
    free: int | None = None
    """Bytes an unprivileged user may still write."""
    total: int | None = None
    free_inodes: int | None = None

    @property
    def keeps_access_times(self) -> bool:
        """Whether access times are kept for certain, so that no read escapes them."""
        return self.access_times is not None and self.may_keep_access_times

    @property
    def may_keep_access_times(self) -> bool:
        """Whether a later access time is worth a look: false only where the mount is known to keep none."""
        return self.access_times is not AccessTimes.NOATIME


def describe(path: str, proc: str = "/proc") -> Filesystem:
    """The file system that `path` lies on; all unknown when it does not exist."""
    try:
        space = os.statvfs(path)
    except OSError:
        return Filesystem()
    mount = _mount_of(os.path.realpath(path), proc)
    why = _why_shared(mount, proc)
    return Filesystem(
        kind=mount.kind,
        shared=why is not None,
        why_shared=why,
        access_times=_access_times(mount.options, space.f_flag),
        writable=os.access(path, os.W_OK),
        free=space.f_bavail * space.f_frsize,
        total=space.f_blocks * space.f_frsize,
        free_inodes=space.f_favail if space.f_files else None,
    )


def mounted_below(path: str, proc: str = "/proc") -> str | None:
    """A place at or below `path` where something else is mounted; None if there is none, or /proc does not say.

    What is mounted there belongs to somebody else. Device numbers do not show it: a folder mounted from the same file
    system has the same one.
    """
    real = os.path.realpath(path)
    try:
        with open(f"{proc}/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            places = [_unescaped(line.split(" ", 5)[4]) for line in table]
    except (OSError, IndexError):
        return None
    return next((place for place in places if place == real or place.startswith(real.rstrip("/") + "/")), None)


def device_of(path: str, proc: str = "/proc") -> int | None:
    """The device number of the mount that `path` lies on; None if unknown. On some kinds, `stat` reports another."""
    return _mount_of(os.path.realpath(path), proc).device


class _Mount(NamedTuple):
    """One line of the mount table. `root`: the folder of its file system that is mounted."""

    place: str = ""
    kind: str | None = None
    root: str = "/"
    options: frozenset[str] = frozenset()
    device: int | None = None


def _mount_of(path: str, proc: str) -> _Mount:
    """The innermost mount above `path`; one without a kind if the table does not say."""
    best = _Mount()
    try:
        with open(f"{proc}/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            for line in table:
                left, _, right = line.partition(" - ")
                fields, kind = left.split(" "), right.split(" ")[0]
                place = _unescaped(fields[4])
                inside = path == place or path.startswith(place.rstrip("/") + "/")
                if inside and len(place) >= len(best.place):
                    options = frozenset(fields[5].split(","))
                    best = _Mount(place, kind, _unescaped(fields[3]), options, _device(fields[2]))
    except (OSError, IndexError):
        return _Mount()
    return best


def _device(field: str) -> int | None:
    major, _, minor = field.partition(":")
    return os.makedev(int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None


def _unescaped(field: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field


def _access_times(options: frozenset[str], flags: int) -> AccessTimes | None:
    if "noatime" in options or flags & getattr(os, "ST_NOATIME", 1024):
        return AccessTimes.NOATIME
    if "relatime" in options or flags & getattr(os, "ST_RELATIME", 4096):
        return AccessTimes.RELATIME
    return AccessTimes.STRICTATIME if options else None


def _why_shared(mount: _Mount, proc: str) -> str | None:
    kind = mount.kind
    if kind is None:
        return None
    if kind in SHARED_KINDS or (kind.startswith("fuse.") and kind != "fuse.fuse-overlayfs"):
        return f"{kind} can be written by other hosts"
    # A container's own are what it has at / and, nearly always, a tmpfs; a volume may be a whole disk of the host.
    is_own = mount.root == "/" and (mount.place == "/" or kind == "tmpfs")
    if not is_own and not sees_all_processes(proc):
        return "a folder mounted into this container: processes outside cannot be seen"
    return None
