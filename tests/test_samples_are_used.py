"""Every published sample of telemetry and of caches is read by a test, or stands here with the reason why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus import corpus

UNUSED = {
    "prom_inf1.xlarge_exporter_excerpt.prom.txt": "a page of an exporter, which no source of ours reads",
}


@pytest.mark.parametrize("folder", ["telemetry", "cache-listings"])
def test_no_sample_is_forgotten(folder: str) -> None:
    here = Path(__file__)
    tests = "".join(path.read_text() for path in here.parent.rglob("*.py") if path != here)
    names = {path.name for path in corpus(folder).iterdir() if path.name != "INDEX.md"}
    logs = {name for name in names if name.endswith(".log")}  # tests/parsers/test_corpus.py reads all of these
    forgotten = {name for name in names - logs - set(UNUSED) if name not in tests}
    assert forgotten == set()
    assert {name for name in UNUSED if name in tests and name not in logs} == set()
