"""What every store offers, against each: a file of this machine, and a PostgreSQL server."""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_top.events import AnyEvent, OutputGrew, RunStarted, encode
from neuron_top.run.model import Run
from neuron_top.store.errors import StoreUnusable
from neuron_top.store.location import StoreLocation
from neuron_top.store.protocol import Store
from neuron_top.store.records import CompileRecord
from neuron_top.store.sqlite import FILE_NAME
from tests.run.samples import event_lists

STARTED = RunStarted(run="r1", name="bert", command=("torchrun", "train.py"), at=100.0, node="host")
cuts = st.lists(st.integers(0, 60), max_size=5)


@pytest.fixture(params=["sqlite", "postgresql"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Opens the same store each time."""
    address = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    location = StoreLocation(tmp_path / FILE_NAME, address)
    return lambda: location.open(read_only=False)


def grown(count: int, first: int = 0) -> list[AnyEvent]:
    return [OutputGrew(path="/log", end=number, at=float(number)) for number in range(first, first + count)]


def run_of(events: list[AnyEvent]) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


@given(events=event_lists, places=cuts)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_replay_gives_the_run_that_was_shown_live_however_it_was_appended(
    kept: Callable[[], Store], events: list[AnyEvent], places: list[int]
) -> None:
    run = uuid.uuid4().hex
    with kept() as store:
        store.begin(RunStarted(run=run, at=100.0))
        edges = [0, *sorted(min(place, len(events)) for place in places), len(events)]
        for start, end in itertools.pairwise(edges):
            store.append(run, events[start:end])
        assert run_of(list(store.replay(run))).canonical() == run_of(events).canonical()


def test_a_recording_is_listed_with_what_is_known_of_it(kept: Callable[[], Store]):
    with kept() as store:
        store.begin(STARTED, pid=77, folder="runs/r1")
        store.append("r1", grown(3), now=105.0)
        open_one = store.runs()[0]
        assert (open_one.open, open_one.pid, open_one.events, open_one.touched) == (True, 77, 3, 105.0)
        store.finish("r1", 3, 110.0, b'{"x":1}')
        closed = store.runs()[0]
    assert (closed.open, closed.exit_code, closed.finished, closed.summary) == (False, 3, 110.0, '{"x":1}')
    assert (closed.command, closed.node, closed.folder) == (("torchrun", "train.py"), "host", "runs/r1")


def test_a_recording_is_found_by_id_beginning_and_name_but_never_by_guess(kept: Callable[[], Store]):
    with kept() as store:
        for at, run, name in ((1.0, "2026-a1", "bert"), (2.0, "2026-a2", "bert"), (3.0, "2027-b", "llama")):
            store.begin(RunStarted(run=run, name=name, at=at))
        assert store.run("2027").id == "2027-b"
        assert store.run("bert").id == "2026-a2"  # the newest of that name
        assert store.run("2026-a1").id == "2026-a1"
        assert store.run("2026") is None  # two begin so
        assert store.run("") is None
        assert [record.id for record in store.runs(2)] == ["2027-b", "2026-a2"]


def test_the_same_id_twice_is_refused(kept: Callable[[], Store]):
    with kept() as store:
        store.begin(STARTED)
        with pytest.raises(StoreUnusable, match="already a recording"):
            store.begin(STARTED)


def test_replay_can_start_later_and_go_on_where_it_stopped(kept: Callable[[], Store]):
    with kept() as store:
        store.begin(STARTED)
        for first in (0, 10, 20):
            store.append("r1", grown(10, first))
        assert [event.at for event in store.replay("r1", since=15.0)] == [float(at) for at in range(10, 30)]
        last = max(number for number, _ in store.batches("r1"))
        store.append("r1", grown(2, 30))
        assert [event.at for event in store.replay("r1", after=last)] == [30.0, 31.0]
        assert store.span("r1") == (0.0, 31.0)


def test_a_long_append_is_cut_into_batches_so_that_a_reader_never_holds_it_all(kept: Callable[[], Store]):
    with kept() as store:
        store.begin(STARTED)
        store.append("r1", grown(10_000))
        assert [len(events) for _, events in store.batches("r1")] == [4096, 4096, 1808]
        (record,) = store.runs()
        assert 0 < record.bytes < sum(len(encode(event)) for event in grown(10_000)) / 3


def test_compile_times_of_all_runs_are_the_ground_of_estimates(kept: Callable[[], Store]):
    records = [
        CompileRecord("MODULE_1+a", "host", "r1", "c", 1000, 20, seconds, None, finished)
        for seconds, finished in ((10.0, 1.0), (12.0, 2.0))
    ]
    with kept() as store:
        store.remember_compiles(records)
        store.remember_compiles(records)
        assert [record.seconds for record in store.compile_history()] == [12.0, 10.0]
        assert len(store.compile_history(most=1)) == 1


def test_a_recording_is_read_while_it_is_made(kept: Callable[[], Store]):
    with kept() as writer, kept() as reader:
        writer.begin(STARTED)
        writer.append("r1", grown(10))
        numbers = [number for number, _ in reader.batches("r1")]
        writer.append("r1", grown(10, 10))
        assert [event.at for event in reader.replay("r1", after=numbers[-1])] == [float(at) for at in range(10, 20)]
        assert reader.run("r1").events == 20


def test_a_recording_that_is_forgotten_leaves_nothing_and_no_other_is_touched(kept: Callable[[], Store]):
    with kept() as store:
        for run in ("r1", "r2"):
            store.begin(RunStarted(run=run, at=1.0))
            store.append(run, grown(5))
        store.forget("r1")
        assert [record.id for record in store.runs()] == ["r2"]
        assert list(store.replay("r1")) == []
        assert len(list(store.replay("r2"))) == 5


def test_nothing_is_known_of_what_was_never_said(kept: Callable[[], Store]):
    with kept() as store:
        store.begin(RunStarted(run="r1"))
        store.append("r1", [])
        store.append("r1", [OutputGrew(path="/log", end=1)])
        record = store.run("r1")
        assert (record.started, record.finished, record.exit_code, record.events) == (None, None, None, 1)
        assert store.span("r1") is None
        store.finish("r1", None, 5.0)
        assert (store.run("r1").finished, store.run("r1").exit_code) == (5.0, None)


def test_any_text_of_a_command_is_kept(kept: Callable[[], Store]):
    command = ("python", "-c", "print('\u00fc \u4e16 %s {} \\0 \n')", "a\tb", "100%")
    with kept() as store:
        store.begin(RunStarted(run="r1", name="50% \u4e16", command=command, directory="/tmp/a b", at=1.0))
        assert (store.run("r1").command, store.run("r1").name) == (command, "50% \u4e16")


def test_names_of_files_that_are_no_utf_8_are_kept_with_their_bytes_written_out(kept: Callable[[], Store]):
    odd = os.fsdecode(b"/logs/\xff.log")
    with kept() as store:
        store.begin(RunStarted(run="r", name=odd, command=("cat", odd), directory=odd, at=1.0))
        store.append("r", [OutputGrew(path=odd, end=1, at=1.0)])
        assert [event.path for event in store.replay("r") if isinstance(event, OutputGrew)] == ["/logs/\\xff.log"]
        assert store.runs()[0].command == ("cat", "/logs/\\xff.log")


def test_a_store_says_where_it_is_without_a_password(kept: Callable[[], Store]):
    with kept() as store:
        assert store.place
        assert "secret" not in store.place
