"""The actions on caches: a row per verb with planner, executor, key, button, permission and words.

Commands, screens, pages, API and help read the rows, so an action is added here and in its planner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from neuron_top.actions.backends.base import BackendKind, CacheBackend, ignore
from neuron_top.actions.verb import Verb

if TYPE_CHECKING:  # commands and keys read the rows, and load nothing that plans
    from neuron_top.actions.plan import Plan
    from neuron_top.actions.plan_context import PlanContext
    from neuron_top.actions.reasons import Caveat
    from neuron_top.cache.model.entry import Entry
    from neuron_top.cache.model.snapshot import Snapshot
    from neuron_top.cache.scan.verify import EntryFinding


class PlannerInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a planner gets to plan for marked entries."""

    backend: CacheBackend
    snapshot: Snapshot
    context: PlanContext
    entries: Sequence[Entry]
    """The marked ones, of `snapshot`."""
    watch: Callable[[int, int], None] = ignore
    """Called with how far a verification has read: bytes done, bytes in all."""


class ActionExecutor(StrEnum):
    """What carries a plan out."""

    BACKEND = "backend"
    """The storage itself: renames into a trash, or deletions in a versioned bucket. Undoable."""
    COMPILERS = "compilers"
    COPY = "copy"
    """From one storage to another."""


class ActionPermission(StrEnum):
    """What a person must be allowed to do; planning needs no more than reading."""

    READ = "read"
    ACT = "act"


class CacheAction(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the registry."""

    verb: Verb
    title: str
    """Title of its plans and of its command: `compile again now`."""
    help: str
    """What it does, for help pages: completes "plan to …" where there is a planner."""
    key: str = ""
    """The key on the terminal's cache screen; empty: none of its own."""
    label: str = ""
    """The text beside the key, at the foot of the screen."""
    button: str = ""
    """The button on the web page; empty: none of its own."""
    planner: Callable[[PlannerInput], Plan] | None = None
    """Plans for marked entries; None where a plan is made from something else, or none is needed."""
    executor: ActionExecutor = ActionExecutor.BACKEND
    permission: ActionPermission = ActionPermission.ACT
    folders_only: bool = False
    """Not possible in a bucket."""
    per_compiler: bool = False
    """On the web, each compiler version gets its own plan, because emptying one is a decision of its own."""
    alternatives: tuple[Verb, ...] = ()
    """Verbs that reach the same end in different ways, offered together."""
    fallback: Verb | None = None
    """Offered where no alternative has anything to do; each of its steps carries a warning."""
    undoable: bool = True
    commands: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Sub-commands of `neurontop cache` that carry it out, each with its line in the help."""
    option: str = ""
    """Where it has no command of its own: the option that asks for it, as `evict --keep-graph`."""
    fleet: str = ""
    """Its name as an action on chosen nodes of a fleet, and as a command of `neurontop fleet`; empty: it is none."""
    fleet_help: str = ""
    """Its line in the help of `neurontop fleet`."""


def _evict(given: PlannerInput) -> Plan:
    return _evict_marked(given, keep_graph=False)


def _slim(given: PlannerInput) -> Plan:
    return _evict_marked(given, keep_graph=True)


def _evict_marked(given: PlannerInput, *, keep_graph: bool) -> Plan:
    """Evict the marked entries, whatever their state. The planner gets every entry of the cache, because an inode with
    several names is freed only with the last of them."""
    from neuron_top.actions.planners.atime_recheck import plan_with_reads
    from neuron_top.actions.planners.evict import EvictCriteria

    snapshot = given.snapshot
    criteria = EvictCriteria(
        paths=frozenset(entry.path for entry in given.entries),
        states=frozenset(entry.state for entry in given.entries),
        keep_graph=keep_graph,
    )
    return plan_with_reads(snapshot, snapshot.entries, snapshot.root, criteria, given.context)


def _retry(given: PlannerInput, *, deterministic: bool = False) -> Plan:
    from neuron_top.actions.planners.retry import plan_retry

    return plan_retry(given.entries, given.snapshot.root, given.context, deterministic=deterministic)


def _retry_deterministic(given: PlannerInput) -> Plan:
    return _retry(given, deterministic=True)


def _compile(given: PlannerInput) -> Plan:
    from neuron_top.actions.planners.retry import for_memory
    from neuron_top.actions.reasons import Caveat, CaveatCode

    plan, missing = plan_compile(given.snapshot.root, given.entries, given.context)
    fewer = (Caveat(CaveatCode.FEWER_COMPILES),) if for_memory(plan) else ()
    return msgspec.structs.replace(plan, notes=(*plan.notes, *missing, *fewer))


def plan_compile(
    root: str, entries: Sequence[Entry], context: PlanContext, *, deterministic: bool = False
) -> tuple[Plan, list[Caveat]]:
    """(the plan to compile the failures among `entries` now, why some cannot be compiled on this machine)."""
    from neuron_top.actions.execution.compilers import compilers_for  # starts programs: only where one compiles
    from neuron_top.actions.planners.retry import plan_retry
    from neuron_top.cache.model.states import FAILURES

    compilers, missing = compilers_for(root, [entry.path for entry in entries if entry.state in FAILURES])
    folders = {compiler.directory() for compiler in compilers.values()}
    return plan_retry(entries, root, context, deterministic=deterministic, compilers=folders), missing


def _unlock(given: PlannerInput, *, force: bool = False) -> Plan:
    from neuron_top.actions.planners.unlock import plan_unlock

    return plan_unlock(given.entries, given.snapshot.root, given.context, force=force)


def _force_unlock(given: PlannerInput) -> Plan:
    return _unlock(given, force=True)


def _quarantine(given: PlannerInput) -> Plan:
    from neuron_top.actions.planners.quarantine import plan_quarantine

    return plan_quarantine(given.entries, given.snapshot.root, given.context)


def _verify(given: PlannerInput) -> Plan:
    from neuron_top.actions.reasons import Caveat, CaveatCode
    from neuron_top.cache.scan.verify import FindingLevel

    findings = tuple(given.backend.verify(given.entries, deep=True, watch=given.watch))
    plan = plan_broken(given.snapshot, given.context, given.entries, findings)
    broken = {finding.entry.path for finding in findings if finding.level is FindingLevel.BROKEN}
    warned = {finding.entry.path for finding in findings} - broken
    read = Caveat(CaveatCode.VERIFIED, count=len(given.entries), broken=len(broken), warned=len(warned))
    return msgspec.structs.replace(plan, notes=(read, *plan.notes))


def plan_broken(
    snapshot: Snapshot, context: PlanContext, entries: Iterable[Entry], findings: Iterable[EntryFinding]
) -> Plan:
    """The plan that moves aside the entries that these findings call broken."""
    from neuron_top.actions.planners.quarantine import plan_quarantine
    from neuron_top.cache.scan import verify  # reads graphs and artifacts: only where one verifies

    broken: dict[str, str] = {}
    for finding in findings:
        if finding.level is verify.FindingLevel.BROKEN:
            broken.setdefault(finding.entry.path, finding.what)
    return plan_quarantine([entry for entry in entries if entry.path in broken], snapshot.root, context, broken)


ACTIONS: tuple[CacheAction, ...] = (
    CacheAction(verb=Verb.EVICT, title="evict", help="evict the marked entries (undoable)", key="e", label="evict",
                button="Evict", planner=_evict, per_compiler=True,
                commands={"evict": "free disk: by size, free space, age, compiler, state or name; undoable"},
                fleet="evict", fleet_help="evict entries on chosen nodes (undoable)"),
    CacheAction(verb=Verb.SLIM, title="evict artifacts", help="evict artifacts and keep graphs and flags", key="z",
                label="keep graph", button="Evict artifacts (keep graphs)", planner=_slim, per_compiler=True,
                option="evict --keep-graph"),
    CacheAction(verb=Verb.COMPILE, title="compile again now", help="compile failures again now",
                button="Compile failures now", planner=_compile, executor=ActionExecutor.COMPILERS, folders_only=True,
                undoable=False, commands={"retry": "compile failed graphs again, now or on the next run"}),
    CacheAction(verb=Verb.RETRY, title="retry on the next run", key="r", label="retry",
                help="compile failures again, now or on the next run", button="Clear failures (retry on the next run)",
                planner=_retry, alternatives=(Verb.COMPILE, Verb.RETRY), fallback=Verb.RETRY_DETERMINISTIC,
                option="retry --next-run",
                fleet="retry", fleet_help="let chosen nodes compile their stored failures again"),
    CacheAction(verb=Verb.RETRY_DETERMINISTIC, title="retry what is bound to fail again",
                help="retry also the failures that the compiler itself caused", planner=_retry_deterministic,
                option="retry --include-deterministic"),
    CacheAction(verb=Verb.UNLOCK, title="unlock", key="u", label="unlock", button="Remove dead locks",
                help="remove the locks whose holder is proved dead", planner=_unlock, fallback=Verb.FORCE_UNLOCK,
                commands={"unlock": "remove locks whose holder is proved dead"},
                fleet="unlock", fleet_help="remove dead locks on chosen nodes"),
    CacheAction(verb=Verb.FORCE_UNLOCK, title="remove locks without proof",
                help="remove also the locks that nothing proves dead, each after a question", planner=_force_unlock,
                option="unlock --force"),
    CacheAction(verb=Verb.VERIFY, title="verify", key="v", label="verify",
                help="read the entries in full and move corrupt ones aside", planner=_verify,
                commands={"verify": "find corrupt entries, and move them aside"},
                fleet="verify", fleet_help="read artifacts of chosen nodes whole, move corrupt ones aside"),
    CacheAction(verb=Verb.QUARANTINE, title="quarantine", button="Quarantine corrupt",
                help="move corrupt artifacts aside", planner=_quarantine, option="verify --quarantine"),
    CacheAction(verb=Verb.SWEEP, title="remove work folders", help="remove what dead compiles left in their folders",
                folders_only=True, option="evict --workdirs"),
    CacheAction(verb=Verb.COPY, title="copy", help="copy usable entries to another cache", executor=ActionExecutor.COPY,
                undoable=False,
                commands={"copy": "copy usable entries to another root, verified",
                          "pull": "fetch what this node lacks from a bucket or a shared cache, verified",
                          "push": "store what a bucket lacks of this node's cache, verified"},
                fleet="pull", fleet_help="fetch artifacts to chosen nodes"),
    CacheAction(verb=Verb.PIN, title="pin", key="p", label="pin", undoable=False,
                help="pin the marked modules: no eviction takes them; again unpins",
                commands={"pin": "keep modules from eviction: by name, pattern or recorded run",
                          "unpin": "remove pins"},
                fleet="pin", fleet_help="pin modules on chosen nodes: no eviction takes them"),
    CacheAction(verb=Verb.RESTORE, title="undo", key="U", label="undo", button="Undo", undoable=False,
                help="undo the last plan that was carried out",
                commands={"restore": "undo a plan: the newest, or one by name"}),
    CacheAction(verb=Verb.PURGE, title="purge", help="delete what lies in the trash", folders_only=True,
                undoable=False, commands={"purge": "empty the trash: frees its space, cannot be undone"}),
)  # fmt: skip

_ROWS: Mapping[Verb, CacheAction] = {row.verb: row for row in ACTIONS}


def action_of(verb: Verb) -> CacheAction:
    """The row of a verb; for a verb that this version does not know, a row that can be shown but does nothing."""
    return _ROWS.get(verb) or CacheAction(verb=verb, title=str(verb), help="", undoable=False)


FLEET_ACTIONS: Mapping[str, CacheAction] = {row.fleet: row for row in ACTIONS if row.fleet}
"""Actions that an operator may ask nodes of a fleet for, by name."""


def is_possible(verb: Verb, kind: BackendKind) -> bool:
    """Whether the action exists in this kind of storage."""
    return kind is BackendKind.FOLDER or not action_of(verb).folders_only
