"""A spool that is damaged: nobody ships from it, its user is told what to do, and a job runs all the same."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.agent.agent import spool_path
from neuron_top.agent.spool import Spool, SpoolUnusable
from neuron_top.events import CacheHit, StepReported
from neuron_top.settings import Settings
from tests.agent.test_agent import environment
from tests.agent.test_start_and_end import Who, idle_agent

MOVE = "move it away, then a new one is made"


def changed(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def overwritten(path: Path) -> None:
    path.write_bytes(b"something else" * 1000)


def scribbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "no database": overwritten,
    "pages": scribbled,
    "marks": lambda path: changed(path, "UPDATE marks SET mark = X'00'"),
    "held events": lambda path: changed(path, "UPDATE pending SET data = X'00'"),
}


def left_by_an_agent(path: Path) -> None:
    """A spool as an agent leaves it that is killed."""
    path.parent.mkdir(mode=0o700, parents=True)
    spool = Spool(path)
    hits = [CacheHit(module=f"MODULE_{number}+a", at=float(number)) for number in range(100)]
    spool.commit("bert", hits, [StepReported(at=1.0, step=1)], {"log:/x": b"{}"})
    spool.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_agent_says_what_to_do_and_a_job_runs_without_one(tmp_path: Path, damage: str) -> None:
    environ = environment(tmp_path) | {"NEURONTOP_JOB": "bert"}
    settings = Settings(store="postgresql://127.0.0.1:1/fleet", state_dir=environ["NEURONTOP_STATE_DIR"])
    path = spool_path(settings, "n1", "bert")
    left_by_an_agent(path)
    DAMAGES[damage](path)
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 (`iterdir` would hold one more open)
    with pytest.raises(SpoolUnusable, match=MOVE):
        idle_agent(settings, Who())
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    job = [sys.executable, "-m", "neuron_top", "run", "--store", settings.store, "--", "sh", "-c", "echo ran; exit 7"]
    ended = subprocess.run(job, env=environ, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (7, "ran\n"), ended.stderr
    assert MOVE in ended.stderr
    assert "the job is recorded here and not shipped" in ended.stderr


def test_a_batch_that_cannot_be_read_keeps_no_room_from_being_made(tmp_path: Path) -> None:
    path = tmp_path / "spool.db"
    spool = Spool(path, most_bytes=1)
    for number in range(2):
        spool.commit("bert", [StepReported(at=1.0, step=number), StepReported(at=2.0, step=number)], [], {})
    spool.close()
    changed(path, "UPDATE batches SET data = X'00', thinned = 0 WHERE sequence = 1")
    spool = Spool(path, most_bytes=1)
    spool.commit("bert", [StepReported(at=3.0, step=3)], [], {})
    assert [batch.sequence for batch in spool.batches(0)] == [1, 2, 3]
    spool.close()


def test_a_spool_that_breaks_while_it_is_used_ends_no_job_with_an_error(tmp_path: Path) -> None:
    settings = Settings(store="postgresql://127.0.0.1:1/fleet?connect_timeout=1", state_dir=str(tmp_path / "state"))
    who, warnings = Who(), list[str]()
    who.is_stale = False
    agent = idle_agent(settings, who, warnings.append)
    agent.start()
    agent.spool._connection.execute("DROP TABLE batches")
    assert not agent.close(1.0)
    assert any("no such table" in text for text in warnings)
