"""What a database has lost is sent again, and what it never takes holds up nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import pytest

from neuron_top.agent import shipper
from neuron_top.agent.agent import Agent
from neuron_top.cache.model.states import State
from neuron_top.errors import UsageError
from neuron_top.events import CacheHit, CacheScanned
from neuron_top.identity import Identity
from neuron_top.run.model import Run
from neuron_top.services.agent import who_am_i
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import NodeKey
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import FleetStore
from tests.actions import states
from tests.agent.test_start_and_end import SECONDS, Who, until

View = TypeVar("View")


def keys_in(store: FleetStore) -> list[str]:
    return sorted(row.key for row in store.keys())  # noqa: SIM118 (no dictionary)


class WithCache:
    """A feed that follows one cache."""

    def __init__(self, root: Path) -> None:
        self._run = Run()
        self._run.apply(CacheScanned(root=str(root), at=1.0))

    def read(self, view: Callable[[Run, float], View]) -> View:
        return view(self._run, time.time())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEYS_SECONDS", "BEAT_SECONDS", "SHIP_SECONDS"):
        monkeypatch.setattr(shipper, name, 0.05)
    monkeypatch.setattr(shipper, "LONGEST_PAUSE", 0.2)


@pytest.fixture
def made(tmp_path: Path, postgres_url: str) -> Callable[[Path], tuple[Agent, list[str]]]:
    def make(root: Path) -> tuple[Agent, list[str]]:
        who, warnings = Who(), list[str]()
        who.is_stale = False
        settings = Settings(store=postgres_url, state_dir=str(tmp_path / "state"))
        agent = Agent(settings, cast("Identity", who), "bert", lambda _sink: WithCache(root), warnings.append)
        return agent, warnings

    return make


def changed(url: str, *statements: str) -> None:
    with Database(url) as database, database.connection() as connection:
        for statement in statements:
            connection.execute(statement.encode())


def refusing(table: str, when: str) -> tuple[str, str]:
    """Statements after which a table takes no row of that kind."""
    return (
        f"CREATE FUNCTION refuse_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {when} THEN "
        "RAISE EXCEPTION 'not this one' USING ERRCODE = 'data_exception'; END IF; RETURN NEW; END $$",
        f"CREATE TRIGGER refuse BEFORE INSERT ON neurontop.{table} FOR EACH ROW EXECUTE FUNCTION refuse_{table}()",
    )


Make = Callable[[Path], tuple[Agent, list[str]]]


def test_a_server_that_took_over_without_the_newest_rows_gets_them_again(
    tmp_path: Path, postgres_url: str, made: Make
) -> None:
    names = sorted(states.entry_in(tmp_path / "cache", State.HIT, number=number).name for number in (1, 2))
    agent, _ = made(tmp_path / "cache")
    agent.start()
    with FleetStore(postgres_url) as store:
        until(lambda: keys_in(store) == names)
        changed(
            postgres_url,
            "DELETE FROM neurontop.node_keys",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
    with FleetStore(postgres_url) as store:
        until(lambda: keys_in(store) == names)
    assert agent.close(SECONDS)


def test_what_the_database_never_takes_is_left_out_and_what_follows_arrives(
    tmp_path: Path, postgres_url: str, made: Make
) -> None:
    kept, refused = sorted(states.entry_in(tmp_path / "cache", State.HIT, number=number).name for number in (1, 2))
    changed(
        postgres_url,
        *refusing("events", "NEW.sequence = 2"),
        *refusing("node_keys", f"NEW.key = '{refused}'"),
    )
    agent, warnings = made(tmp_path / "cache")
    for number in range(4):
        agent.spool.commit("bert", [CacheHit(module=f"MODULE_{number}+a", at=float(number))], [], {})
    agent.start()
    with FleetStore(postgres_url) as store:
        until(lambda: keys_in(store) == [kept])
        landed = [batch.sequence for batch in store.news("bert", {})]
        assert [number for number in landed if number <= 4] == [1, 3, 4]
    assert agent.close(SECONDS)
    refusal = f"{agent._store.place}: the database does not take this: not this one"
    assert warnings == [f"a batch of events is left out: {refusal}", f"a cache entry is left out: {refusal}"]


def test_a_cache_whose_name_is_no_utf_8_is_reported_and_known_to_the_next_agent(
    tmp_path: Path, postgres_url: str, made: Make
) -> None:
    root = tmp_path / "c\udcffche"
    names = sorted(states.entry_in(root, State.HIT, number=number).name for number in (1, 2))
    shown: list[list[NodeKey]] = []
    for _ in range(2):
        agent, warnings = made(root)
        agent.start()
        with FleetStore(postgres_url) as store:
            until(lambda: keys_in(store) == names)
            shown.append(store.keys())
        assert agent.close(SECONDS)
        assert warnings == []
    assert {row.root for row in shown[0]} == {f"{tmp_path}/c\\xffche"}
    assert shown[0] == shown[1], "the second agent had nothing new to report"


@pytest.mark.parametrize("job", ["a\udcff", "a\nb", "a" * 201])
def test_a_job_that_no_row_can_be_labeled_with_is_refused(job: str) -> None:
    with pytest.raises(UsageError, match="--job"):
        who_am_i(job)
