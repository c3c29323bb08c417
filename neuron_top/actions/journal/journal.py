"""The journal of one cache: what was done, when, by whom, and the plans as they were confirmed.

A line of the journal is written and flushed before the first change that it names. After a kill, the storage shows how
far a plan came.

    journal.jsonl       one record a line, oldest first
    maintain.lock       flock: one maintainer at a time
    <plan>/plan.json    the plan as it was confirmed
"""

from __future__ import annotations

import abc
import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from neuron_top.actions import plan as plans
from neuron_top.actions.journal import records, trash_contents
from neuron_top.actions.journal.plan_history import UNDOABLE, PlanHistory
from neuron_top.actions.journal.records import AnyRecord, PlanBegun
from neuron_top.actions.journal.trash_contents import PLAN_FILE
from neuron_top.actions.open_entries import OpenRoot, StaleEntryError
from neuron_top.actions.plan import Plan
from neuron_top.actions.verb import Verb
from neuron_top.decoders import MALFORMED
from neuron_top.errors import FileMalformed, NothingToShow, RefusedForSafety

ADDING = frozenset({Verb.COMPILE, Verb.COPY})
"""Verbs of plans that take nothing away: there is nothing to bring back."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_LONGEST_LINE = 256 * 1024**2
"""Bytes; many times what the moves of a batch take. A journal that somebody else wrote must not fill the memory."""
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Journal(abc.ABC):
    """The journal in `folder`. Storages differ in where that lies, and in what they tell of what was taken away.

    `remarks`: sentences about what went wrong besides what was asked for.
    """

    def __init__(self, cache: str, folder: Path) -> None:
        """`cache`: what messages call the cache."""
        self.cache, self.folder = cache, folder
        self.journal = folder / "journal.jsonl"
        self.remarks: list[str] = []

    @abc.abstractmethod
    def prepare(self) -> None:
        """Make the folder; nothing is made on disk before. Raises RefusedForSafety, NothingToShow without a cache."""

    @abc.abstractmethod
    def check_there(self) -> None:
        """Raises NothingToShow if there is neither a cache nor the trash of one that is gone."""

    @abc.abstractmethod
    def holds(self, history: PlanHistory) -> bool:
        """Whether something that a plan took can be restored."""

    @abc.abstractmethod
    def _lying(self, history: PlanHistory) -> frozenset[str] | None:
        """Paths of what a plan took that lie in the trash; None if the storage cannot tell."""

    @abc.abstractmethod
    def _lost(self, known: Collection[str]) -> Iterable[PlanHistory]:
        """Histories of plans that lie in the trash and are none of the `known`, oldest first."""

    @contextlib.contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the maintainers' lock. Raises RefusedForSafety while another maintainer holds it."""
        self.prepare()
        handle = self._maintainers_lock()
        try:
            yield
        finally:
            os.close(handle)

    def _maintainers_lock(self) -> int:
        """Take the lock; returns its descriptor, and closing that releases it. Raises RefusedForSafety."""
        try:
            with contextlib.ExitStack() as undo:
                handle = os.open(self.folder / "maintain.lock", _LOCK_FLAGS, 0o600)
                undo.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                undo.pop_all()
                return handle
        except BlockingIOError:
            raise RefusedForSafety(f"another neurontop is changing {self.cache}: try again when it is done") from None
        except OSError as problem:
            raise RefusedForSafety(
                f"nothing was done: the trash {self.folder} cannot be written ({problem.strerror}): {way_out(problem)}"
            ) from None

    def write(self, *records: AnyRecord) -> None:
        """Append records and flush them to the disk. Raises RefusedForSafety if they cannot be written."""
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        try:
            handle = os.open(self.journal, _APPEND_FLAGS, 0o600)
            try:
                size = _file_size(handle)
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    data = b"\n" + data  # end a line that a crash cut short
                if os.write(handle, data) != len(data):
                    os.ftruncate(handle, size)
                    raise OSError(errno.ENOSPC, "the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as problem:
            raise RefusedForSafety(
                f"the journal {self.journal} cannot be written ({problem.strerror or problem}), and nothing is done "
                f"without it: {way_out(problem)}"
            ) from None

    def check_writable(self) -> None:
        """Raises RefusedForSafety if no record can be written: for use before anything that needs one."""
        self.write()

    def _check_links(self) -> None:
        """Raises RefusedForSafety if the trash is a link: somebody else may have chosen where it leads."""
        for folder in (self.folder.parent, self.folder):
            with contextlib.suppress(OSError):
                if stat.S_ISLNK(folder.lstat().st_mode):
                    raise RefusedForSafety(f"the trash {folder} is a link: name another (--trash)")

    def records(self) -> list[AnyRecord]:
        """Every record, oldest first; a line that a crash cut short, or that is not ours, is skipped.

        Raises RefusedForSafety if the journal is a link or no file, or may not be read.
        """
        self._check_links()
        found = []
        try:
            with open(os.open(self.journal, _READ_FLAGS), "rb") as file:
                _file_size(file.fileno())
                while line := file.readline(_LONGEST_LINE):
                    with contextlib.suppress(*MALFORMED):
                        found.append(records.decoder.decode(line))
        except FileNotFoundError:
            return []
        except OSError as problem:
            why = problem.strerror or problem
            raise RefusedForSafety(f"the journal {self.journal} cannot be read ({why})") from None
        return found

    def histories(self) -> list[PlanHistory]:
        """The history of each plan, oldest first; before all, plans that lie in the trash and that the
        journal lacks.

        A plan that was executed again stands where it was executed last. Raises RefusedForSafety.
        """
        found = self.records()
        known = {record.plan for record in found if isinstance(record, PlanBegun)}
        histories = {history.begun.plan: history for history in self._lost(known)}
        for record in found:
            if isinstance(record, PlanBegun):
                before = histories.pop(record.plan, None)
                histories[record.plan] = PlanHistory(record) if before is None or before.is_over else before
            if record.plan in histories:
                histories[record.plan].add(record)
        for history in histories.values():
            if history.state in UNDOABLE and not history.is_told_by_journal:
                history.lying = self._lying(history)
        return list(histories.values())

    def history_of(self, plan: str) -> PlanHistory:
        """The history of one plan, by its name or an unambiguous beginning. Raises NothingToShow, RefusedForSafety."""
        histories = self.histories()
        found = [history for history in histories if history.begun.plan.startswith(plan)]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(history.begun.plan for history in found)
            raise NothingToShow(f"{len(found)} plans in {self.journal} begin with {plan!r}: {names}; name one of them")
        problem = f"no plan in {self.journal} has a name that begins with {plan!r}"
        raise NothingToShow(
            f"{problem}; `neurontop cache journal` lists the names of all {len(histories)}"
            if histories
            else f"{problem}: nothing was done to this cache"
        )

    def keep(self, plan: Plan) -> None:
        """Keep a plan that is about to be executed, so that it can be resumed. Raises RefusedForSafety."""
        place = self.folder / plan.identity
        try:
            place.mkdir(mode=0o700, exist_ok=True)
            with contextlib.closing(self.opened(plan.identity)) as folder:
                folder.write(PLAN_FILE, plans.encode(plan, indent=0))
        except OSError as problem:
            with contextlib.suppress(OSError):
                place.rmdir()  # fails, as it should, if something lies in it
            raise RefusedForSafety(
                f"nothing was done: the plan cannot be kept in {place} ({problem.strerror}): {way_out(problem)}"
            ) from None

    def opened(self, identity: str) -> OpenRoot:
        """A plan's folder, opened so that nothing else can be reached. Raises RefusedForSafety for a link, OSError."""
        place = self.folder / identity
        problem = unfit(place)
        if problem:
            raise RefusedForSafety(f"nothing was done: {problem}")
        return OpenRoot(place)

    def plan(self, identity: str) -> Plan:
        """The plan as it was confirmed. Raises FileMalformed, NothingToShow."""
        place = self.folder / identity
        try:
            return trash_contents.read_plan(place)
        except (ValueError, msgspec.MsgspecError) as problem:
            raise FileMalformed(place / PLAN_FILE, f"a plan that this program saved ({problem})") from None
        except OSError as problem:
            raise NothingToShow(f"{place / PLAN_FILE} cannot be read ({problem.strerror})") from None

    def discard(self, history: PlanHistory) -> None:
        """Delete a kept plan that nothing needs any more, and the folders of what it took, which are empty.

        What else lies there stays, and nothing is raised: it would only take a little space.
        """
        place = self.folder / history.begun.plan
        with contextlib.suppress(OSError, RefusedForSafety), contextlib.closing(self.opened(place.name)) as folder:
            folder.remove(PLAN_FILE)
            for path in {move.path.rpartition("/")[0] for move in history.moves if trash_contents.is_sound(move)}:
                with contextlib.suppress(OSError, StaleEntryError):
                    folder.remove_empty(path)
            place.rmdir()


def way_out(problem: OSError) -> str:
    """What to do if the trash cannot be written. Another trash would be on the same disk, which needs room, or a mount
    that can be written to."""
    if problem.errno in _FULL:
        return "purge the trash (neurontop cache purge), or delete something else on its disk first"
    if problem.errno == errno.EROFS:
        return "mount its disk writable first"
    return "make it writable, or name another with --trash"


def unfit(place: Path) -> str:
    """Why what lies at `place` cannot be a plan's folder; empty if it is a folder, or if nothing is there."""
    try:
        mode = place.lstat().st_mode
    except OSError:
        return ""
    if stat.S_ISDIR(mode):
        return ""
    return (
        f"{place} is a link: remove it by hand" if stat.S_ISLNK(mode) else f"{place} is not a folder: remove it by hand"
    )


def _file_size(handle: int) -> int:
    """The size of an open file. Raises OSError for a pipe, a device or a folder in its place."""
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        raise OSError("it is not a file")
    return facts.st_size
