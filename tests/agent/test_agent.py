"""The agent against a real PostgreSQL: what it ships adds up to what the logs say, through outages and kills."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from neuron_top.cli.main import main
from neuron_top.events import AnyEvent
from neuron_top.ingest.job_source import merged_run
from neuron_top.parsers.reader import LogReader
from neuron_top.run.model import Run
from neuron_top.store.fleet_records import Cursor, NodeRecord
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.postgres.migration import migrate
from tests.agent.logs import GRAPHS, write_job
from tests.servers.postgresql import PostgresMissing, running
from tests.store.fleet_rows import rows


def environment(tmp_path: Path, node: str = "n1") -> dict[str, str]:
    cache = tmp_path / "cache"
    return os.environ | {
        "NEURONTOP_STATE_DIR": str(tmp_path / f"state-{node}"),
        "NEURONTOP_CONFIG": os.devnull,
        "NEURONTOP_NODE": node,
        "NEURON_COMPILE_CACHE_URL": str(cache),
    }


def agent(tmp_path: Path, url: str, *arguments: str, node: str = "n1") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "neuron_top", "agent", "--store", url, "--job", "bert", *arguments]
    return subprocess.Popen(command, env=environment(tmp_path, node), stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str], status: int = 0) -> str:
    _, reported = process.communicate(timeout=120)
    assert process.returncode == status, reported
    return reported


def landed(url: str, job: str = "bert") -> list[AnyEvent]:
    events: list[AnyEvent] = []
    cursor: Cursor = {}
    with FleetStore(url) as store:
        while news := store.news(job, cursor):
            events += [event for batch in news for event in batch.events]
    return events


def run_of(events: list[AnyEvent]) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


def read(path: Path) -> Run:
    reader = LogReader(f"log:{path}")
    return run_of([*reader.feed(path.read_bytes()), *reader.flush()])


def figures(run: Run) -> dict[str, object]:
    sums = run.compiles.totals
    return {
        "graphs": {key: (one.hits, one.misses, one.failures) for key, one in run.compiles.graphs.items()},
        "sums": (sums.hits, sums.misses, sums.graphs_hit, sums.graphs_missed),
        "training": (run.training.reports, run.training.loss, run.training.epoch, run.training.errors_raised),
        "job": (run.job.warnings, run.job.errors),
    }


def until(url: str, wanted: dict[str, object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while (found := figures(run_of(landed(url)))) != wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    assert found == wanted


def test_one_snapshot_adds_up_to_what_the_logs_say(tmp_path: Path, postgres_url: str) -> None:
    log = tmp_path / "logs" / "rank0" / "stdout.log"
    write_job(log)
    reported = ended(agent(tmp_path, postgres_url, "--once", str(tmp_path / "logs")))
    assert "node n1 (environment NEURONTOP_NODE), job bert (command line)" in reported
    events = landed(postgres_url)
    assert figures(run_of(events)) == figures(read(log))
    assert sum(one.hits for one in run_of(events).compiles.graphs.values()) == len(GRAPHS) * 16
    assert len(events) < 120  # of some 200 lines
    with FleetStore(postgres_url) as store:
        (node,) = store.nodes("bert")
        assert node.attributes["node_origin"] == "environment NEURONTOP_NODE"
        assert len(node.attributes) >= 15
        assert node.clock_offset is not None
        assert abs(node.clock_offset) < 60
        assert [now.notes["dropped_samples"] for now in store.now("bert")] == [0]


def test_a_log_whose_name_is_no_utf_8_keeps_nothing_from_being_shipped_once(tmp_path: Path, postgres_url: str) -> None:
    log = tmp_path / "logs" / os.fsdecode(b"\xff.log")
    write_job(log)
    for _ in range(2):
        ended(agent(tmp_path, postgres_url, "--once", str(log.parent)))
        assert figures(run_of(landed(postgres_url))) == figures(read(log))


def test_an_agent_that_is_killed_again_and_again_reports_all_and_nothing_twice(
    tmp_path: Path, postgres_url: str
) -> None:
    whole, log = tmp_path / "whole.log", tmp_path / "job.log"
    write_job(whole, ranks=40, steps=60)
    lines = whole.read_bytes().splitlines(keepends=True)
    log.touch()
    chance = random.Random(7)
    for part in range(4):
        process = agent(tmp_path, postgres_url, str(log))
        with log.open("ab", buffering=0) as file:
            for line in lines[part * len(lines) // 4 : (part + 1) * len(lines) // 4]:
                file.write(line)
                time.sleep(0.004)
        time.sleep(chance.random() * 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    process = agent(tmp_path, postgres_url, str(log))
    until(postgres_url, figures(read(log)))
    process.send_signal(signal.SIGTERM)
    ended(process)
    assert figures(run_of(landed(postgres_url))) == figures(read(log))


def test_a_job_is_shown_over_its_nodes_with_their_clocks_put_right(tmp_path: Path, postgres_url: str) -> None:
    logs = {node: tmp_path / node / "stdout.log" for node in ("n1", "n2")}
    for log in logs.values():
        write_job(log)
    for node, log in logs.items():
        ended(agent(tmp_path, postgres_url, "--once", str(log.parent), node=node))
    command = [sys.executable, "-m", "neuron_top", "watch", "--store", postgres_url, "--job", "bert"]
    with subprocess.Popen([*command, "--json"], env=environment(tmp_path), stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        for line in watch.stdout:
            view = json.loads(line)
            if view["cache"]["hits"] == 2 * len(GRAPHS) * 16:
                break
        watch.send_signal(signal.SIGINT)
        watch.stdout.read()
    assert view["cache"]["misses"] == 6
    alone = figures(read(logs["n1"]))
    with FleetStore(postgres_url) as store:
        run = merged_run(store, "bert", 3600.0)
        assert all(part.finished is not None for part in rows(store, "parts", run="bert"))
    assert run.compiles.totals.hits == 2 * len(GRAPHS) * 16
    assert (run.job.warnings, run.job.errors) == tuple(2 * count for count in alone["job"])  # type: ignore[attr-defined]
    assert {worker.node for graph in run.compiles.graphs.values() for worker in graph.workers.values()} == {"n1", "n2"}
    assert sorted(run.job.sources) == [f"{node}:{log}" for node, log in logs.items()]


def test_a_job_that_is_run_here_is_shipped_with_its_end(tmp_path: Path, postgres_url: str) -> None:
    log = tmp_path / "of-the-job.log"
    write_job(log)
    command = [sys.executable, "-m", "neuron_top", "run", "--store", postgres_url, "--plain", "--name", "small", "--"]
    result = subprocess.run(
        [*command, "sh", "-c", f"cat {log}; exit 3"], env=environment(tmp_path), capture_output=True, timeout=120
    )
    assert result.returncode == 3
    with FleetStore(postgres_url) as store:
        (job,) = store.jobs()
        assert (job.name, job.exit_code, job.nodes) == ("small", 3, 1)
        run = merged_run(store, "small", 3600.0)
    assert (run.job.exit_code, run.compiles.totals.hits) == (3, len(GRAPHS) * 16)


def test_a_job_runs_on_when_no_database_answers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "neuron_top", "run", "--store", "postgresql://127.0.0.1:1/none", "--plain", "--"]
    result = subprocess.run([*command, "true"], env=environment(tmp_path), capture_output=True, text=True, timeout=120)
    assert result.returncode == 0
    assert "wait in" in result.stderr


def test_a_job_that_is_not_there_is_named(tmp_path: Path, postgres_url: str) -> None:
    command = [sys.executable, "-m", "neuron_top", "watch", "--store", postgres_url, "--job", "other", "--json"]
    result = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=60)
    assert result.returncode == 3
    assert "no job 'other'" in result.stderr


def test_metrics_are_slim_and_on_loopback(tmp_path: Path, postgres_url: str) -> None:
    process = agent(tmp_path, postgres_url)
    assert process.stderr is not None
    process.stderr.readline()
    address = process.stderr.readline().split()[-1]
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address, timeout=30) as answer:
        text = answer.read().decode()
    series = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert any(line.startswith("neurontop_agent_spooled_events") for line in series)
    assert len([line for line in series if not line.startswith("neurontop_core_")]) <= 60
    process.send_signal(signal.SIGTERM)
    ended(process)


def test_what_was_read_while_the_database_was_away_arrives_once_it_is_back(tmp_path: Path) -> None:
    try:
        with running(settings="fsync = off") as server:
            url = server.url(server.new_database())
            with Database(url, prepared=False) as database:
                migrate(database)
            log = tmp_path / "job.log"
            log.write_text("")
            process = agent(tmp_path, url, str(log))
            until(url, figures(Run()))
            server.kill()
            write_job(log)
            time.sleep(2.0)
            server.start()
            until(url, figures(read(log)))
            process.send_signal(signal.SIGTERM)
            ended(process)
            assert figures(run_of(landed(url))) == figures(read(log))
    except PostgresMissing as reason:
        pytest.skip(str(reason))


def test_two_machines_with_one_name_are_refused(tmp_path: Path, postgres_url: str) -> None:
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="another"))
    reported = ended(agent(tmp_path, postgres_url, "--once"), status=4)
    assert "NEURONTOP_NODE" in reported


def test_two_agents_of_one_job_on_one_node_are_refused(tmp_path: Path, postgres_url: str) -> None:
    first = agent(tmp_path, postgres_url)
    assert first.stderr is not None
    first.stderr.readline()
    assert "another agent runs" in ended(agent(tmp_path, postgres_url), status=2)
    first.send_signal(signal.SIGTERM)
    ended(first)


@pytest.mark.parametrize("arguments", [(), ("--once",)])
def test_without_a_database_it_says_what_to_do(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "neuron_top", "agent", *arguments]
    result = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "--store" in result.stderr


@pytest.mark.parametrize(
    ("last_lines", "state"),
    [
        ("training completed\n", "finished"),
        ("Traceback (most recent call last):\nRuntimeError: the batch is empty\n", "failed"),
        ("", "cut off"),
    ],
)
def test_how_a_job_ended_is_reported_by_its_logs_where_agents_saw_no_command(
    tmp_path: Path, postgres_url: str, capsys: pytest.CaptureFixture[str], last_lines: str, state: str
) -> None:
    """The fleet's table, the summary of the job over its nodes, which has the job's name, and the list of runs."""
    for node, more in (("n1", last_lines), ("n2", "")):
        log = tmp_path / node / "stdout.log"
        write_job(log)
        log.write_text(log.read_text().removesuffix("ValueError: the batch is empty\n") + more)
        ended(agent(tmp_path, postgres_url, "--once", str(log.parent), node=node))
    assert main(["fleet", "jobs", "--json", "--store", postgres_url]) == 0
    (job,) = json.loads(capsys.readouterr().out)
    assert job["state"] == state
    main(["fleet", "summary", "bert", "--json", "--store", postgres_url])
    summary = json.loads(capsys.readouterr().out)
    assert (summary["name"], summary["state"]) == ("bert", state)
    main(["runs", "--json", "--store", postgres_url])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["id"], run["state"]) == ("bert", state)
