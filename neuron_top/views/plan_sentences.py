"""What plans say to people: a sentence for each code. Change any of them: nothing but screens and texts changes."""

from __future__ import annotations

import functools
import shlex

from neuron_top.actions.backends import BackendKind
from neuron_top.actions.journal.records import PlanRestored
from neuron_top.actions.plan import Outcome, Plan, Progress, Undo
from neuron_top.actions.reasons import (
    Caveat,
    CaveatCode,
    Goal,
    GoalCode,
    NotDoneCode,
    Reason,
    ReasonCode,
    RefusalCode,
    Risk,
    UseSource,
    WhyNotDone,
)
from neuron_top.cache.location import is_bucket
from neuron_top.units import bytes_text, count_text, counted, duration_text
from neuron_top.views.failure_advice import ADVICE

REASONS = {
    ReasonCode.LEFTOVER: "only leftovers",
    ReasonCode.USELESS: "{detail}: of no use to any client",
    ReasonCode.CACHED_FAILURE: "a cached failure, replayed to every rank",
    ReasonCode.DUPLICATE: "a copy made or used later has flags that differ only in a log path",
    ReasonCode.SUPERSEDED: "an older compiler's, {unused} for {duration}",
    ReasonCode.UNUSED: "{unused} for {duration}",
    ReasonCode.FAILED_DETERMINISTIC: "deterministic failure: {detail}",
    ReasonCode.FAILED_ENVIRONMENT: "environment failure: {detail}",
    ReasonCode.FAILED_UNKNOWN: "unknown failure: {detail}",
    ReasonCode.HOLDER_DEAD: "its holder is dead",
    ReasonCode.FORCED: "forced",
    ReasonCode.BROKEN: "{detail}",
    ReasonCode.ABANDONED: "nobody works in it, unchanged for {duration}",
    ReasonCode.MISSING_THERE: "usable, and missing at the destination",
    ReasonCode.PINNED: "pinned",
    ReasonCode.USED_RECENTLY: "used within a day (known from: {detail})",
    ReasonCode.CHANGED_RECENTLY: "changed within a day",
    ReasonCode.DATED_AHEAD: "dated ahead of this machine's clock, and first seen so within a day",
    ReasonCode.YOUNG_WORK: "{detail}, changed within a day: somebody may still be at work",
    ReasonCode.NOT_NAMED: "{detail}: extracted or half-stored entries are removed only when their state is named",
    ReasonCode.COMPILING: "being compiled now",
    ReasonCode.RETRYING: "a failure being compiled again now",
    ReasonCode.LOCKED: "locked",
    ReasonCode.LOCK_UNPROVED: "nothing proves that its lock's holder is dead",
    ReasonCode.LOCK_STALE: "locked by a dead process",
    ReasonCode.LOCK_LEFTOVER: "usable, but still locked",
    ReasonCode.HOLDER_ALIVE: "its holder is alive: {detail}",
    ReasonCode.EXPORTED_MODEL: "a whole exported model, which is not a cache entry",
    ReasonCode.UNKNOWN_FORM: "of an unknown form, which is never changed",
    ReasonCode.OLD_LAYOUT: "in the layout of 2022, which is read only",
    ReasonCode.UNREADABLE: "not fully readable: {detail}",
    ReasonCode.HUB: "in a hub's own layout, which is read and copied only",
    ReasonCode.IN_USE: "may be in use: {detail}",
    ReasonCode.NOTHING_TO_TAKE: "it holds only graph and flags already",
    ReasonCode.FREES_NOTHING: "its files have names outside the cache, too: without it no more space is free",
    ReasonCode.NAMED_BY_PROCESS: "a live process names it in its command",
    ReasonCode.COMPILER_MISSING: "its compiler is not installed here",
    ReasonCode.BOUND_TO_FAIL: "bound to fail again ({detail})",
    ReasonCode.OTHER_USER: "it belongs to another user",
    ReasonCode.NOT_A_HIT: "{detail}: only hits are copied",
    ReasonCode.FLAGS_MISMATCH: "its flags do not have the hash in its name",
    ReasonCode.USABLE_THERE: "usable at the destination already",
    ReasonCode.SAME_ENTRY: "the same entry from another snapshot is copied",
    ReasonCode.UNKNOWN: "the plan does not say why",
}
NEXT_STEPS = {
    ReasonCode.PINNED: "unpin it first (neurontop cache unpin)",
    ReasonCode.USED_RECENTLY: "make the plan again a day after its last use",
    ReasonCode.CHANGED_RECENTLY: "make the plan again a day after the last change",
    ReasonCode.DATED_AHEAD: "make the plan again a day after it was first seen",
    ReasonCode.YOUNG_WORK: "make the plan again a day after the last change",
    ReasonCode.NOT_NAMED: "name it with --state {detail}",
    ReasonCode.COMPILING: "make the plan again when the compile has ended",
    ReasonCode.RETRYING: "make the plan again when the compile has ended",
    ReasonCode.LOCKED: "wait for its holder, or remove the lock of a dead one (neurontop cache unlock)",
    ReasonCode.LOCK_UNPROVED: "unlock it where nothing compiles it (neurontop cache unlock --force)",
    ReasonCode.LOCK_STALE: "remove the lock first (neurontop cache unlock)",
    ReasonCode.LOCK_LEFTOVER: "wait a moment, or remove the lock first (neurontop cache unlock)",
    ReasonCode.HOLDER_ALIVE: "wait until that process has ended",
    ReasonCode.EXPORTED_MODEL: "delete its folder by hand when nothing serves it",
    ReasonCode.UNKNOWN_FORM: "look at its files, and delete them by hand when nothing needs them",
    ReasonCode.OLD_LAYOUT: "delete its folder by hand when no client of that time needs it",
    ReasonCode.UNREADABLE: "make the plan as its owner, or let this user read it",
    ReasonCode.HUB: "remove it with the hub's own tool",
    ReasonCode.IN_USE: "make the plan again when nothing uses it",
    ReasonCode.NOTHING_TO_TAKE: "evict it whole to free more",
    ReasonCode.FREES_NOTHING: "delete the copies that share its files",
    ReasonCode.NAMED_BY_PROCESS: "make the plan again when that process has ended",
    ReasonCode.COMPILER_MISSING: "install it, or retry on the next run (--next-run needs no compiler)",
    ReasonCode.BOUND_TO_FAIL: "--include-deterministic retries it anyway",
    ReasonCode.OTHER_USER: "make the plan as that user",
    ReasonCode.NOT_A_HIT: "compile it first, or see what it lacks (neurontop cache show)",
    ReasonCode.FLAGS_MISMATCH: "evict it, so that a job compiles it again (neurontop cache evict --module)",
    ReasonCode.USABLE_THERE: "nothing to do",
    ReasonCode.SAME_ENTRY: "nothing to do",
    ReasonCode.UNKNOWN: "make the plan again",
}
"""What to do about an entry that a plan skips; a step has none, since the plan does it."""
NO_LOG = "its log says nothing"
"""The detail of a failure whose log reports no cause."""
RISKS = {
    Risk.BOUND_TO_FAIL: "bound to fail again: {detail}",
    Risk.NO_PROOF: "nothing proves that the holder is dead: a compile that still runs will be done twice",
}
NOT_DONE = {
    NotDoneCode.LOCKED: "it is locked",
    NotDoneCode.LOCK_GONE: "the lock is gone",
    NotDoneCode.LOCK_NEW: "a new lock appeared",
    NotDoneCode.HOLDER_ALIVE: "{detail}",
    NotDoneCode.IN_USE: "it is in use: {detail}",
    NotDoneCode.PINNED: "it was pinned since the plan was made",
    NotDoneCode.AT_WORK: "{detail}",
    NotDoneCode.COPIED_NOW: "it is locked: another copy is at work there",
    NotDoneCode.USABLE_THERE: "the destination has it by now",
    NotDoneCode.EXISTS_AGAIN: "it exists again",
    NotDoneCode.GONE: "it is gone",
    NotDoneCode.NOTHING_LEFT: "nothing of it is left to remove",
    NotDoneCode.FILE_REPLACED: "another file has taken its place since the plan was made",
    NotDoneCode.FOLDER_REPLACED: "another folder has taken its place since the plan was made",
    NotDoneCode.FILES_CHANGED: "files came or went since the plan was made",
    NotDoneCode.OBJECTS_CHANGED: "its objects changed since the plan was made",
    NotDoneCode.WRITTEN_AGAIN: "it was written again since the plan was made",
    NotDoneCode.ARTIFACT_WRITTEN_AGAIN: "its artifact was written again since the plan was made",
    NotDoneCode.WRITTEN_AFTER_MARK: "somebody wrote to it after its mark was taken",
    NotDoneCode.USED: "it was used since the plan was made",
    NotDoneCode.USED_LATER: "it was used within a day, and later than the plan says",
    NotDoneCode.ARTIFACT_GONE: "its artifact is gone",
    NotDoneCode.NO_GRAPH: "it holds no graph any more",
    NotDoneCode.NO_MARK: "it is no longer marked as done",
    NotDoneCode.REMOVED_WHILE_COPIED: "it was removed while it was copied",
    NotDoneCode.CHANGED_WHILE_COPIED: "{detail} changed while it was copied",
    NotDoneCode.NOT_USABLE: "{detail}",
    NotDoneCode.OUTSIDE: "{detail} leads out of the cache",
    NotDoneCode.LINK_OUTSIDE: "{detail} is a link that leads out of the cache",
    NotDoneCode.NOT_A_FILE: "{detail} is a link or not a file",
    NotDoneCode.NOT_A_FOLDER: "{detail} is a link or not a folder",
    NotDoneCode.TRASH_NOT_A_FILE: "what lies in the trash under its name is a link or no file",
    NotDoneCode.TRASH_NOT_A_FOLDER: "what lies in the trash under its name is a link or no folder",
    NotDoneCode.COMPILER_MISSING: "its compiler is not installed here",
    NotDoneCode.COMPILE_FAILED: "{detail}",
    NotDoneCode.IMPOSSIBLE: "TorchNeuron's cache has nothing to {detail}",
    NotDoneCode.NO_VERSION: "no version of it is kept",
    NotDoneCode.DELETED_BEFORE: "it was deleted before this plan",
    NotDoneCode.OTHER_LAYER: "it cannot be moved to the trash: it lies in a container's image, where it would free "
    "nothing, or on another mount",
    NotDoneCode.STORAGE: "{detail}",
}
"""Why a planned step was not done, or what a plan took was not brought back."""
REFUSALS = {
    RefusalCode.READ_ONLY: "read-only mode",
    RefusalCode.SHARED: "{detail}: state that no other host or container uses this cache "
    "(--assume-exclusive; on a screen: type exclusive)",
    RefusalCode.NO_SPACE: "{detail} has too little space: {needed} are to be copied, {free} are free",
}
CAVEATS = {
    CaveatCode.IN_USE: "a job uses this cache ({detail}): what a job holds, names or may have used since it started "
    "stays; in the worst case, what is removed is compiled again",
    CaveatCode.MAYBE_IN_USE: "{detail}: what a job holds, names or may have used since it started stays; in the worst "
    "case, what is removed is compiled again",
    CaveatCode.PROCESSES_UNSEEN: "of {processes} of other users, only the command could be seen",
    CaveatCode.IN_CONTAINER: "processes outside this container cannot be seen",
    CaveatCode.PARTLY_READ: "parts of the cache could not be read",
    CaveatCode.NO_ACCESS_TIMES: "this storage keeps no access times: last use is known from recordings only",
    CaveatCode.DATED_AHEAD: "{entries} dated more than a day ahead of this machine's clock: ages count from when that "
    "was first seen, as no other is known; if this clock is wrong, set it first",
    CaveatCode.LISTED_ONLY: "states are from the listing: artifacts were not read (neurontop cache verify reads them)",
    CaveatCode.NO_VERSIONS: "this bucket has no versioning: what is removed cannot be restored",
    CaveatCode.KEEPS_VERSIONS: "the space is free when the bucket's old versions expire",
    CaveatCode.COMPILER_MISSING: "graphs in {graph} cannot be compiled here: {detail}",
    CaveatCode.FEWER_COMPILES: "a compiler was killed for memory: half as many compiles at a time",
    CaveatCode.VERIFIED: "{verified}",
    CaveatCode.OFFER_FEWER_COMPILES: "a compiler was killed for memory: --fewer-jobs halves the compiles at a time",
}
GOALS = {
    "size": "the cache holds {size}",
    "free": "{free} are free",
    "trash": ", {trash} more once the trash is purged (neurontop cache purge),",
    "missed": "only {frees} of {wanted} can be freed; the rest is protected or outside this cache",
    "missed, keeping graphs": "only {frees} of {wanted} can be freed; the rest is graphs and flags, protected, or "
    "outside this cache",
}
MOVED = {
    "bucket": "{moved} kept as old versions until the bucket expires them",
    "trash": "{moved} in the trash until it is purged (neurontop cache purge)",
    "trash, part freed": "{moved} in the trash until it is purged (neurontop cache purge), {freed} free already",
    "gone": "{moved}",
}
"""Where removed files are; in a bucket nothing needs a purge, as its own rules expire old versions."""


@functools.lru_cache(10_000)
def describe(reason: Reason, known_from: UseSource = UseSource.UNKNOWN) -> str:
    """Why a step is done; why an entry is skipped, and what to do about it. `known_from`: the last use."""
    sentence = "; ".join(filter(None, (REASONS[reason.code], NEXT_STEPS.get(reason.code))))
    return sentence.format(
        detail=detail_text(reason) or NO_LOG,
        duration=duration_text(reason.seconds),
        unused="unused" if known_from.is_use else "no use known",
    )


_SOURCES: dict[str, str] = {UseSource.RECORD: "a recorded run"}
"""What a last use is known from, where the plan's own word does not say it."""


def detail_text(reason: Reason) -> str:
    """What was found, in words: of a failure the compiler's code and what to do about it."""
    if reason.failure is None:
        return _SOURCES.get(reason.detail, reason.detail) if reason.code is ReasonCode.USED_RECENTLY else reason.detail
    return ": ".join(filter(None, (reason.detail, ADVICE[reason.failure])))


def risk_text(risk: Risk | None, cause: Reason) -> str:
    """What may go wrong with a step; empty without a risk."""
    return RISKS[risk].format(detail=detail_text(cause) or NO_LOG) if risk is not None else ""


def not_done_text(why: WhyNotDone) -> str:
    """Why a step was not done; a text of an earlier version as it is."""
    return why if isinstance(why, str) else NOT_DONE[why.code].format(detail=why.detail)


def refusal_text(plan: Plan) -> str:
    """Why the plan must not be carried out; empty when it may."""
    refusal = plan.refusal
    if refusal is None:
        return plan.refused
    return REFUSALS[refusal.code].format(
        detail=refusal.detail, needed=bytes_text(refusal.needed), free=bytes_text(refusal.free)
    )


def caveat_text(caveat: Caveat) -> str:
    """What was seen or could not be seen, or what to expect."""
    verified = verified_text(caveat.count, caveat.broken, caveat.warned, "read in full")
    return CAVEATS[caveat.code].format(
        entries=counted(caveat.count, "entry is", "entries are"),
        processes=counted(caveat.count, "process", "processes"),
        detail=caveat.detail,
        graph=caveat.graph,
        verified=verified,
    )


def verified_text(entries: int, broken: int, warned: int, how: str) -> str:
    """`2 entries checked: 0 corrupt, 0 with a warning`; `how` thoroughly they were verified: checked, read in full."""
    return f"{counted(entries, 'entry', 'entries')} {how}: {broken:,} corrupt, {warned:,} with a warning"


def caveat_texts(plan: Plan) -> tuple[str, ...]:
    """All caveats of a plan."""
    own = tuple(map(caveat_text, plan.notes))
    return (*own, *(text for text in plan.caveats if text not in own))  # a plan with its texts filled in has them twice


def goal_text(goal: Goal) -> str:
    """What meets the goal already, or by how much the steps miss it."""
    if goal.code is GoalCode.MISSED:
        sentence = GOALS["missed, keeping graphs" if goal.keeps_graphs else "missed"]
        return sentence.format(frees=bytes_text(goal.frees), wanted=bytes_text(goal.wanted))
    size = GOALS["size"].format(size=bytes_text(goal.size)) if goal.size is not None else ""
    free = GOALS["free"].format(free=bytes_text(goal.free)) if goal.free is not None else ""
    if free and goal.trash:
        free += GOALS["trash"].format(trash=bytes_text(goal.trash))
    return " and ".join(filter(None, (size, free)))


def goal_missed_text(plan: Plan) -> str:
    """How far the steps miss the goal; empty where they don't."""
    return goal_text(plan.goal) if plan.goal is not None and plan.goal.code is GoalCode.MISSED else plan.goal_missed


def goal_met_text(plan: Plan) -> str:
    """By what the goal is met without a step; empty where it isn't."""
    return goal_text(plan.goal) if plan.goal is not None and plan.goal.code is GoalCode.MET else plan.goal_met


def moved_text(outcome: Outcome) -> str:
    """Where the files lie that a plan took away; empty where it took nothing."""
    if not outcome.done:
        return ""
    if is_bucket(outcome.trash):
        where = "bucket"
    elif outcome.trash:
        where = "trash, part freed" if outcome.freed_bytes else "trash"
    elif outcome.moved_bytes:
        where = "gone"
    else:
        return ""
    return MOVED[where].format(moved=bytes_text(outcome.moved_bytes), freed=bytes_text(outcome.freed_bytes))


UNDONE_BY = "undo: "
UNDO = {
    True: UNDONE_BY + "neurontop cache restore {plan} {root}",
    False: "this bucket keeps no versions: it cannot be undone",
}
"""By whether a restore can bring back what was taken away."""


def resume_text(outcome: Outcome) -> str:
    """How to go on with a plan that was interrupted after it had begun; empty where none was."""
    match outcome.undo:
        case Undo(root=root, trash=trash) if outcome.interrupted:
            return f"resume: neurontop cache apply {outcome.plan} {shlex.quote(root)}{_trash_option(trash)}"
        case _:
            return ""


def _trash_option(trash: str) -> str:
    return f" --trash {shlex.quote(trash)}" if trash else ""


def undo_text(outcome: Outcome) -> str:
    """How to undo what a plan did, or that it cannot be; empty where it took nothing away."""
    match outcome.undo:
        case Undo() if not (outcome.done or outcome.interrupted):
            return ""
        case Undo(root=root, possible=possible, trash=trash):
            return f"{UNDO[possible].format(plan=outcome.plan, root=shlex.quote(root))}{_trash_option(trash)}"
        case how:
            return how or ""


PROGRESS = {
    "running": "{} running",
    "rate": "{}/s",
    "remaining": "about {} to go",
    "held back": "waiting for {}",
    "draining": "waiting {} s for clients that have seen the mark to finish their downloads",
}


def progress_parts(progress: Progress) -> list[str]:
    """Details of progress besides the count of steps: compiles that run, the rate of a copy, a wait between steps."""
    known = {
        "running": count_text(progress.running) if progress.running is not None else "",
        "rate": bytes_text(progress.rate) if progress.rate is not None else "",
        "remaining": duration_text(progress.remaining) if progress.remaining else "",
        "held back": progress.held_back,
        "draining": f"{progress.draining:.0f}" if progress.draining else "",
    }
    return [sentence.format(known[name]) for name, sentence in PROGRESS.items() if known[name]]


LEFT = {BackendKind.FOLDER: "in the trash", BackendKind.BUCKET: "deleted"}
"""Where the files are that an undo could not restore."""


def restored_text(record: PlanRestored, kind: BackendKind) -> str:
    """What an undone plan brought back, and what it could not."""
    text = f"{count_text(record.restored)} brought back"
    if record.gone:
        text = f"{text}, {count_text(len(record.gone))} not {LEFT[kind]} any more"
    if not record.kept:
        return text
    stay = "stays" if len(record.kept) == 1 else "stay"
    return f"{text}, {count_text(len(record.kept))} {stay} {LEFT[kind]}: {not_done_text(record.kept[0][1])}"
