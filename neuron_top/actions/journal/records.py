"""The lines of a journal: what was begun, intended, refused, ended, restored and purged. Pure values."""

from __future__ import annotations

import getpass
import os

import msgspec

from neuron_top.actions.plan import WHOLE_ENTRY, Action
from neuron_top.actions.reasons import WhyNotDone
from neuron_top.actions.verb import Verb
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import PARTS, Part
from neuron_top.events.base import Moment


class JournalRecord(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """Base of the journal's lines. `at` is seconds since the epoch."""

    plan: str
    at: Moment


class PlanBegun(JournalRecord, frozen=True, kw_only=True):
    """A plan was confirmed and its execution began."""

    verb: Verb
    root: str
    policy: str
    user: str
    host: str
    owner: lock_owner.LockOwner
    steps: int
    frees: int


class Move(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One rename into the trash, undone by the opposite one."""

    step: int
    action: Action
    path: str
    """Below the root, and below the plan's folder in the trash."""
    inode: int
    folder_mtime_ns: int
    """Modification time of the folder itself (or of the one that the file lay in); a restore sets it again."""
    frees: int

    @property
    def entry(self) -> str:
        """Path below the root of the entry that was taken, or that a file was taken from."""
        return self.path if self.action in WHOLE_ENTRY else self.path.rpartition("/")[0]

    @property
    def is_of_mark(self) -> bool:
        """Whether it took the mark that makes an entry a hit."""
        return self.path.rpartition("/")[2] == filenames.DONE

    @property
    def is_of_artifact(self) -> bool:
        """Whether it took the artifact itself."""
        return filenames.is_artifact(self.path)

    @property
    def is_beside_artifact(self) -> bool:
        """Whether it took a file that belongs to one artifact, or to its absence: mark, kernels, wrapped form, log."""
        return bool(PARTS.get(self.path.rpartition("/")[2], Part.OTHER) & _BESIDE_ARTIFACT)


_BESIDE_ARTIFACT = Part.DONE | Part.KERNELS | Part.WRAPPED | Part.LOG


class MovesIntended(JournalRecord, frozen=True, kw_only=True):
    """Written before the renames that it names; the disk shows which of them happened."""

    moves: tuple[Move, ...]


class StepsRefused(JournalRecord, frozen=True, kw_only=True):
    """Steps that were not done, each with its reason."""

    steps: tuple[tuple[int, WhyNotDone], ...]


class PlanEnded(JournalRecord, frozen=True, kw_only=True):
    """Execution ended: how many steps are done, those of earlier attempts too, and their bytes."""

    done: int
    refused: int
    moved_bytes: int
    interrupted: bool = False


class PlanRestored(JournalRecord, frozen=True, kw_only=True):
    """A plan was undone; `kept` are the paths that could not be put back, each with its reason, `gone` those that lay
    neither in the trash nor at their place any more."""

    restored: int
    kept: tuple[tuple[str, WhyNotDone], ...] = ()
    gone: tuple[str, ...] = ()
    user: str = ""


class PlanPurged(JournalRecord, frozen=True, kw_only=True):
    """What a plan took away was deleted, so it can no longer be undone. `freed` is measured, in bytes."""

    freed: int
    files: int
    user: str = ""


class PurgeFailed(JournalRecord, frozen=True, kw_only=True):
    """What a plan took away could not be deleted, or not all of it; it was set apart, and can be purged again."""

    why: str


AnyRecord = PlanBegun | MovesIntended | StepsRefused | PlanEnded | PlanRestored | PlanPurged | PurgeFailed
decoder: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)


def user_name() -> str:
    """Who acts, as journal and pins name them: the user's name; the number where there is no name (a container)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
