"""`neurontop fleet jobs|nodes|top|different` against a real PostgreSQL with four nodes in it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from neuron_top.cli.main import main
from neuron_top.store.postgres.fleet import FleetStore
from tests.fleet.database import fill
from tests.fleet.samples import reported


@pytest.fixture
def fleet(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The fleet of `tests.fleet.database`, as the one that the environment names."""
    fill(postgres_url)
    monkeypatch.setenv("NEURONTOP_STORE", postgres_url)
    return postgres_url


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(["fleet", *arguments]) == status
    return capsys.readouterr().out


def test_jobs_are_listed_the_newest_first(fleet: str, capsys: pytest.CaptureFixture[str]) -> None:
    jobs: list[dict[str, Any]] = json.loads(printed(capsys, "jobs", "--json"))
    assert [(job["job"], job["state"], job["nodes"]) for job in jobs] == [("4711", "running", 4), ("4700", "failed", 1)]
    assert (jobs[0]["slow_nodes"], jobs[0]["phases"]) == (["n3"], {"training": 4})
    text = printed(capsys, "jobs")
    assert "failed (exit status 1)" in text
    assert "training" in text


def test_nodes_are_an_object_each_and_the_slow_one_says_so(fleet: str, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = json.loads(printed(capsys, "nodes", "--json", "--job", "471", "--sort", "step_seconds"))
    assert [node["node"] for node in nodes] == ["n3", "n1", "n2", "n4"]
    assert [node["slow"] for node in nodes] == [True, False, False, False]
    lines = printed(capsys, "nodes", "--job", "4711").splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["n1", "n2", "n3", "n4"]
    assert [line for line in lines if line.endswith("slow")] == [lines[3]]


def test_the_top_of_a_metric_and_what_is_different(fleet: str, capsys: pytest.CaptureFixture[str]) -> None:
    top = json.loads(printed(capsys, "top", "step_seconds", "--count", "2", "--json"))
    assert [(row["node"], row["text"]) for row in top] == [("n3", "2.0 s"), ("n1", "1.0 s")]
    assert "40 %" in printed(capsys, "top")
    different = json.loads(printed(capsys, "different", "--json"))
    assert different["selected"] == ["n3"]
    assert [(row["attribute"], row["value"]) for row in different["rows"]] == [("compiler", "2.20")]
    assert "compiler" in printed(capsys, "different", "n3")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("watch",), 2, "needs a terminal"),
        (("nodes", "--job", "nobody"), 3, "no job 'nobody'"),
        (("nodes", "--job", "no\udcffbody"), 3, "no job 'no\\udcffbody'"),
        (("nodes", "--job", "47"), 3, "2 jobs begin with '47': 4711, 4700"),
        (("different", "n9"), 3, "no node n9"),
        (("top", "heat"), 2, "no metric 'heat'"),
    ],
)
def test_what_is_not_there_is_said(
    fleet: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], status: int, said: str
) -> None:
    assert main(["fleet", *arguments]) == status
    assert said in capsys.readouterr().err


def test_without_a_database_the_variable_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEURONTOP_STORE", raising=False)
    assert main(["fleet", "nodes"]) == 2
    assert "NEURONTOP_STORE" in capsys.readouterr().err


def test_a_number_of_unknown_value_is_null(fleet: str, capsys: pytest.CaptureFixture[str]) -> None:
    with FleetStore(fleet) as store:
        store.beat(msgspec.structs.replace(reported("n2"), step_seconds=None, metrics={}))
    node = json.loads(printed(capsys, "nodes", "--json"))[1]
    assert (node["node"], node["step_seconds"], node["metrics"].get("utilization")) == ("n2", None, None)
