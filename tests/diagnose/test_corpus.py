"""The labeled samples: verdict, first cause and class of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neuron_top.diagnose import Diagnosis
from neuron_top.ingest.advised import diagnose
from tests.corpus import CORPUS, corpus

LABELED = sorted(path.name for path in (CORPUS / "logs").glob("*.diagnosis.json"))


def read(name: str) -> tuple[dict[str, object], Diagnosis]:
    label = corpus("logs", name)
    log = Path(str(label).replace(".diagnosis.json", ".log"))
    return json.loads(label.read_text()), diagnose(log.read_bytes(), "log:x")


@pytest.mark.parametrize("name", LABELED or ["none"])
def test_verdict_cause_and_class_are_those_of_the_label(name: str) -> None:
    label, diagnosis = read(name)
    assert diagnosis.failed == label["failed"]
    assert diagnosis.recovered == label.get("recovered", False)
    if diagnosis.cause is not None:
        assert diagnosis.cause.line in label["cause_lines"]
        assert diagnosis.cause.cause_class == label["cause_class"]


def test_the_end_of_most_jobs_is_reported_as_the_label_has_it() -> None:
    if not LABELED:
        pytest.skip("no samples on this machine")
    right = sum(diagnosis.job_ended == label["job_ended"] for label, diagnosis in map(read, LABELED))
    assert right >= 0.9 * len(LABELED)
