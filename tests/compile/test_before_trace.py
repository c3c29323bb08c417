"""Inductor's passes over a captured graph run before the trace, as with Inductor itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(600), pytest.mark.xdist_group("compiles")]

from neuron_top.compile.torch import before_trace  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

SAMPLING = """
import torch

def sampled(logits):
    probabilities = torch.nn.functional.softmax(logits, dim=-1)
    noise = torch.empty_like(logits).exponential_(1.0)
    return torch.argmax(probabilities / noise, dim=-1, keepdim=True)

def drawn(backend):
    torch.manual_seed(0)
    logits = torch.full((8, 64), 1e9)  # so large that what is added to one is lost
    return torch.compile(sampled, backend=backend)(logits)

"""
COMPARED = SAMPLING + 'print(torch.equal(drawn("neurontop"), drawn("inductor")))'
COLLECTED = (
    SAMPLING
    + """
from torch._dynamo.utils import counters
from neuron_top.compile.graphs import own_code, torch_functions

drawn("neurontop")
print(counters["inductor"]["apply_gumbel_max_trick"], own_code.foreign(), torch_functions.replaced())
"""
)


def run(script: str, **variables: str) -> tuple[str, str]:
    """What a fresh process prints at its end, and what it said."""
    command = [*warm_python(), "-c", script]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1], done.stderr


def test_sampling_picks_what_inductor_picks_cold_and_warm(own_caches: Path) -> None:
    assert run(COMPARED)[0] == "True"
    printed, said = run(COMPARED)
    assert printed == "True"
    assert said.count("Using a cached neff at") == 1


def test_the_passes_run_once_and_are_not_taken_for_code_of_the_script(own_caches: Path) -> None:
    assert run(COLLECTED, NEURON_EXTRACT_GRAPHS_ONLY="1")[0].split() == ["1"]


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")  # of PyTorch's own modules
@pytest.mark.parametrize("runs_them", [True, False])
def test_aotautograd_is_given_the_passes_or_a_graph_that_they_have_changed(
    runs_them: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor import compile_fx

    monkeypatch.setattr(before_trace, "_aotautograd_runs_them", lambda: runs_them)
    monkeypatch.setattr(compile_fx, "_recursive_pre_grad_passes", lambda graph, inputs: f"{graph} with {inputs}")
    given = before_trace.passes().get("pre_grad_passes", lambda graph, inputs: graph)
    assert given(before_trace.changed("graph", "inputs"), "inputs") == "graph with inputs"


@pytest.mark.skipif(not hasattr(torch._functorch.config, "selective_decompose"), reason="a newer PyTorch has it")
@pytest.mark.parametrize("decompose", [False, True])
def test_aotautograd_decomposes_what_inductor_lets_it(decompose: bool) -> None:
    with torch._inductor.config.patch(selective_decompose=decompose):
        assert before_trace.settings() == {"unlift_effect_tokens": True, "selective_decompose": decompose}
