"""What a script does to Inductor takes part in its compiles here as there, and is shared with nobody else's.

Each attack runs in processes of their own with one cache: one that changes Inductor, one that leaves it alone, in
every order. The function gives `x + 1`; every change makes it another number.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(3600)]

from tests.adversary import attacker  # noqa: E402

PROGRAM = """
import sys, torch
from torch._inductor.custom_graph_pass import CustomGraphPass
import torch._inductor.config as config
aten = torch.ops.aten

class P(CustomGraphPass):
    def __init__(self, number, identity): self.number, self.identity = number, identity
    def __call__(self, graph):
        for node in graph.nodes:
            if node.op == "call_function" and len(node.args) > 1 and node.args[1] == 1:
                node.args = (node.args[0], self.number)
    def uuid(self): return self.identity

def lowering():
    from torch._inductor.lowering import lowerings, register_lowering
    add = lowerings[aten.add.Tensor]
    register_lowering(aten.add.Tensor)(lambda x, y, **rest: add(x, 14 if y == 1 else y))
def moved():
    from torch._inductor.lowering import lowerings
    lowerings[aten.add.Tensor] = lowerings[aten.sub.Tensor]
def patched():
    from torch._inductor.codegen import cpp
    moved()
    cpp.CppOverrides.sub = staticmethod(lambda a, b: f"({a} + 20)")
    cpp.CppVecOverrides.sub = staticmethod(lambda a, b: f"({a} + at::vec::Vectorized<float>(20.0f))")
def decomposition():
    from torch._inductor.decomposition import decompositions
    decompositions[aten.add.Tensor] = lambda x, y, **rest: aten.sub.Tensor(x, -15) if y == 1 else NotImplemented
def pattern():
    from torch._inductor.fx_passes.post_grad import pass_patterns
    from torch._inductor.pattern_matcher import Arg, CallFunction, register_graph_pattern
    @register_graph_pattern(CallFunction(aten.add.Tensor, Arg(), 1), pass_dict=pass_patterns[0])
    def replace(match, x): match.output_node().args = (x, 16)

CHANGES = {
    "plain": lambda: None,
    "uuid": lambda: setattr(config, "post_grad_custom_post_pass", P(11, b"eleven")),
    "other uuid": lambda: setattr(config, "post_grad_custom_post_pass", P(12, b"twelve")),
    "no uuid": lambda: setattr(config, "post_grad_custom_pre_pass", P(13, None)),
    "joint": lambda: setattr(config, "joint_custom_pre_pass", P(17, b"joint")),
    "pre-grad": lambda: setattr(config, "pre_grad_custom_pass", P(18, b"early")),
    "lowering": lowering, "moved": moved, "patched": patched, "decomposition": decomposition, "pattern": pattern,
}
for name in sys.argv[1:]:
    CHANGES[name]()
    torch._dynamo.reset()
    print("result", torch.compile(lambda x: x + 1, backend="neurontop")(torch.zeros(3))[0].item())
"""
RESULTS = {
    "plain": 1, "uuid": 11, "other uuid": 12, "no uuid": 13, "joint": 17, "pre-grad": 18, "lowering": 14, "moved": -1,
    "patched": 20, "decomposition": 15, "pattern": 16,
}  # fmt: skip
IN_THE_JOB = {*RESULTS} - {"plain", "moved", "patched"}


def run(change: str, tmp_path: Path, **environ: str) -> tuple[float, str]:
    """The result of a process with this change, and what it said."""
    return attacker.result_of(PROGRAM, change, tmp_path, **environ)


@pytest.mark.parametrize("skip_trace", ["", "0"])
def test_every_change_acts_where_it_is_made_and_nowhere_else(tmp_path: Path, skip_trace: str) -> None:
    rest = [name for name in RESULTS if name not in ("plain", "uuid")]
    some = ["plain", "uuid", "patched", "moved", "lowering", "plain"]
    order = ["plain", *rest, "plain", *rest] if attacker.LONG else some
    for change in ("uuid", *order):
        result, said = run(change, tmp_path, NEURONTOP_SKIP_TRACE=skip_trace)
        assert result == RESULTS[change], (change, said)
        assert ("compiled in the job, by Inductor alone" in said) == (change in IN_THE_JOB), (change, said)


def test_a_trial_run_stores_nothing_of_a_changed_inductor(tmp_path: Path) -> None:
    _, said = run("uuid", tmp_path, NEURON_EXTRACT_GRAPHS_ONLY="1")
    assert "cannot be cached" in said
    assert not list(tmp_path.rglob("model.fxgraph"))
