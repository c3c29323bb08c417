"""`neurontop fleet init` and `prune` as a person and a timer use them, against a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

pytest.importorskip("psycopg")

from neuron_top.store.fleet_records import NodeKey, NodeRecord
from neuron_top.store.postgres.connection import SCHEMA_VERSION
from neuron_top.store.postgres.fleet import FleetStore
from tests.servers.postgresql import PostgresServer


def neurontop(*arguments: str, store: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_top", *arguments]
    own = {**os.environ, **environ, **({"NEURONTOP_STORE": store} if store else {})}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=own, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def empty(postgres_server: PostgresServer) -> str:
    """A database without anything in it."""
    return postgres_server.url(postgres_server.new_database())


def test_init_makes_the_schema_once_and_says_what_it_did(empty: str):
    made = neurontop("fleet", "init", "--json", store=empty)
    assert (made.returncode, json.loads(made.stdout)["before"]) == (0, 0)
    again = neurontop("fleet", "init", "--store", empty)
    assert again.returncode == 0
    assert again.stdout == f"{empty}: schema {SCHEMA_VERSION} is up to date\n"


def test_the_printed_sql_makes_the_same_schema(postgres_server: PostgresServer, empty: str):
    script = neurontop("fleet", "init", "--print-sql").stdout
    name = empty.rpartition("/")[2]
    postgres_server.execute(script, name)
    assert "up to date" in neurontop("fleet", "init", store=empty).stdout


def test_sql_for_a_schema_that_does_not_exist_is_refused():
    version = str(SCHEMA_VERSION + 1)
    refused = neurontop("fleet", "init", "--print-sql", "--from", version)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"there is no schema {version}" in refused.stderr


def test_an_older_schema_is_migrated_and_used_only_then(postgres_server: PostgresServer, empty: str):
    from neuron_top.store.postgres.migration import steps

    name = empty.rpartition("/")[2]
    postgres_server.execute(f"{steps()[0][1]}; INSERT INTO neurontop.meta (version) VALUES (1)", name)
    early = neurontop("fleet", "prune", "--yes", store=empty)
    assert (early.returncode, "`neurontop fleet init` migrates it" in early.stderr) == (1, True)
    done = neurontop("fleet", "init", store=empty)
    assert (done.returncode, done.stdout) == (0, f"{empty}: migrated from schema 1 to {SCHEMA_VERSION}\n")
    assert neurontop("fleet", "prune", "--yes", store=empty).returncode == 0


def test_a_node_s_keys_of_the_schema_before_are_kept(postgres_server: PostgresServer, empty: str):
    from neuron_top.store.fleet_records import NodeKey
    from neuron_top.store.postgres.fleet import FleetStore
    from neuron_top.store.postgres.migration import steps

    name = empty.rpartition("/")[2]
    before = "; ".join(text for number, text in steps() if number < 6)
    postgres_server.execute(
        f"""{before}; INSERT INTO neurontop.meta (version) VALUES (5);
        INSERT INTO neurontop.node_keys (root, key, node, state, bytes, compiler, seen)
        VALUES ('/c', 'MODULE_1+a', 'n1', 'hit', 7, '2.21', 9)""",
        name,
    )
    assert neurontop("fleet", "init", store=empty).stdout == f"{empty}: migrated from schema 5 to {SCHEMA_VERSION}\n"
    kept = NodeKey(root="/c", key="MODULE_1+a", node="n1", state="hit", bytes=7, compiler="2.21", seen=9.0)
    with FleetStore(empty) as store:
        assert store.keys() == [kept]


def test_what_a_node_did_last_is_kept_and_another_job_of_it_has_room_beside_it(
    postgres_server: PostgresServer, empty: str
):
    from neuron_top.store.fleet_records import NodeNow
    from neuron_top.store.postgres.migration import steps

    name = empty.rpartition("/")[2]
    before = "; ".join(text for number, text in steps() if number < 9)
    postgres_server.execute(
        f"""{before}; INSERT INTO neurontop.meta (version) VALUES (8);
        INSERT INTO neurontop.nodes (node, job, address, version, seen) VALUES ('n1', 'a', 'http://h', '0.1', 9);
        INSERT INTO neurontop.node_now (node, at, job, step) VALUES ('n1', 9, 'a', 7)""",
        name,
    )
    assert neurontop("fleet", "init", store=empty).stdout == f"{empty}: migrated from schema 8 to {SCHEMA_VERSION}\n"
    with FleetStore(empty) as store:
        assert store.now() == [NodeNow(node="n1", at=9.0, job="a", step=7)]
        store.beat(NodeNow(node="n1", at=0.0, job="b", step=1, address="", version="2"))
        assert [(one.job, one.step) for one in store.now()] == [("a", 7), ("b", 1)]
        assert [(one.address, one.version) for job in "ab" for one in store.nodes(job)] == [
            ("http://h", "0.1"),
            ("", "2"),
        ]


def test_a_newer_schema_is_refused_and_left_alone(postgres_server: PostgresServer, postgres_url: str):
    name = postgres_url.rpartition("/")[2]
    postgres_server.execute("INSERT INTO neurontop.meta (version) VALUES (99)", name)
    for command in ("init", "prune"):
        result = neurontop("fleet", command, store=postgres_url)
        assert (result.returncode, "newer neuron-top (schema 99)" in result.stderr) == (1, True)
    assert postgres_server.execute("SELECT max(version) FROM neurontop.meta", name) == "99"


def test_a_database_without_the_schema_says_how_to_make_it(empty: str):
    result = neurontop("fleet", "prune", store=empty)
    assert (result.returncode, "`neurontop fleet init` makes them" in result.stderr) == (3, True)


def test_without_a_database_both_say_how_to_name_one():
    for command in ("init", "prune"):
        result = neurontop("fleet", command)
        assert (result.returncode, "NEURONTOP_STORE" in result.stderr) == (2, True)


def test_an_owner_without_the_right_to_make_roles_needs_them_made(postgres_server: PostgresServer, postgres_url: str):
    owner, name = f"o{uuid.uuid4().hex[:10]}", postgres_server.new_database()  # postgres_url: the roles are there
    postgres_server.execute(f"CREATE ROLE {owner} LOGIN; ALTER DATABASE {name} OWNER TO {owner}")
    store = postgres_server.url(name, user=owner)
    assert neurontop("fleet", "init", store=store).returncode == 0
    assert "up to date" in neurontop("fleet", "init", store=store).stdout
    assert neurontop("fleet", "prune", "--yes", store=store).returncode == 0


def test_a_login_that_may_make_nothing_is_told_who_may(postgres_server: PostgresServer, empty: str):
    name = f"o{uuid.uuid4().hex[:10]}"
    postgres_server.execute(f"CREATE ROLE {name} LOGIN")
    result = neurontop("fleet", "init", store=postgres_server.url(empty.rpartition("/")[2], user=name))
    assert (result.returncode, "the database's owner" in result.stderr) == (1, True)
    assert "Traceback" not in result.stderr


def test_a_recording_is_pushed_and_pulled(postgres_url: str, tmp_path: Path):
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    made = neurontop("run", "--plain", "--name", "bert", "--", "true", NEURONTOP_STATE_DIR=here)
    assert made.returncode == 0, made.stderr
    pushed = neurontop("runs", "push", "last", "--store", postgres_url, "--json", NEURONTOP_STATE_DIR=here)
    (copied,) = json.loads(pushed.stdout)["copied"]
    assert copied["new"] == copied["events"] > 0
    pulled = neurontop("runs", "pull", "bert", store=postgres_url, NEURONTOP_STATE_DIR=there)
    assert pulled.stdout.startswith(f"{copied['id']}: ")
    listed = json.loads(neurontop("runs", "--json", NEURONTOP_STATE_DIR=there).stdout)["runs"]
    assert [run["id"] for run in listed] == [copied["id"]]
    for command in (["report", "last", "--format", "json"], ["runs"], ["replay", "last", "--json"]):
        shown = neurontop(*command, store=postgres_url, NEURONTOP_STATE_DIR=str(tmp_path / "nowhere"))
        assert (shown.returncode, copied["id"] in shown.stdout) == (0, True), shown.stderr


@pytest.mark.parametrize("words", [["push"], ["pull"]])
def test_a_copy_of_nothing_is_a_usage_error(words: list[str]):
    assert neurontop("runs", *words).returncode == 2


def old_day(server: PostgresServer, database: str, days_ago: int) -> str:
    """A partition of the past with a batch of a run of its own in it; its day."""
    day = server.execute(f"SELECT ((now() AT TIME ZONE 'UTC')::date - {days_ago})::text")
    table, run = f"neurontop.events_{day.replace('-', '')}", f"run-{days_ago}"
    at = f"extract(epoch FROM now()) - {days_ago} * 86400"
    server.execute(
        f"""CREATE TABLE {table} PARTITION OF neurontop.events FOR VALUES FROM ('{day}') TO ('{day}'::date + 1);
        INSERT INTO neurontop.runs (id, touched) VALUES ('{run}', {at});
        INSERT INTO neurontop.parts (run, node, spool, sequence, touched) VALUES ('{run}', 'n', 's', 1, {at});
        INSERT INTO neurontop.events (day, run, node, spool, sequence, count, format, data)
        VALUES ('{day}', '{run}', 'n', 's', 1, 0, 2, '')""",
        database,
    )
    return day


def test_prune_drops_what_is_older_than_the_policy_with_the_runs_that_lay_there(
    postgres_server: PostgresServer, postgres_url: str
):
    name = postgres_url.rpartition("/")[2]
    old, young = old_day(postgres_server, name, 40), old_day(postgres_server, name, 3)
    shown = json.loads(neurontop("fleet", "prune", "--dry-run", "--json", store=postgres_url).stdout)
    assert [day["day"] for day in shown["going"]] == [old]
    assert young in [day["day"] for day in shown["staying"]]
    assert not shown["dropped"]
    asked = neurontop("fleet", "prune", store=postgres_url)
    assert (asked.returncode, "--yes" in asked.stderr) == (4, True)  # nobody there to ask
    assert postgres_server.execute("SELECT count(*) FROM neurontop.events", name) == "2"
    done = neurontop("fleet", "prune", "--yes", store=postgres_url)
    assert (done.returncode, "1 day dropped" in done.stderr) == (0, True)
    assert postgres_server.execute("SELECT string_agg(id, ',') FROM neurontop.runs", name) == "run-3"
    assert postgres_server.execute("SELECT string_agg(run, ',') FROM neurontop.events", name) == "run-3"
    assert neurontop("fleet", "prune", "--yes", store=postgres_url).stdout.startswith("nothing to drop")


def test_prune_keeps_what_holds_of_a_node_that_is_there(postgres_server: PostgresServer, postgres_url: str):
    """Its cache has not changed for long, and its job has shipped nothing since: both are there still."""
    name = postgres_url.rpartition("/")[2]
    old_day(postgres_server, name, 40)
    with FleetStore(postgres_url) as store:
        for node in ("n", "gone"):
            store.register(NodeRecord(node=node, machine_id="m", job="run-40"))
        states = (("n", "1", "hit"), ("n", "2", "gone"), ("gone", "1", "hit"))
        store.put_keys([NodeKey(root="/c", key=key, node=node, state=state, seen=1.0) for node, key, state in states])
        postgres_server.execute("UPDATE neurontop.nodes SET seen = 1 WHERE node = 'gone'", name)
        assert neurontop("fleet", "prune", "--yes", store=postgres_url).returncode == 0
        assert [(row.node, row.key) for row in store.keys()] == [("n", "1")]  # noqa: SIM118 (no dictionary)
        assert [job.run for job in store.jobs()] == ["run-40"]


def test_prune_keeps_every_job_that_has_an_agent_on_a_node(postgres_server: PostgresServer, postgres_url: str):
    from neuron_top.store.fleet_records import NodeNow

    name = postgres_url.rpartition("/")[2]
    for ago in (40, 41):
        old_day(postgres_server, name, ago)
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n", machine_id="m", job="run-40"))
        for run in ("run-40", "run-41"):
            store.beat(NodeNow(node="n", at=0.0, job=run))
        assert neurontop("fleet", "prune", "--yes", store=postgres_url).returncode == 0
        assert {job.run for job in store.jobs()} == {"run-40", "run-41"}


def test_prune_drops_the_oldest_days_until_the_rest_is_small_enough(postgres_server: PostgresServer, postgres_url: str):
    name = postgres_url.rpartition("/")[2]
    days = [old_day(postgres_server, name, ago) for ago in (3, 2, 1)]
    sizes = json.loads(neurontop("fleet", "prune", "--dry-run", "--json", store=postgres_url).stdout)["staying"]
    most = sum(day["bytes"] for day in sizes) - 1
    shown = neurontop("fleet", "prune", "--max-size", str(most), "--dry-run", "--json", store=postgres_url)
    assert [day["day"] for day in json.loads(shown.stdout)["going"]] == days[:1]


def test_a_drop_that_was_cut_short_is_finished(postgres_server: PostgresServer, postgres_url: str):
    name = postgres_url.rpartition("/")[2]
    day = old_day(postgres_server, name, 40)
    postgres_server.execute(
        f"ALTER TABLE neurontop.events DETACH PARTITION neurontop.events_{day.replace('-', '')}", name
    )
    assert neurontop("fleet", "prune", "--yes", store=postgres_url).returncode == 0
    assert (
        postgres_server.execute(f"SELECT to_regclass('neurontop.events_{day.replace('-', '')}') IS NULL", name) == "t"
    )
