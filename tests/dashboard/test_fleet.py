"""The fleet on the web: the API says what the commands say, and a site's Prometheus finds every agent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from tests.dashboard.served import READ, Served, serving
from tests.fleet.database import NODES, fill
from tests.tui.feeds import StillFeed


@pytest.fixture
def served(postgres_url: str, tmp_path: Path) -> Iterator[Served]:
    """A server of a fleet with four nodes."""
    fill(postgres_url)
    with serving(StillFeed(), tmp_path, store=postgres_url) as one:
        yield one


def test_the_api_has_what_the_commands_print(served: Served) -> None:
    assert [(job["job"], job["nodes"]) for job in served.ask("/api/fleet/jobs").json] == [("4711", 4), ("4700", 1)]
    assert [node["node"] for node in served.ask("/api/fleet/nodes?sort=step_seconds").json] == ["n3", "n1", "n2", "n4"]
    assert [row["node"] for row in served.ask("/api/fleet/top?metric=step_seconds&count=1").json] == ["n3"]
    assert served.ask("/api/fleet/different").json["rows"][0]["value"] == "2.20"
    assert served.ask("/api/fleet/different?nodes=n1,n2").json["selected"] == ["n1", "n2"]
    assert served.ask("/api/fleet/nodes?job=4700").json == []
    for wrong, status in (
        ("nodes?sort=heat", 400),
        ("nodes?job=x", 404),
        ("top?count=x", 400),
        ("different?nodes=n9", 404),
    ):
        assert served.ask(f"/api/fleet/{wrong}").status == status


def test_prometheus_is_told_every_agent_with_the_labels_of_the_rules(served: Served) -> None:
    groups = served.ask("/api/targets").json
    assert [group["targets"] for group in groups] == [[f"127.0.0.1:{9000 + number}"] for number in range(4)]
    first = {"node": "n1", "cluster": "trn", "neurontop_job": "4711", "__scheme__": "http"}
    assert groups[0]["labels"] == first | {"__metrics_path__": "/metrics"}


def test_without_a_fleet_the_endpoints_say_how_to_name_one(tmp_path: Path) -> None:
    with serving(StillFeed(), tmp_path) as served:
        answer = served.ask("/api/fleet/nodes")
    assert (answer.status, "--store" in answer.json["error"]) == (404, True)


def test_the_fleet_is_for_readers_only(postgres_url: str, tmp_path: Path) -> None:
    with serving(StillFeed(), tmp_path, store=postgres_url, read=READ) as served:
        assert served.ask("/api/targets").status == 401
        assert served.ask("/api/targets", token=READ).status == 200


def test_many_who_ask_at_once_cost_one_question(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    page = FleetService.page
    monkeypatch.setattr(FleetService, "page", lambda self, job=None: (asked.append(1), page(self, job))[1])
    threads = [threading.Thread(target=served.ask, args=("/api/fleet/nodes",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(asked) < 20


def test_a_job_is_summed_up_over_its_nodes(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetService(Settings(store=postgres_url)) as fleet:
        total = fleet.summary("4711")
    assert (total.steps, total.loss, len(NODES)) == (3, 1.5, 4)
