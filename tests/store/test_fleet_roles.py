"""Who may do what in the fleet's database: an agent writes rows of its own node, viewers read, operators ask."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import psycopg
import pytest

from neuron_top.events import CacheHit, RunStarted
from neuron_top.store.batches import pack
from neuron_top.store.errors import StoreNotAllowed
from neuron_top.store.fleet_records import Batch, IntentState, NodeKey, NodeNow, NodeRecord, WaitRecord
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.postgres.recordings import PostgresStore
from neuron_top.store.records import CompileRecord
from tests.servers.postgresql import PostgresServer
from tests.store.fleet_rows import rows

THEIR_WAIT = WaitRecord(job="j", key="k", waiter_node="other", ranks=1, seconds=1.0, first=1.0, last=1.0)
Login = Callable[[str], tuple[str, str]]


@pytest.fixture
def login(postgres_server: PostgresServer, postgres_url: str) -> Login:
    """Makes a login that is a member of a role; its name and the address that it uses."""

    def made(role: str) -> tuple[str, str]:
        name = f"n-{uuid.uuid4().hex[:10]}"
        postgres_server.execute(f'CREATE ROLE "{name}" LOGIN IN ROLE {role}')
        return name, postgres_server.url(postgres_url.rpartition("/")[2], user=name)

    return made


def batch(sequence: int, run: str = "job-1") -> Batch:
    packed = pack([CacheHit(module="MODULE_1+a", at=1.0)])
    return Batch(first=1.0, last=1.0, count=1, data=packed.data, sequence=sequence, run=run)


def test_an_agent_does_all_that_agents_do_under_the_name_of_its_node(login: Login, postgres_url: str):
    node, address = login("neurontop_agent")
    with FleetStore(address) as store:
        store.register(NodeRecord(node=node, machine_id="m"))
        store.register(NodeRecord(node=node, machine_id="m", job="job-1"))
        store.open_job("job-1", name="llama")
        store.open_job("job-1", name="llama")
        assert store.ship(node, "s", [batch(1), batch(2)]) == 2
        assert store.ship(node, "s", [batch(2), batch(3)]) == 3
        store.end_job(node, "s", "job-1", 5.0, 0)
        store.forget_left_jobs(node, "job-1")
        for _ in range(2):
            store.beat(NodeNow(node=node, at=0.0, job="job-1"))
            store.put_keys([NodeKey(root="r", key="k", node=node, state="done", seen=1.0)])
            store.put_waits([WaitRecord(job="j", key="k", waiter_node=node, ranks=1, seconds=1.0, first=1.0, last=1.0)])
        claim = store.claims.claim("K", node, 60.0)
        assert store.claims.release(store.claims.renew(claim, 60.0))
        with FleetStore(postgres_url) as owner:
            intent = owner.intents.ask(node, {"action": "evict"})
            assert store.intents.move(intent, IntentState.ASKED, IntentState.PLANNED, {"steps": 1})
            assert owner.intents.move(intent, IntentState.PLANNED, IntentState.CONFIRMED)
        assert store.intents.move(intent, IntentState.CONFIRMED, IntentState.TAKEN)
        assert store.intents.move(intent, IntentState.TAKEN, IntentState.DONE, {})
    with PostgresStore(address) as recordings:
        recordings.begin(RunStarted(run="own", node=node, at=1.0))
        recordings.append("own", [CacheHit(module="M", at=1.0)])
        recordings.finish("own", 0, 2.0)
        recordings.remember_compiles([CompileRecord("M", node, "own", "c", 1, 2, 3.0, None, 4.0)] * 2)
    with PostgresStore(postgres_url) as owner:
        assert {run.id: (run.events, run.exit_code) for run in owner.runs()} == {"job-1": (3, 0), "own": (1, 0)}


def test_the_first_batch_of_a_day_makes_its_partition(login: Login, postgres_server: PostgresServer, postgres_url: str):
    node, address = login("neurontop_agent")
    name = postgres_url.rpartition("/")[2]
    for table in postgres_server.execute("SELECT inhrelid::regclass FROM pg_inherits", name).split():
        if table.startswith("neurontop.events_"):
            postgres_server.execute(f"DROP TABLE IF EXISTS {table}", name)
    with FleetStore(address) as store:
        assert store.ship(node, "s", [batch(1)]) == 1
    with FleetStore(postgres_url) as owner:
        assert len(owner.news("job-1", {})) == 1


@pytest.mark.parametrize(
    "attempt",
    [
        lambda store: store.register(NodeRecord(node="other", machine_id="m")),
        lambda store: store.beat(NodeNow(node="other", at=0.0)),
        lambda store: store.ship("other", "s", [batch(1)]),
        lambda store: store.put_keys([NodeKey(root="r", key="k", node="other", state="done", seen=1.0)]),
        lambda store: store.put_waits([THEIR_WAIT]),
        lambda store: store.claims.claim("K", "other", 60.0),
        lambda store: store.intents.ask("n", {"action": "evict"}),
    ],
)
def test_an_agent_writes_nothing_in_the_name_of_another_node(
    login: Login, postgres_url: str, attempt: Callable[[FleetStore], object]
):
    with FleetStore(login("neurontop_agent")[1]) as store, pytest.raises(StoreNotAllowed, match="named as its node"):
        attempt(store)
    with FleetStore(postgres_url) as owner:
        assert [
            *owner.nodes(),
            *owner.now(),
            *owner.keys(),
            *rows(owner, "waits"),
            *rows(owner, "claims"),
            *owner.intents.newest(),
        ] == []
        assert rows(owner, "parts") == []


def test_an_agent_neither_reads_nor_changes_what_other_nodes_shipped(login: Login, postgres_url: str):
    with FleetStore(postgres_url) as owner:
        owner.open_job("job-1", name="theirs")
        owner.ship("other", "s", [batch(1)])
        owner.end_job("other", "s", "job-1", 5.0, 0)
        intent = owner.intents.ask("other", {"action": "evict"})
        claim = owner.claims.claim("K", "other", 60.0)
    node, address = login("neurontop_agent")
    with FleetStore(address) as store:
        assert rows(store, "parts") == []
        assert not store.intents.move(intent, IntentState.ASKED, IntentState.PLANNED)
        assert store.intents.newest() == []
        assert not store.claims.release(claim)
        assert store.claims.claim("K", node, 60.0).node == "other"
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in (
            "SELECT data FROM neurontop.events",
            "DELETE FROM neurontop.events",
            "UPDATE neurontop.events SET node = session_user",
            "DELETE FROM neurontop.runs",
            "INSERT INTO neurontop.meta VALUES (9)",
            "SELECT * FROM neurontop.events_" + owner_day(postgres_url),
            "SET ROLE neurontop_operator",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())
        assert connection.execute("UPDATE neurontop.runs SET name = 'mine'").rowcount == 0
        connection.execute("SET ROLE neurontop_agent")  # another name for the session is none for its rows
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO neurontop.nodes (node, seen) VALUES ('neurontop_agent', 1)")


def owner_day(address: str) -> str:
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT to_char(day, 'YYYYMMDD') FROM neurontop.events").fetchone()
    assert row is not None
    return str(row[0])


def test_an_agent_takes_over_a_lease_that_ran_out(login: Login, postgres_url: str):
    with FleetStore(postgres_url) as owner:
        owner.claims.claim("K", "gone", -1.0)
    node, address = login("neurontop_agent")
    with FleetStore(address) as store:
        claim = store.claims.claim("K", node, 60.0)
    assert (claim.mine, claim.taken_from) == (True, "gone")


def test_a_viewer_reads_everything_and_changes_nothing(login: Login, postgres_url: str):
    with FleetStore(postgres_url) as owner:
        owner.register(NodeRecord(node="n1", machine_id="m"))
        owner.open_job("job-1")
        owner.ship("n1", "s", [batch(1)])
    _, address = login("neurontop_viewer")
    with FleetStore(address) as store:
        assert [node.node for node in store.nodes()] == ["n1"]
        assert [job.events for job in store.jobs()] == [1]
        assert len(store.news("job-1", {})) == 1
        for attempt in (
            lambda: store.ship("n1", "s", [batch(2)]),
            lambda: store.register(NodeRecord(node="n1", machine_id="m")),
            lambda: store.intents.ask("n1", {"action": "evict"}),
            lambda: store.claims.claim("K", "n1", 1.0),
        ):
            with pytest.raises(StoreNotAllowed):
                attempt()
    with PostgresStore(address) as recordings:
        assert len(list(recordings.replay("job-1"))) == 1
        with pytest.raises(StoreNotAllowed):
            recordings.forget("job-1")


def test_an_operator_asks_in_its_own_name_and_takes_back_what_no_agent_began(login: Login, postgres_url: str):
    name, address = login("neurontop_operator")
    with FleetStore(address) as store:
        first, second, third = (store.intents.ask("n1", {"action": "evict"}, "b") for _ in range(3))
        assert {intent.asked_by for intent in store.intents.of_batch("b")} == {name}
        with FleetStore(postgres_url) as owner:
            for intent in (second, third):
                assert owner.intents.move(intent, IntentState.ASKED, IntentState.PLANNED)
        assert store.intents.move(first, IntentState.ASKED, IntentState.CANCELED)
        assert store.intents.move(second, IntentState.PLANNED, IntentState.CONFIRMED)
        with FleetStore(postgres_url) as owner:
            assert owner.intents.move(second, IntentState.CONFIRMED, IntentState.TAKEN)
        assert not store.intents.move(second, IntentState.TAKEN, IntentState.CANCELED)
        assert not store.intents.move(third, IntentState.PLANNED, IntentState.DONE)
        assert store.intents.move(third, IntentState.PLANNED, IntentState.CONFIRMED)
        with pytest.raises(StoreNotAllowed):  # only the node's own agent does
            store.intents.move(third, IntentState.CONFIRMED, IntentState.TAKEN)
        with pytest.raises(StoreNotAllowed):
            store.intents.move(third, IntentState.CONFIRMED, IntentState.CANCELED, {"steps": 0})
        with pytest.raises(StoreNotAllowed):
            store.ship("n1", "s", [batch(1)])
    with psycopg.connect(address, autocommit=True) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("INSERT INTO neurontop.intents (node, plan, asked_by) VALUES ('n', '{}', 'somebody')")


def test_a_login_without_a_role_is_told_which_it_needs(postgres_server: PostgresServer, postgres_url: str):
    name = f"n-{uuid.uuid4().hex[:10]}"
    postgres_server.execute(f'CREATE ROLE "{name}" LOGIN')
    address = postgres_server.url(postgres_url.rpartition("/")[2], user=name)
    with FleetStore(address) as store, pytest.raises(StoreNotAllowed, match="neurontop_viewer"):
        store.jobs()
