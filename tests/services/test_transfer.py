"""Recordings pushed to a database and pulled from it: the same events, once, however often and from wherever."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import msgspec
import pytest

from neuron_top.errors import NothingToShow, RefusedForSafety, UsageError
from neuron_top.events import AnyEvent, OutputGrew, RunFinished, RunStarted
from neuron_top.services.runs import RunService
from neuron_top.services.transfer import pull, push
from neuron_top.settings import Settings
from neuron_top.store.batches import pack
from neuron_top.store.fleet_records import Batch, NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.records import CompileRecord
from neuron_top.store.sqlite import FILE_NAME, SqliteStore


def grown(count: int, first: int = 0) -> list[AnyEvent]:
    return [OutputGrew(path="/log", end=number, at=float(number)) for number in range(first, first + count)]


@pytest.fixture
def settings(tmp_path: Path, postgres_url: str) -> Settings:
    return Settings(state_dir=str(tmp_path / "here"), store=postgres_url)


def recorded(settings: Settings, *, events: int = 5000, finish: bool = True) -> SqliteStore:
    store = SqliteStore(settings.state_path / FILE_NAME)
    store.begin(RunStarted(run="r1", name="bert", command=("a", "b"), node="host", at=100.0), pid=7, folder="/x")
    store.append("r1", grown(events), 200.0)
    if finish:
        store.finish("r1", 3, 210.0, b'{"x":1}')
    store.remember_compiles([CompileRecord("M", "host", "r1", "c", 1, 2, 3.0, None, 4.0, {"mm": 1})])
    return store


def test_what_is_pushed_from_one_machine_and_pulled_to_another_is_the_same_recording(
    settings: Settings, tmp_path: Path
):
    other = msgspec.structs.replace(settings, state_dir=str(tmp_path / "elsewhere"))
    with recorded(settings) as here:
        assert [(one.events, one.new) for one in push(settings, ["bert"])] == [(5000, 5000)]
        assert [(one.events, one.new) for one in pull(other, ["last"])] == [(5000, 5000)]
        with SqliteStore(other.state_path / FILE_NAME) as there:
            assert list(there.replay("r1")) == list(here.replay("r1"))
            assert there.compile_history() == here.compile_history()
            changed = {"folder": "", "pid": None, "bytes": there.runs()[0].bytes}
            assert there.runs() == [msgspec.structs.replace(here.runs()[0], **changed)]


def test_a_recording_that_went_on_is_completed_and_one_that_did_not_is_left(settings: Settings):
    with recorded(settings, events=10, finish=False) as here:
        push(settings, ["r1"])
        assert [one.new for one in push(settings, ["r1"])] == [0]
        here.append("r1", grown(5000, 10), 300.0)
        here.finish("r1", 0, 310.0)
        assert [(one.events, one.new) for one in push(settings, ["r1"])] == [(5010, 5000)]
        run = RunService(settings).find("r1")
        assert (run.events, run.exit_code, run.finished) == (5010, 0, 310.0)
        assert RunService(settings).load("r1").job.sources["/log"].end == 5009


def test_what_a_slow_node_shipped_in_front_of_a_copied_batch_is_in_the_next_copy(settings: Settings):
    """Transactions do not end in the order in which they take their numbers."""
    assert settings.store
    with FleetStore(settings.store) as fleet:
        fleet.open_job("j1", name="bert", started=100.0)
        for node in ("slow", "fast"):
            packed = pack([OutputGrew(path=f"/{node}", end=1, at=1.0)])
            fleet.ship(node, "s", [Batch(**msgspec.structs.asdict(packed), sequence=1, run="j1")])
        with fleet._database.connection() as connection:
            held_back = "UPDATE neurontop.events SET run = %s WHERE run = %s AND node = 'slow'"
            connection.execute(held_back, ("not-yet", "j1"))
            assert [one.events for one in pull(settings, ["j1"])] == [1]
            connection.execute(held_back, ("j1", "not-yet"))
    assert [(one.events, one.new) for one in pull(settings, ["j1"])] == [(2, 1)]
    with SqliteStore(settings.state_path / FILE_NAME) as here:
        assert [event.path for event in here.replay("j1") if isinstance(event, OutputGrew)] == [
            "slow:/slow",
            "fast:/fast",
        ]


def test_a_job_of_many_nodes_is_one_run_wherever_it_is_read(settings: Settings):
    """It was read as its nodes' events in turn: it ended as the last of them did, by each one's own clock."""
    with FleetStore(settings.store) as fleet:
        fleet.open_job("j1", name="bert", started=100.0)
        for node, ahead, code, ended in (("n1", 0.0, 3, 120.0), ("n2", 3600.0, 0, 130.0)):
            fleet.register(NodeRecord(node=node, machine_id=node, clock_offset=ahead))
            events: list[AnyEvent] = [
                RunStarted(run=f"of-{node}", name="train", node=node, at=100.0 + ahead),
                OutputGrew(path="/log", end=5, node=node, source="log:/log", at=110.0 + ahead),
                RunFinished(run=f"of-{node}", exit_code=code, node=node, at=ended + ahead),
            ]
            packed = pack(events)
            fleet.ship(node, "s", [Batch(**msgspec.structs.asdict(packed), sequence=1, run="j1")])
    assert [one.events for one in pull(settings, ["j1"])] == [5]
    for place in (settings, msgspec.structs.replace(settings, store="")):
        job = RunService(place).load("j1").job
        assert (job.exit_code, job.started, job.finished) == (3, 100.0, 130.0)
        assert sorted(job.sources) == ["n1:/log", "n2:/log"]


def test_another_recording_of_that_id_is_not_mixed_with_it(settings: Settings, tmp_path: Path):
    recorded(settings).close()
    push(settings, ["r1"])
    other = msgspec.structs.replace(settings, state_dir=str(tmp_path / "elsewhere"))
    with SqliteStore(other.state_path / FILE_NAME) as store:
        store.begin(RunStarted(run="r1", node="another", at=5.0))
    for move in (push, pull):
        with pytest.raises(RefusedForSafety, match="has another recording r1"):
            move(other, ["r1"])


def test_what_is_not_there_and_where_to_are_reported(settings: Settings):
    recorded(settings).close()
    with pytest.raises(NothingToShow, match="nothing-like-it"):
        push(settings, ["nothing-like-it"])
    with pytest.raises(UsageError, match="NEURONTOP_STORE"):
        push(msgspec.structs.replace(settings, store=""), ["r1"])


def test_two_copies_at_a_time_are_refused(settings: Settings):
    recorded(settings).close()
    with open(settings.state_path / "transfer.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RefusedForSafety, match="another push or pull"):
            push(settings, ["r1"])


def test_recordings_of_a_database_are_listed_read_played_and_deleted_as_those_of_this_machine(settings: Settings):
    recorded(settings).close()
    push(settings, ["r1"])
    service = RunService(settings)
    assert [(row.id, row.name, row.exit_code) for row in service.rows()] == [("r1", "bert", 3)]
    assert service.count() == 1
    feed = service.open("r1")
    shown = threading.Event()
    feed.start(shown.set)
    assert shown.wait(60)
    feed.stop()
    assert feed.read(lambda run, _now: run.job.sources["/log"].end) == 4999
    assert service.delete("r1") > 0
    assert service.rows() == ()
    assert [row.id for row in RunService(msgspec.structs.replace(settings, store="")).rows()] == ["r1"]
