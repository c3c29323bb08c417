"""Changes of the fleet with real agents and a real PostgreSQL: planned per node, confirmed once, done once, undone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import msgspec
import psycopg
import pytest

from neuron_top.agent.intents import IntentWorker
from neuron_top.cli.main import main
from neuron_top.errors import UsageError
from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.services import fleet_actions
from neuron_top.services.caches import CacheService
from neuron_top.services.fleet_actions import FleetActions, FleetRequest
from neuron_top.services.node_actions import NodeActions
from neuron_top.settings import Settings
from neuron_top.store.errors import StoreNotAllowed, StoreUnreachable, StoreUnusable
from neuron_top.store.fleet_records import Intent, IntentState, NodeRecord
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.postgres.intents import Intents
from neuron_top.views.fleet_plan import FleetPlan
from tests.actions.caches import entry, module
from tests.actions.states import LOG
from tests.servers.postgresql import PostgresServer

SECONDS = 120.0
WAITS = ("--wait", str(SECONDS))


class Node:
    """A node with a cache of its own, and its agent."""

    def __init__(self, folder: Path, name: str, url: str, *, opted_in: bool = True) -> None:
        self.name, self.cache, self.folder = name, folder / name / "cache", folder / name
        for number in range(1, 4):
            entry(self.cache, number)
        self._environment = os.environ | {
            "NEURONTOP_STATE_DIR": str(self.folder / "state"),
            "NEURONTOP_CONFIG": str(self.folder / "config.toml"),
            "NEURONTOP_NODE": name,
            "NEURONTOP_STORE": url,
            "NEURON_COMPILE_CACHE_URL": str(self.cache),
        }
        (self.folder / "config.toml").write_text(f"fleet_actions = {str(opted_in).lower()}\n")
        self.agent: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "neuron_top", "agent", "--job", "j", "--metrics-port", "-1"]
        self.agent = subprocess.Popen(command, env=self._environment, stderr=subprocess.DEVNULL)

    def end(self, how: int = signal.SIGTERM) -> None:
        if self.agent is not None:
            self.agent.send_signal(how)
            self.agent.wait(60)
            self.agent = None

    def plans(self) -> list[Path]:
        """Files of plans that its agent keeps."""
        return list((self.folder / "state" / "intents").glob("*.json"))

    def modules(self) -> set[str]:
        return {path.parent.name for path in self.cache.glob("neuronxcc-*/*/model.done")}


@pytest.fixture
def nodes(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Node]]:
    """n1 and n2 take changes, n3 does not; all report."""
    made = [Node(tmp_path, name, postgres_url, opted_in=name != "n3") for name in ("n1", "n2", "n3")]
    monkeypatch.setenv("NEURONTOP_STORE", postgres_url)
    try:
        for node in made:
            node.start()
        with FleetStore(postgres_url) as store:
            until(lambda: {record.node for record in store.nodes()} == {"n1", "n2", "n3"})
        yield made
    finally:
        for node in made:
            node.end(signal.SIGKILL)


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.1)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, status: int) -> dict[str, object]:
    capsys.readouterr()
    assert main(["fleet", *arguments, "--json"]) == status
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_change_is_planned_by_each_node_confirmed_once_done_and_undone(
    nodes: list[Node], capsys: pytest.CaptureFixture[str]
) -> None:
    n1, n2, n3 = nodes
    whole = {module(number) for number in (1, 2, 3)}
    victims = (module(1), module(2))

    plan = asked(capsys, "pin", module(2), "--nodes", "n2", "--yes", *WAITS, status=0)
    assert plan["done"] == 1

    # Shown and left alone: every node with its own exclusions, and the sum.
    assert main(["fleet", "evict", *victims, "--nodes", "n[12],n3", "--dry-run", *WAITS]) == 1
    text = capsys.readouterr().out
    assert "evict: 3 steps on 2 of 3 nodes" in text
    assert "n2:" in text
    assert "skips 1: " in text
    assert "its owner has not set fleet_actions" in text
    assert n1.modules() == n2.modules() == n3.modules() == whole

    (dry,) = n1.plans()
    os.utime(dry, (0, 0))  # it came to no end, long ago
    done = asked(capsys, "evict", *victims, "--nodes", "n1,n2,n3", "--yes", *WAITS, status=1)
    until(lambda: n1.plans() == [])
    assert {node["node"]: node["state"] for node in done["nodes"]} == {"n1": "done", "n2": "done", "n3": "refused"}  # type: ignore[attr-defined, index]
    assert (n1.modules(), n2.modules(), n3.modules()) == (whole - set(victims), whole - {module(1)}, whole)
    assert (done["done"], done["moved_bytes"] != 0) == (3, True)

    # Undone on one node, then on what is left.
    asked(capsys, "undo", str(done["batch"]), "--nodes", "n1", status=1)
    assert (n1.modules(), n2.modules()) == (whole, whole - {module(1)})
    asked(capsys, "undo", str(done["batch"]), status=1)
    assert n2.modules() == whole
    assert main(["fleet", "undo", str(done["batch"])]) == 3
    assert main(["fleet", "changes"]) == 0
    assert "2 undone, 1 refused" in capsys.readouterr().out


def test_who_waits_for_nodes_outlives_a_restart_of_the_database(
    postgres_url: str, postgres_server: PostgresServer
) -> None:
    """The answers are in it: whoever waited an hour for a change learned nothing of it."""

    name = postgres_url.rpartition("/")[2]

    def cut(plan: FleetPlan) -> bool:
        with FleetStore(postgres_url) as store:
            if store.intents.move(plan.nodes[0].intent, IntentState.ASKED, IntentState.REFUSED, {"text": "no"}):
                ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
                postgres_server.execute(ends)
        return True

    with FleetStore(postgres_url) as store, FleetActions(Settings(store=postgres_url)) as actions:
        store.register(NodeRecord(node="n1", machine_id="m"))
        plan = actions.ask(FleetRequest(action="unlock"), ["n1"])
        assert [node.text for node in actions.answered(plan.batch, SECONDS, cut).nodes] == ["no"]


def test_a_node_that_went_silent_while_it_carried_a_change_out_is_waited_for_no_longer(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was waited for an hour."""
    monkeypatch.setattr(fleet_actions, "_SIGNS_SECONDS", 0.0)
    path = [IntentState.ASKED, IntentState.PLANNED, IntentState.CONFIRMED, IntentState.TAKEN]
    with FleetStore(postgres_url) as store, FleetActions(Settings(store=postgres_url)) as actions:
        for name in ("n1", "n2"):
            store.register(NodeRecord(node=name, machine_id=name))
        plan = actions.ask(FleetRequest(action="unlock"), ["n1", "n2"])
        for node in plan.nodes:
            for before, after in pairwise(path):
                assert store.intents.move(node.intent, before, after)
        ago = "UPDATE neurontop.nodes SET seen = seen - %s WHERE node = %s"
        looks: list[float] = []

        def silence(node: str) -> None:
            with psycopg.connect(postgres_url) as connection:
                connection.execute(ago, (SILENT_SECONDS + 1, node))

        def watch(_plan: FleetPlan) -> bool:
            looks.append(time.monotonic())
            if len(looks) == 3:
                silence("n2")
            return len(looks) < 50

        silence("n1")
        plan = actions.answered(plan.batch, SECONDS, watch)
        assert [(node.node, node.state) for node in plan.awaited] == [("n1", "taken"), ("n2", "taken")]
        assert len(looks) == 3, "as soon as both are silent, and not before"


@pytest.mark.parametrize("named", ["trn-[10-12]", "trn-[001-004]", "trn-[1-12]", "a, trn-[1,7]", "trn-[1-3,10-12]"])
def test_a_list_of_hosts_from_slurm_names_no_other_nodes(postgres_url: str, named: str) -> None:
    """As a pattern, trn-[10-12] is trn-0, trn-1 and trn-2."""
    with FleetStore(postgres_url) as store, FleetActions(Settings(store=postgres_url)) as actions:
        for number in range(3):
            store.register(NodeRecord(node=f"trn-{number}", machine_id=str(number)))
        with pytest.raises(UsageError, match="scontrol show hostnames"):
            actions.nodes_named(named)
        assert actions.nodes_named("trn-[12]") == {"trn-1", "trn-2"}
        assert actions.nodes_named("trn-[0-1], b") == {"trn-0", "trn-1", "b"}


def test_changes_are_listed_whole_however_many_nodes_each_was_requested_from(postgres_url: str) -> None:
    """One change of a thousand nodes hid all others."""
    request = {"action": "unlock"}
    with FleetStore(postgres_url) as store, FleetActions(Settings(store=postgres_url)) as actions:
        for number in range(12):
            for node in range(30):
                store.intents.ask(f"n{node}", request, f"large-{number:02d}")
        assert [(plan.batch, len(plan.nodes)) for plan in actions.newest()] == [
            (f"large-{number:02d}", 30) for number in reversed(range(2, 12))
        ]
        for number in range(150):
            store.intents.ask("n1", request, f"small-{number:03d}")
        assert [len(plan.nodes) for plan in actions.newest()] == [1] * 150 + [30]


def test_an_agent_that_is_killed_and_started_again_carries_out_nothing_twice(
    nodes: list[Node], postgres_url: str
) -> None:
    node = nodes[0]
    settings = Settings(store=postgres_url)
    for number in range(10, 210):
        entry(node.cache, number)
    with FleetActions(settings) as actions, FleetStore(postgres_url) as store:
        plan = actions.ask(FleetRequest(action="evict", modules=("MODULE_*",)), ["n1"])
        plan = actions.answered(plan.batch, SECONDS)
        assert plan.steps == 203
        actions.confirm(plan, plan.word)
        until(lambda: len(node.modules()) < 203)
        node.end(signal.SIGKILL)
        left = node.modules()
        state = store.intents.of_batch(plan.batch)[0].state
        assert state in (IntentState.TAKEN, IntentState.DONE)
        node.start()
        plan = actions.answered(plan.batch, SECONDS)
        (one,) = plan.nodes
        if state is IntentState.TAKEN:
            assert one.state is IntentState.FAILED
            assert "none is begun again" in one.text
        # What is left stays, though the agent looks again and again.
        again = actions.answered(actions.ask(FleetRequest(action="verify"), ["n1"]).batch, SECONDS)
        assert not again.awaited
        assert node.modules() == left
        actions.undo(plan.batch)
        assert actions.answered(plan.batch, SECONDS).nodes[0].state is IntentState.UNDONE
        assert len(node.modules()) == 203


def test_one_that_was_taken_or_expired_before_a_restart_is_not_begun(postgres_url: str, tmp_path: Path) -> None:
    node = Node(tmp_path, "n1", postgres_url)
    request = {"action": "evict", "modules": ["MODULE_*"], "root": str(node.cache)}
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", NodeActions(settings), print)
        taken, late = (store.intents.ask("n1", request, "b", seconds) for seconds in (60.0, -1.0))
        worker._look()
        assert {one.id: one.state for one in store.intents.of_batch("b")} == {taken: "planned", late: "asked"}
        store.intents.move(taken, IntentState.PLANNED, IntentState.CONFIRMED)
        store.intents.move(taken, IntentState.CONFIRMED, IntentState.TAKEN)  # and then it was killed
        for _ in range(3):
            IntentWorker(store, "n1", tmp_path / "other", NodeActions(settings), print)._look()
            worker._look()
        assert {one.id: one.state for one in store.intents.of_batch("b")} == {taken: "failed", late: "asked"}
        assert len(node.modules()) == 3

        # A confirmation without a plan on this node, and a node whose owner changed its mind.
        strange = store.intents.ask("n1", request, "c")
        store.intents.move(strange, IntentState.ASKED, IntentState.PLANNED, {"steps": 1})
        store.intents.move(strange, IntentState.PLANNED, IntentState.CONFIRMED)
        worker._look()
        (reported,) = store.intents.of_batch("c")
        assert (reported.state, "has not planned it" in str(reported.result["text"])) == (IntentState.REFUSED, True)
        assert len(node.modules()) == 3


def confirmed(store: FleetStore, worker: IntentWorker, node: Node) -> int:
    """The eviction of all that a node has, planned by it and confirmed."""
    request = {"action": "evict", "modules": ["MODULE_*"], "root": str(node.cache)}
    change = store.intents.ask("n1", request, "b")
    worker._look()
    assert store.intents.move(change, IntentState.PLANNED, IntentState.CONFIRMED)
    return change


class AtTheEnd(NodeActions):
    """A node where something happens as soon as a change is carried out, or undone."""

    def __init__(self, settings: Settings, happens: Callable[[], None]) -> None:
        super().__init__(settings)
        self._happens = happens

    def execute(self, asked: dict[str, object], prepared: bytes) -> dict[str, object]:
        done = super().execute(asked, prepared)
        self._happens()
        return done

    def undo(self, asked: dict[str, object], done: dict[str, object]) -> dict[str, object]:
        undone = super().undo(asked, done)
        self._happens()
        return undone


def test_a_change_that_ends_while_the_database_is_away_is_reported_once_it_is_back(
    postgres_url: str, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    node, name = Node(tmp_path, "n1", postgres_url), postgres_url.rpartition("/")[2]
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)

    def go_away() -> None:
        postgres_server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        everybody = f"FROM pg_stat_activity WHERE datname = '{name}'"
        postgres_server.execute(f"SELECT pg_terminate_backend(pid, 60000) {everybody}")

    def answered(worker: IntentWorker) -> Intent:
        for _ in range(3):
            with pytest.raises(StoreUnusable):
                worker._look()
        postgres_server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        worker._look()
        (one,) = store.intents.of_batch("b")
        return one

    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", AtTheEnd(settings, go_away), print)
        change = confirmed(store, worker, node)
        done = answered(worker)
        assert (done.state, done.result["done"], node.modules()) == (IntentState.DONE, 3, set())
        assert store.intents.move(change, IntentState.DONE, IntentState.UNDO)
        undone = answered(worker)
        assert (undone.state, len(node.modules())) == (IntentState.UNDONE, 3), undone


class LosesReplies(Intents):
    """The database takes what it is told and goes away before it says so."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.lost: IntentState | None = None
        """Of a move to this state the reply is lost, once."""

    def move(
        self, intent: int, before: IntentState, after: IntentState, result: Mapping[str, object] | None = None
    ) -> bool:
        moved = super().move(intent, before, after, result)
        if after is self.lost:
            self.lost = None
            raise StoreUnreachable("the connection broke")
        return moved


def test_what_was_taken_without_a_reply_is_not_begun_and_may_be_asked_for_again(
    postgres_url: str, tmp_path: Path
) -> None:
    node = Node(tmp_path, "n1", postgres_url)
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with FleetStore(postgres_url) as store, Database(postgres_url) as database:
        store.intents = intents = LosesReplies(database)
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", NodeActions(settings), print)

        def lost(state: IntentState) -> None:
            intents.lost = state
            with pytest.raises(StoreUnreachable):
                worker._look()

        def reported(change: int) -> tuple[IntentState, str]:
            worker._look()
            (one,) = (one for one in intents.newest() if one.id == change)
            return one.state, str(one.result["text"])

        change = confirmed(store, worker, node)
        lost(IntentState.TAKEN)
        state, text = reported(change)
        assert (state, "nothing was done" in text, len(node.modules())) == (IntentState.REFUSED, True, 3)

        change = confirmed(store, worker, node)
        lost(IntentState.DONE)
        assert intents.move(change, IntentState.DONE, IntentState.UNDO)
        lost(IntentState.UNDOING)
        state, text = reported(change)
        assert (state, "nothing was done" in text, node.modules()) == (IntentState.FAILED, True, set())
        assert intents.move(change, IntentState.FAILED, IntentState.UNDO)
        assert (reported(change)[0], len(node.modules())) == (IntentState.UNDONE, 3)


@pytest.mark.parametrize(
    ("problem", "reported"),
    [
        (ValueError("odd"), "odd"),
        (OSError("bad disk"), "bad disk"),
        (ValueError("no key in graph-\udcff"), "graph-\\xff"),
    ],
    ids=["unexpected", "of the disk", "with a name that is not UTF-8"],
)
def test_a_change_that_fails_is_reported_with_what_went_wrong(
    postgres_url: str, tmp_path: Path, problem: Exception, reported: str
) -> None:
    node = Node(tmp_path, "n1", postgres_url)
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)

    def fail() -> None:
        raise problem

    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", AtTheEnd(settings, fail), print)
        confirmed(store, worker, node)
        worker._look()
        (one,) = store.intents.of_batch("b")
        assert (one.state, reported in str(one.result["text"])) == (IntentState.FAILED, True), one.result


@pytest.mark.parametrize("was_begun", [False, True], ids=["confirmed", "begun before a kill"])
def test_a_change_whose_plan_cannot_be_read_keeps_no_other_from_being_answered(
    postgres_url: str, tmp_path: Path, was_begun: bool
) -> None:
    node, said = Node(tmp_path, "n1", postgres_url), list[str]()
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", NodeActions(settings), said.append)
        change = confirmed(store, worker, node)
        if was_begun:
            store.intents.move(change, IntentState.CONFIRMED, IntentState.TAKEN)
        (plan,) = (tmp_path / "state" / "intents").glob("*.json")
        plan.unlink()
        plan.mkdir()
        other = store.intents.ask("n1", {"action": "evict", "modules": ["MODULE_*"], "root": str(node.cache)}, "b")
        worker._look()
        answered = {one.id: one for one in store.intents.of_batch("b")}
    first = IntentState.FAILED if was_begun else IntentState.REFUSED
    assert (answered[change].state, answered[other].state) == (first, IntentState.PLANNED)
    assert "not a plain file" in str(answered[change].result["text"])
    assert was_begun or any("not a plain file" in line for line in said)
    assert len(node.modules()) == 3


def test_a_request_that_is_no_object_is_refused_and_the_others_are_read(postgres_url: str, tmp_path: Path) -> None:
    node = Node(tmp_path, "n1", postgres_url)
    request = {"action": "evict", "modules": ["MODULE_*"], "root": str(node.cache)}
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with FleetStore(postgres_url) as store, Database(postgres_url) as database:
        store.register(NodeRecord(node="n1", machine_id="m"))
        with database.connection() as connection:
            connection.execute("INSERT INTO neurontop.intents (node, plan, batch) VALUES ('n1', '[1]', 'b')")
        store.intents.ask("n1", request, "b")
        IntentWorker(store, "n1", tmp_path / "state", NodeActions(settings), print)._look()
        assert [one.state for one in store.intents.of_batch("b")] == [IntentState.REFUSED, IntentState.PLANNED]


class BreaksOnce(Intents):
    """A move of one intent fails for a reason that nobody foresaw."""

    broken: int = 0

    def move(
        self, intent: int, before: IntentState, after: IntentState, result: Mapping[str, object] | None = None
    ) -> bool:
        if intent == self.broken:
            self.broken = 0
            raise ValueError("odd")
        return super().move(intent, before, after, result)


def test_a_change_that_cannot_be_answered_is_given_up_and_the_next_one_planned(
    postgres_url: str, tmp_path: Path
) -> None:
    node, said = Node(tmp_path, "n1", postgres_url), list[str]()
    request = {"action": "evict", "modules": ["MODULE_*"], "root": str(node.cache)}
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with FleetStore(postgres_url) as store, Database(postgres_url) as database:
        store.intents = intents = BreaksOnce(database)
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", NodeActions(settings), said.append)
        intents.broken, _ = (store.intents.ask("n1", request, "b") for _ in range(2))
        worker._look()
        assert [(one.state, one.result.get("text")) for one in store.intents.of_batch("b")] == [
            (IntentState.REFUSED, "ValueError: odd"),
            (IntentState.PLANNED, None),
        ]
        assert said == ["change 1, which the fleet asks for, cannot be answered: ValueError: odd"]


TOO_LARGE = msgspec.Raw(b"1e200000")
"""A number beyond what a column of PostgreSQL holds."""


class PlansTooMuch(NodeActions):
    """A node whose first plan has a number that no database takes."""

    planned = 0

    def plan(self, asked: dict[str, object]) -> tuple[dict[str, object], bytes]:
        outcome, prepared = super().plan(asked)
        self.planned += 1
        return (outcome | {"frees": TOO_LARGE} if self.planned == 1 else outcome), prepared


class DoesTooMuch(NodeActions):
    """A node that says what it did with such a number."""

    def execute(self, asked: dict[str, object], prepared: bytes) -> dict[str, object]:
        return super().execute(asked, prepared) | {"moved_bytes": TOO_LARGE}


def test_a_plan_that_the_database_refuses_is_refused_in_words_and_the_next_one_planned(
    postgres_url: str, tmp_path: Path
) -> None:
    node, said = Node(tmp_path, "n1", postgres_url), list[str]()
    request = {"action": "evict", "modules": ["MODULE_*"], "root": str(node.cache)}
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", PlansTooMuch(settings), said.append)
        for _ in range(2):
            store.intents.ask("n1", request, "b")
        worker._look()
        first, second = store.intents.of_batch("b")
        assert (first.state, second.state) == (IntentState.REFUSED, IntentState.PLANNED)
        assert "the database does not take this: value overflows numeric format" in str(first.result["text"])
        assert len(said) == 1


def test_a_change_whose_report_the_database_refuses_is_done_and_can_be_undone(
    postgres_url: str, tmp_path: Path
) -> None:
    node, said = Node(tmp_path, "n1", postgres_url), list[str]()
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", DoesTooMuch(settings), said.append)
        change = confirmed(store, worker, node)
        worker._look()
        (done,) = store.intents.of_batch("b")
        assert (done.state, done.result["done"], node.modules()) == (IntentState.DONE, 3, set())
        assert "as its report could not be stored" in str(done.result["text"])
        assert len(said) == 1
        assert store.intents.move(change, IntentState.DONE, IntentState.UNDO)
        worker._look()
        (undone,) = store.intents.of_batch("b")
        assert (undone.state, len(node.modules())) == (IntentState.UNDONE, 3), undone


def test_only_operators_ask_and_nothing_is_done_without_a_confirmation(
    postgres_url: str,
    postgres_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
    for role in ("viewer", "agent", "operator"):
        name = f"n-{uuid.uuid4().hex[:10]}"
        postgres_server.execute(f'CREATE ROLE "{name}" LOGIN IN ROLE neurontop_{role}')
        address = postgres_server.url(postgres_url.rpartition("/")[2], user=name)
        monkeypatch.setenv("NEURONTOP_STORE", address)
        assert main(["fleet", "unlock", "--nodes", "n1", "--wait", "0", "--yes"]) == 1
        with FleetActions(Settings(store=address)) as actions:
            if role != "operator":
                with pytest.raises(StoreNotAllowed):
                    actions.ask(FleetRequest(action="unlock"), ["n1"])
    said = capsys.readouterr()
    assert "its agent has not answered" in said.out
    assert main(["fleet", "unlock", "--nodes", "nobody"]) == 3
    assert main(["fleet", "unlock", "--nodes", "nobody-*"]) == 3
    with FleetStore(postgres_url) as store:
        assert [one.state for one in store.intents.newest()] == [IntentState.CANCELED]


def test_a_pull_and_a_retry_are_planned_and_carried_out_as_on_the_node_itself(
    postgres_url: str, tmp_path: Path
) -> None:
    node = Node(tmp_path, "n1", postgres_url)
    source = tmp_path / "source"
    for number in (3, 4, 5):
        entry(source, number)
    failed = entry(node.cache, 9, files={"model.hlo_module.pb": b"\x0a\x01m", **LOG})
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    requests = (
        FleetRequest(action="pull", source=str(source), root=str(node.cache), assume_exclusive=True),
        FleetRequest(action="retry", modules=(failed.name,), root=str(node.cache), assume_exclusive=True),
    )
    with FleetActions(settings) as actions, FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", NodeActions(settings), print)
        for request, steps in zip(requests, (2, 1), strict=True):
            batch = actions.ask(request, ["n1"]).batch
            worker._look()
            plan = actions.of(batch)
            assert plan.steps == steps, plan
            actions.confirm(plan, plan.word)
            worker._look()
            (did,) = actions.of(batch).nodes
            assert (did.state, did.done is not None and did.done.done) == (IntentState.DONE, steps), did
    assert {module(4), module(5)} <= node.modules()
    assert not (failed / "model.log").exists()


def test_a_pull_from_a_bucket_is_asked_of_a_node_and_carried_out_there(postgres_url: str, tmp_path: Path) -> None:
    pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")
    pytest.importorskip("moto.server", reason="the tests' S3 server is moto[server]")
    from tests import s3_server

    node, pushed = Node(tmp_path, "n1", postgres_url), tmp_path / "pushed"
    for number in (3, 4, 5):
        entry(pushed, number, blocks=8)
    settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"), fleet_actions=True)
    with s3_server.served() as url, FleetActions(settings) as actions, FleetStore(postgres_url) as store:
        service = CacheService(settings, assume_exclusive=True)
        assert service.execute(service.plan_copy(str(pushed), url)).done == 3
        store.register(NodeRecord(node="n1", machine_id="m"))
        worker = IntentWorker(store, "n1", tmp_path / "state", NodeActions(settings), print)
        wanted = (module(4), module(5))
        request = FleetRequest(action="pull", source=url, modules=wanted, root=str(node.cache))
        batch = actions.ask(request, ["n1"]).batch
        worker._look()
        plan = actions.of(batch)
        assert (plan.steps, plan.copies > 0) == (2, True), plan
        actions.confirm(plan, plan.word)
        worker._look()
        (did,) = actions.of(batch).nodes
        assert (did.state, did.done is not None and did.done.done) == (IntentState.DONE, 2), did
    assert node.modules() == {module(number) for number in (1, 2, 3, 4, 5)}
