"""Every published sample of telemetry and of caches is read by a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus import corpus

SIDECARS = (".log", ".expect.json", ".diagnosis.json")
"""The endings of what tests/parsers/test_corpus.py and tests/diagnose/test_corpus.py read by themselves."""
# tests/telemetry/test_neuron_ls_table.py reads the whole folder `neuron-ls` in the same way.


@pytest.mark.parametrize("folder", ["telemetry", "cache-listings"])
def test_no_sample_is_forgotten(folder: str) -> None:
    names = {path.name for path in corpus(folder).iterdir() if path.name != "INDEX.md"}
    logs = {name for name in names if name.endswith(".log")}  # tests/parsers/test_corpus.py reads all of these
    forgotten = {name for name in names - logs if name not in _tests()}
    assert forgotten == set()


def test_no_log_and_no_sidecar_of_a_log_is_forgotten() -> None:
    names = {path.name for path in corpus("logs").iterdir() if path.name != "INDEX.md"}
    assert {name for name in names if not name.endswith(SIDECARS)} == set()
    logs = {name.removesuffix(".log") for name in names if name.endswith(".log")}
    for ending in SIDECARS[1:]:
        assert {name.removesuffix(ending) for name in names if name.endswith(ending)} == logs


def _tests() -> str:
    """The text of every test but this one."""
    here = Path(__file__)
    return "".join(path.read_text() for path in here.parent.rglob("*.py") if path != here)
