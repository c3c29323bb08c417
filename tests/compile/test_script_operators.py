"""Graphs that call operators of the script: shared where the compiler asks no more of these than the trace tells."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(900), pytest.mark.xdist_group("compiles")]

from neuron_top.compile.compiler import NotSerializable  # noqa: E402
from neuron_top.compile.graphs.script_operators import StandIns  # noqa: E402
from neuron_top.events import decode  # noqa: E402
from neuron_top.run.model import Run  # noqa: E402
from tests.compile.parallel import jobs  # noqa: E402
from tests.inductor_folder import inductor_folder  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

DEFINED = """
import sys, torch
@torch.library.custom_op("neurontop_test::thrice", mutates_args=(){options})
def thrice(x: torch.Tensor) -> torch.Tensor:
    return x * FACTOR
thrice.register_fake(lambda x: torch.empty_like(x))
thrice.register_autograd(lambda context, given: thrice(given))
@torch.library.custom_op("neurontop_test::add_to", mutates_args=("x",))
def add_to(x: torch.Tensor, value: float) -> None:
    x += value * FACTOR
FACTOR = {factor}
"""
INFERENCE = """
x = torch.randn(5)
assert torch.allclose(torch.compile(lambda x: thrice(x.cos()).sin(), backend="neurontop")(x), (x.cos() * FACTOR).sin())
print("right")
"""
TRAINING = """
x = torch.randn(5, requires_grad=True)
torch.compile(lambda x: thrice(x.sin()).sum(), backend="neurontop")(x).backward()
assert torch.allclose(x.grad, FACTOR * x.detach().cos())
print("right")
"""
MUTATING = """
def added(x):
    y = x.sin()
    add_to(y, 2.0)
    return y * 2
x = torch.randn(5)
assert torch.allclose(torch.compile(added, backend="neurontop")(x), (x.sin() + 2.0 * FACTOR) * 2)
print("right")
"""
SIZES = """
torch.compile(lambda x: thrice(x), backend="inductor")(torch.randn(5))  # now its tables hold the operator
compiled = torch.compile(lambda x: thrice(x.sin()).cos(), backend="neurontop", dynamic=True)
for size in (5, 8):
    x = torch.randn(size, 3)
    assert torch.allclose(compiled(x), (x.sin() * FACTOR).cos(), atol=1e-5)
print("right")
"""
OF_A_LIBRARY = """
library = torch.library.Library("neurontop_test_library", "DEF")
schema = 'split.both(Tensor[] xs, int[2] at, *, float scale=1e-05, str mode="a b", Tensor? y=None)'
library.define(f"{schema} -> (Tensor, Tensor[])")
def split(xs, at, *, scale=1e-05, mode="a b", y=None):
    whole = torch.cat(xs) * scale * FACTOR
    return whole[: at[0]].clone(), [whole[at[0] : at[1]].clone(), whole[at[1] :].clone()]
library.impl("split.both", split, "CPU")
library.define("split.first(Tensor x) -> Tensor")
library.impl("split.first", torch.neg, "CPU")
torch.library.register_fake("neurontop_test_library::split.first", torch.neg, lib=library)
torch.library.register_fake("neurontop_test_library::split.both", split, lib=library)
def parts(x):
    first, rest = torch.ops.neurontop_test_library.split.both([x.sin(), x.cos()], [2, 4], scale=2.0)
    return torch.ops.neurontop_test_library.split.first(first.exp()), rest[0] + rest[1][:2]
x = torch.randn(3)
for ours, theirs in zip(torch.compile(parts, backend="neurontop")(x), parts(x)):
    assert torch.allclose(ours, theirs, atol=1e-5)
print("right")
"""
CONVOLUTION = """
weight = torch.randn(8, 4, 3, 3)
def turned(x):
    return thrice(torch.nn.functional.conv2d(x, weight)).relu()
x = torch.randn(2, 4, 8, 8)
assert torch.allclose(torch.compile(turned, backend="neurontop")(x), turned(x), atol=1e-4)
print("right")
"""
"""The compiler lays the convolution's result out in another way than eager PyTorch."""
CONSTANT = """
x = torch.randn(5)
assert torch.equal(torch.compile(lambda x: x + thrice(torch.full((5,), 2.0)), backend="neurontop")(x), x + 2.0 * FACTOR)
print("right")
"""
TURNED = """
@thrice.register_kernel("cpu")
def _(x): return x * 3 if FACTOR == 3 else (x * FACTOR).t().contiguous().t()
thrice.register_fake(lambda x: torch.empty_like(x) if FACTOR == 3 else torch.empty_like(x).t().contiguous().t())
x = torch.randn(3, 4)
assert torch.allclose(torch.compile(lambda x: thrice(x).sin(), backend="neurontop")(x), (x * FACTOR).sin(), atol=1e-5)
print("right")
"""
"""Other strides in one job than in another."""


class Job(NamedTuple):
    """What a job did, in numbers of graphs, and said."""

    hits: int
    misses: int
    kept_in_the_job: int
    failures: int
    said: str


def run(*programs: str, folder: Path, factor: int = 3, options: str = "", **environ: str) -> Job:
    """A job in a fresh process with a fresh folder of Inductor: the programs one after the other."""
    events = folder / "events" / str(sum(1 for _ in folder.glob("events/*")))
    events.mkdir(parents=True)
    places = {
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(folder / f"inductor-{events.name}")),
        "NEURONTOP_EVENTS_DIR": str(events),
    }
    script = DEFINED.format(factor=factor, options=options) + "torch._dynamo.reset()\n".join(programs)
    job = subprocess.run(
        [*warm_python(), "-c", script], env={**os.environ, **places, **environ}, capture_output=True, text=True
    )
    assert job.stdout == "right\n" * len(programs), job.stderr
    seen = Run()
    for line in (line for file in events.iterdir() for line in file.read_bytes().splitlines()):
        seen.apply(decode(line))
    totals, counts = seen.compiles.totals, seen.compiles.counts
    hits = job.stderr.count("Using a cached neff at")
    return Job(hits, totals.misses, sum(counts.fallbacks.values()), totals.failures, job.stderr)


def test_a_compile_process_compiles_them_and_the_next_job_loads_them(tmp_path: Path) -> None:
    """One job with all of them: importing PyTorch takes longer than its graphs."""
    programs = [INFERENCE, TRAINING, MUTATING, OF_A_LIBRARY, SIZES]
    graphs = len(programs) + 1  # training has two
    cold = run(*programs, folder=tmp_path)
    assert cold[:3] == (0, graphs, 0), cold.said
    assert "in the job" not in cold.said
    warm = run(*programs, folder=tmp_path)
    assert warm[:3] == (graphs, 0, 0), warm.said


def test_it_is_compiled_ahead_of_its_job(tmp_path: Path) -> None:
    trial = TRAINING.replace("assert", "_ =")  # a trial run computes nothing
    run(trial, folder=tmp_path, NEURON_EXTRACT_GRAPHS_ONLY="1")
    done = jobs.compile_command(["--compile-only"], jobs.environment(tmp_path), tmp_path)
    assert done.returncode == 0, done.stderr
    assert run(TRAINING, folder=tmp_path)[:3] == (2, 0, 0)


def test_a_job_calls_its_own_operator_whoever_compiled_the_graph(tmp_path: Path) -> None:
    run(INFERENCE, folder=tmp_path, factor=3)
    assert run(INFERENCE, folder=tmp_path, factor=5)[:3] == (1, 0, 0)


@pytest.mark.parametrize(
    ("options", "before", "program", "why"),
    [
        ((", tags=(torch.Tag.flexible_layout,)"), "", CONVOLUTION, "returns for other inputs than in the trace"),
        ((", tags=(torch.Tag.pointwise,)"), "", CONSTANT, "cannot tell what neurontop_test.thrice.default computes"),
        (
            "",
            "from torch._inductor import lowering\n"
            "lowering.register_lowering(torch.ops.neurontop_test.thrice.default)"
            "(lambda x: lowering.mul(x, FACTOR))\n",
            INFERENCE,
            "the script tells the compiler how to handle neurontop_test.thrice.default",
        ),
        (
            "",
            "from torch._inductor import lowering\n"
            "lowering.add_layout_constraint(torch.ops.neurontop_test.thrice.default, lowering.require_contiguous)\n",
            INFERENCE,
            "the script tells the compiler how to handle neurontop_test.thrice.default",
        ),
    ],
    ids=["other strides", "a constant", "a lowering", "a choice of strides"],
)
def test_where_the_compiler_asks_more_of_it_it_stays_in_its_job(
    tmp_path: Path, options: str, before: str, program: str, why: str
) -> None:
    for _ in range(2):
        job = run(before + program, folder=tmp_path, options=options)
        assert (job.hits, job.kept_in_the_job, job.failures) == (0, 1, 0)
        assert why in job.said
    assert not list(tmp_path.glob("cache/**/model.done"))
    assert not list(tmp_path.glob("cache/**/model.log"))
    assert not list(tmp_path.glob("cache/**/*.lock*"))


def test_an_operator_that_returns_one_thing_and_another_has_no_stand_in() -> None:
    library = torch.library.Library("neurontop_test_odd", "FRAGMENT")
    library.define("odd(Tensor x) -> Tensor")
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.empty(3)
    for length in (3, 4):
        graph.call_function(torch.ops.neurontop_test_odd.odd.default, (x,)).meta["val"] = torch.empty(length)
    graph.output(x)
    with pytest.raises(NotSerializable, match="one thing and another"):
        StandIns(()).learn(torch.fx.GraphModule(torch.nn.Module(), graph))
    library._destroy()


def test_what_it_returned_in_the_trace_is_part_of_the_key(tmp_path: Path) -> None:
    assert run(TURNED, folder=tmp_path, factor=3)[:3] == (0, 1, 0)
    assert run(TURNED, folder=tmp_path, factor=5)[:3] == (0, 1, 0)
