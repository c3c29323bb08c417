"""Interfaces of PyTorch that another version has in another way: the job goes on, and what was not found is said."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(600), pytest.mark.xdist_group("compile servers")]

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from neuron_top.cache.model import graph_header  # noqa: E402
from neuron_top.cache.signing import Keys  # noqa: E402
from neuron_top.compile.graphs import graph_file, hashing, inductor_compile, other_pytorch  # noqa: E402
from neuron_top.compile.server import server  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

REASON = "neuron-top does not know this version of PyTorch: AttributeError: "
TRAIN = """
import torch
from types import SimpleNamespace
from neuron_top.compile.graphs import hashing, inductor_compile, own_code, torch_kernels
{place} = SimpleNamespace()
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(4, 4))
def loss(x): return torch.tanh(x @ weight).square().sum()
x = torch.randn(3, 4)
torch.compile(loss, backend="neurontop")(x).backward()
given, weight.grad = weight.grad, None
loss(x).backward()
print(torch.allclose(given, weight.grad, atol=1e-5))
"""


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("hashing.own_code", "graph cannot be cached ({reason}"),
        ("own_code.torch", "graph is compiled in the job, by Inductor alone: {reason}"),
        ("torch_kernels.torch", "graph is traced at every start: {reason}"),
        ("inductor_compile.CompiledArtifact", "graph cannot be cached ({reason}"),
    ],
)
def test_a_job_goes_on_where_something_is_missing(place: str, said: str) -> None:
    script = TRAIN.format(place=place)
    done = subprocess.run([*warm_python(), "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr
    assert said.format(reason=REASON) in done.stderr + done.stdout


def failing(code: str) -> Callable[[], Any]:
    """A function of a module of ours, or of another one, that fails."""
    names: dict[str, Any] = {"__name__": code.partition(" ")[0]}
    exec(f"def fails():\n    {code.partition(' ')[2]}", names)
    found: Callable[[], Any] = names["fails"]
    return found


@pytest.mark.parametrize(
    ("code", "known"),
    [
        ("neuron_top.compile.x return (1).gone", False),
        ("neuron_top.compile.x return int(nothing=1)", False),
        ("neuron_top.compile.x raise ValueError", True),
        ("torch._inductor.x return (1).gone", True),
    ],
)
def test_it_is_told_from_errors_of_pytorch_and_of_graphs(code: str, known: bool) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)) as raised:
        failing(code)()
    assert bool(other_pytorch.mismatch(raised.value)) is not known


def test_a_compile_process_gives_such_a_graph_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    gm = make_fx(torch.sin, tracing_mode="fake")(torch.ones(3))
    hashing.strip_unserialized(gm)
    file = tmp_path / "model.fxgraph"
    body = graph_file.dump(gm, [torch.ones(3)], {})
    file.write_bytes(graph_header.wrap(body, module="MODULE_0", graph="", keys=Keys()))
    monkeypatch.setattr(inductor_compile, "torch_settings", SimpleNamespace())
    request = {
        "graph": str(file),
        "graph_sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "graph_digest": "",
        "outputs": {},
        "module": "MODULE_0",
        "dump": "",
    }
    assert server._compile(request, os.open(os.devnull, os.O_WRONLY)) == server.NOT_SERIALIZABLE
    assert "does not know this version of PyTorch: AttributeError" in capfd.readouterr().err


def test_a_server_that_cannot_prepare_itself_serves(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(inductor_compile, "warm_up", failing("neuron_top.compile.x return int(nothing=1)"))
    server._get_ready()
    assert "Each compile prepares itself, which takes longer: TypeError" in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_patterns_are_made_with_the_arguments_that_pytorch_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor.fx_passes import joint_graph, post_grad

    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(post_grad, "lazy_init", lambda: asked.append(()))
    monkeypatch.setattr(joint_graph, "lazy_init", lambda: asked.append(()))
    inductor_compile._make_patterns()
    monkeypatch.setattr(joint_graph, "lazy_init", lambda input_device=None: asked.append((input_device,)))
    inductor_compile._make_patterns()
    assert asked == [(), (), (torch.device("cpu"),), ()]


def test_a_graph_is_written_whole_by_a_version_without_a_filter_of_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    graph_file.Options(**graph_file._everything())
    assert {"ops_filter", "node_metadata_key_filter"} >= graph_file._everything().keys() >= {"ops_filter"}
    older = dataclasses.make_dataclass("Options", [("ops_filter", Any)])
    monkeypatch.setattr(graph_file, "Options", older)
    assert graph_file._everything() == {"ops_filter": None}


def test_hints_of_sizes_are_found_under_their_older_name() -> None:
    assert hashing.symbol_hints(SimpleNamespace(var_to_val={"s0": 3})) == {"s0": 3}
    assert hashing.symbol_hints(SimpleNamespace(backed_var_to_val={}, var_to_val={"s0": 3})) == {}
