"""Plan files, journals, pins and what lies in a trash, as version 0.1 wrote them, are read, executed and undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neuron_top.actions import plan as plans
from neuron_top.actions.journal.plan_history import HistoryState
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.pins import FILE_NAME, Pins
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.reasons import UseSource
from neuron_top.actions.verb import Verb
from neuron_top.services.confirmation import confirmation_of
from neuron_top.views.plan import plan_lines
from tests.actions import caches


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two old hits."""
    place = tmp_path / "cache"
    for number in range(2):
        caches.entry(place, number)
    return place


def old_plan(root: Path) -> dict[str, Any]:
    """A plan to evict everything below `root` as 0.1 saved it: British spelling, sentences, no codes."""
    snapshot = caches.looked_at(root)
    plan = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), caches.context(snapshot))
    document = json.loads(plans.encode(plan))["plans"][0]
    for step in document["steps"]:
        fingerprint = step["fingerprint"]
        step["fingerprint"] = {name.replace("artifact", "artefact"): value for name, value in fingerprint.items()}
        del step["cause"]
        step["reason"] = "unused for 10.0 days"
        step["last_used_from"], step["rebuild_from"] = "compile time", "file times, at most"
    for name in ("notes", "goal", "refusal"):
        document.pop(name)
    return {
        **document,
        "caveats": ["parts of the cache could not be read"],
        "refused": "",
        "goal_met": "",
        "goal_missed": "only 1 B of 2 B can be freed; the rest is protected",
    }


def saved(*documents: dict[str, Any]) -> bytes:
    return json.dumps({"schema": 1, "plans": documents}, indent=2).encode()


def test_a_plan_file_is_read_shown_and_executed(root: Path) -> None:
    [plan] = plans.decode(saved(old_plan(root)))
    assert all(step.fingerprint.artifact_inode for step in plan.steps)
    assert {step.last_used_from for step in plan.steps} == {UseSource.COMPILE}
    text = "\n".join(line.text for line in plan_lines(plan))
    for sentence in ("unused for 10.0 days", "parts of the cache", "the rest is protected"):
        assert sentence in text
    outcome = caches.carried_out(plan, Trash(root))
    assert (outcome.done, outcome.refused) == (2, ())


def test_an_artifact_that_changed_is_found_by_the_old_names_too(root: Path) -> None:
    document = old_plan(root)
    document["steps"][0]["fingerprint"]["artefact_inode"] += 1
    outcome = caches.carried_out(plans.decode(saved(document))[0], Trash(root))
    assert (outcome.done, len(outcome.refused)) == (1, 1)


def test_a_refused_plan_and_a_warning_in_words_still_count(root: Path) -> None:
    document = {**old_plan(root), "refused": "read-only mode"}
    document["steps"][0]["warning"] = "bound to fail again: so it says"
    [plan] = plans.decode(saved(document))
    assert plan.is_refused
    assert confirmation_of(plan).word == "evict"


def test_a_journal_and_a_trash_are_undone(root: Path) -> None:
    before = caches.everything(root)
    trash = Trash(root)
    [plan] = plans.decode(saved(old_plan(root)))
    caches.carried_out(plan, trash)
    (trash.folder / plan.identity / "plan.json").write_bytes(saved(old_plan_of(plan)))
    records = [json.loads(line) for line in trash.journal.read_text().splitlines()]
    assert [record["type"] for record in records] == ["PlanBegun", "MovesIntended", "PlanEnded"]
    assert [history.state for history in trash.histories()] == [HistoryState.DONE]
    assert trash.plan(plan.identity).steps[0].fingerprint == plan.steps[0].fingerprint
    trash.journal.unlink()
    assert [history.state for history in trash.histories()] == [HistoryState.FOUND]
    restore(plan.identity, trash)
    assert {name: facts[0] for name, facts in caches.everything(root).items()} == {
        name: facts[0] for name, facts in before.items()
    }


def old_plan_of(plan: plans.Plan) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(plans.encode(plan).replace(b"artifact_", b"artefact_"))["plans"][0]
    return document


def test_a_verb_that_another_version_knows_is_shown_and_not_executed(root: Path) -> None:
    trash = Trash(root)
    trash.prepare()
    line = {
        "type": "PlanBegun",
        "plan": "0123456789",
        "at": 1.0,
        "verb": "transmute",
        "root": str(root),
        "policy": "all",
        "user": "somebody",
        "host": "here",
        "steps": 1,
        "frees": 1,
        "owner": {"host": "here", "boot_id": "", "pid": 1},
    }
    trash.journal.write_text(json.dumps(line) + "\n")
    assert [history.begun.verb for history in trash.histories()] == [Verb.UNKNOWN]
    assert plans.decode(saved({**old_plan(root), "verb": "transmute"}))[0].verb is Verb.UNKNOWN


def test_pins_are_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('[{"pattern": "MODULE_1*", "why": "serving", "by": "somebody", "at": 5.0}]')
    assert Pins(tmp_path).patterns() == ("MODULE_1*",)
