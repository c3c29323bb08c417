"""What a state means and what to do about a failure is for people: whatever it says, the same is read and decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neuron_top.actions.planners.retry import for_memory, plan_retry
from neuron_top.cache.model.failures import FailureClass
from neuron_top.cache.model.states import State
from neuron_top.cli.main import main
from neuron_top.explain.miss_causes import explain
from neuron_top.views import entry_states, failure_advice
from neuron_top.views.miss_sentences import cause_text
from neuron_top.views.plan import with_texts
from tests.actions import caches, states
from tests.views.sentences import OTHER_WORDS, change_sentences

FAILED = {
    FailureClass.DISK: "OSError: [Errno 28] No space left on device",
    FailureClass.MEMORY: "[F137] killed",
    FailureClass.LIMITS: "BlockingIOError: [Errno 11] Resource temporarily unavailable",
    FailureClass.FILES: "OSError: [Errno 30] Read-only file system",
    FailureClass.INTERRUPTED: "KeyboardInterrupt",
    FailureClass.INSTALLATION: "ModuleNotFoundError: No module named 'neuronxcc'",
    FailureClass.TOO_LARGE: "[NCC_EBVF030] too many instructions",
    FailureClass.REJECTED: "[NCC_EVRF031] the sort is not supported",
    FailureClass.UNKNOWN: "who knows",
}


def make_cache(root: Path) -> None:
    """An entry of every state, and a failure of every class."""
    for number, state in enumerate(State):
        states.entry_in(root, state, number=number)
    for number, text in enumerate(FAILED.values(), 70):
        folder = states.entry_in(root, State.FAILED, number=number)
        (folder / "model.log").write_text(f"Failed compilation with ['neuronx-cc', 'compile']: {text}")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


def without_advice(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**entry, "lock": None, "failure": {**(entry["failure"] or {}), "advice": ""}}  # a lock has an age
        for entry in entries
    ]


def test_every_state_has_a_meaning_and_every_class_of_failure_an_advice() -> None:
    assert set(entry_states.MEANINGS) == set(State)
    assert set(failure_advice.ADVICE) == set(FailureClass) == set(FAILED)
    assert all((*entry_states.MEANINGS.values(), *failure_advice.ADVICE.values()))


def test_with_every_sentence_changed_the_same_is_read_planned_and_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    make_cache(tmp_path / "cache")
    root = str(tmp_path / "cache")
    snapshot = caches.looked_at(tmp_path / "cache")
    context = caches.context(snapshot)

    def decided() -> tuple[object, ...]:
        plans = [plan_retry(snapshot.entries, root, context, deterministic=also) for also in (False, True)]
        return (
            [[(step.path, step.action, step.cause, step.risk, step.failure) for step in plan.steps] for plan in plans],
            [[(each.path, each.cause) for each in plan.exclusions] for plan in plans],
            [(for_memory(plan), len(with_texts(plan).steps)) for plan in plans],
            [explain(entry.module, snapshot) for entry in snapshot.entries],
            [(entry.failure.cause, entry.failure.kind) for entry in snapshot.entries if entry.failure is not None],
        )

    before, listed = decided(), answer(capsys, "cache", "ls", "--json", root)["entries"]
    assert change_sentences(monkeypatch, entry_states, failure_advice) == len(State) + len(FailureClass)
    assert decided() == before
    again = answer(capsys, "cache", "ls", "--json", root)["entries"]
    assert without_advice(again) == without_advice(listed)
    assert {entry["failure"]["advice"] for entry in again if entry["failure"]} == {OTHER_WORDS}
    causes = [cause for one in snapshot.entries for cause in explain(one.module, snapshot).causes]
    said = [cause_text(cause.code, cause.values) for cause in causes]
    assert any(text.endswith(OTHER_WORDS) for text in said)
    own = {entry["failure"]["advice"] for entry in listed if entry["failure"]}
    assert not any(sentence.endswith(advice) for sentence in said for advice in own)


def test_a_plan_in_json_has_the_advice_in_words_and_a_saved_one_the_class(tmp_path: Path) -> None:
    make_cache(tmp_path)
    snapshot = caches.looked_at(tmp_path)
    plan = plan_retry(snapshot.entries, str(tmp_path), caches.context(snapshot), deterministic=True)
    (large,) = [step for step in plan.steps if step.failure is FailureClass.TOO_LARGE]
    assert (large.cause.detail, large.cause.failure) == ("NCC_EBVF030", FailureClass.TOO_LARGE)
    (worded,) = [step for step in with_texts(plan).steps if step.path == large.path]
    advice = failure_advice.ADVICE[FailureClass.TOO_LARGE]
    assert (worded.cause.detail, worded.cause.failure) == (f"NCC_EBVF030: {advice}", None)
    assert worded.reason == f"deterministic failure: NCC_EBVF030: {advice}"
    assert with_texts(with_texts(plan)) == with_texts(plan)
