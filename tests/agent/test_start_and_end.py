"""An agent from its start to its end: what goes wrong is reported and outlived, and what was said of its end is taken
back where it goes on."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import pytest

from neuron_top.agent import agent as agents
from neuron_top.agent import node, shipper
from neuron_top.agent.agent import Agent, AgentRuns, spool_path
from neuron_top.cli.main import main
from neuron_top.errors import RefusedForSafety
from neuron_top.events import CacheHit
from neuron_top.identity import Identity, Named
from neuron_top.run.model import Run
from neuron_top.services.fleet import FleetService
from neuron_top.services.node_actions import NodeActions
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import Batch, NodeNow, NodeRecord
from neuron_top.store.postgres import fleet
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.views.fleet import NodeReporting
from tests.store.fleet_rows import rows

View = TypeVar("View")
SECONDS = 120.0
STALE = f"[Errno {errno.ESTALE}] {os.strerror(errno.ESTALE)}"


class Who:
    """A node that cannot be read for a while; `failed_in`: names of the threads that tried."""

    def __init__(self, job: str = "bert") -> None:
        self.node, self.job = Named("n1", "a test"), Named(job, "a test")
        self.is_stale = True
        self.failed_in: set[str] = set()

    @property
    def machine(self) -> str:
        if self.is_stale:
            self.failed_in.add(threading.current_thread().name)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return "m1"


class StillRun:
    """A feed in which nothing happens."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        return view(Run(), time.time())


def ignore(_warning: str) -> None:
    """Take a warning that a test does not ask about."""


def idle_agent(
    settings: Settings,
    who: Who,
    warn: Callable[[str], None] = ignore,
    job: str = "bert",
    acts: NodeActions | None = None,
) -> Agent:
    """An agent of a job in which nothing happens."""
    return Agent(settings, cast("Identity", who), job, lambda _sink: StillRun(), warn, acts=acts)


def until(done: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def test_an_agent_reports_an_error_that_nothing_expects_and_ships_once_it_is_over(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "ATTRIBUTES_SECONDS", 0.0)
    monkeypatch.setattr(shipper, "LONGEST_PAUSE", 1.0)
    who, warnings = Who(), list[str]()
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    agent = idle_agent(settings, who, warnings.append)
    agent.start()
    until(lambda: {threading.current_thread().name, "agent", "shipper"} <= who.failed_in)
    who.is_stale = False
    with FleetStore(postgres_url) as store:
        until(lambda: any(found.attributes.get("machine") == "m1" for found in store.nodes("bert")))
    assert agent.close(SECONDS)
    assert sorted(warnings) == [
        f"events wait in {agent.spool.path}, as shipping failed: {STALE}",
        f"the agent cannot look at its node: {STALE}",
    ]


def test_an_agent_that_cannot_be_made_leaves_nothing_open(tmp_path: Path) -> None:
    settings = Settings(store="postgresql://database.invalid/fleet?sslmode=disable", state_dir=str(tmp_path / "state"))
    for _ in range(2):  # the second is not kept out by the first
        before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 (`iterdir` would hold one more open)
        with pytest.raises(RefusedForSafety, match="sslmode=disable"):
            idle_agent(settings, Who())
        assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_a_second_agent_says_that_one_runs_and_leaves_nothing_open(tmp_path: Path) -> None:
    settings = Settings(store="postgresql://localhost/fleet", state_dir=str(tmp_path / "state"))
    path = spool_path(settings, "n1", "bert").with_suffix(".lock")
    path.parent.mkdir(mode=0o700, parents=True)
    with path.open("wb") as holder:
        path.chmod(0o600)
        fcntl.flock(holder, fcntl.LOCK_EX)
        before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 (`iterdir` would hold one more open)
        with pytest.raises(AgentRuns, match="another agent runs for this node and job"):
            idle_agent(settings, Who())
        assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_an_agent_ends_although_the_database_does_not_answer(tmp_path: Path, postgres_url: str) -> None:
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale = False
    acts = NodeActions(settings)
    agent = idle_agent(settings, who, acts=acts)
    agent.start()
    until(lambda: agent.shipper.is_reached)
    with Database(postgres_url) as holder, holder.transaction() as connection:
        connection.execute("LOCK TABLE neurontop.parts, neurontop.intents, neurontop.node_now IN ACCESS EXCLUSIVE MODE")
        time.sleep(2 * shipper.SHIP_SECONDS)
        closed = threading.Thread(target=agent.close, args=(0.5,), daemon=True)
        closed.start()
        closed.join(30.0)
        assert not closed.is_alive()


def test_an_agent_says_why_it_is_refused_where_the_database_was_migrated_meanwhile(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipper, "BEAT_SECONDS", 0.0)
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale, warnings = False, list[str]()
    agent = idle_agent(settings, who, warnings.append)
    agent.start()
    until(lambda: agent.shipper.is_reached)
    with Database(postgres_url) as database, database.transaction() as connection:
        connection.execute("ALTER TABLE neurontop.node_now DROP CONSTRAINT node_now_pkey")
        connection.execute("INSERT INTO neurontop.meta (version) VALUES (99)")
    until(lambda: len(warnings) == 2)
    assert "constraint" in warnings[0]
    assert warnings[1].startswith(f"{postgres_url} was made by a newer neuron-top (schema 99); update this one")
    assert not agent.close(SECONDS)


def test_a_job_on_a_machine_that_came_back_under_its_name_is_shipped_once_the_name_is_free(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a quick restart the name is that of another boot for two minutes: the job was not shipped at all."""
    monkeypatch.setattr(fleet, "NAME_SECONDS", 3.0)
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale, warnings = False, list[str]()
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="the boot before"))
        agent = idle_agent(settings, who, warnings.append)
        agent.start()
        until(lambda: agent.shipper.refused is not None)
        until(lambda: agent.shipper.is_reached)
        assert agent.shipper.refused is None
        assert agent.close(SECONDS)
        assert [node.machine_id for node in store.nodes()] == ["m1"]
    assert "another machine ships as node 'n1' now" in warnings[0]
    assert warnings[1:] == [f"{postgres_url} is reached again"]


def test_an_agent_leaves_a_server_that_only_reads_since_another_one_took_over(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipper, "BEAT_SECONDS", 0.0)
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale = False
    agent = idle_agent(settings, who)
    agent.start()
    until(lambda: agent.shipper.is_reached)
    with agent._store._database.connection() as connection:  # as what it is connected to does from now on
        connection.execute("SET default_transaction_read_only = on")
    until(lambda: not agent.shipper.is_reached)
    until(lambda: agent.shipper.is_reached)
    assert agent.close(SECONDS)


def test_a_job_goes_on_with_the_next_agent_of_a_node_whose_agent_was_stopped(tmp_path: Path, postgres_url: str) -> None:
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale = False
    with FleetStore(postgres_url) as store:
        for _ in range(2):  # an update of the agent, say
            agent = idle_agent(settings, who)
            agent.start()
            until(lambda: any(part.events and part.finished is None for part in rows(store, "parts", run="bert")))
            assert store.jobs()[0].finished is None
            assert agent.close(SECONDS)
            assert store.jobs()[0].finished is not None


@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
def test_a_job_begins_and_ends_by_the_clock_of_the_database(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    class Clock:
        monotonic = staticmethod(time.monotonic)

        @staticmethod
        def time() -> float:
            return time.time() + ahead

    for module in (shipper, agents):
        monkeypatch.setattr(module, "time", Clock)
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale = False
    with FleetStore(postgres_url) as store:
        before = store.clock()
        agent = idle_agent(settings, who)
        agent.start()
        until(lambda: agent.shipper.is_reached)
        assert agent.close(SECONDS)
        (job,) = store.jobs()
        assert job.started is not None
        assert job.finished is not None
        assert before - 1 < job.started < job.finished < store.clock() + 1


def test_a_job_is_listed_with_the_cluster_of_the_node_that_began_it(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CLUSTER_NAME", "trn")
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale = False
    agent = idle_agent(settings, who)
    agent.start()
    until(lambda: agent.shipper.is_reached)
    assert agent.close(SECONDS)
    with FleetService(settings) as service:
        page = service.page()
    assert [(row.job, row.cluster) for row in (*page.jobs, *page.nodes)] == [("bert", "trn")] * 2


def test_an_agent_gives_signs_of_life_while_it_ships_what_waited_for_an_outage_to_end(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipper, "BEAT_SECONDS", 0.0)
    monkeypatch.setattr(shipper, "MOST_BATCHES", 1)
    done: list[str] = []

    class Told(FleetStore):
        def beat(self, now: NodeNow) -> None:
            done.append("beat")
            super().beat(now)

        def ship(self, node: str, spool: str, batches: Sequence[Batch]) -> int:
            done.append("ship")
            return super().ship(node, spool, batches)

    monkeypatch.setattr("neuron_top.agent.agent.FleetStore", Told)
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale = False
    agent = idle_agent(settings, who)
    for number in range(5):
        agent.spool.commit("bert", [CacheHit(module=f"MODULE_{number}+a", at=float(number))], [], {})
    agent.start()
    until(lambda: done.count("ship") >= 5)
    assert done[:6] == ["ship", "beat"] * 3
    assert agent.close(SECONDS)


def test_agents_of_two_jobs_on_a_node_are_alive_in_both_until_each_has_ended(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipper, "BEAT_SECONDS", 0.0)
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"))

    def started(job: str) -> Agent:
        who = Who(job)
        who.is_stale = False
        agent = idle_agent(settings, who, job=job)
        agent.start()
        return agent

    def alive() -> dict[str, tuple[int, int]]:
        page = fleet.page()
        assert [(node.node, node.state) for node in page.nodes] == [("n1", NodeReporting.REPORTING)]
        return {job.job: (job.reporting, job.ended) for job in page.jobs}

    with FleetService(settings) as fleet:
        agents = {job: started(job) for job in ("a", "b")}
        until(lambda: len(fleet.page().agents) == 2)
        for _ in range(5):
            assert alive() == {"a": (1, 0), "b": (1, 0)}
            time.sleep(shipper.SHIP_SECONDS / 2)
        assert agents["a"].close(SECONDS)
        assert alive() == {"a": (0, 1), "b": (1, 0)}
        agents = {"b": agents["b"], "a": started("a")}  # it goes on
        until(lambda: alive() == {"a": (1, 0), "b": (1, 0)})
        assert agents["b"].close(SECONDS)
        agents = {"a": agents["a"], "c": started("c")}
        until(lambda: alive() == {"a": (1, 0), "b": (0, 1), "c": (1, 0)})
        assert [(row.job, row.other_jobs) for row in fleet.page().agents] == [("c", ("a",)), ("a", ("c",))]
        for agent in agents.values():
            assert agent.close(SECONDS)
        assert [node.state for node in fleet.page().nodes] == [NodeReporting.ENDED]


def test_a_snapshot_beside_an_agent_of_the_same_job_has_nothing_to_do(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`fleet check --srun` asks all nodes of a job where one of their agents is silent."""
    who, settings = Who(), Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
    who.is_stale = False
    monkeypatch.setenv("NEURONTOP_STATE_DIR", settings.state_dir)
    monkeypatch.setenv("NEURONTOP_NODE", "n1")
    command = ["agent", "--store", postgres_url, "--job", "bert"]
    agent = idle_agent(settings, who)
    agent.start()
    assert main([*command, "--once"]) == 0
    assert "runs here and ships" in capsys.readouterr().err
    assert main(command) == 2
    assert agent.close(SECONDS)
