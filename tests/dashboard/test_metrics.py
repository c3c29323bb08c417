"""The metrics: by Prometheus' conventions, true to the overview, and taken by a real Prometheus server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.dashboard.metrics import metrics_of, slim_metrics_of
from neuron_top.views.core_metrics import CORE_METRICS
from neuron_top.views.overview import overview
from tests.dashboard.served import READ, serving
from tests.tui.feeds import START, StillFeed, compiles, failed_log, job, samples, steps

ASSETS = Path(__file__).parents[2] / "assets"
GRAFANA, RULES = ASSETS / "grafana" / "neuron-top.json", ASSETS / "prometheus" / "neurontop.rules.yml"


def feed() -> StillFeed:
    return StillFeed([*job(), *samples(4, 3), *compiles(), *steps(3)], now=START + 5)


def test_what_is_unknown_is_absent_and_never_zero() -> None:
    names = {family.name for family in metrics_of(StillFeed().read(overview)) if family.samples}
    assert not {name for name in names if name.startswith(("neurontop_training", "neurontop_core", "neurontop_host"))}
    assert "neurontop_cache_hit_ratio" not in names


def test_the_time_of_compiles_that_no_line_dates_is_absent() -> None:
    undated = StillFeed([*job(), ev.CompilerPassed(seen=START + 2)], now=START + 5)
    values = {sample.name for family in metrics_of(undated.read(overview)) for sample in family.samples}
    assert "neurontop_compile_seconds_total" not in values


def test_a_host_that_is_no_longer_sampled_is_absent_like_its_cores() -> None:
    host = ev.HostSampled(cpu=0.5, memory_used=5, memory_total=10, at=START, node="trn1")
    for now, expected in (
        (START + 5, {"neurontop_host_cpu_ratio", "neurontop_host_memory_used_bytes"}),
        (START + 60, set()),
    ):
        feed = StillFeed([*job(), host], now=now)
        names = {family.name for family in metrics_of(feed.read(overview)) if family.samples}
        assert {name for name in names if name.startswith("neurontop_host")} - {
            "neurontop_host_memory_bytes"
        } == expected


def test_a_log_whose_name_is_no_utf_8_is_named_with_its_bytes_written_out() -> None:
    log = ev.OutputGrew(path=os.fsdecode(b"/logs/\xff.log"), end=9, seen=START)
    odd = StillFeed([log, *steps(3)], now=START + 5)
    found = [sample for family in metrics_of(odd.read(overview)) for sample in family.samples]
    assert [one.labels["job"] for one in found if one.name == "neurontop_job_active"] == ["\\xff.log"]


def test_nothing_is_reported_about_a_job_that_is_not_there() -> None:
    idle = StillFeed(samples(4, 3), now=START + 240)
    header = idle.read(overview).header
    assert (header.active, header.started, header.elapsed, header.over) == (False, None, None, False)
    assert "neurontop_job_elapsed_seconds" not in {family.name for family in metrics_of(idle.read(overview))}


def test_no_worker_is_alive_once_its_job_has_ended() -> None:
    ended = StillFeed([*job(), ev.RunFinished(run="r", exit_code=0, at=START + 3)], now=START + 5)
    values = {sample.name: sample.value for family in metrics_of(ended.read(overview)) for sample in family.samples}
    assert (values["neurontop_job_active"], values["neurontop_job_workers"]) == (0, 0)
    assert values["neurontop_job_elapsed_seconds"] == 3


def test_the_metrics_say_what_the_overview_says(tmp_path: Path) -> None:
    with serving(feed(), tmp_path) as served:
        view = served.ask("/api/overview").json
        text = served.ask("/metrics").body.decode()
    values = dict(re.findall(r"^(neurontop_\S+) (\S+)$", text, re.MULTILINE))
    assert float(values["neurontop_training_loss"]) == view["training"]["loss"]
    assert float(values['neurontop_cache_lookups_total{result="hit"}']) == view["cache"]["hits"]
    core = view["cores"][2]
    labels = [f'core="{core["core"]}"', f'device="{core["device"]}"', 'kind="neuron"', 'node="trn1"']
    used = {name: value for name, value in values.items() if name.startswith("neurontop_core_memory_used_bytes")}
    found = [float(value) for name, value in used.items() if all(label in name for label in labels)]
    assert found == [core["memory"]]


def test_the_address_of_the_api_lists_what_there_is(tmp_path: Path) -> None:
    with serving(feed(), tmp_path) as served:
        listed = served.ask("/api/").json
        described = served.ask(listed["described"]).json
    rows = {(row["path"], row["method"].lower()) for row in listed["endpoints"]}
    assert rows <= {(f"/api{path}", method) for path, methods in described["paths"].items() for method in methods}
    assert ("/api/overview", "get") in rows


def test_promtool_has_nothing_to_say_against_names_and_units(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool on this machine (Debian: apt-get install prometheus)")
    with serving(feed(), tmp_path) as served:
        text = served.ask("/metrics").body
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


def test_a_real_prometheus_scrapes_us_with_a_token_and_answers_every_query_of_the_grafana_board(
    tmp_path: Path,
) -> None:
    prometheus = shutil.which("prometheus")
    if prometheus is None:
        pytest.skip("no Prometheus on this machine (Debian: apt-get install prometheus)")
    with serving(feed(), tmp_path / "state", read=READ) as served:
        (tmp_path / "token").write_text(READ)
        config = {
            "scrape_configs": [
                {
                    "job_name": "neurontop",
                    "scrape_interval": "1s",
                    "authorization": {"credentials_file": str(tmp_path / "token")},
                    "static_configs": [{"targets": [f"127.0.0.1:{served.port}"]}],
                }
            ]
        }
        (tmp_path / "prometheus.yml").write_text(json.dumps(config))
        port = _free_port()
        command = [
            prometheus,
            f"--config.file={tmp_path}/prometheus.yml",
            f"--storage.tsdb.path={tmp_path}/data",
            f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=error",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                loss = _until_answered(port, "neurontop_training_loss")
                board = json.loads(GRAFANA.read_text())
                expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
                answers = [_query(port, text.replace('{instance=~"$instance"}', "")) for text in expressions]
            finally:
                server.terminate()
    assert float(loss[0]["value"][1]) == feed().read(overview).training.loss
    assert all(answer["status"] == "success" for answer in answers)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _query(port: int, text: str) -> Any:
    address = f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': text})}"
    with urllib.request.urlopen(address, timeout=60) as answer:
        return json.load(answer)


def _until_answered(port: int, name: str, seconds: float = 180) -> Any:
    import threading
    import time

    deadline, pause = time.monotonic() + seconds, threading.Event()
    while time.monotonic() < deadline:
        try:
            found = _query(port, name)["data"]["result"]
        except OSError:
            found = []
        if found:
            return found
        pause.wait(0.2)
    raise AssertionError(f"Prometheus has no {name}")


def test_a_log_that_ended_in_failure_counts_as_an_alert_and_as_a_job_that_is_over(tmp_path: Path) -> None:
    with serving(failed_log(), tmp_path) as served:
        text = served.ask("/metrics").body.decode()
    assert re.search(r'^neurontop_alerts\{severity="error"\} 1\.0$', text, re.MULTILINE)
    assert re.search(r"^neurontop_job_active\{.*\} 0\.0$", text, re.MULTILINE)


def test_the_board_of_a_node_shows_every_metric_of_a_core_that_prometheus_has() -> None:
    board = json.loads(GRAFANA.read_text())
    shown = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    missing = [
        metric.name for metric in CORE_METRICS if metric.prometheus and f"core_{metric.prometheus}{{" not in shown
    ]
    assert missing == []


def test_an_agent_has_every_metric_that_the_rules_and_the_board_of_a_fleet_are_made_of() -> None:
    used = "".join(path.read_text() for path in (GRAFANA.with_name("neuron-top-fleet.json"), RULES))
    recorded = set(re.findall(r"record: \w+:(\w+):", used))
    asked = set(re.findall(r"\bneurontop_\w+", used)) - recorded - {"neurontop_job"}
    families = slim_metrics_of(feed().read(overview))
    assert {sample.name for family in families for sample in family.samples} >= asked - {
        "neurontop_cache_disk_free_bytes"
    }


def test_no_panels_of_the_board_lie_on_each_other() -> None:
    panels = json.loads(GRAFANA.read_text())["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels) == len({panel["id"] for panel in panels})
