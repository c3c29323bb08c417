"""`torch.compile(backend="neurontop")` for real: each test is a training or inference process, as a user has it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

pytest.importorskip("torch")

from tests.compile.compile_forks import forks_at_work
from tests.compile.parallel import jobs
from tests.inductor_folder import inductor_folder
from tests.warm_python import warm_python

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1500), pytest.mark.xdist_group("compiles")]

TRAIN = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))
torch.manual_seed(0)
for p in model.parameters(): torch.nn.init.normal_(p, std=0.1)
x = torch.randn(5, 8)
compiled = torch.compile(model, backend="neurontop")
out = compiled(x); out.square().sum().backward()
ours = [p.grad.clone() for p in model.parameters()]
model.zero_grad(); reference = model(x); reference.square().sum().backward()
close = all(torch.allclose(a, p.grad, atol=1e-5) for a, p in zip(ours, model.parameters()))
print("close", close and torch.allclose(out, reference, atol=1e-5), "zero", bool((out == 0).all()))
"""
DYNAMIC = """
import torch
f = torch.compile(lambda x: torch.softmax(x * 2, -1).sum(0), backend="neurontop", dynamic=True)
for n in (3, 7, 12, 64, 65):
    x = torch.randn(n, n + 1)
    assert torch.allclose(f(x), torch.softmax(x * 2, -1).sum(0), atol=1e-5), n
norm = torch.nn.LayerNorm(5)  # Dynamo traces twice: its epsilon cannot be an input
compiled = torch.compile(norm, backend="neurontop", dynamic=True)
for n in (3, 7):
    x, y = torch.randn(n, 5, requires_grad=True), torch.randn(n, 5)
    ours, theirs = (torch.autograd.grad((it(x) * y).sum(), x)[0] for it in (compiled, norm))
    assert torch.allclose(ours, theirs, atol=1e-5), n
print("all sizes right")
"""
DYNAMIC_TRAIN = """
import torch
weight = torch.nn.Parameter(torch.randn(5))
loss = torch.compile(lambda x: (torch.softmax(x * weight, -1) @ x.T).sum(0), backend="neurontop", dynamic=True)
for n in (3, 7):
    x = torch.randn(n, 5, requires_grad=True)
    out = loss(x)
    assert out.shape == (n,), out.shape
    out.square().sum().backward()
    assert x.grad.shape == x.shape and weight.grad.shape == (5,)
print("two steps")
"""
OF_OTHER_STRIDES = """
import torch
f = torch.compile(lambda x: (x * 2).sin(), backend="neurontop")
whole = torch.randn(4, 3, 16, 16, requires_grad=True)
for x in (whole[:, :, 4:12, 4:12][::2], whole.to(memory_format=torch.channels_last)[:2, :, :8, :8]):
    assert torch.allclose(f(x), (x * 2).sin(), atol=1e-5), x.stride()
print("views right")
"""
INFERENCE = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Dropout(0.5)).eval()
x = torch.randn(5, 8)
for mode in (torch.no_grad, torch.inference_mode):
    with mode():
        torch._dynamo.reset()
        assert torch.allclose(torch.compile(model, backend="neurontop")(x), model(x), atol=1e-5), mode
print("inference right")
"""
AT_ONCE = (
    """
import threading
from neuron_top.compile.compilers.inductor import Inductor
both, compile = threading.Barrier(2), Inductor.compile
def compile_when_both_are_here(self, task, *, began):
    both.wait(900)
    return compile(self, task, began=began)
Inductor.compile = compile_when_both_are_here
"""
    + TRAIN
)
FAILING_BACKWARD = """
import json, os, threading, torch
from neuron_top.compile.compilers.inductor import Inductor
from neuron_top.errors import CompileError
first_begins, compile = threading.Event(), Inductor.compile
def compile_forward_alone(self, task, *, began):
    direction = json.loads((task.graph.parent / "model.graph.json").read_text())["direction"]
    if direction == os.environ["BEGINS_FIRST"]: first_begins.set()
    first_begins.wait(900)
    if direction == "backward": raise CompileError("it does not compile", module=task.module)
    return compile(self, task, began=began)
Inductor.compile = compile_forward_alone
x = torch.full((1,), 2.0, requires_grad=True)
out = torch.compile(lambda x: x * x - 1, backend="neurontop")(x)
print("forward", out.tolist())
try: out.sum().backward()
except CompileError as failure: print("backward", type(failure).__name__)
"""
PASSED_ON = """
import torch
x, y = (torch.ones(3, requires_grad=True) for _ in range(2))
torch.compile(lambda v, w: v + w, backend="neurontop")(x, y).sum().backward()
print("gradients", x.grad.tolist(), y.grad.tolist())
"""
BRANCH = """
import torch
def branch(x):
    return torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (x,))
x = torch.ones(3)
print("close", torch.allclose(torch.compile(branch, backend="neurontop")(x), x.sin()))
"""
EFFECT = """
import torch
a, b = torch.eye(3).requires_grad_(), torch.ones(3, requires_grad=True)
torch.compile(lambda v, w: torch.linalg.solve(v, w) * 2, backend="neurontop")(a, b).sum().backward()
print("gradient", b.grad.tolist())
"""
GROUPS_MADE_ANEW = """
import torch, torch.distributed as dist
from torch.distributed._functional_collectives import all_reduce
summed = torch.compile(lambda value, group: all_reduce(value, "sum", group) + 1, backend="neurontop")
for _ in range(2):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    print("sum", summed(torch.ones(2), dist.group.WORLD).tolist())
    dist.destroy_process_group()
"""
REGIONS = """
import torch
from accelerate.utils import compile_regions
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.inner = torch.nn.Linear(8, 8)
    def forward(self, x): return torch.relu(self.inner(x)) + x
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.blocks = torch.nn.ModuleList([Block(), Block()]); self.head = torch.nn.Linear(8, 2)
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return self.head(x)
model = Model()
x = torch.randn(4, 8)
expected = model(x)
assert torch.allclose(compile_regions(model, backend="neurontop")(x), expected, atol=1e-5)
print("regions right")
"""


def run(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A job, with the warnings it would have."""
    return subprocess.run(
        [*warm_python(), "-c", code],
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environ},
    )


def without_kernels(folder: Path) -> dict[str, str]:
    """The environment of a job whose compiles take their time: with kernels at hand they end before one has looked."""
    work = inductor_folder(folder / "inductor")
    return {**os.environ, "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": str(work)}


def test_collected_then_compiled_then_every_graph_is_a_hit(own_caches: Path) -> None:
    trial = run(TRAIN, NEURON_EXTRACT_GRAPHS_ONLY="1")
    assert trial.returncode == 0, trial.stderr
    assert trial.stderr.count("Extracting graphs (") == 2
    assert "zero True" in trial.stdout
    entries = sorted(own_caches.glob("inductor-*/MODULE_*"))
    assert len(entries) == 2
    assert not list(own_caches.rglob("model.done"))

    code = (
        "import sys; from pathlib import Path\n"
        "from neuron_top.compile.wrapper.get_or_compile import Wrapper\n"
        "from neuron_top.compile.wrapper.flags import parse_environment\n"
        "from neuron_top.compile.compilers.inductor import Inductor\n"
        "wrapper = Wrapper(Inductor(), parse_environment())\n"
        f"for path in {[str(path) for path in entries]!r}: wrapper.compile_entry(Path(path))"
    )
    compiled = run(code)
    assert compiled.returncode == 0, compiled.stderr
    assert compiled.stderr.count("Compiler status PASS") == 2

    real = run(TRAIN)
    assert "close True" in real.stdout, real.stderr
    assert real.stderr.count("Using a cached neff at") == 2
    assert "Compilation Successfully Completed" not in real.stderr
    assert sorted(own_caches.glob("inductor-*/MODULE_*")) == entries

    for entry in entries:  # a cache of another PyTorch version is a miss and never loaded
        other = own_caches / "inductor-1.0.0.cpu+00000000"
        other.mkdir(exist_ok=True)
        entry.rename(other / entry.name)
    again = run(TRAIN)
    assert "close True" in again.stdout, again.stderr
    assert "Using a cached neff at" not in again.stderr
    assert again.stderr.count("Compilation Successfully Completed for model.MODULE_") == 2


def test_forward_and_backward_graph_are_compiled_at_the_same_time(own_caches: Path) -> None:
    """One compile alone would wait in vain for the other."""
    job = run(AT_ONCE)
    assert "close True" in job.stdout, job.stderr
    assert job.stderr.count("Compilation Successfully Completed for model.MODULE_") == 2
    warm = run(TRAIN)
    assert ("close True" in warm.stdout, warm.stderr.count("Using a cached neff at")) == (True, 2), warm.stderr


@pytest.mark.parametrize("first", ["forward", "backward"])
def test_a_backward_graph_that_nobody_asks_for_may_fail(own_caches: Path, first: str) -> None:
    """Whichever of the two compiles begins before the other: they are begun by two threads."""
    job = run(FAILING_BACKWARD, BEGINS_FIRST=first)
    assert job.stdout.split() == ["forward", "[3.0]", "backward", "CompileError"], job.stderr


def test_a_job_without_pytorchs_own_caches_has_ours(own_caches: Path) -> None:
    """PyTorch saves an artifact out of its caches, so they are on where it is compiled, whatever the job keeps."""
    without = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
    cold = run(TRAIN, **without)
    assert "close True" in cold.stdout, cold.stderr
    assert "compiled in the job" not in cold.stderr
    warm = run(TRAIN, **without, TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    assert "close True" in warm.stdout, warm.stderr
    assert "compiled in the job" not in warm.stderr
    warm = run(TRAIN, **without)
    assert warm.stderr.count("Using a cached neff at") == 2
    assert "Compilation Successfully Completed" not in warm.stderr


def test_dynamic_shapes_give_right_results_cold_and_warm(own_caches: Path) -> None:
    for _ in range(2):
        job = run(DYNAMIC)
        assert "all sizes right" in job.stdout, job.stderr
    assert "Using a cached neff at" in job.stderr
    assert "Compilation Successfully Completed" not in job.stderr


def test_views_of_tensors_in_several_orders_are_cached(own_caches: Path) -> None:
    """The second one is of symbolic strides, about which Dynamo assumes things beside those of what is viewed."""
    for line in ("Compilation Successfully Completed", "Using a cached neff at"):
        job = run(OF_OTHER_STRIDES)
        assert (job.returncode, job.stdout.splitlines()[-1:]) == (0, ["views right"]), job.stderr
        assert (job.stdout + job.stderr).count(line) == 4


def test_a_dynamic_training_graph_is_collected_for_all_sizes_at_once(own_caches: Path) -> None:
    trial = run(DYNAMIC_TRAIN, NEURON_EXTRACT_GRAPHS_ONLY="1")
    assert "two steps" in trial.stdout, trial.stderr
    assert len(list(own_caches.glob("inductor-*/MODULE_*/model.fxgraph"))) == 2


def test_inference_is_one_graph_and_right_and_its_work_is_kept_where_it_is_wanted(
    own_caches: Path, tmp_path: Path
) -> None:
    work, dump = tmp_path / "work", tmp_path / "dump"
    job = run(INFERENCE, NEURON_CC_FLAGS=f"--compile_workdir={work} --dump {dump}")
    assert "inference right" in job.stdout, job.stderr
    directions = {json.loads(path.read_text())["direction"] for path in own_caches.rglob("model.graph.json")}
    assert directions == {"inference"}
    assert list(dump.glob("MODULE_*+d7517139/torchinductor/*/output_code.py"))
    assert list(work.glob("*/*.cpp"))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("no_such_setting=1", "Inductor .* has no setting no_such_setting"),
        ("max_autotune=often", "Unexpected type of attr max_autotune, got str should be bool"),
    ],
)
def test_a_flag_for_a_setting_or_value_that_inductor_does_not_have_is_named(setting: str, words: str) -> None:
    job = run(INFERENCE, NEURON_CC_FLAGS=f"--inductor-config={setting}")
    assert job.returncode == 1
    assert re.search(f"UsageError: NEURON_CC_FLAGS: {words}", job.stderr)


def test_a_backward_graph_that_passes_gradients_on_is_not_compiled(own_caches: Path) -> None:
    """There is no code that PyTorch could save of it."""
    job = run(PASSED_ON)
    assert "gradients [1.0, 1.0, 1.0] [1.0, 1.0, 1.0]" in job.stdout, job.stderr
    assert "compiled in the job" not in job.stderr
    assert len(list(own_caches.glob("inductor-*/MODULE_*"))) == 1


def test_a_graph_whose_code_pytorch_cannot_save_is_compiled_once_and_says_why(own_caches: Path) -> None:
    job = run(BRANCH)
    assert "close True" in job.stdout, job.stderr
    assert "PyTorch cannot save code that calls cond" in job.stderr
    assert not list(own_caches.glob("inductor-*/MODULE_*"))


def test_a_graph_with_a_check_among_its_operators_is_trained(own_caches: Path) -> None:
    """AOTAutograd orders what has effects by tokens, which Inductor does not take as arguments."""
    job = run(EFFECT)
    assert "gradient [2.0, 2.0, 2.0]" in job.stdout, job.stderr


def test_a_compiled_function_goes_on_when_the_job_makes_its_process_groups_anew(own_caches: Path) -> None:
    """They have the numbers of the old ones, so that nothing is compiled again."""
    job = run(GROUPS_MADE_ANEW)
    assert job.stdout.count("sum [2.0, 2.0]") == 2, job.stderr
    assert len(list(own_caches.glob("inductor-*/MODULE_*"))) == 1


def test_regional_compilation_of_accelerate_works() -> None:
    job = run(REGIONS)
    assert "regions right" in job.stdout, job.stderr
    assert "Compilation Successfully Completed" in job.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_job_ended_while_it_compiles_leaves_no_process_and_no_lock(
    own_caches: Path, tmp_path: Path, number: signal.Signals
) -> None:
    job = subprocess.Popen(
        [sys.executable, "-c", TRAIN],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=without_kernels(tmp_path),
    )
    jobs.until(lambda: job.poll() is not None or forks_at_work(job.pid))
    assert job.poll() is None, job.communicate()
    helpers = _children(job.pid)
    job.send_signal(number)
    job.communicate()
    jobs.until(lambda: jobs.gone(helpers))
    assert not list(own_caches.rglob("*.lock"))
    assert not list(own_caches.rglob("*.lock.owner"))
    assert not list(own_caches.rglob("*.tmp"))
    assert not list(own_caches.rglob("model.log"))
    assert not list(own_caches.rglob("model.done"))


def test_a_job_killed_between_a_compile_and_its_publication_leaves_nothing(own_caches: Path) -> None:
    ending = """
import os, signal
from neuron_top.compile.wrapper.persistent_cache import WritableEntry
def end(entry, outputs, stats):
    print("written", all(path.exists() for path in outputs.values()), entry.path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
WritableEntry.publishing = end
"""
    job = run(ending + TRAIN)
    assert job.returncode == -signal.SIGKILL, job.stderr
    assert job.stdout.startswith("written True "), job.stdout
    entry = Path(job.stdout.removeprefix("written True ").strip())
    assert entry.is_dir(), job.stdout
    jobs.until(lambda: not list(own_caches.rglob("*.lock")))
    # In the entry of another graph PyTorch may have been writing (`.<pid>.<thread>.tmp`): its next holder sweeps.
    assert not [path for path in own_caches.rglob("*.tmp") if path.parent == entry or not path.name.startswith(".")]


def test_a_killed_compile_process_is_reported_tried_once_more_and_no_failure_of_the_graph(
    own_caches: Path, tmp_path: Path
) -> None:
    job = subprocess.Popen(
        [sys.executable, "-c", TRAIN],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=without_kernels(tmp_path),
    )
    forks: list[psutil.Process] = []
    jobs.until(lambda: job.poll() is not None or forks.extend(forks_at_work(job.pid)) or forks)
    assert forks, job.communicate()
    forks[0].kill()
    shown, said = job.communicate()
    assert (job.returncode, "close True" in shown) == (0, True), said
    assert re.search(r"signal 9 \(SIGKILL\).*compiled once more", said)
    assert not list(own_caches.rglob("model.log"))
    assert not list(own_caches.rglob("*.lock"))


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
