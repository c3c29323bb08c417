"""Why a plan does something or skips it, as codes and facts. `views.plan_sentences` has the words; code compares codes
only."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.cache.model.failures import FailureClass


class ReasonCode(StrEnum):
    """Why a step is done, or why an entry is skipped."""

    # Steps of an eviction, in the order in which they go
    LEFTOVER = "leftover"
    USELESS = "useless"
    CACHED_FAILURE = "cached-failure"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    UNUSED = "unused"
    # Steps of other plans
    FAILED_DETERMINISTIC = "failed-deterministic"
    FAILED_ENVIRONMENT = "failed-environment"
    FAILED_UNKNOWN = "failed-unknown"
    HOLDER_DEAD = "holder-dead"
    FORCED = "forced"
    BROKEN = "broken"
    ABANDONED = "abandoned"
    MISSING_THERE = "missing-there"
    # Exclusions
    PINNED = "pinned"
    USED_RECENTLY = "used-recently"
    CHANGED_RECENTLY = "changed-recently"
    DATED_AHEAD = "dated-ahead"
    YOUNG_WORK = "young-work"
    NOT_NAMED = "not-named"
    COMPILING = "compiling"
    RETRYING = "retrying"
    LOCKED = "locked"
    LOCK_UNPROVED = "lock-unproved"
    LOCK_STALE = "lock-stale"
    LOCK_LEFTOVER = "lock-leftover"
    HOLDER_ALIVE = "holder-alive"
    EXPORTED_MODEL = "exported-model"
    UNKNOWN_FORM = "unknown-form"
    OLD_LAYOUT = "old-layout"
    """Of the layout of 2022, whose names have no flags."""
    UNREADABLE = "unreadable"
    HUB = "hub"
    IN_USE = "in-use"
    NOTHING_TO_TAKE = "nothing-to-take"
    FREES_NOTHING = "frees-nothing"
    NAMED_BY_PROCESS = "named-by-process"
    COMPILER_MISSING = "compiler-missing"
    BOUND_TO_FAIL = "bound-to-fail"
    OTHER_USER = "other-user"
    NOT_A_HIT = "not-a-hit"
    FLAGS_MISMATCH = "flags-mismatch"
    USABLE_THERE = "usable-there"
    SAME_ENTRY = "same-entry"
    UNKNOWN = "unknown"
    """In a plan that an earlier version saved: its text has the reason."""


class Reason(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A code and the facts that its sentence needs."""

    code: ReasonCode = ReasonCode.UNKNOWN
    detail: str = ""
    """What was found: a state, a proof, the compiler's code of a failure. Shown, never compared."""
    seconds: float = 0.0
    """How long the entry was idle."""
    failure: FailureClass | None = None
    """Why the entry's compile failed; None if that is unknown, or if `detail` says it in words."""


class NotDoneCode(StrEnum):
    """Why a planned step was not done, or why something stays in the trash when its plan is undone."""

    LOCKED = "locked"
    LOCK_GONE = "lock-gone"
    LOCK_NEW = "lock-new"
    HOLDER_ALIVE = "holder-alive"
    IN_USE = "in-use"
    PINNED = "pinned"
    AT_WORK = "at-work"
    COPIED_NOW = "copied-now"
    USABLE_THERE = "usable-there"
    EXISTS_AGAIN = "exists-again"
    GONE = "gone"
    NOTHING_LEFT = "nothing-left"
    FILE_REPLACED = "file-replaced"
    FOLDER_REPLACED = "folder-replaced"
    FILES_CHANGED = "files-changed"
    OBJECTS_CHANGED = "objects-changed"
    WRITTEN_AGAIN = "written-again"
    ARTIFACT_WRITTEN_AGAIN = "artifact-written-again"
    WRITTEN_AFTER_MARK = "written-after-mark"
    USED = "used"
    USED_LATER = "used-later"
    ARTIFACT_GONE = "artifact-gone"
    NO_GRAPH = "no-graph"
    NO_MARK = "no-mark"
    REMOVED_WHILE_COPIED = "removed-while-copied"
    CHANGED_WHILE_COPIED = "changed-while-copied"
    NOT_USABLE = "not-usable"
    OUTSIDE = "outside"
    LINK_OUTSIDE = "link-outside"
    NOT_A_FILE = "not-a-file"
    NOT_A_FOLDER = "not-a-folder"
    TRASH_NOT_A_FILE = "trash-not-a-file"
    TRASH_NOT_A_FOLDER = "trash-not-a-folder"
    COMPILER_MISSING = "compiler-missing"
    COMPILE_FAILED = "compile-failed"
    IMPOSSIBLE = "impossible"
    NO_VERSION = "no-version"
    DELETED_BEFORE = "deleted-before"
    OTHER_LAYER = "other-layer"
    STORAGE = "storage"
    """What the disk or the storage service answered."""


class NotDone(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A code and the facts that its sentence needs."""

    code: NotDoneCode
    detail: str = ""
    """A name, a proof, a message: shown, never compared."""


WhyNotDone = NotDone | str
"""A text was written by an earlier version, or is the sentence itself where texts were asked for."""


class Risk(StrEnum):
    """What may go wrong with a step that is done only on request."""

    BOUND_TO_FAIL = "bound-to-fail"
    NO_PROOF = "no-proof"


class RefusalCode(StrEnum):
    """Why a whole plan must not be carried out."""

    READ_ONLY = "read-only"
    SHARED = "shared"
    """Others may use the storage, and nobody stated that they do not."""
    NO_SPACE = "no-space"


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A code and the facts that its sentence needs."""

    code: RefusalCode
    detail: str = ""
    """For SHARED: how that is known."""
    needed: int = 0
    free: int = 0


class GoalCode(StrEnum):
    """Whether a plan reaches the size or the free space that was asked for."""

    MET = "met"
    """Nothing has to go."""
    MISSED = "missed"


class Goal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a goal was met or missed. Bytes; None: not asked for."""

    code: GoalCode
    wanted: int = 0
    frees: int = 0
    keeps_graphs: bool = False
    size: int | None = None
    free: int | None = None
    trash: int = 0


class CaveatCode(StrEnum):
    """What was seen or could not be seen, or what to expect, when a plan was made."""

    IN_USE = "in-use"
    """A job is running: what it may need stays."""
    MAYBE_IN_USE = "maybe-in-use"
    """The same, but only an environment variable or a file that changed recently says so."""
    PROCESSES_UNSEEN = "processes-unseen"
    IN_CONTAINER = "in-container"
    PARTLY_READ = "partly-read"
    NO_ACCESS_TIMES = "no-access-times"
    DATED_AHEAD = "dated-ahead"
    """Times of `count` entries say nothing: a clock was wrong, or this one is."""
    LISTED_ONLY = "listed-only"
    NO_VERSIONS = "no-versions"
    KEEPS_VERSIONS = "keeps-versions"
    COMPILER_MISSING = "compiler-missing"
    FEWER_COMPILES = "fewer-compiles"
    """A compiler was killed for memory: half as many run at a time."""
    OFFER_FEWER_COMPILES = "offer-fewer-compiles"
    """The same cause, but the person must ask for fewer compiles."""
    VERIFIED = "verified"
    """What was read in full, whatever was found."""


class Caveat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A code and the facts that its sentence needs."""

    code: CaveatCode
    count: int = 0
    detail: str = ""
    graph: str = ""
    """Name of the graph file that the missing compiler reads."""
    broken: int = 0
    """Of `count` entries that were verified."""
    warned: int = 0
    """Entries that carry a warning and are not broken."""


class UseSource(StrEnum):
    """How the last use of an entry is known."""

    UNKNOWN = ""
    RECORD = "record"
    ACCESS = "access time"
    COMPILE = "compile time"
    SEEN = "first seen"
    """Its files are dated far ahead of the clock; a read since then would show in the access time."""
    SEEN_ONLY = "first seen, reads unknown"
    """Its access time lies far ahead of the clock too, and a read need not change it."""

    @property
    def is_use(self) -> bool:
        """Whether the time is that of a use; by the other sources, no use is known since that time."""
        return self in (UseSource.RECORD, UseSource.ACCESS)

    @property
    def is_seen(self) -> bool:
        """Whether the time is when an entry that is dated ahead was first seen."""
        return self in (UseSource.SEEN, UseSource.SEEN_ONLY)

    def shows_reads(self, *, has_access_times: bool, has_artifact: bool) -> bool:
        """Whether a use since that time would show: an artifact is used by reading it, so its reads must be known."""
        if self is UseSource.SEEN_ONLY:
            return False
        return self is UseSource.RECORD or has_access_times or not has_artifact


class RebuildSource(StrEnum):
    """How the time of a compile is known."""

    UNKNOWN = ""
    STATISTICS = "its statistics"
    RECORDING = "a recording"
    FILE_TIMES = "file times, at most"
