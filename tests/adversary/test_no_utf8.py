"""JSON whose text is no UTF-8, in every file that is read from a cache: shown as what it is, and no traceback.

The JSON decoder reports such text by Python's own UnicodeDecodeError, beside its own errors.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from neuron_top.cache.model import filenames
from neuron_top.cli.main import main
from neuron_top.parsers.neff_metadata import JsonMembers
from tests.actions import caches

JUNK = b'{"host": "\x80", "pid": 1, "key": "\x80", "version": "\x80", "\x80": ["\x80"]}'
FILES = (
    filenames.STATS,
    "model.graph.json",
    "compile_flags.json",
    "metadata.json",
    "model.hlo_module.pb.lock",
    "model.hlo_module.pb.lock.owner",
    "model.fxgraph.lock",
    "model.fxgraph.lock.owner",
)
COMMANDS = (
    ["ls", "--rescan"],
    ["stats", "--rescan"],
    ["verify"],
    ["evict", "--max-size", "0", "--dry-run"],
    ["unlock", "--dry-run"],
    ["retry", "--dry-run"],
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_cache_is_shown_and_planned_whatever_bytes_its_files_hold(
    name: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = caches.entry(tmp_path / "cache", 1)
    (entry / name).write_bytes(JUNK)
    old = time.time() - 86400
    os.utime(entry, (old, old))
    assert main(["cache", command[0], str(tmp_path / "cache"), *command[1:]]) in (0, 1, 3, 4)
    assert "Traceback" not in capsys.readouterr().err


def test_definitions_in_a_neff_that_are_no_utf8_are_named() -> None:
    problems: list[str] = []
    JsonMembers(
        {"sg00/def.json": JUNK.replace(b'"pid": 1', b'"var": {"\x80": {}}')},
        ["sg00/def.json"],
        problems.append,
        complete=True,
    )
    assert any("sg00/def.json" in problem for problem in problems)
