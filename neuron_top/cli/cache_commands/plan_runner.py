"""What the commands that change a cache share: show → confirm → execute → report.

Without --dry-run and --yes the plan is shown and confirmed, and the answer is no unless somebody types yes. Without a
terminal nothing is done. What is large, or a whole compiler version, needs the verb typed out.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from neuron_top.cli.cache_commands.execution import execute_plan
from neuron_top.cli.output import broken_text, log_stderr, print_json
from neuron_top.cli.terminal import has_keyboard
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.escapes import visible
from neuron_top.services.caches import CacheService, Outcome, Plan, Verb
from neuron_top.services.confirmation import ForcedUnlockPrompt, confirmation_of
from neuron_top.services.saved_plans import SCHEMA, write_plans
from neuron_top.units import bytes_text, counted
from neuron_top.views.plan import (
    PlanLine,
    bytes_of,
    outcome_lines,
    outcome_with_texts,
    plan_lines,
    warning_text,
    with_texts,
)
from neuron_top.views.plan_sentences import refusal_text

REFUSED = RefusedForSafety.exit_code
SHOWN = 25
"""Steps, and exclusions of each reason, that are shown before the question; --dry-run shows all."""

_BELOW = 6
"""Where a line of a plan goes on that is longer than the terminal is wide."""


def run_plans(made: Sequence[Plan], arguments: argparse.Namespace, service: CacheService) -> int:
    """Show the plans, save them or ask, execute them, report; returns the exit status."""
    if arguments.save_plan is not None:
        _save(arguments.save_plan, arguments.trash, made)
    if arguments.dry_run or arguments.save_plan is not None:
        return _show(made, arguments)
    refusal = next((refusal_text(plan) for plan in made if plan.is_refused), "")
    wanted = [plan for plan in made if plan.steps]
    if not arguments.yes and not arguments.json:
        _print(made, SHOWN)
    if refusal:
        raise RefusedForSafety(f"nothing was done: {refusal}")
    if not wanted:
        return _report_nothing(made, arguments)
    wanted = _confirmed(wanted, asked=not arguments.yes)
    outcomes: list[Outcome] = []
    try:
        for plan in wanted:
            outcomes.append(execute_plan(plan, arguments, service))
            if outcomes[-1].interrupted:
                return 130
    finally:
        if outcomes:  # also if a later plan was refused: what is done must be reported
            _report(made, outcomes, arguments)
    return 1 if any(outcome.refused for outcome in outcomes) else 0


def _report(made: Sequence[Plan], outcomes: Sequence[Outcome], arguments: argparse.Namespace) -> None:
    if arguments.json:
        _print_json(made, outcomes)
    else:
        for outcome in outcomes:
            _print_lines(outcome_lines(outcome))


def _show(made: Sequence[Plan], arguments: argparse.Namespace) -> int:
    if arguments.json:
        _print_json(made, None)
    else:
        _print(made, None)
    return REFUSED if any(plan.is_refused for plan in made) else 0


def _report_nothing(made: Sequence[Plan], arguments: argparse.Namespace) -> int:
    """Report that there is nothing to do. It is a refusal if all that was asked for is protected."""
    if arguments.json:
        _print_json(made, [])
    protected = sum(len(plan.exclusions) for plan in made)
    if protected:
        skipped = f"{counted(protected, 'entry was', 'entries were')} skipped"
        log_stderr(f"neurontop: nothing was done: {skipped}, see above or --dry-run")
        return 0 if all(plan.verb is Verb.COPY for plan in made) else REFUSED
    if arguments.yes and not arguments.json:
        log_stderr("neurontop: nothing to do")
    return 0


def _save(path: Path, trash: Path | None, made: Sequence[Plan]) -> None:
    try:
        write_plans(path, made)
    except OSError as problem:
        raise UsageError(f"--save-plan {path}: {problem.strerror}") from None
    words = ["neurontop", "cache", "apply", str(path), *(["--trash", str(trash)] if trash else [])]
    log_stderr(f"neurontop: the plan was saved; execute it with: {shlex.join(words)}")


def _print(made: Sequence[Plan], most: int | None) -> None:
    for plan in made:
        _print_lines(plan_lines(plan, most))


def _print_lines(lines: Iterable[PlanLine]) -> None:
    print("\n".join(broken_text(visible(line.text), _BELOW, 0) for line in lines))


def _print_json(made: Sequence[Plan], outcomes: Sequence[Outcome] | None) -> None:
    texts = [outcome_with_texts(each) for each in outcomes] if outcomes is not None else None
    print_json({"schema": SCHEMA, "plans": list(map(with_texts, made)), "outcomes": texts})


def _confirmed(wanted: Sequence[Plan], *, asked: bool) -> list[Plan]:
    """The plans with the steps that were confirmed. --yes answers for all but a lock without proof.

    Raises RefusedForSafety unless the answer is yes.
    """
    if confirmation_of(*wanted).per_step:
        return [_confirmed_one_by_one(plan) for plan in wanted]
    if asked:
        steps = [step for plan in wanted for step in plan.steps]
        confirm(f"{counted(len(steps), 'step')}, {bytes_text(bytes_of(steps))}.", confirmation_of(*wanted).word)
    return list(wanted)


def _confirmed_one_by_one(plan: Plan) -> Plan:
    prompt = ForcedUnlockPrompt(plan)
    while (step := prompt.current) is not None:
        if not _has_terminal():
            raise RefusedForSafety(
                "nothing was done: a lock without proof is removed only when somebody confirms it on a terminal"
            )
        log_stderr(f"{visible(step.path)}: {warning_text(step)}")
        word = confirmation_of(plan).word
        prompt.answer(take=_ask(f"Remove this lock? Type {word} to remove it, press enter to keep it: ") == word)
    confirmed = prompt.confirmed()
    if not confirmed.steps:
        raise RefusedForSafety("nothing was done: no lock was confirmed")
    return confirmed


def confirm(what: str, word: str = "") -> None:
    """Ask on the terminal whether to do `what`; `word`, where given, must be typed out.

    Raises RefusedForSafety unless the answer is yes, and where there is nobody to ask.
    """
    if not _has_terminal():
        raise RefusedForSafety(
            "nothing was done: stdin is not a terminal; pass --yes to confirm, or --dry-run to see the plan"
        )
    answer = _ask(f"{what} " + (f"Type {word} to go on: " if word else "Go on? [y/N] "))
    if (answer != word) if word else (answer.lower() not in ("y", "yes")):
        raise RefusedForSafety("nothing was done: it was not confirmed")


def _has_terminal() -> bool:
    return has_keyboard() and sys.stderr.isatty()


def _ask(question: str) -> str:
    """The answer typed on the terminal; empty at the end of input."""
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
