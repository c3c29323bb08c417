"""Plans carry codes and facts; sentences are for people: whatever they say, the same is decided and done."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from neuron_top.actions.backends.base import BackendKind
from neuron_top.actions.journal import records
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Outcome, Plan, Progress, Undo, decode, encode
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import for_memory, plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.actions.reasons import Caveat, CaveatCode, NotDone, NotDoneCode, ReasonCode, RefusalCode, Risk
from neuron_top.cache.model.states import State
from neuron_top.errors import RefusedForSafety
from neuron_top.services.confirmation import confirmation_of, needs_statement
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.views import failure_advice, plan_sentences
from neuron_top.views import plan as plan_view
from neuron_top.views.plan import plan_lines, with_texts
from tests.actions import caches, states

NONSENSE = "retry with fewer compiles at a time; waiting for a job; read-only mode"


def replace_sentences(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let every table, sentence and function of the modules that word plans say NONSENSE; how many there are."""
    replaced = 0
    for module in (plan_sentences, plan_view, failure_advice):
        for name, value in list(vars(module).items()):
            other = other_words(value, module.__name__)
            if name.startswith("__") or other is None:
                continue
            replaced += 1
            for user in [
                each for each in sys.modules.values() if getattr(each, "__name__", "").startswith("neuron_top")
            ]:
                if vars(user).get(name) is value:
                    monkeypatch.setattr(user, name, other)
    return replaced


def other_words(value: object, module: str) -> Any:
    """What stands in for something that words a plan; None for what words nothing."""
    if isinstance(value, str):
        return NONSENSE
    if isinstance(value, dict) and value and all(isinstance(text, str) for text in value.values()):
        return dict.fromkeys(value, NONSENSE)
    if not callable(value) or inspect.isclass(value) or getattr(value, "__module__", "") != module:
        return None
    if inspect.signature(value).return_annotation not in ("str", "tuple[str, ...]"):
        return None

    def worded(*arguments: Any) -> object:
        said = value(*arguments)  # nothing to say is a fact, and stays
        return NONSENSE if isinstance(said, str) and said else (NONSENSE,) * len(said)

    return worded


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
        (NotDoneCode, plan_sentences.NOT_DONE),
        (CaveatCode, plan_sentences.CAVEATS),
    ):
        assert set(table) == set(codes)


OF_STEPS = {
    ReasonCode.LEFTOVER,
    ReasonCode.USELESS,
    ReasonCode.CACHED_FAILURE,
    ReasonCode.DUPLICATE,
    ReasonCode.SUPERSEDED,
    ReasonCode.UNUSED,
    ReasonCode.FAILED_DETERMINISTIC,
    ReasonCode.FAILED_ENVIRONMENT,
    ReasonCode.FAILED_UNKNOWN,
    ReasonCode.HOLDER_DEAD,
    ReasonCode.FORCED,
    ReasonCode.BROKEN,
    ReasonCode.ABANDONED,
    ReasonCode.MISSING_THERE,
}


def test_whatever_is_skipped_comes_with_what_to_do_about_it(tmp_path: Path) -> None:
    assert set(plan_sentences.NEXT_STEPS) == set(ReasonCode) - OF_STEPS
    plans = made(tmp_path).values()
    assert {step.cause.code for plan in plans for step in plan.steps} <= OF_STEPS
    skipped = [each for plan in plans for each in plan.exclusions]
    assert len({each.cause.code for each in skipped}) >= 8
    for each in skipped:
        sentence = plan_view.reason_text(each)
        following = plan_sentences.NEXT_STEPS[each.cause.code].format(detail=each.cause.detail)
        assert sentence.endswith(f"; {following}"), sentence
        assert "{" not in sentence


@pytest.mark.parametrize("kind", ["evict", "shared", "compile", "retry", "unlock", "quarantine"])
def test_whatever_the_sentences_say_the_same_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    plan = made(tmp_path)[kind]
    own = [line.text for line in plan_lines(plan)]
    expected = decisions(plan)
    texts = with_texts(plan)
    assert decisions(texts) == expected, "texts that were filled in decide nothing"
    assert decisions(decode(encode(plan))[0]) == expected
    assert replace_sentences(monkeypatch) >= 19
    assert decisions(with_texts(plan)) == expected
    others = [line.text for line in plan_lines(plan)]
    assert NONSENSE in " ".join(others)
    assert others != own


def carried_out_and_undone(root: Path, kind: str) -> tuple[object, ...]:
    """What becomes of a plan with its texts filled in, from its confirmation to its undo, sentences left out."""
    plan, trash = with_texts(made(root)[kind]), Trash(root)
    plan = msgspec.structs.replace(plan, steps=tuple(step for step in plan.steps if not step.is_risky))
    execution = PlanExecution(plan=plan)
    if not execution.can_confirm:
        with pytest.raises(RefusedForSafety):
            execution.confirm()
        return (execution.state, plan.refusal is not None)
    execution.confirm(execution.typed)
    execution.begin()
    execution.finish(caches.carried_out(plan, trash))
    outcome = execution.outcome
    assert outcome is not None
    went = sorted(set(caches.everything(root)))
    if not execution.can_undo:
        return (execution.state, outcome.done, len(outcome.refused), went)
    execution.begin_undo()
    record = restore(plan.identity, trash)
    execution.end_undo(plan_sentences.restored_text(record, BackendKind.FOLDER))
    assert execution.message
    return (execution.state, outcome.done, len(outcome.refused), went, record.restored, len(record.kept))


@pytest.mark.parametrize("kind", ["evict", "shared", "retry", "unlock", "quarantine"])
def test_a_plan_is_confirmed_executed_and_undone_the_same_under_other_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    own = carried_out_and_undone(tmp_path / "own" / "cache", kind)
    assert replace_sentences(monkeypatch) >= 19
    assert carried_out_and_undone(tmp_path / "other" / "cache", kind) == own


def test_a_note_of_a_plan_with_its_texts_filled_in_is_shown_once(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(made(tmp_path)["evict"], notes=(Caveat(CaveatCode.LISTED_ONLY),))
    once = [line.text for line in plan_lines(plan)]
    assert [line.text for line in plan_lines(with_texts(plan))] == once


def hindered(root: Path) -> tuple[object, ...]:
    """What becomes of an eviction that finds a lock, a link, a changed folder and a newer file where it was planned,
    and of its undo where one entry is there again: codes and paths."""
    for number in range(5):
        caches.entry(root, number, age_days=10.0 + number)
    context = caches.context(caches.looked_at(root))
    plan = plan_eviction(caches.looked_at(root).entries, str(root), EvictCriteria(older_than=0.0), context)
    locked, linked, changed, goes, _ = (root / step.path for step in plan.steps)
    times = locked.stat()
    (locked / "model.hlo_module.pb.lock").touch()
    os.utime(locked, ns=(times.st_atime_ns, times.st_mtime_ns))
    linked.rename(root / "elsewhere")
    linked.symlink_to(root / "elsewhere")
    (changed / "model.log").write_text("later")
    trash = Trash(root)
    outcome = caches.carried_out(plan, trash)
    goes.mkdir()
    record = restore(plan.identity, trash)
    (history,) = [each for each in trash.histories() if each.begun.plan == plan.identity]
    codes = [(number, why.code) for number, why in history.refused if isinstance(why, NotDone)]
    kept = [(path, why.code) for path, why in record.kept if isinstance(why, NotDone)]
    assert len(caches.reasons(outcome)) == 3
    return (outcome.done, codes, record.restored, kept, history.state)


def test_what_was_not_done_is_journaled_as_codes_whatever_the_sentences_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = hindered(tmp_path / "own" / "cache")
    assert own[:3] == (
        2,
        [(0, NotDoneCode.LOCKED), (1, NotDoneCode.NOT_A_FOLDER), (2, NotDoneCode.FILES_CHANGED)],
        1,
    )
    assert [code for _, code in own[3]] == [NotDoneCode.EXISTS_AGAIN]
    replace_sentences(monkeypatch)
    assert hindered(tmp_path / "other" / "cache") == own
    assert plan_sentences.not_done_text(NotDone(NotDoneCode.LOCKED)) == NONSENSE


def test_a_reason_that_an_earlier_version_wrote_is_shown_as_it_is() -> None:
    refused = b'{"type":"StepsRefused","plan":"0123456789","at":1.0,"steps":[[0,"it is locked"],[1,"odd \\u00e9"]]}'
    restored = b'{"type":"PlanRestored","plan":"0123456789","at":1.0,"restored":1,"kept":[["a/b","it exists again"]]}'
    steps, kept = records.decoder.decode(refused), records.decoder.decode(restored)
    assert isinstance(steps, records.StepsRefused)
    assert isinstance(kept, records.PlanRestored)
    assert [plan_sentences.not_done_text(why) for _, why in steps.steps] == ["it is locked", "odd é"]
    assert caches.reasons(kept) == ["it exists again"]


def test_json_of_an_outcome_has_its_reasons_in_words_as_before() -> None:
    why = NotDone(NotDoneCode.CHANGED_WHILE_COPIED, "model.neff")
    outcome = Outcome(plan="0123456789", done=1, refused=(("a/b", why),), moved_bytes=0)

    def document(undo: Undo | None, done: int = 1) -> dict[str, Any]:
        told = plan_view.outcome_with_texts(msgspec.structs.replace(outcome, undo=undo, done=done))
        assert plan_view.outcome_with_texts(told) == told
        return msgspec.json.decode(msgspec.json.encode(told))

    assert document(None)["refused"] == [["a/b", "model.neff changed while it was copied"]]
    assert document(None)["undo"] == ""
    assert document(Undo("/my caches"))["undo"] == "undo: neurontop cache restore 0123456789 '/my caches'"
    elsewhere = document(Undo("/cache", trash="/my trash"))["undo"]
    assert elsewhere == "undo: neurontop cache restore 0123456789 /cache --trash '/my trash'"
    assert document(Undo("/my caches"), done=0)["undo"] == "", "there is nothing to undo"
    never = document(Undo("s3://b/c", possible=False))["undo"]
    assert never == "this bucket keeps no versions: it cannot be undone"


def test_what_goes_on_beside_the_steps_is_reported_in_words_of_one_place() -> None:
    compiling = Progress(1, 0, 5, 0, "a/b", running=2, remaining=40.0, held_back="memory")
    assert plan_sentences.progress_parts(compiling) == ["2 running", "about 40.0 s to go", "waiting for memory"]
    [wait] = plan_sentences.progress_parts(Progress(1, 0, 5, 0, "", draining=30.0))
    assert wait == "waiting 30 s for clients that have seen the mark to finish their downloads"
    assert plan_sentences.progress_parts(Progress(1, 0, 5, 0, "a/b")) == []
