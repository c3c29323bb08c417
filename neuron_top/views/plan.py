"""A plan and its outcome as lines: what `--dry-run` prints and the terminal's preview shows. Pure.

Every step with its reason, every exclusion under its reason, the totals before and after, the compile time that would
have to be spent again, and what could not be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto

import msgspec

from neuron_top.actions.plan import LOSES_ARTIFACT, Action, Exclusion, Outcome, Plan, Step
from neuron_top.actions.reasons import Reason, UseSource
from neuron_top.actions.registry import action_of
from neuron_top.actions.verb import Verb
from neuron_top.units import bytes_text, count_text, counted, duration_text
from neuron_top.views.plan_sentences import (
    UNDONE_BY,
    caveat_texts,
    describe,
    detail_text,
    goal_met_text,
    goal_missed_text,
    moved_text,
    not_done_text,
    refusal_text,
    resume_text,
    risk_text,
    undo_text,
)

RECENT_SECONDS = 7 * 86400.0


class LineKind(Enum):
    """How a screen draws a line of a plan."""

    HEADING = auto()
    STEP = auto()
    EXCLUSION = auto()
    TOTAL = auto()
    CAVEAT = auto()
    WARNING = auto()
    REFUSAL = auto()
    MORE = auto()


class PlanLine(msgspec.Struct, frozen=True):
    """One line of a plan or an outcome."""

    kind: LineKind
    text: str


class PlanStepRow(msgspec.Struct, frozen=True, kw_only=True):
    """One step in parts, for a page that lays them out."""

    action: str
    size: str
    """What it frees or copies; "" where that is no measure of it."""
    path: str
    facts: str
    """When the entry was used last, and what it took to compile; "" where neither matters."""
    reason: str
    proof: str
    warning: str
    """"" without a risk."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What rebuilding would cost. Seconds are of the compiles whose time is known."""

    compiles: int
    seconds: float
    unknown: int
    recent: int
    """Steps on entries that were used within a week."""
    recent_seconds: float


def title_of(*plans: Plan) -> str:
    """What the plans of an act do, in words: an eviction that keeps the graphs is not the one that takes entries."""
    verb, does = plans[0].verb, {step.action for plan in plans for step in plan.steps}
    return action_of(Verb.SLIM if verb is Verb.EVICT and does == {Action.SLIM} else verb).title


def choice_text(plan: Plan) -> str:
    """The text of a button: `Evict: 12 steps, 3.4 GiB`."""
    count = len(plan.steps)
    if plan.verb is Verb.COMPILE:
        return f"Compile now: {counted(count, 'graph')}"
    if plan.verb is Verb.RETRY:
        return f"Retry on the next run: {counted(count, 'failure')}"
    return f"{title_of(plan).capitalize()}: {counted(count, 'step')}, {bytes_text(bytes_of(plan.steps))}"


def bytes_of(steps: Iterable[Step]) -> int:
    """Bytes that the steps free, or copy."""
    return sum(step.copies if step.action is Action.COPY else step.frees for step in steps)


def cost(plan: Plan) -> Cost:
    """The compile time that a plan loses."""
    lost = [step for step in plan.steps if step.action in LOSES_ARTIFACT and step.rebuild_seconds != 0.0]
    recent = [
        step for step in lost if step.last_used_from.is_use and plan.made_at - (step.last_used or 0.0) < RECENT_SECONDS
    ]
    return Cost(
        compiles=len(lost),
        seconds=sum(step.rebuild_seconds or 0.0 for step in lost),
        unknown=sum(step.rebuild_seconds is None for step in lost),
        recent=len(recent),
        recent_seconds=sum(step.rebuild_seconds or 0.0 for step in recent),
    )


def plan_lines(plan: Plan, most: int | None = None) -> list[PlanLine]:
    """The whole plan; at most `most` steps and as many exclusions of each reason (None: all)."""
    return [
        *plan_head(plan),
        *_steps(plan, most),
        *_more(plan, most),
        *_exclusions(plan.exclusions, most),
        *_totals(plan),
        *_missed(plan),
        *_caveats(plan),
    ]


def preview_lines(plan: Plan) -> list[PlanLine]:
    """The whole plan for a page that is read from its top: the sum, and whether the aim is missed, before the steps."""
    total = [PlanLine(LineKind.TOTAL, act_sum([plan]))] if plan.steps else []
    return [
        *plan_head(plan),
        *total,
        *_missed(plan),
        *_steps(plan, None),
        *_exclusions(plan.exclusions, None),
        *_totals(plan),
        *_caveats(plan),
    ]


def step_rows(plan: Plan, most: int | None = None) -> list[PlanStepRow]:
    """The first `most` steps (None: all) in parts."""
    return [_step_row(step, plan.made_at) for step in plan.steps[:most]]


def lines_behind_steps(plan: Plan, most: int | None = None) -> list[PlanLine]:
    """What `step_rows` leaves out: further steps, exclusions, totals, caveats. That the aim is missed stands above."""
    return [*_more(plan, most), *_exclusions(plan.exclusions, most), *_totals(plan), *_caveats(plan)]


def plan_head(plan: Plan) -> Iterator[PlanLine]:
    """What the plan would do; with the reason where it is refused or has no steps."""
    criteria = f": {plan.policy}" if plan.policy else ""
    yield PlanLine(LineKind.HEADING, f"plan {plan.identity}: {title_of(plan)} in {plan.root}{criteria}")
    if plan.is_refused:
        yield PlanLine(LineKind.REFUSAL, f"refused: {refusal_text(plan)}")
    if not plan.steps:
        yield PlanLine(LineKind.STEP, _no_steps(plan))


def _steps(plan: Plan, most: int | None) -> Iterator[PlanLine]:
    for row in step_rows(plan, most):
        yield PlanLine(LineKind.STEP, _row_text(row))
        if row.proof:
            yield PlanLine(LineKind.CAVEAT, f"    proof: {row.proof}")
        if row.warning:
            yield PlanLine(LineKind.WARNING, f"    {row.warning}")


def _more(plan: Plan, most: int | None) -> Iterator[PlanLine]:
    if most is not None and len(plan.steps) > most:
        left = plan.steps[most:]
        yield PlanLine(LineKind.MORE, f"  and {count_text(len(left))} more, {bytes_text(bytes_of(left))}")


def _no_steps(plan: Plan) -> str:
    if met := goal_met_text(plan):
        return f"nothing to do: {met} already"
    if plan.exclusions:
        return "nothing to do: every selected entry is skipped"
    return f"nothing to do: {_ABSENT.get(plan.verb, 'the plan has no steps')}"


_ABSENT = {
    Verb.EVICT: "no entry matches",
    Verb.RETRY: "none of these entries is a stored failure",
    Verb.COMPILE: "none of these entries is a stored failure",
    Verb.UNLOCK: "none of these entries is locked",
    Verb.QUARANTINE: "none of these entries was found corrupt",
    Verb.SWEEP: "nothing is left over",
    Verb.COPY: "there is no entry to copy",
}
"""Why a plan without steps and exclusions has none."""


def reason_text(item: Step | Exclusion) -> str:
    """Why a step is done, or an entry is skipped; of a plan of an earlier version, as that said it."""
    known_from = item.last_used_from if isinstance(item, Step) else UseSource.UNKNOWN
    return item.reason or describe(item.cause, known_from)


def warning_text(step: Step) -> str:
    """What may go wrong with a step; empty without a risk."""
    return step.warning or risk_text(step.risk, step.cause)


def with_texts(plan: Plan) -> Plan:
    """The plan with all its sentences filled in: what `--json` and the API give."""
    return msgspec.structs.replace(
        plan,
        steps=tuple(
            msgspec.structs.replace(
                step, cause=_in_words(step.cause), reason=reason_text(step), warning=warning_text(step)
            )
            for step in plan.steps
        ),
        exclusions=tuple(
            msgspec.structs.replace(each, cause=_in_words(each.cause), reason=reason_text(each))
            for each in plan.exclusions
        ),
        caveats=caveat_texts(plan),
        refused=refusal_text(plan),
        goal_missed=goal_missed_text(plan),
        goal_met=goal_met_text(plan),
    )


def _in_words(cause: Reason) -> Reason:
    """The cause with its detail in words, as JSON has it."""
    return cause if cause.failure is None else msgspec.structs.replace(cause, detail=detail_text(cause), failure=None)


def step_text(step: Step, now: float) -> str:
    """`evict  1.2 MiB  neuronxcc-…/MODULE_…  used 40 d ago (access time), compiled in 3 m: unused for 40 days`."""
    return _row_text(_step_row(step, now))


_STEP_WORDS = {Action.SLIM: "keep graph"}
"""Names for steps whose names in plan files say nothing to a person."""


def _row_text(row: PlanStepRow) -> str:
    return f"  {row.action:<10} {row.size:>9}  {row.path}  {row.facts}{': ' if row.facts else ''}{row.reason}"


def _step_row(step: Step, now: float) -> PlanStepRow:
    words = []
    if step.last_used is not None and step.action in LOSES_ARTIFACT:
        written = "written" if step.rebuild_seconds == 0.0 else "compiled"
        did, known = ("used", f" ({step.last_used_from})") if step.last_used_from.is_use else (written, "")
        did = "dated ahead of the clock, first seen" if step.last_used_from.is_seen else did
        words.append(f"{did} {duration_text(max(0.0, now - step.last_used))} ago{known}")
    if step.action in LOSES_ARTIFACT and step.rebuild_seconds != 0.0:
        took = duration_text(step.rebuild_seconds) if step.rebuild_seconds is not None else "an unknown time"
        words.append(f"took {took} to compile" + (f" ({step.rebuild_from})" if step.rebuild_from else ""))
    size = bytes_text(step.copies if step.action is Action.COPY else step.frees)
    return PlanStepRow(
        action=_STEP_WORDS.get(step.action, step.action),
        size="" if step.action is Action.COMPILE else size,
        path=step.path,
        facts=", ".join(words),
        reason=reason_text(step),
        proof=step.proof,
        warning=warning_text(step) if step.is_risky else "",
    )


def _exclusions(exclusions: Sequence[Exclusion], most: int | None) -> Iterator[PlanLine]:
    groups: dict[str, list[Exclusion]] = {}
    for each in exclusions:
        groups.setdefault(reason_text(each), []).append(each)
    for reason, group in groups.items():
        sizes = bytes_text(sum(each.size for each in group))
        yield PlanLine(LineKind.HEADING, f"skipped, {count_text(len(group))} ({sizes}): {reason}")
        for each in group[:most]:
            yield PlanLine(LineKind.EXCLUSION, f"  {each.state:<18} {bytes_text(each.size):>9}  {each.path}")
        if most is not None and len(group) > most:
            yield PlanLine(LineKind.MORE, f"  and {count_text(len(group) - most)} more")


def _totals(plan: Plan) -> Iterator[PlanLine]:
    before, after = plan.before, plan.after
    if not plan.steps or plan.verb is Verb.COMPILE:
        return
    copy = plan.verb is Verb.COPY
    yield PlanLine(LineKind.HEADING, "at the destination, before → after" if copy else "before → after")
    yield PlanLine(LineKind.TOTAL, f"  entries       {count_text(before.entries)} → {count_text(after.entries)}")
    if copy:  # of the destination, only the names of its entries were read
        files = counted(sum(step.files for step in plan.steps), "file")
        yield PlanLine(LineKind.TOTAL, f"  copied        {files}, {bytes_text(bytes_of(plan.steps))}")
    else:
        yield PlanLine(LineKind.TOTAL, f"  files         {count_text(before.files)} → {count_text(after.files)}")
        yield PlanLine(LineKind.TOTAL, f"  cache         {bytes_text(before.size)} → {bytes_text(after.size)}")
    if before.free is not None:  # None for a bucket, which has no limit
        purged = "" if copy else " once purged"
        yield PlanLine(LineKind.TOTAL, f"  disk, free    {bytes_text(before.free)} → {bytes_text(after.free)}{purged}")
    if plan.stays:
        yield PlanLine(LineKind.TOTAL, f"  {bytes_text(plan.stays)} stay on the disk, under names outside this cache")
    if before.free_inodes is not None:
        yield PlanLine(
            LineKind.TOTAL, f"  inodes, free  {count_text(before.free_inodes)} → {count_text(after.free_inodes)}"
        )
    price = cost(plan)
    if price.compiles:
        yield PlanLine(LineKind.TOTAL, f"  {_price_text(price)}")


def _price_text(price: Cost) -> str:
    unknown = f"{counted(price.unknown, 'compile')} of unknown duration"
    text = f"discards {duration_text(price.seconds)} of compile time"
    if price.unknown == price.compiles:
        text = f"discards {unknown}"
    elif price.unknown:
        text += f", and {unknown}"
    if price.recent:
        again = f" ({duration_text(price.recent_seconds)} to compile again)" if price.recent_seconds else ""
        used = counted(price.recent, "of these was", "of these were")
        text += f"; {used} used within a week{again}"
    return text


def _missed(plan: Plan) -> Iterator[PlanLine]:
    if missed := goal_missed_text(plan):
        yield PlanLine(LineKind.WARNING, missed)


def _caveats(plan: Plan) -> Iterator[PlanLine]:
    for caveat in caveat_texts(plan):
        yield PlanLine(LineKind.CAVEAT, f"note: {caveat}")


def outcome_with_texts(outcome: Outcome) -> Outcome:
    """The outcome with words for what was not done and how to undo it, as JSON for people and scripts has it."""
    refused = tuple((path, not_done_text(why)) for path, why in outcome.refused)
    return msgspec.structs.replace(outcome, refused=refused, undo=undo_text(outcome))


def outcome_lines(outcome: Outcome, *, here: str = "") -> list[PlanLine]:
    """What happened: done, refused with reasons, where it lies and how to undo it; `here`: how in this front end."""
    state = "interrupted after" if outcome.interrupted else "done:"
    there = f"{count_text(outcome.there)} copied by another meanwhile" if outcome.there else ""
    facts = ", ".join(filter(None, (counted(outcome.done, "step"), moved_text(outcome), there)))
    lines = [PlanLine(LineKind.HEADING, f"{state} {facts}")]
    lines += [PlanLine(LineKind.REFUSAL, f"  not done: {path}: {not_done_text(why)}") for path, why in outcome.refused]
    if go_on := resume_text(outcome):
        lines.append(PlanLine(LineKind.CAVEAT, go_on))
    how = undo_text(outcome)
    if here and how.startswith(UNDONE_BY):
        how = f"{UNDONE_BY}{here}, or {how.removeprefix(UNDONE_BY)}"
    lines += [PlanLine(LineKind.CAVEAT, how)] if how else []
    return lines


def act_sum(plans: Sequence[Plan]) -> str:
    """`51 entries · 693 MiB · 3.2 h to compile again · free once purged 74 GiB`; what is skipped stands behind it."""
    steps = sum(len(plan.steps) for plan in plans)
    skipped = sum(len(plan.exclusions) for plan in plans)
    words = [counted(steps, "entry", "entries"), bytes_text(sum(plan.frees for plan in plans))]
    prices = [cost(plan) for plan in plans]
    compiles, unknown = sum(price.compiles for price in prices), sum(price.unknown for price in prices)
    if compiles > unknown:
        words.append(f"{duration_text(sum(price.seconds for price in prices))} to compile again")
    if unknown:
        words.append(f"{counted(unknown, 'compile')} of unknown duration")
    free = _free_afterwards(plans)
    if free is not None and steps:
        words.append(f"free once purged {bytes_text(free)}")
    if skipped:
        words.append(f"{skipped:,} skipped")
    return " · ".join(words)


def act_choice(plans: Sequence[Plan]) -> str:
    """The text of the button that executes several plans: `Evict: 51 entries, 693 MiB`."""
    steps, size = sum(len(plan.steps) for plan in plans), bytes_text(sum(plan.frees for plan in plans))
    return f"{title_of(*plans).capitalize()}: {counted(steps, 'entry', 'entries')}, {size}"


def _free_afterwards(plans: Sequence[Plan]) -> int | None:
    """Free space afterwards of the disk where most becomes free; caches that report the same free space lie on one
    disk."""
    disks: dict[int, int] = {}
    for plan in plans:
        if plan.before.free is not None:
            disks[plan.before.free] = disks.get(plan.before.free, 0) + plan.frees
    return max((before + freed for before, freed in disks.items()), default=None)
