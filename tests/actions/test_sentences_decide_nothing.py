"""Plans carry codes and facts; sentences are for people: whatever they say, the same is decided and done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan, Verb, decode, encode
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import for_memory, plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.actions.reasons import CaveatCode, ReasonCode, RefusalCode, Risk
from neuron_top.cache.model.states import State
from neuron_top.services.confirmation import confirmation_of, needs_statement
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.views import plan_sentences
from neuron_top.views.plan import plan_lines, with_texts
from tests.actions import caches, states

NONSENSE = "retry with fewer compiles at a time; waiting for a job; read-only mode"
TABLES = ("REASONS", "RISKS", "REFUSALS", "CAVEATS", "GOALS")


@pytest.fixture(params=["own sentences", "other sentences"])
def sentences(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Every sentence of a plan, replaced by one that says something else."""
    plan_sentences.describe.cache_clear()
    if request.param == "other sentences":
        for name in TABLES:
            monkeypatch.setattr(plan_sentences, name, dict.fromkeys(getattr(plan_sentences, name), NONSENSE))
        monkeypatch.setattr(plan_sentences, "NO_LOG", NONSENSE)
    yield request.param
    plan_sentences.describe.cache_clear()


def made(root: Path) -> dict[str, Plan]:
    """A plan of each kind, over entries of every state; one that is refused."""
    for number, state in enumerate(State):
        states.entry_in(root, state, number=number)
    killed = states.entry_in(root, State.FAILED, number=70)
    (killed / "model.log").write_text("Failed compilation with ['neuronx-cc']: [F137] killed")
    rejected = states.entry_in(root, State.FAILED, number=71)
    (rejected / "model.log").write_text("Failed compilation with ['neuronx-cc']: [NCC_EOOM002] too large")
    snapshot = caches.looked_at(root)
    context, entries, place = caches.context(snapshot), snapshot.entries, str(root)
    shared = msgspec.structs.replace(context, shared="nfs4")
    return {
        "evict": plan_eviction(entries, place, EvictCriteria(max_bytes=0), context),
        "shared": plan_eviction(entries, place, EvictCriteria(older_than=0.0), shared),
        "compile": plan_retry(entries, place, context, compilers={caches.COMPILER}),
        "retry": plan_retry(entries, place, context, deterministic=True),
        "unlock": plan_unlock(entries, place, context, force=True),
        "quarantine": plan_quarantine(entries, place, context),
    }


def decisions(plan: Plan) -> tuple[object, ...]:
    """All that is decided by a plan: what is asked, whether it may run, how many compile at a time."""
    asked = confirmation_of(plan)
    execution = PlanExecution(plan=plan)
    return (
        plan.is_refused,
        needs_statement(plan),
        asked.word,
        [step.path for step in asked.per_step],
        execution.can_confirm,
        for_memory(plan),
        [(step.action, step.path, step.is_risky) for step in plan.steps],
        [each.path for each in plan.exclusions],
    )


def test_every_code_has_a_sentence() -> None:
    for codes, table in (
        (ReasonCode, plan_sentences.REASONS),
        (Risk, plan_sentences.RISKS),
        (RefusalCode, plan_sentences.REFUSALS),
        (CaveatCode, plan_sentences.CAVEATS),
    ):
        assert set(table) == set(codes)


@pytest.mark.parametrize("kind", ["evict", "shared", "compile", "retry", "unlock", "quarantine"])
def test_whatever_the_sentences_say_the_same_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    plan = made(tmp_path)[kind]
    told = [line.text for line in plan_lines(plan)]
    expected = decisions(plan)
    texts = with_texts(plan)
    assert decisions(texts) == expected, "texts that were filled in decide nothing"
    assert decisions(decode(encode(plan))[0]) == expected
    for name in TABLES:
        monkeypatch.setattr(plan_sentences, name, dict.fromkeys(getattr(plan_sentences, name), NONSENSE))
    plan_sentences.describe.cache_clear()
    assert decisions(with_texts(plan)) == expected
    assert [line.text for line in plan_lines(plan)] != told
    plan_sentences.describe.cache_clear()


def test_a_plan_is_executed_the_same_under_other_sentences(tmp_path: Path, sentences: str) -> None:
    root = tmp_path / "cache"
    plan = with_texts(made(root)["unlock"])
    kept = msgspec.structs.replace(plan, steps=tuple(step for step in plan.steps if not step.is_risky))
    outcome = caches.carried_out(kept, Trash(root))
    assert (outcome.done, outcome.refused, kept.verb) == (1, (), Verb.UNLOCK)
