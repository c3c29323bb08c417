"""Caches to attack: plans that were carried out, trees deeper than any path, commands run in this process."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.cli.main import main
from tests.actions import caches
from tests.adversary.attacker import LONG

DEEP = 10_000 if LONG else 3_000
"""Nested folders: more than Python recurses, more than may be open, and a longer path than the kernel takes."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def planned(root: Path, **policy: object) -> Plan:
    """To evict all of a root (or what `policy` says), whoever uses it."""
    snapshot = caches.looked_at(root)
    wish = EvictCriteria(**{"older_than": 0.0, **policy})  # type: ignore[arg-type]
    return plan_eviction(snapshot.entries, str(root), wish, caches.context(snapshot))


def evicted(root: Path, number: int) -> str:
    """Make an entry, evict it; the plan's name."""
    place = caches.entry(root, number)
    plan = planned(root, paths=frozenset({f"{place.parent.name}/{place.name}"}))
    assert caches.carried_out(plan, Trash(root)).done == 1
    return plan.identity


def dig(folder: Path, depth: int = DEEP, name: str = "d", leaf: bytes = b"x" * 5000) -> None:
    """So many folders in one another below `folder`, and a file in the last."""
    handle = os.open(folder, _FOLDER)
    for _ in range(depth):
        os.mkdir(name, dir_fd=handle)
        below = os.open(name, _FOLDER, dir_fd=handle)
        os.close(handle)
        handle = below
    with open(os.open("leaf", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=handle), "wb") as file:
        file.write(leaf)
    os.close(handle)


@contextlib.contextmanager
def few_open_files(most: int = 200) -> Iterator[None]:
    """This process may have so many files open, and no more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def cache_command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """(exit status, all that was said) of `neurontop cache …`; an exception that is no sentence fails the test."""
    capsys.readouterr()
    try:
        status = main(["cache", *map(str, words)])
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr()
    return status, said.out + said.err


@pytest.fixture
def clean(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder that is removed however deep it has become."""
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path)], check=False)


@pytest.fixture
def nobody_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process of this machine uses any cache."""
    monkeypatch.setattr("neuron_top.cache.processes.read_processes", lambda proc="/proc": [])
