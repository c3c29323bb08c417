"""A plan: what will be done to a cache, in safe order, what is skipped and why. Pure values.

The same plan is printed by `--dry-run`, saved as JSON, shown in the terminal's preview and handed to
`actions.execution`, which checks every step against the disk again. Bytes are allocated blocks, each inode once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import msgspec

from neuron_top.actions.reasons import Caveat, Goal, Reason, RebuildSource, Refusal, Risk, UseSource, WhyNotDone
from neuron_top.actions.verb import Verb
from neuron_top.cache.location import is_location
from neuron_top.cache.model.entry import Entry, Part, is_entry_path
from neuron_top.cache.model.failures import FailureClass

DAY = 86400.0
"""Seconds. What was used or changed within a day stays."""
SCHEMA = 1
"""Version of the JSON form; a saved plan of another version is refused."""
_IDENTITY = re.compile(r"[0-9a-f]{10}\Z")
LEADING_OUT = frozenset({"", ".", ".."})
"""Parts that no path below a root has."""
DEEPEST = 16
"""Most parts that a path below a root may have; the hub's have eight."""
_LARGEST = (1 << 63) - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
"""A number of bytes or files. Anybody may have written a plan file, and a number that is larger than any disk must not
reach a sum or a screen."""
Difference = Annotated[int, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)]
"""As `Count`, but possibly negative: totals after a plan are computed by subtraction."""


class Action(StrEnum):
    """What a step does. Each but COMPILE and COPY is one or a few renames into the trash, so each can be undone."""

    EVICT = "evict"
    """The whole entry goes."""
    SLIM = "slim"
    """Artifact, mark and log go; graph and flags stay, so that the graph can be compiled again."""
    UNLOCK = "unlock"
    """Only the lock goes."""
    RETRY = "retry"
    """The failure mark goes, so that the next run compiles the graph again."""
    QUARANTINE = "quarantine"
    """The broken artifact and its mark go; graph and flags stay."""
    SWEEP = "sweep"
    """A work directory of a dead compile goes."""
    COMPILE = "compile"
    """A failed graph is compiled again now, by the compile component; nothing goes before it succeeds."""
    COPY = "copy"
    """A usable entry is copied to another root; nothing goes."""


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What an entry looked like when the plan was made; a step is refused if its entry looks different."""

    state: str
    folder_inode: int
    folder_mtime_ns: int
    artifact_inode: int = 0
    artifact_mtime_ns: int = 0

    @classmethod
    def of(cls, entry: Entry) -> Fingerprint:
        """The fingerprint of an entry as last scanned."""
        return cls(
            state=entry.state,
            folder_inode=entry.folder_inode,
            folder_mtime_ns=entry.folder_mtime_ns,
            artifact_inode=entry.artifact_inode,
            artifact_mtime_ns=entry.artifact_mtime_ns,
        )


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One action on one entry."""

    action: Action
    path: str
    """Path below the plan's root: `<compiler>/<module>`; for a sweep, the name of the work folder."""
    cause: Reason = Reason()
    reason: str = ""
    """The cause in words: only in plans of an earlier version, and where `views.plan.with_texts` has added it."""
    frees: Count
    """Bytes expected to be freed once the trash is purged."""
    stays: Count = 0
    """Bytes that leave the cache but do not become free, because their files have names outside it."""
    files: Count
    links: Count = 0
    """How many of these files go without freeing an inode, because it has other names."""
    fingerprint: Fingerprint
    rebuild_seconds: float | None = None
    """How long compiling it again would take; None is unknown."""
    rebuild_from: RebuildSource = RebuildSource.UNKNOWN
    copies: Count = 0
    """Bytes that a copy writes elsewhere."""
    last_used: float | None = None
    last_used_from: UseSource = UseSource.UNKNOWN
    proof: str = ""
    """For an unlock: why the holder is known to be dead."""
    failure: FailureClass | None = None
    """For a retry: why the compile failed."""
    risk: Risk | None = None
    warning: str = ""
    """The risk in words, where `reason` has the cause in words."""

    @property
    def is_risky(self) -> bool:
        """Whether a person must be warned of the step."""
        return self.risk is not None or bool(self.warning)


class Exclusion(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An entry that the criteria would have taken, and why it is skipped."""

    path: str
    state: str
    size: Count
    cause: Reason = Reason()
    reason: str = ""
    """The cause in words, as `Step.reason`."""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """A cache or its file system at one moment; None is unknown."""

    entries: Difference
    files: Difference
    size: Difference
    free: Difference | None = None
    free_inodes: Difference | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Steps in the order they will be done. `frees` counts bytes once the trash is purged."""

    schema: int = SCHEMA
    identity: str
    verb: Verb
    root: str
    policy: str
    """The criteria in words, as the person gave them."""
    made_at: float
    steps: tuple[Step, ...]
    exclusions: tuple[Exclusion, ...] = ()
    before: Totals
    after: Totals
    caveats: tuple[str, ...] = ()
    """The notes in words, as `Step.reason`."""
    notes: tuple[Caveat, ...] = ()
    """What was seen or could not be seen, or what to expect."""
    refusal: Refusal | None = None
    """Not None: executing is refused for safety."""
    refused: str = ""
    """The refusal in words, as `Step.reason`; a plan with this text alone is refused, too."""
    target: str = ""
    """Where a copy goes."""
    emptied: tuple[str, ...] = ()
    """Compiler folders that lose all their entries."""
    goal: Goal | None = None
    """For a plan that was to reach a size or a free space: the goal, if it was met before or the steps miss it."""
    goal_missed: str = ""
    goal_met: str = ""
    """The goal in words, as `Step.reason`."""

    @property
    def is_refused(self) -> bool:
        """Whether executing it is refused for safety."""
        return self.refusal is not None or bool(self.refused)

    @property
    def frees(self) -> int:
        """Bytes of all steps."""
        return sum(step.frees for step in self.steps)

    @property
    def stays(self) -> int:
        """Bytes of all steps that leave the cache but do not become free."""
        return sum(step.stays for step in self.steps)

    @property
    def rebuild_seconds(self) -> float:
        """Recorded compile time that the plan throws away."""
        return sum(step.rebuild_seconds or 0.0 for step in self.steps if step.action in LOSES_ARTIFACT)

    @property
    def rebuild_unknown(self) -> int:
        """How many steps throw away a compile whose time nobody recorded."""
        return sum(step.rebuild_seconds is None for step in self.steps if step.action in LOSES_ARTIFACT)


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """The document of `--save-plan`."""

    schema: int = SCHEMA
    plans: tuple[Plan, ...]


class Undo(msgspec.Struct, frozen=True):
    """Whether `neurontop cache restore` brings back what a plan took away, and the root to name there."""

    root: str
    possible: bool = True
    """False where a bucket keeps no versions."""
    trash: str = ""
    """The folder to name there with `--trash`; "" for the default one."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What happened. `moved_bytes` lie in the trash until it is purged; `freed_bytes` are free now."""

    plan: str
    done: int
    refused: tuple[tuple[str, WhyNotDone], ...]
    """(path, reason) of steps that were not done."""
    moved_bytes: int
    freed_bytes: int = 0
    interrupted: bool = False
    trash: str = ""
    undo: Undo | str | None = None
    """None where nothing was taken away; a text in JSON that a view has made (`views.plan.outcome_with_texts`)."""
    there: int = 0
    """How many steps of a copy another copy had already done."""


class Progress(msgspec.Struct, frozen=True):
    """Where execution stands, for whoever watches it."""

    done: int
    refused: int
    total: int
    moved_bytes: int
    path: str
    running: int | None = None
    """How many compiles are running; None for plans that compile nothing."""
    rate: float | None = None
    """Bytes that a copy transfers per second; None for plans that copy nothing."""
    remaining: float | None = None
    """Seconds until all is done; None while that is unknown."""
    held_back: str = ""
    """What the next compile waits for: `memory`."""
    draining: float = 0.0
    """Seconds to wait for clients to finish downloads that they began before the mark was deleted."""


FILES_REMOVED: dict[Action, tuple[int, ...]] = {
    # In this order: without its mark an entry is a miss, whatever else is still there.
    Action.SLIM: (Part.DONE, Part.ARTIFACT, Part.KERNELS, Part.WRAPPED, Part.LOG),
    Action.QUARANTINE: (Part.DONE, Part.ARTIFACT, Part.KERNELS, Part.WRAPPED),
    # A failure mark of the oldest clients is a stub artifact beside the log; the stub first.
    Action.RETRY: (Part.ARTIFACT, Part.LOG),
    Action.UNLOCK: (Part.OWNER, Part.LOCK),
}
"""Which files an action takes from an entry that stays, in the order in which they go."""
WHOLE_ENTRY = frozenset({Action.EVICT, Action.SWEEP})
"""Actions that take a whole folder."""
LOSES_ARTIFACT = frozenset({Action.EVICT, Action.SLIM})


def identity_of(
    verb: str, root: str, made_at: float, steps: Sequence[Step], policy: str = "", exclusions: Sequence[Exclusion] = ()
) -> str:
    """Ten hex digits that name a plan in the journal and on screens. What it skips tells apart plans without steps."""
    facts = [verb, root, repr(made_at), policy, *[step.action for step in steps], *[step.path for step in steps]]
    if not steps:
        facts += [each.path for each in exclusions]
    return hashlib.sha256("\0".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:10]


_saved = msgspec.json.Decoder(Saved)  # made once, in one thread: see `cache/scan/index.py`


def encode(*plans: Plan, indent: int = 2) -> bytes:
    """Plans as one JSON document, to be reviewed and applied later. `indent=0` writes it on one line."""
    document = msgspec.json.encode(Saved(plans=plans))
    return (msgspec.json.format(document, indent=indent) if indent else document) + b"\n"


def decode(data: bytes) -> tuple[Plan, ...]:
    """Saved plans. Raises msgspec.DecodeError (ValidationError) on anything else, ValueError on another schema.

    Anybody may have written a plan file, so each name in it that becomes a path is checked here.
    """
    saved = _saved.decode(_respelled(data))
    for plan in saved.plans:
        if (saved.schema, plan.schema) != (SCHEMA, SCHEMA):
            raise ValueError(f"the plan has schema {plan.schema}, this version reads {SCHEMA}")
        check(plan)
    return saved.plans


_OLD_SPELLING = re.compile(rb'"artefact_(inode|mtime_ns)"(?=\s*:)')


def _respelled(data: bytes) -> bytes:
    """A plan with the field names of this version; 0.1 wrote `artefact_inode`."""
    return _OLD_SPELLING.sub(rb'"artifact_\1"', data) if b'"artefact_' in data else data


def check(plan: Plan) -> None:
    """Raises ValueError for a plan that names anything but entries below its root, or work folders."""
    if not _IDENTITY.match(plan.identity):
        raise ValueError(f"{plan.identity!r} is not the name of a plan")
    for place in (plan.root, plan.target or plan.root):
        if not is_location(place):
            raise ValueError(f"{place!r} is neither an absolute path nor a bucket")
    for step in plan.steps:
        parts = step.path.split("/")
        if not LEADING_OUT.isdisjoint(parts) or "\0" in step.path:
            raise ValueError(f"step {step.path!r} leads out of the cache")
        if len(parts) > DEEPEST:
            raise ValueError(f"step {step.path[:200]!r}… has more than {DEEPEST} parts")
        if step.action is not Action.SWEEP and not is_entry_path(step.path):
            raise ValueError(f"step {step.path!r} is not the path of a cache entry")
