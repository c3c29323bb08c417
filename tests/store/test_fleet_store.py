"""The fleet's database: every batch lands exactly once, and screens read what agents shipped."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("psycopg")

import msgspec

from neuron_top.cli.main import main
from neuron_top.events import AnyEvent, CacheHit
from neuron_top.ingest.job_source import find_job
from neuron_top.services.doctor import examine_machine
from neuron_top.services.fleet import FleetService
from neuron_top.services.runs import RunService
from neuron_top.services.transfer import pull
from neuron_top.settings import Settings
from neuron_top.store.batches import pack
from neuron_top.store.errors import LeaseExpired, NodeNameTaken, StoreCorrupt
from neuron_top.store.fleet_records import Batch, IntentState, NodeKey, NodeNow, NodeRecord, Spread, WaitRecord
from neuron_top.store.postgres import days
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import NEWS_AT_ONCE, FleetStore
from neuron_top.store.postgres.migration import migrate
from neuron_top.store.postgres.recordings import PostgresStore
from neuron_top.store.records import CompileRecord
from neuron_top.views.fleet import NodeReporting
from tests.servers.postgresql import PostgresServer
from tests.store.fleet_rows import rows


def hits(sequence: int, node: str = "n1") -> list[AnyEvent]:
    return [CacheHit(module=f"MODULE_{sequence}_{number}+a", node=node, at=float(sequence)) for number in range(3)]


def batch(sequence: int, run: str = "job-1", node: str = "n1") -> Batch:
    packed = pack(hits(sequence, node))
    return Batch(first=packed.first, last=packed.last, count=packed.count, data=packed.data, sequence=sequence, run=run)


def test_a_batch_that_is_shipped_again_lands_once(postgres_url: str):
    with FleetStore(postgres_url) as store:
        assert store.shipped("n1", "s") == 0
        assert store.ship("n1", "s", [batch(1), batch(2)]) == 2
        assert store.ship("n1", "s", [batch(1), batch(2), batch(3)]) == 3
        assert store.shipped("n1", "s") == 3
        assert [(one.sequence, one.events) for one in store.news("job-1", {})] == [
            (number, hits(number)) for number in (1, 2, 3)
        ]
        assert [(part.sequence, part.events, part.first, part.last) for part in rows(store, "parts", run="job-1")] == [
            (3, 9, 1.0, 3.0)
        ]


def test_two_agents_that_ship_one_spool_at_once_land_it_once(postgres_url: str):
    start = threading.Barrier(4)

    def ship() -> None:
        with FleetStore(postgres_url) as own:
            own.clock()
            start.wait(60)
            for first in range(1, 40, 3):
                own.ship("n1", "s", [batch(number) for number in range(first, first + 3)])

    threads = [threading.Thread(target=ship) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    with FleetStore(postgres_url) as store:
        cursor: dict[tuple[str, str], int] = {}
        assert [one.sequence for one in store.news("job-1", cursor)] == list(range(1, 40))
        assert store.news("job-1", cursor) == []


def test_a_spool_that_was_lost_begins_anew_and_a_spool_can_serve_several_jobs(postgres_url: str):
    with FleetStore(postgres_url) as store:
        store.ship("n1", "old", [batch(1), batch(2, "job-2"), batch(3)])
        assert store.shipped("n1", "old") == 3
        assert store.ship("n1", "new", [batch(1)]) == 1
        assert {(part.spool, part.sequence) for part in rows(store, "parts", run="job-1")} == {("old", 3), ("new", 1)}
        assert [one.sequence for one in store.news("job-2", {})] == [2]


def test_a_reader_goes_on_where_it_was_and_gets_every_batch_of_every_node(postgres_url: str):
    with FleetStore(postgres_url) as store:
        cursor: dict[tuple[str, str], int] = {}
        store.ship("n1", "s", [batch(1)])
        assert len(store.news("job-1", cursor)) == 1
        store.ship("n2", "t", [batch(number, node="n2") for number in range(1, 301)])
        store.ship("n1", "s", [batch(2)])
        seen = []
        while fresh := store.news("job-1", cursor):
            seen += [(one.node, one.sequence) for one in fresh]
        assert sorted(seen) == [("n1", 2), *(("n2", number) for number in range(1, 301))]


def test_a_batch_that_cannot_be_read_takes_no_other_one_along(postgres_url: str):
    with FleetStore(postgres_url) as store:
        broken = msgspec.structs.replace(batch(2), data=b"not packed")
        store.ship("n1", "s", [batch(1), broken, batch(3)])
        cursor: dict[tuple[str, str], int] = {}
        assert [one.sequence for one in store.news("job-1", cursor)] == [1]
        with pytest.raises(StoreCorrupt):
            store.news("job-1", cursor)
        assert [one.sequence for one in store.news("job-1", cursor)] == [3]
        assert store.news("job-1", cursor) == []


def test_a_page_of_what_is_left_is_bounded_and_brings_all_nodes_to_their_end_together(postgres_url: str):
    left = {"n1": 2600, "n2": 1300, "n3": 13}
    with FleetStore(postgres_url) as store:
        for node, count in left.items():
            store.ship(node, "s", [batch(number, node=node) for number in range(1, count + 1)])
        cursor: dict[tuple[str, str], int] = {}
        seen: dict[str, list[int]] = {node: [] for node in left}
        while fresh := store.news("job-1", cursor):
            assert len(fresh) <= NEWS_AT_ONCE + len(left)
            for one in fresh:
                seen[one.node].append(one.sequence)
            shares = [len(seen[node]) / count for node, count in left.items()]
            assert max(shares) - min(shares) <= 0.1
    assert seen == {node: list(range(1, count + 1)) for node, count in left.items()}


def test_who_ships_does_not_wait_for_who_is_waking(postgres_url: str):
    with FleetStore(postgres_url) as store:
        store.ship("n1", "s", [batch(1)])
    impatient = f"{postgres_url}?options=-cstatement_timeout%3D5s"
    with Database(postgres_url) as waking, FleetStore(impatient) as other, waking.transaction() as connection:
        connection.execute("UPDATE neurontop.wakes SET at = clock_timestamp()")
        assert other.ship("n2", "s", [batch(1, node="n2")]) == 1
        assert other.ship("n2", "s", [batch(2, node="n2")]) == 2


def test_who_listens_is_woken_by_what_lands(postgres_url: str):
    stop, heard = threading.Event(), []
    with FleetStore(postgres_url) as store, FleetStore(postgres_url) as other:
        woken = store.listen(stop, seconds=0.1)
        assert next(woken) is None
        other.ship("n1", "s", [batch(1)])
        while not heard:
            heard = [run for run in (next(woken),) if run]
        stop.set()
        assert list(woken) == []
    assert heard == ["job-1"]


def test_jobs_are_added_up_over_their_nodes(postgres_url: str):
    with FleetStore(postgres_url) as store:
        for node in ("n1", "n2"):
            store.open_job("job-1", name="llama", cluster="c", started=5.0)
            store.ship(node, "s", [batch(1, node=node)])
        store.end_job("n1", "s", "job-1", 9.0, 0)
        job = store.jobs()[0]
        assert (job.name, job.cluster, job.started, job.nodes, job.ended, job.events) == ("llama", "c", 5.0, 2, 1, 6)
        assert (job.finished, job.exit_code) == (None, 0)
        store.end_job("n2", "s", "job-1", 10.0, -9)
        assert (store.jobs()[0].finished, store.jobs()[0].exit_code) == (10.0, -9)
    with PostgresStore(postgres_url) as recordings:
        assert [one.exit_code for one in recordings.runs()] == [-9]


def test_a_job_whose_logs_are_silent_goes_on_and_is_not_deleted(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = time.time()
    with FleetStore(postgres_url) as store:
        store.open_job("j1", name="bert", started=1000.0)
        store.ship("n1", "spool", [batch(1, "j1")])
        with store._database.connection() as connection:
            connection.execute("UPDATE neurontop.runs SET touched = 1000")
            connection.execute("UPDATE neurontop.parts SET touched = 1000")
        service = RunService(Settings(store=postgres_url, state_dir=str(tmp_path)))
        assert [row.state for row in service.rows()] == ["cut off"]
        store.beat(NodeNow(node="n1", at=0.0, job="j1", phase="compiling"))
        assert [row.state for row in service.rows()] == ["running"]
        monkeypatch.setattr(time, "time", lambda: before + 7200.0)  # by the clock of whoever looks it is long silent
        assert [row.state for row in service.rows()] == ["running"]
        assert [excluded.id for excluded in service.plan_deletion(["j1"]).exclusions] == ["j1"]


def test_a_job_that_nodes_work_for_or_that_is_asked_for_is_found_however_many_came_after_it(postgres_url: str):
    with FleetStore(postgres_url) as store:
        for number, (run, node) in enumerate((("long", "n1"), ("over", "n2"), ("past", "n3"), ("new", "n3"))):
            store.open_job(run, name=f"the {run} one", started=float(number))
            store.ship(node, run, [batch(1, run, node)])
            store.register(NodeRecord(node=node, machine_id="m", job=run))
        store.end_job("n2", "over", "over", 9.0, 0)
        assert [job.run for job in store.jobs(limit=1)] == ["new", "over", "long"]
        for asked in ("past", "pas", "the past one"):
            assert "past" in [job.run for job in store.jobs(limit=1, named=asked)]
            assert find_job(store, "the past one") == "past"
        store.open_job("newest", name="past", started=9.0)
        assert find_job(store, "past") == "past", "an id goes before the name of a newer job"
    with FleetService(Settings(store=postgres_url)) as fleet:
        states = {node.node: node.state for node in fleet.page().nodes}
        assert states == {"n1": NodeReporting.REPORTING, "n2": NodeReporting.ENDED, "n3": NodeReporting.REPORTING}


def test_a_node_is_described_and_its_name_is_not_taken_by_another_machine(postgres_url: str):
    with FleetStore(postgres_url) as store:
        one = NodeRecord(node="n1", job="job-1", machine_id="m1", attributes={"zone": "a", "cores": 128, "efa": True})
        store.register(one)
        store.register(one)
        with pytest.raises(NodeNameTaken, match="NEURONTOP_NODE"):
            store.register(NodeRecord(node="n1", machine_id="m2"))
        assert store.nodes("job-1")[0].attributes == one.attributes
        assert abs(store.nodes()[0].seen - store.clock()) < 60
        assert store.nodes("job-2") == []


def test_of_a_machine_that_took_the_name_of_another_no_cache_is_known(postgres_url: str):
    key = NodeKey(root="/c", key="MODULE_1+a", node="n1", state="hit", seen=1.0)
    with FleetStore(postgres_url) as store, Database(postgres_url) as database:
        store.register(NodeRecord(node="n1", machine_id="m1"))
        store.put_keys([key, msgspec.structs.replace(key, node="n2")])
        store.register(NodeRecord(node="n1", machine_id="m1", version="2"))
        with pytest.raises(NodeNameTaken):
            store.register(NodeRecord(node="n1", machine_id="m2"))
        assert store.keys_of("n1") == [key]
        with database.connection() as connection:
            connection.execute("UPDATE neurontop.nodes SET seen = seen - 600")
        store.register(NodeRecord(node="n1", machine_id="m2"))
        assert [row.node for row in store.keys()] == ["n2"]  # noqa: SIM118 (no dictionary)


def test_a_part_ends_as_the_newest_spool_of_its_node_does(postgres_url: str):
    """An agent that is started again without its state folder (in another pod, say) begins a spool."""

    def job() -> tuple[int, int, float | None, int | None, int]:
        (found,) = store.jobs()
        return found.nodes, found.ended, found.finished, found.exit_code, found.events

    with FleetStore(postgres_url) as store, PostgresStore(postgres_url) as recordings:
        store.open_job("job-1", started=5.0)
        store.ship("n1", "failed", [batch(1)])
        store.end_job("n1", "failed", "job-1", 7.0, 1)
        assert job() == (1, 1, 7.0, 1, 3)
        store.ship("n1", "killed", [batch(1)])
        store.ship("n2", "s", [batch(1, node="n2")])
        assert job() == (2, 0, None, None, 9)
        store.ship("n1", "newest", [batch(1)])
        for node, spool, code in (("n1", "newest", 0), ("n2", "s", None)):
            store.end_job(node, spool, "job-1", 9.0, code)
        assert job() == (2, 2, 9.0, 0, 12)
        assert [(run.finished, run.exit_code) for run in recordings.runs()] == [(9.0, 0)]


def test_a_heartbeat_replaces_the_one_before(postgres_url: str):
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m1"))
        for step in (1, 2):
            store.beat(
                NodeNow(
                    node="n1",
                    at=0.0,
                    job="job-1",
                    phase="training",
                    step=step,
                    clock_offset=0.5,
                    metrics={"utilization": Spread(low=1.0, median=2.0, high=3.0, worst_core=7)},
                    cores={"utilization": [1.0, None, 3.0]},
                    notes={"dropped": 2},
                )
            )
        (now,) = store.now("job-1", cores=True)
        assert (now.step, now.cores, now.notes) == (2, {"utilization": [1.0, None, 3.0]}, {"dropped": 2})
        assert now.metrics["utilization"].worst_core == 7
        assert store.now()[0].cores == {}
        assert (store.nodes()[0].clock_offset, store.nodes()[0].job) == (0.5, "job-1")


def test_two_jobs_on_a_node_each_have_what_their_own_agent_says(postgres_url: str):
    def now(job: str, step: int) -> NodeNow:
        address = f"http://127.0.0.1/{job}"
        return NodeNow(node="n1", at=0.0, job=job, step=step, cores={"power": [float(step)]}, address=address)

    with FleetStore(postgres_url) as store:
        store.open_job("a", started=1.0)
        store.open_job("b", started=2.0)
        store.register(NodeRecord(node="n1", machine_id="m1", job="a", address="http://127.0.0.1/a"))
        for step in (1, 2):
            store.beat(now("a", step))
            store.beat(now("b", 10 * step))
        assert [(one.job, one.step) for one in store.now()] == [("a", 2), ("b", 20)]
        assert [[(one.node, one.step) for one in store.now(job)] for job in ("a", "b")] == [[("n1", 2)], [("n1", 20)]]
        assert [(one.job, one.address) for one in (*store.nodes("a"), *store.nodes("b"))] == [
            ("a", "http://127.0.0.1/a"),
            ("b", "http://127.0.0.1/b"),
        ]
        assert [one.node for one in store.nodes()] == ["n1"]
        latest = store.node_now("n1", "a")
        assert latest is not None
        assert latest.cores == {"power": [2.0]}
        assert store.node_now("n1", "c") is None
        assert {one.run for one in store.jobs(limit=0)} == {"a", "b"}

        def asked(job: str | None = None) -> str:
            record = store.node("n1", job)
            assert record is not None
            return record.address

        # Without a job the newest one that lives, whoever reported last; one that is gone leaves its address to others.
        store.beat(now("a", 3))
        assert [asked(), asked("a"), asked("b")] == [f"http://127.0.0.1/{job}" for job in "bab"]
        store.end_job("n1", "s", "b", 9.0, 0)
        assert [(one.job, one.ended) for one in store.now()] == [("a", False), ("b", True)]
        assert asked() == "http://127.0.0.1/a"
        store.beat(msgspec.structs.replace(now("a", 4), address="http://127.0.0.1/b"))
        assert [asked("a"), asked("b")] == ["http://127.0.0.1/b", ""]


def test_an_agent_forgets_the_jobs_that_its_node_has_left_and_keeps_those_that_go_on(postgres_url: str):
    with FleetStore(postgres_url) as store, Database(postgres_url) as database:
        store.register(NodeRecord(node="n1", machine_id="m1"))
        for node, job in (
            ("n1", "ended"),
            ("n1", "lost"),
            ("n1", "silent"),
            ("n1", "lives"),
            ("n1", "own"),
            ("n2", "x"),
        ):
            store.beat(NodeNow(node=node, at=0.0, job=job))
        store.end_job("n1", "s", "ended", 9.0, None)
        store.end_job("n2", "s", "x", 9.0, None)
        store.end_job("n1", "s", "own", 9.0, None)
        with database.connection() as connection:
            connection.execute("UPDATE neurontop.node_now SET at = at - 300 WHERE job = 'silent'")
            connection.execute("UPDATE neurontop.node_now SET at = at - 4000 WHERE job = 'lost'")
        store.forget_left_jobs("n1", "own")
        assert [(one.node, one.job) for one in store.now()] == [
            ("n1", "lives"),
            ("n1", "own"),
            ("n1", "silent"),
            ("n2", "x"),
        ]
        store.beat(NodeNow(node="n1", at=0.0, job="own"))  # its part goes on
        assert [one.ended for one in store.now("own")] == [False]
        with database.connection() as connection:
            connection.execute("UPDATE neurontop.nodes SET seen = seen - 600")
        store.register(NodeRecord(node="n1", machine_id="m2"))  # another machine of the name
        assert [one.node for one in store.now()] == ["n2"]


def test_what_one_agent_wrote_and_nobody_can_read_is_unknown_and_hides_no_other_node(postgres_url: str):
    nan = float("nan")
    with FleetStore(postgres_url) as store, Database(postgres_url) as database:
        for node, low in (("n1", 0.5), ("n2", nan)):
            store.register(NodeRecord(node=node, machine_id="m", job="j", attributes={"zone": "a"}))
            store.beat(
                NodeNow(node=node, at=0.0, job="j", step=7, metrics={"memory": Spread(low=low, median=low, high=1.0)})
            )
        with database.connection() as connection:
            connection.execute("UPDATE neurontop.nodes SET attributes = '{\"zone\": [\"a\"]}' WHERE node = 'n2'")
            deep = "[" * 1500 + "]" * 1500
            connection.execute("UPDATE neurontop.node_now SET notes = %s::jsonb WHERE node = 'n2'", (deep,))
        assert [(now.node, now.step, set(now.metrics)) for now in store.now()] == [
            ("n1", 7, {"memory"}),
            ("n2", 7, set()),
        ]
        assert [(one.node, one.attributes) for one in store.nodes()] == [("n1", {"zone": "a"}), ("n2", {})]


@pytest.mark.parametrize("moment", ["NaN", "Infinity", "-Infinity", "1e300"])
def test_times_and_compiles_that_a_login_wrote_and_nobody_can_read_hide_no_recording(
    postgres_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], moment: str
):
    """`runs` and every estimate ended with a traceback, and a pulled job made the recordings of this machine
    unreadable."""
    good = CompileRecord("M", "n1", "job-1", "c", 1, 2, 3.0, None, 4.0, {"mm": 1})
    with FleetStore(postgres_url) as store:
        store.open_job("job-1", started=1.0)
        store.open_job("odd", started=float(moment))
        store.put_compiles([good, msgspec.structs.replace(good, run="odd", finished=float(moment))])
        store.put_compiles([msgspec.structs.replace(good, run="long", seconds=float("nan"))])
        with store._database.connection() as connection:
            connection.execute("UPDATE neurontop.runs SET finished = started WHERE id = 'odd'")
            connection.execute(
                "INSERT INTO neurontop.compiles (module, run, seconds, finished, mix) VALUES ('M', 'list', 1, 2, '[1]')"
            )
    with PostgresStore(postgres_url) as recordings:
        assert recordings.compile_history() == [good]
        assert {(run.id, run.started, run.finished) for run in recordings.runs()} == {
            ("job-1", 1.0, None), ("odd", None, None),
        }  # fmt: skip
    settings = Settings(store=postgres_url, state_dir=str(tmp_path))
    pull(settings, ["odd", "job-1"])
    assert {run.id for run in RunService(msgspec.structs.replace(settings, store="")).rows()} == {"odd", "job-1"}
    assert main(["runs", "--store", postgres_url]) == 0
    assert "odd" in capsys.readouterr().out


def test_keys_and_waits_are_kept_once_per_node(postgres_url: str):
    key = NodeKey(
        root="s3://b/c", key="MODULE_1+a", node="n1", state="done", bytes=5, compiler="2.20", seen=1.0,
        program="0a1b", held={"replica groups": ["all-reduce {0,1}"], "names": ["add.1", "\u00e9'\"\n"]},
    )  # fmt: skip
    wait = WaitRecord(
        job="j", key="MODULE_1+a", holder_node="n2", waiter_node="n1", ranks=4, seconds=9.0, first=1.0, last=2.0
    )
    with FleetStore(postgres_url) as store:
        for _ in range(2):
            store.put_keys([key])
            store.put_waits([wait])
        assert store.keys() == [key]
        assert [WaitRecord(**row._asdict()) for row in rows(store, "waits")] == [wait]


def test_a_key_is_claimed_by_one_and_taken_over_when_the_lease_ran_out(postgres_url: str):
    with FleetStore(postgres_url) as store:
        first = store.claims.claim("K", "n1", 60.0, "pid-1")
        assert first.mine
        assert 0 < first.seconds_left <= 60
        other = store.claims.claim("K", "n2", 60.0)
        assert (other.mine, other.node, other.holder) == (False, "n1", "pid-1")
        assert not store.claims.claim("K", "n1", 60.0, "pid-2").mine  # another process of the node
        assert store.claims.claim("K", "n1", 60.0, "pid-1").mine
        store.claims.renew(first, -1.0)  # what a lease is that nobody renewed
        taken = store.claims.claim("K", "n2", 60.0)
        assert (taken.mine, taken.taken_from) == (True, "n1")
        with pytest.raises(LeaseExpired):
            store.claims.renew(first, 60.0)
        assert not store.claims.release(first)
        assert [one.node for one in rows(store, "claims")] == ["n2"]
        assert store.claims.release(taken)
        assert store.claims.claim("K", "n3", 60.0).mine


def test_of_many_that_claim_a_key_at_once_one_has_it(postgres_url: str):
    start, won = threading.Barrier(6), []

    def claim(node: str) -> None:
        with FleetStore(postgres_url) as own:
            own.clock()
            start.wait(60)
            won.extend(node for claimed in (own.claims.claim("K", node, 60.0),) if claimed.mine)

    threads = [threading.Thread(target=claim, args=(f"n{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(won) == 1


def test_an_intent_goes_one_way_each_step_once(postgres_url: str):
    asked, planned, confirmed, taken, done = (
        IntentState.ASKED, IntentState.PLANNED, IntentState.CONFIRMED, IntentState.TAKEN, IntentState.DONE,
    )  # fmt: skip
    with FleetStore(postgres_url) as store:
        intents = store.intents
        first, second = intents.ask("n1", {"action": "evict"}), intents.ask("n2", {"action": "evict"})
        assert [one.id for one in intents.of_node("n1", (asked,))] == [first]
        for before, after in ((asked, planned), (planned, confirmed), (confirmed, taken)):
            assert not intents.move(first, before, done), "no step is left out"
            assert intents.move(first, before, after)
            assert not intents.move(first, before, after)
        assert intents.move(second, asked, IntentState.CANCELED)
        assert not intents.move(second, IntentState.CANCELED, asked)
        assert intents.move(first, taken, done, {"done": 7})
        assert [(one.state, one.result) for one in intents.newest()] == [("canceled", {}), ("done", {"done": 7})]


def test_an_expired_intent_is_not_begun(postgres_url: str):
    with FleetStore(postgres_url) as store:
        late = store.intents.ask("n1", {"action": "evict"}, seconds=-1.0)
        assert [one.expired for one in store.intents.newest()] == [True]
        assert not store.intents.move(late, IntentState.ASKED, IntentState.PLANNED)
        assert store.intents.move(late, IntentState.ASKED, IntentState.CANCELED)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_its_administrator_set_up_otherwise_is_read_the_same(
    postgres_server: PostgresServer, encoding: str
):
    """Without an encoding all text came as bytes, and days of another style ended `fleet prune` with a traceback."""
    name = f"other_{encoding.lower()}"
    postgres_server.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'")
    for setting in ("datestyle = 'German'", "timezone = 'Asia/Kolkata'", "client_encoding = 'LATIN1'"):
        postgres_server.execute(f"ALTER DATABASE {name} SET {setting}")
    url = postgres_server.url(name)
    with Database(url, prepared=False) as database:
        migrate(database)
        assert days.today(database) == days.days(database)[0].day
    with FleetStore(url) as store:
        store.register(NodeRecord(node="knoten-ä", job="übung", machine_id="m"))
        store.open_job("übung", name="größer", started=1.0)
        assert [(node.node, node.job) for node in store.nodes()] == [("knoten-ä", "übung")]
        assert [(job.run, job.name) for job in store.jobs()] == [("übung", "größer")]


@pytest.mark.parametrize("pool", [0, 2])
def test_the_server_is_kept_from_compiling_a_query_and_its_session_stays_as_it_is(postgres_url: str, pool: int):
    """With a thousand nodes it took the server longer to compile the query for jobs than to run it."""
    with Database(postgres_url, pool=pool) as database:
        with database.connection() as connection:
            before = connection.execute("SHOW jit").fetchone()
        with database.without_jit() as connection:
            assert connection.execute("SHOW jit").fetchone() == ("off",)
        with database.connection() as connection:
            assert connection.execute("SHOW jit").fetchone() == before


def test_doctor_says_whether_the_database_answers(postgres_url: str, tmp_path: Path):
    found = examine_machine(Settings(state_dir=str(tmp_path), store=postgres_url)).findings[-1]
    assert (found.check, found.level) == ("database", "ok")
    assert found.text.startswith(f"{postgres_url} answers")
