"""Cleaning while a job runs: what the job holds, names or may have used since its start stays; the rest may go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.actions.backends.base import ExecuteOptions
from neuron_top.actions.execution.local import execute
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan_context import collect_context
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.reasons import CaveatCode, ReasonCode
from neuron_top.cache import filesystem, users
from neuron_top.cache.filesystem import AccessTimes
from neuron_top.cache.processes import CacheProcess
from neuron_top.cache.use import DAY, CacheUse
from neuron_top.cli.main import main
from tests.actions import caches

NOW = 1_700_000_000.0
USE = CacheUse(why="process 7 (x) may use this cache, as its environment names it", since=NOW)
JOB = "import sys; files = [open(name) for name in sys.argv[1:]]; print(1, flush=True); input()"


@contextmanager
def job(root: Path, *opened: Path) -> Iterator[int]:
    """A process whose environment names the cache, with files of it open."""
    environ = {**os.environ, "NEURON_COMPILE_CACHE_URL": str(root)}
    command = [sys.executable, "-c", JOB, *map(str, opened)]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate(b"\n")


@pytest.mark.parametrize(
    ("use", "last_use", "concerns"),
    [
        (USE, NOW - 2 * DAY, False),
        (USE, NOW - DAY / 2, True),  # relatime reports a use up to a day late
        (USE, NOW + 5, True),
        (USE, None, True),
        (CacheUse(why="", since=None), NOW - 90 * DAY, True),
        (CacheUse(why="", since=NOW, held=frozenset({"c/MODULE_1"})), NOW - 90 * DAY, True),
        (CacheUse(why="", since=NOW, named=frozenset({"MODULE_1"})), NOW - 90 * DAY, True),
    ],
)
def test_an_entry_concerns_a_job_that_holds_names_or_used_it(
    use: CacheUse, last_use: float | None, concerns: bool
) -> None:
    assert use.concerns("c/MODULE_1", "MODULE_1", last_use) is concerns


@given(st.floats(0, 400 * DAY), st.floats(0, 400 * DAY))
def test_nothing_used_since_the_job_started_concerns_nobody(age: float, started: float) -> None:
    use = CacheUse(why="", since=NOW - started)
    if age <= started:
        assert use.concerns("c/m", "m", NOW - age)
    if age > started + DAY + 1:
        assert not use.concerns("c/m", "m", NOW - age)


def test_old_entries_may_go_while_a_job_runs_and_its_own_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuron_top.cache.processes.COMPILER_NAMES", ())  # those of tests that run beside this one
    root = tmp_path / "cache"
    old, held, young = (caches.entry(root, number, age_days=age) for number, age in ((1, 90.0), (2, 90.0), (3, 0.5)))
    with job(root, held / "model.neff") as pid:
        snapshot = caches.looked_at(root)
        context = collect_context(snapshot)
        assert context.in_use is not None
        assert str(pid) in context.in_use.why
        plan = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), context)
        assert [step.path for step in plan.steps] == [f"{old.parent.name}/{old.name}"]
        reasons = {exclusion.path.rpartition("/")[2]: exclusion.cause.code for exclusion in plan.exclusions}
        assert reasons[held.name] is ReasonCode.IN_USE
        assert reasons[young.name] in (ReasonCode.IN_USE, ReasonCode.CHANGED_RECENTLY)
        assert CaveatCode.IN_USE in [caveat.code for caveat in plan.notes]
        outcome = execute(plan, Trash(root))
    assert (outcome.done, outcome.refused) == (1, ())
    assert not old.exists()
    assert held.exists()


def test_what_a_job_opened_after_the_plan_was_made_stays(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    place = caches.entry(root, 1, age_days=90.0)
    snapshot = caches.looked_at(root)
    plan = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), caches.context(snapshot))
    assert len(plan.steps) == 1
    held = CacheUse(why="process 7 has it open", since=time.time(), held=frozenset({plan.steps[0].path}))
    outcome = execute(plan, Trash(root), ExecuteOptions(in_use=lambda _: held))
    assert outcome.done == 0
    assert "in use" in caches.reasons(outcome)[0]
    assert place.exists()


@pytest.mark.parametrize(("access_times", "goes"), [(AccessTimes.RELATIME, True), (None, False)])
def test_where_nobody_knows_whether_reads_show_an_old_entry_stays_beside_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, access_times: AccessTimes | None, goes: bool
) -> None:
    root = tmp_path / "cache"
    caches.entry(root, 1, age_days=90.0)
    snapshot = caches.looked_at(root)
    plan = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), caches.context(snapshot))
    disk = filesystem.Filesystem(access_times=access_times)
    monkeypatch.setattr(filesystem, "describe", lambda *place: disk)
    outcome = execute(
        plan, Trash(root), ExecuteOptions(in_use=lambda _: CacheUse(why="process 7 uses it", since=time.time()))
    )
    assert (outcome.done, len(outcome.refused)) == ((1, 0) if goes else (0, 1))


def test_a_file_of_torchneuron_that_a_job_has_open_is_held(tmp_path: Path) -> None:
    held = tmp_path / "01" / "01" / f"0101{'0' * 28}.neff"
    held.parent.mkdir(parents=True)
    held.write_bytes(b"neff")
    with job(tmp_path, held) as pid:
        use = users.users_of(
            str(tmp_path), [], [CacheProcess(pid=pid, command=("python",), environ=None, cwd=None)], boot=None
        ).use
    assert use is not None
    assert use.held == {f"01/01/{held.name}"}


def test_the_command_says_that_a_job_runs_and_what_the_worst_case_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "cache"
    caches.entry(root, 1, age_days=90.0)
    with job(root):
        assert main(["cache", "evict", "--older-than", "30d", "--dry-run", str(root)]) == 0
        text = capsys.readouterr().out
        assert main(["cache", "evict", "--older-than", "30d", "--dry-run", "--json", str(root)]) == 0
    assert "(python) may use this cache, as its environment names it: what a job holds" in text
    assert "in the worst case, what is removed is compiled again" in text
    assert len(json.loads(capsys.readouterr().out)["plans"][0]["steps"]) == 1
