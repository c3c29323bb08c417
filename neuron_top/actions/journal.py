"""The trash of one cache and the journal in it: what was done, when, by whom, and how to undo it.

The trash lies beside the root, on the same file system and outside it (the SDK walks its root for graphs), so every
step is a rename and costs no space. A line of the journal is written and flushed before the first rename it speaks
of; after a kill the disk itself says how far a plan came. Only `actions.execute` and this module remove anything.

    <parent of root>/.neurontop-trash-<uid>/<name>-<hash of the root's path>/
        journal.jsonl       one record a line, oldest first
        maintain.lock       flock: one maintainer at a time
        reserve             room for journal and plan on a disk that is full by then
        <plan>/plan.json    the plan as it was confirmed
        <plan>/<path>/…     what was taken away, under the path it had below the root
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from neuron_top.actions import leftovers, records
from neuron_top.actions import plan as plans
from neuron_top.actions.chapters import Chapter
from neuron_top.actions.emptying import empty
from neuron_top.actions.plan import Plan
from neuron_top.actions.records import AnyRecord, PlanBegun, PlanPurged
from neuron_top.actions.user import user_name
from neuron_top.errors import NothingToShow, RefusedForSafety

TRASH = f".neurontop-trash-{os.getuid()}"
"""One per user, as in the trash of desktops: in a folder like /var/tmp nobody can get in another's way."""
_GOING = ".purging"
RESERVE_BYTES = 4 * 1024**2
"""Enough for the plan and the journal of some thousand entries; on a small disk a 64th of what is free."""
_LEAST_RESERVE = 16 * 1024
ADDING = frozenset({"compile", "copy"})
"""Verbs of plans that take nothing away: there is nothing to bring back."""


class Trash:
    """The trash of one root. Nothing is made on disk before `prepare`."""

    def __init__(self, root: str | Path, folder: str | Path | None = None) -> None:
        self.root: Path = Path(os.path.realpath(root))
        name = f"{self.root.name}-{hashlib.sha256(os.fsencode(self.root)).hexdigest()[:8]}"
        self.folder = (Path(folder) if folder else self.root.parent / TRASH) / name
        self.journal = self.folder / "journal.jsonl"

    def prepare(self) -> None:
        """Make the folder. Raises RefusedForSafety where it would lie in the root or on another file system."""
        if self.folder.is_relative_to(self.root):
            raise RefusedForSafety(f"the trash {self.folder} would lie inside the cache, where its clients look")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise RefusedForSafety(
                f"no trash can be made at {self.folder} ({problem.strerror}): name a folder on the cache's "
                "file system with --trash"
            ) from None
        for folder in (self.folder.parent, self.folder):
            facts = folder.lstat()
            if stat.S_ISLNK(facts.st_mode) or facts.st_uid not in (os.getuid(), 0):
                raise RefusedForSafety(
                    f"the trash {folder} is a link or belongs to another user: name another (--trash)"
                )
        if self.folder.stat().st_dev != self.root.stat().st_dev:
            raise RefusedForSafety(
                f"{self.folder} is not on the cache's own file system: name a folder there with --trash"
            )
        self._keep_reserve()

    def _keep_reserve(self) -> None:
        """Room that is given back when the disk is full: taking something from a full disk must be possible."""
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
        """Give the reserve back where the disk is full. Called under the maintainers' lock."""
        with contextlib.suppress(OSError):
            if self._free() < RESERVE_BYTES:
                (self.folder / "reserve").unlink(missing_ok=True)

    @contextlib.contextmanager
    def exclusively(self, resuming: str = "") -> Iterator[None]:
        """Hold the maintainers' lock, and first clear up what a killed maintainer left.

        The locks of the plan `resuming` stay: they prove that only we touched its entries. Raises RefusedForSafety
        while another maintainer holds the lock.
        """
        self.prepare()
        handle = os.open(self.folder / "maintain.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RefusedForSafety(
                    f"another neurontop is at work on {self.root}: try again when it is done"
                ) from None
            self._make_room()
            leftovers.free_locks(self, resuming)
            self._finish_purges()
            yield
        finally:
            os.close(handle)

    def write(self, *records: AnyRecord) -> None:
        """Append records and flush them to the disk. Raises RefusedForSafety when they can't be written."""
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        try:
            handle = os.open(self.journal, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                size = os.fstat(handle).st_size
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    data = b"\n" + data  # a line that a crash cut must not swallow this one
                if os.write(handle, data) != len(data):
                    os.ftruncate(handle, size)
                    raise OSError("the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as problem:
            raise RefusedForSafety(
                f"the journal {self.journal} cannot be written ({problem.strerror or problem}), and nothing is done "
                "without it: purge the trash (neurontop cache purge), or name another with --trash"
            ) from None

    def keep(self, plan: Plan) -> None:
        """Keep a plan that is about to be carried out, so that it can be gone on with. Raises RefusedForSafety."""
        place = self.folder / plan.identity
        try:
            place.mkdir(mode=0o700, exist_ok=True)
            (place / "plan.json").write_bytes(plans.encode(plan))
        except OSError as problem:
            raise RefusedForSafety(
                f"nothing was done: the plan cannot be kept in {place} ({problem.strerror})"
            ) from None

    def records(self) -> list[AnyRecord]:
        """Every record, oldest first; a line cut by a crash is passed over."""
        try:
            lines = self.journal.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(records.decoder.decode(line))
        return found

    def entries(self) -> list[Chapter]:
        """The journal by plan, oldest first."""
        chapters: dict[str, Chapter] = {}
        for record in self.records():
            if isinstance(record, PlanBegun):
                chapters.setdefault(record.plan, Chapter(record))
            if record.plan in chapters:
                chapters[record.plan].add(record)
        return list(chapters.values())

    def chapter(self, plan: str) -> Chapter:
        """One plan's part of the journal, by its name or an unambiguous beginning. Raises NothingToShow."""
        found = [chapter for chapter in self.entries() if chapter.begun.plan.startswith(plan)]
        if len(found) != 1:
            raise NothingToShow(f"{len(found) or 'no'} plans in {self.journal} begin with {plan!r}")
        return found[0]

    def touched(self) -> dict[str, float]:
        """Entry → when a plan of ours last took files out of it: such a change is no sign of a client."""
        found: dict[str, float] = {}
        for chapter in self.entries():
            if chapter.ended is not None:
                for move in chapter.moves:
                    if move.action not in plans.WHOLE:
                        found[move.entry] = chapter.ended.at
        return found

    def plan(self, identity: str) -> Plan:
        """The plan as it was confirmed."""
        return plans.decode((self.folder / identity / "plan.json").read_bytes())[0]

    def expired(self, before: float) -> list[Chapter]:
        """Plans whose loot lies in the trash since before that time; never one that is being carried out."""
        return [
            chapter
            for chapter in self.entries()
            if chapter.state in ("done", "interrupted")
            and (chapter.ended or chapter.begun).at <= before
            and any(place.exists() for place in self._places(chapter))
        ]

    def waiting(self) -> int:
        """Bytes that lie in the trash, as the journal says: free once it is purged."""
        return sum(chapter.taken for chapter in self.expired(float("inf")))

    def _places(self, chapter: Chapter) -> tuple[Path, Path]:
        """Where a plan's loot lies, and where it lies while it is deleted."""
        return self.folder / chapter.begun.plan, self.folder / f"{chapter.begun.plan}{_GOING}"

    def purge(self, chapter: Chapter) -> PlanPurged:
        """Delete what a plan took away, for ever. The first step makes it impossible to restore half of it.

        Called under the maintainers' lock. Raises NothingToShow when there is nothing of it to delete.
        """
        if chapter.purged:
            raise NothingToShow(f"plan {chapter.begun.plan} was purged already")
        place, going = self._places(chapter)
        with contextlib.suppress(FileNotFoundError):
            place.rename(going)
        if not going.exists():
            # The rest of a killed purge went when the maintainers' lock was taken.
            finished = self.chapter(chapter.begun.plan).purged
            if finished is None:
                raise NothingToShow(f"nothing of plan {chapter.begun.plan} lies in the trash")
            return finished
        return self._deleted(chapter, going)

    def _deleted(self, chapter: Chapter, going: Path) -> PlanPurged:
        """The folder itself goes last: as long as it is there, a killed purge is known for one."""
        freed, files = empty(going)
        record = PlanPurged(plan=chapter.begun.plan, at=time.time(), freed=freed, files=files, user=user_name())
        if not chapter.purged:
            self.write(record)
        going.rmdir()
        return record

    def _finish_purges(self) -> None:
        """Delete what a killed purge left, and say so in the journal: `freed` is what was left by then."""
        left = {path.name.removesuffix(_GOING): path for path in self.folder.glob(f"*{_GOING}")}
        for chapter in self.entries() if left else ():
            if chapter.begun.plan in left:
                self._deleted(chapter, left[chapter.begun.plan])
