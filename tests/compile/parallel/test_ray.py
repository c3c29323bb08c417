"""`neurontop compile --on ray` on a real cluster of four nodes, with a compiler in a script."""

from __future__ import annotations

import os
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

import psutil
import pytest

from neuron_top.compile.parallel.compile_queue import Fault
from neuron_top.errors import UsageError
from tests.compile.parallel.scheduled import COMPILED, NoLibrary, Site
from tests.servers.ray_cluster import RayMissing, ray_cluster

pytestmark = pytest.mark.xdist_group("ray")
"""Ray looks through the processes of the whole machine for a cluster."""


def test_every_graph_is_compiled_once_though_a_node_has_no_compiler_and_a_worker_is_killed(tmp_path: Path) -> None:
    site = Site(tmp_path, os.environ)
    site.mark("no-compiler-on-n2")
    site.mark("kill-161")
    gate = site.mark("wait")
    try:
        with ray_cluster(site.environ) as address:
            place = ("--on", "ray", "--ray", address)
            status, said = site.interrupt(*place, mark=r"[1-3] running")
            assert status == 130, said
            assert site.lines("compiled") == []
            assert list(site.root.rglob("*.lock")) == []
            gate.unlink()
            done = site.compile(*place)
    except RayMissing as reason:
        pytest.skip(str(reason))
    assert done.returncode == 0, done.stderr
    site.check_each_compiled_once()
    assert ["target:trn2", "account:"] in site.lines("environment")
    assert {node for _, node in site.lines("compiled")} <= {"n1", "n3", "n4"}


def test_no_cluster_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    if any("gcs_server" in (process.info["name"] or "") for process in psutil.process_iter(["name"])):
        pytest.skip("a Ray cluster runs on this machine, which Ray would find")
    done = Site(tmp_path, os.environ).compile("--on", "ray")
    assert done.returncode == 2, done.stderr
    assert "no Ray cluster that runs here" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("said", "attempts"),
    [
        ("RuntimeError: Starting Ray client server failed.", 3),
        ("psutil.ZombieProcess: PID still exists but it's a zombie", 3),
        ("RuntimeError: No route to host", 1),
    ],
)
def test_a_client_server_that_died_at_its_start_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, said: str, attempts: int
) -> None:
    pytest.importorskip("ray")
    from neuron_top.compile.parallel import ray_cluster

    asked = []

    def refuse(**settings: Any) -> None:
        asked.append(settings["address"])
        raise ConnectionAbortedError(f"Initialization failure from server:\n{said}\n")

    monkeypatch.setattr(ray_cluster.ray, "init", refuse)
    with pytest.raises(UsageError, match=said):
        ray_cluster.RayExecutor("ray://127.0.0.1:1", NoLibrary())
    assert asked == ["ray://127.0.0.1:1"] * attempts


def failed(problem: BaseException) -> Future[tuple[str, bytes]]:
    """A task that Ray says has failed so."""
    ended: Future[tuple[str, bytes]] = Future()
    ended.set_exception(problem)
    return ended


def answered(data: bytes) -> Future[tuple[str, bytes]]:
    """A task that answered from a node."""
    ended: Future[tuple[str, bytes]] = Future()
    ended.set_result(("n1", data))
    return ended


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        (failed(ConnectionError("the client is gone\nfor good")), "ConnectionError: the client is gone"),
        (failed(CancelledError()), "CancelledError"),
        (failed(ImportError("no module of the node")), "no module of the node"),
        (answered(b"{}"), "result"),
        (answered(COMPILED), "ImportError: no library for it"),
    ],
)
def test_a_task_whose_result_cannot_be_read_counts_as_lost(tmp_path: Path, ended, reason: str) -> None:
    pytest.importorskip("ray")
    from neuron_top.compile.parallel.ray_cluster import compile_result

    found = compile_result(tmp_path / "model.hlo_module.pb", ended, NoLibrary())
    assert (found.ok, found.fault) == (False, Fault.LOST)
    assert reason in found.message


def test_nothing_secret_goes_to_the_cluster_which_shows_variables_to_everybody() -> None:
    pytest.importorskip("ray")
    from neuron_top.compile.parallel.ray_cluster import passed_variables

    wanted = {
        "NEURON_CC_FLAGS": "--lnc=2",
        "NEURONTOP_CLAIMS": "s3://bucket/claims",
        "NEURONTOP_CACHE_KEY_FILE": "/etc/key",
        "XLA_FLAGS": "--xla_dump_to=/x",
    }
    secret = {
        "NEURONTOP_AGENT_TOKEN": "0123456789abcdef",
        "NEURONTOP_PROMETHEUS_PASSWORD": "hunter2",
        "NEURONTOP_STORE": "postgresql://db.example/fleet?password=hunter2",
        "NEURONTOP_WEBHOOK_ERROR": "https://hooks.example/services/hunter2",
        "NEURON_COMPILE_CACHE_URL": "s3://me:hunter2@bucket/x",
    }
    others = {"NEURONTOP_NODE": "n1", "HOME": "/root"}
    assert passed_variables(wanted | secret | others) == wanted


def test_a_refusal_is_reported_with_its_reason() -> None:
    pytest.importorskip("ray")
    from neuron_top.compile.parallel.ray_cluster import gist

    assert gist(ConnectionError("Initialization failure from server:\nTraceback\n  it was slow\n")).endswith(
        ": it was slow"
    )
    assert gist(RuntimeError("refused\nbecause")) == "refused"
    assert gist(RuntimeError("refused:")) == "refused:"
    assert gist(RuntimeError()) == "RuntimeError"
