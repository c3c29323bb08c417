"""What a script annotates its graph with reaches the compiler, where it changes the code."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from neuron_top.compile.graphs import hashing  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600), pytest.mark.xdist_group("compiles")]

UNCOMPILED = """
import torch

def wave(uncompiled):
    def function(x):
        y = x.sin() * 2
        with torch.fx.traceback.annotate({"fallback_to_eager": uncompiled}):
            z = torch.tanh(y * y) / 3  # three kernels of PyTorch round to 16 bits, compiled code would do so once
        return z + 1
    return function

def result(uncompiled, backend):
    torch._dynamo.reset()
    with torch.compiler.config.patch(force_disable_caches=backend == "inductor"):  # PyTorch's keys hold no annotations
        return torch.compile(wave(uncompiled), backend=backend)(torch.linspace(-3, 3, 4096).to(torch.bfloat16))

ours, theirs = ({it: result(it, backend) for it in (True, False)} for backend in ("neurontop", "inductor"))
print(torch.equal(theirs[True], theirs[False]), *(torch.equal(ours[it], theirs[it]) for it in ours))
"""


def test_a_part_that_is_to_call_pytorchs_own_kernels_does() -> None:
    done = subprocess.run([*warm_python(), "-c", UNCOMPILED], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["False True True"], done.stdout + done.stderr


def annotated(annotations: dict[str, Any] | None) -> str:
    gm = make_fx(torch.sin, tracing_mode="fake")(torch.zeros(3))
    for node in gm.graph.nodes:
        if annotations is not None:
            node.meta["custom"] = annotations
    hashing.strip_unserialized(gm)
    return hashing.digest_graph(gm, [], {})


def test_a_key_counts_the_annotations_that_the_compiler_reads_and_no_others() -> None:
    plain = annotated(None)
    assert annotated({"fallback_to_eager": True}) != plain
    assert annotated({"fallback_to_eager": False, "layer": 3}) == plain


def test_what_runs_on_a_stream_of_the_script_is_not_shared() -> None:
    with pytest.raises(hashing.NotCacheable, match="stream of its own"):
        annotated({"stream": 0})
