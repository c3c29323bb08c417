"""The trash of one cache in a folder: what plans took out of it, with the journal that tells how to undo them.

The trash lies beside the root: outside it, because the SDK walks its root for graphs, but on the same file system, so
that every step is a rename and costs no space. If the journal is lost, the disk shows what was taken
(`trash_contents`). What lies in the trash is opened without following links. Only `actions.execution` and this module
remove anything.

    <parent of root>/.neurontop-trash-<uid>/<name>-<hash of the root's path>/
        journal.jsonl, …    see `journal`
        reserve             room for journal and plan on a disk that is full by then
        <plan>/<path>/…     what was taken away, under the path it had below the root
        <plan>.purging      being deleted for ever; `<plan>.apart`: that could not be finished
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from neuron_top.actions import plan as plans
from neuron_top.actions.journal import stale_locks, trash_contents
from neuron_top.actions.journal.journal import Journal, unfit, way_out
from neuron_top.actions.journal.plan_history import UNDOABLE, PlanHistory
from neuron_top.actions.journal.purge_tree import empty
from neuron_top.actions.journal.records import PlanPurged, PurgeFailed, user_name
from neuron_top.actions.journal.trash_contents import APART, GOING, PLAN_FILE
from neuron_top.cache.filesystem import mounted_below
from neuron_top.cache.model.filenames import SDK_COMPILERS
from neuron_top.cache.tree import linked_inodes
from neuron_top.cache.use import is_ahead
from neuron_top.errors import NothingToShow, RefusedForSafety
from neuron_top.folders import Removed
from neuron_top.plain_files import nearest_folder

TRASH = f".neurontop-trash-{os.getuid()}"
"""One per user, as on desktops, so that users do not get in each other's way in a folder like /var/tmp."""
RESERVE_BYTES = 4 * 1024**2
"""Enough for the plan and the journal of some thousand entries; at most a 64th of the free space is taken."""
_LEAST_RESERVE = 16 * 1024
_LONGEST_NAME = 255 - len("-01234567")
"""Bytes of a name before the hash; file systems allow 255."""


class CannotPurge(RefusedForSafety):
    """A plan in the trash cannot be deleted, or not all of it; it was set apart, so that others can be purged."""

    exit_code = 1


class Trash(Journal):
    """The trash of one root, with its journal."""

    def __init__(self, root: str | Path, folder: str | Path | None = None) -> None:
        self.root: Path = Path(os.path.realpath(root))
        self.named: Path | None = Path(folder).absolute() if folder else None
        """The folder that was named for the trashes of caches; None: the default one."""
        name = f"{_cut(self.root.name)}-{hashlib.sha256(os.fsencode(self.root)).hexdigest()[:8]}"
        super().__init__(str(self.root), (self.named or _beside(self.root)) / name)

    def prepare(self) -> None:
        """See Journal. Raises RefusedForSafety where it would lie in the root or on another file system."""
        if Path(os.path.realpath(self.folder)).is_relative_to(self.root):
            raise RefusedForSafety(
                f"the trash {self.folder} would be inside the cache, where jobs look for entries: name another "
                "(--trash)"
            )
        device = self._device()
        self._check_links()
        if nearest_folder(self.folder).stat().st_dev != device:  # before anything is made on another disk
            raise self._off_disk(f"{self.folder} is not on the cache's own file system")
        try:
            _make_folders(self.folder)
        except OSError as problem:
            why = f"no trash can be made at {self.folder} ({problem.strerror})"
            if problem.errno == errno.EROFS:
                raise RefusedForSafety(f"{why}: {way_out(problem)}") from None
            raise self._off_disk(why) from None
        for folder in (self.folder.parent, self.folder):
            facts = folder.lstat()
            if stat.S_ISLNK(facts.st_mode) or facts.st_uid not in (os.getuid(), 0):
                raise RefusedForSafety(
                    f"the trash {folder} is a link or belongs to another user: name another (--trash)"
                )
            if facts.st_mode & stat.S_IWOTH and not facts.st_mode & stat.S_ISVTX:
                raise RefusedForSafety(
                    f"everybody can write to the trash {folder}: take that permission away, or name another (--trash)"
                )
        self._keep_reserve()

    def _off_disk(self, why: str) -> RefusedForSafety:
        """The refusal of a trash that cannot lie where it should. What is a whole file system has nothing beside it."""
        if self.root.is_mount():
            return RefusedForSafety(
                f"{why}: the cache {self.root} is the top of a file system, so that no trash can lie beside it; use a "
                f"folder in it as the cache, such as {self.root / 'cache'}"
            )
        return RefusedForSafety(f"{why}: name a folder on the cache's file system with --trash")

    def _device(self) -> int:
        """Device number of the file system that the root lies on."""
        try:
            facts = self.root.stat()
        except OSError as problem:
            raise NothingToShow(f"the cache {self.root} cannot be reached ({problem.strerror})") from None
        if not stat.S_ISDIR(facts.st_mode):
            raise NothingToShow(f"no cache at {self.root}: it is a file")
        return facts.st_dev

    def check_there(self) -> None:
        """See Journal."""
        if not self.folder.exists():
            self._device()

    def _keep_reserve(self) -> None:
        """Keep a file that is deleted when the disk is full, so that a full disk can still be evicted from."""
        reserve = self.folder / "reserve"
        size = min(RESERVE_BYTES, self._free() // 64)
        if reserve.exists() or size < _LEAST_RESERVE:
            return
        with contextlib.suppress(OSError):
            handle = os.open(reserve, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                os.posix_fallocate(handle, 0, size)
            finally:
                os.close(handle)

    def _free(self) -> int:
        facts = os.statvfs(self.folder)
        return facts.f_bavail * facts.f_frsize

    def _make_room(self) -> None:
        """Delete the reserve if the disk is full. Called under the maintainers' lock."""
        with contextlib.suppress(OSError):
            if self._free() < RESERVE_BYTES:
                (self.folder / "reserve").unlink(missing_ok=True)

    @contextlib.contextmanager
    def exclusively(self, resuming: str = "") -> Iterator[None]:
        """See Journal. What a killed maintainer left is first cleared up; but the locks of the plan `resuming` stay:
        they prove that only we touched its entries."""
        with super().exclusively():
            self._make_room()
            stale_locks.free_locks(self, resuming)
            self._finish_purges()
            yield

    def _lying(self, history: PlanHistory) -> frozenset[str] | None:
        """See Journal."""
        return frozenset(self._lying_in(history, trash_contents.plan_folders(self.folder).get(history.begun.plan, ())))

    def _lying_in(self, history: PlanHistory, names: Iterable[str]) -> Iterator[str]:
        """Paths of what a plan took that lie in one of these folders of the trash."""
        places = [self.folder / name for name in names]
        sound = (move.path for move in history.moves if trash_contents.is_sound(move))
        return (path for path in sound if any(os.path.lexists(place / path) for place in places))

    def holds(self, history: PlanHistory) -> bool:
        """See Journal. A plan whose steps were all refused took nothing, and what is set apart can only be deleted."""
        return next(self._lying_in(history, [history.begun.plan]), None) is not None

    def _lost(self, known: Collection[str]) -> Iterable[PlanHistory]:
        """See Journal."""
        return trash_contents.lost_histories(self.folder, self.root, known)

    def touched(self) -> dict[str, float]:
        """Entry → when a plan last took files out of it: such a change is no sign that a client uses the cache."""
        found: dict[str, float] = {}
        for history in self.histories():
            if history.ended is not None:
                for move in history.undertaken:
                    if move.action not in plans.WHOLE_ENTRY:
                        found[move.entry] = history.ended.at
        return found

    def expired(self, before: float) -> list[PlanHistory]:
        """Plans whose files have lain in the trash since before that time; never one that is being executed."""
        lying = trash_contents.plan_folders(self.folder)
        return [
            history
            for history in self.histories()
            if history.state in UNDOABLE
            and (history.ended or history.begun).at <= before
            and history.begun.plan in lying
        ]

    def date_again(self, now: float) -> None:
        """Let the age of plans that are dated far ahead of the clock count from now, as no other time is known.

        They would never expire, and their bytes would count as space that a purge frees. Raises RefusedForSafety.
        """
        if any(_is_dated_ahead(each, now) for each in self.histories()):
            with self.exclusively():
                ended = [each.ended for each in self.histories() if each.ended and _is_dated_ahead(each, now)]
                self.write(*(msgspec.structs.replace(each, at=now) for each in ended))

    def trash_bytes(self) -> int:
        """Bytes in the trash, which become free when it is purged."""
        return sum(history.bytes_in_trash for history in self.expired(float("inf")))

    def linked(self) -> Counter[int]:
        """Inode → how many names it has in the trash, for files with several names."""
        names = [name for of_plan in trash_contents.plan_folders(self.folder).values() for name in of_plan]
        return sum((linked_inodes(str(self.folder / name)) for name in names), Counter())

    def half_purged(self, history: PlanHistory) -> str:
        """Why a plan can no longer be restored although some of its files are left; empty if it can."""
        identity = history.begun.plan
        names = trash_contents.plan_folders(self.folder).get(identity, ())
        if identity in names or not names:
            return ""
        why = f" ({history.apart.why})" if history.apart else ""
        return f"plan {identity} was being purged, and not all of it could be deleted{why}: what is left can only go"

    def purge(self, history: PlanHistory) -> PlanPurged:
        """Delete for good what a plan took away. The plan's folder is renamed first, so that no half is ever restored.

        Called under the maintainers' lock. Raises NothingToShow if there is nothing of it to delete, CannotPurge.
        """
        identity = history.begun.plan
        if history.purged:
            raise NothingToShow(f"plan {identity} was purged already")
        names = trash_contents.plan_folders(self.folder).get(identity, ())
        if not names:
            # What a killed purge left was deleted when the maintainers' lock was taken.
            finished = self._finished(identity)
            if finished is None:
                raise NothingToShow(f"nothing of plan {identity} is in the trash")
            return finished
        removed = Removed()
        for name in names:
            removed = removed.plus(self._emptied(identity, name))
        return self._purged(identity, removed)

    def _emptied(self, identity: str, name: str) -> Removed:
        """Delete all that lies in one folder of a plan; the folder stays, renamed to `<plan>.purging`."""
        place, going = self.folder / name, self.folder / f"{identity}{GOING}"
        obstacle = unfit(place) or _mounted(place)
        try:
            if not obstacle:
                place.rename(going)
                with contextlib.suppress(OSError):  # our own file is not counted: the plan did not take it away
                    (going / PLAN_FILE).unlink()
                return empty(going)
        except OSError as problem:
            obstacle = f"{problem.strerror}: {problem.filename!r}" if problem.filename else str(problem.strerror)
        with contextlib.suppress(OSError):
            going.rename(self.folder / f"{identity}{APART}")  # else every command would try again
        raise self._apart(identity, obstacle)

    def _purged(self, identity: str, removed: Removed, finished: PlanPurged | None = None) -> PlanPurged:
        """Record the purge, then delete the folder itself: while it exists, a purge that was killed is recognized."""
        record = PlanPurged(plan=identity, at=time.time(), freed=removed.freed, files=removed.files, user=user_name())
        if finished is None:
            self.write(record)
        try:
            (self.folder / f"{identity}{GOING}").rmdir()
        except OSError as problem:
            raise self._apart(identity, problem.strerror or str(problem)) from None
        return finished or record

    def _finished(self, identity: str) -> PlanPurged | None:
        """What the journal says of the purge of a plan."""
        return next((history.purged for history in self.histories() if history.begun.plan == identity), None)

    def _apart(self, identity: str, why: str) -> CannotPurge:
        with contextlib.suppress(RefusedForSafety):  # a disk too full for the record must not stop other purges
            self.write(PurgeFailed(plan=identity, at=time.time(), why=why))
        return CannotPurge(f"plan {identity} cannot be purged and was set apart: {why}")

    def _finish_purges(self) -> None:
        """Delete what a killed purge left, and record that; `freed` then counts only what was left."""
        for identity, names in trash_contents.plan_folders(self.folder).items():
            if f"{identity}{GOING}" in names:
                try:
                    removed = self._emptied(identity, f"{identity}{GOING}")
                    self._purged(identity, removed, self._finished(identity))
                except RefusedForSafety as problem:
                    self.remarks.append(str(problem))


def _cut(name: str) -> str:
    """The name of a folder, short enough for a hash behind it."""
    data = os.fsencode(name)
    return name if len(data) <= _LONGEST_NAME else data[:_LONGEST_NAME].decode(errors="ignore")


def _is_dated_ahead(history: PlanHistory, now: float) -> bool:
    return history.state in UNDOABLE and history.ended is not None and is_ahead(history.ended.at, now)


def _make_folders(folder: Path) -> None:
    """Make a folder and what is missing above it, for this user alone whatever the umask says. Raises OSError."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    for above in reversed(missing):
        above.mkdir(mode=0o700, exist_ok=True)


def _mounted(place: Path) -> str:
    mount = mounted_below(str(place))
    return f"something is mounted at {mount}: unmount it" if mount else ""


def _beside(root: Path) -> Path:
    """The trash beside a cache, not in it, where the SDK looks for graphs. A root may be a compiler's folder in one."""
    cache = root.parent if root.name.startswith(SDK_COMPILERS) else root
    return cache.parent / TRASH
