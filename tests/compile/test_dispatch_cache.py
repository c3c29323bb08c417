"""What AOTAutograd keeps of captured graphs: when it is used, when it must not be, and what tells graphs apart."""

from __future__ import annotations

import functools
import math
import os
import queue
import subprocess
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(1500), pytest.mark.xdist_group("compiles")]

from torch._dynamo.exc import BackendCompilerFailed  # noqa: E402

from neuron_top.compile import side_channel  # noqa: E402
from neuron_top.compile.graphs import hashing  # noqa: E402
from neuron_top.compile.torch import dispatch_cache, machine_locks  # noqa: E402
from neuron_top.events import Event, WaitBegan  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

STEP = """
import sys, torch
traced = []
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(4, 4))
def loss(x): return torch.tanh(x @ weight).square().sum()
from neuron_top.compile.torch import backend
before = backend._compile_one
def counting(*arguments):
    traced.append(arguments[1])
    return before(*arguments)
backend._compile_one = counting
x = torch.randn(3, 4)
value = torch.compile(loss, backend="neurontop")(x)
value.backward(retain_graph=True); value.backward()
given = weight.grad.clone(); weight.grad = None
expected = loss(x); expected.backward()
assert torch.allclose(value, expected, atol=1e-5) and torch.allclose(given, 2 * weight.grad, atol=1e-5)
print("traced", *traced)
"""


def captured(function: Callable[..., Any], *inputs: Any, surroundings: tuple[str, ...] = ()) -> str:
    """The fingerprint of what Dynamo captures of a function."""
    found: list[str] = []

    def backend(gm: Any, given: Any) -> Any:
        found.append(dispatch_cache.fingerprint(gm, given, surroundings))
        return gm

    torch.compiler.reset()
    torch.compile(function, backend=backend, dynamic=False)(*inputs)
    (only,) = found
    return only


def run_step(script: str = STEP) -> tuple[str, str]:
    """A fresh process that trains for one step: what it traced, what it said."""
    done = subprocess.run([*warm_python(), "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_a_warm_start_loads_without_tracing_and_an_evicted_entry_is_traced_and_compiled_again(own_caches: Path) -> None:
    assert run_step()[0] == "traced forward backward"
    traced, said = run_step()
    assert traced == "traced"
    assert said.count("Using a cached neff at") == 2
    backward = max(own_caches.rglob("model.done"), key=lambda path: path.stat().st_mtime_ns)
    backward.unlink()
    traced, said = run_step()
    assert traced == "traced forward backward"
    assert said.count("Using a cached neff at") == 1
    assert said.count("Compilation Successfully Completed") == 1
    assert run_step()[0] == "traced"


def test_a_graph_that_is_traced_at_every_start_says_why(own_caches: Path) -> None:
    script = STEP.replace('backend="neurontop"', 'backend="neurontop", dynamic=True')
    for _start in range(2):
        traced, said = run_step(script)
        assert traced == "traced forward backward"
        assert said.count("graph is traced at every start: sizes are symbolic") == 1


def test_equal_captures_have_equal_fingerprints() -> None:
    x = torch.zeros(3)
    assert captured(lambda a: a * 2 + 1, x) == captured(lambda other: other * 2 + 1, torch.ones(3))


X, Y = torch.zeros(4), torch.zeros(4)
HELD = torch.zeros(9)


def views(base: Any, *, other: Any = None) -> tuple[Any, Any]:
    """Two that overlap in one memory: of one base, or the second of another."""
    return base.as_strided((4,), (1,), 0), (base if other is None else other).as_strided((4,), (1,), 2)


def doubled(a: Any, b: Any) -> Any:
    """Writes to memory that both have."""
    return a.mul_(2), b + 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param((lambda a: a * 2, X), (lambda a: a * 3, X), id="a constant"),
        pytest.param((lambda a: a * 2, X), (lambda a: a * 2.0, X), id="the type of a constant"),
        pytest.param((lambda a: a.sin(), X), (lambda a: a.cos(), X), id="a method"),
        pytest.param((torch.sin, X), (torch.sin, torch.zeros(5)), id="a shape"),
        pytest.param((torch.sin, X), (torch.sin, torch.zeros(4, dtype=torch.float64)), id="a dtype"),
        pytest.param((torch.sin, X), (torch.sin, torch.zeros(4, requires_grad=True)), id="a gradient"),
        pytest.param((torch.sin, HELD[:4]), (torch.sin, HELD[1:5]), id="a place in memory"),
        pytest.param((lambda a, b: a.add_(b), X, Y), (lambda a, b: a.add_(b), HELD[:4], HELD[4:8]), id="aliases"),
        pytest.param((doubled, *views(HELD)), (doubled, *views(torch.zeros(3, 3))), id="the form of what is viewed"),
        pytest.param((doubled, *views(HELD)), (doubled, *views(HELD, other=HELD.detach())), id="what is viewed"),
        pytest.param(
            (lambda a: torch.copysign(a, torch.tensor(float("nan"))), X),
            (lambda a: torch.copysign(a, torch.tensor(float("-nan"))), X),
            id="the sign of what is no number",
        ),
    ],
)
def test_fingerprints_differ_whatever_differs(one: tuple[Any, ...], two: tuple[Any, ...]) -> None:
    assert captured(*one) != captured(*two)


def test_fingerprints_differ_with_autocast_gradient_mode_and_surroundings() -> None:
    def plain() -> str:
        return captured(torch.sin, X)

    found = [plain(), captured(torch.sin, X, surroundings=("-O2",))]
    with torch.no_grad():
        found.append(plain())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found.append(plain())
    assert len(set(found)) == len(found)


def test_fingerprints_differ_with_what_the_script_keeps_from_the_dispatcher() -> None:
    """Below the kernels of autograd, nothing that is traced has a gradient."""
    weight = torch.zeros(4, requires_grad=True)
    found = {captured(torch.sin, weight)}
    for guard in (torch._C._AutoDispatchBelowAutograd, torch._C._AutoDispatchBelowADInplaceOrView):
        with guard():
            found.add(captured(torch.sin, weight))
    assert len(found) == 3


def test_fingerprints_differ_with_the_type_that_autocast_would_have_inside_the_graph() -> None:
    def squared(x: Any) -> Any:
        with torch.autocast("cpu"):
            return x @ x

    before = torch.get_autocast_dtype("cpu")
    found = set()
    try:
        for dtype in (torch.bfloat16, torch.float16):
            torch.set_autocast_dtype("cpu", dtype)
            found.add(captured(squared, torch.zeros(4, 4)))
    finally:
        torch.set_autocast_dtype("cpu", before)
    assert len(found) == 2


@torch.library.custom_op("neurontop_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """An operator of the script: its gradient can change without the captured graph changing."""
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@pytest.mark.parametrize("function", [twice, lambda a: torch.cond(a.sum() > 0, torch.sin, torch.cos, (a,))])
def test_graphs_that_hold_more_than_pytorchs_own_operators_are_always_traced(function: Callable[..., Any]) -> None:
    with pytest.raises(BackendCompilerFailed, match=r"NotCacheable: the graph (calls|holds)"):
        captured(function, X)


def test_a_function_of_the_script_under_the_name_of_pytorchs_is_always_traced() -> None:
    """`functools.wraps` gives it module and name of the one that it wraps: those of all scripts would look the same."""

    @torch.compiler.allow_in_graph
    @functools.wraps(torch.nn.functional.silu)
    def twice_as_much(x: Any) -> Any:
        return torch.nn.functional.silu(x) * 2

    with pytest.raises(BackendCompilerFailed, match="a function that only this script knows"):
        captured(lambda a: twice_as_much(a) + 1, X)


@pytest.mark.parametrize(
    "wrapper",
    [
        torch.func.grad,
        torch.no_grad(),
        torch.autocast("cpu", dtype=torch.bfloat16),
        lambda of: types.FunctionType(of.__code__, {**of.__globals__}, of.__name__, of.__defaults__),
    ],
    ids=["gradient", "mode", "autocast", "copy"],
)
def test_a_function_that_pytorch_makes_of_its_own_is_not_taken_for_that_one(wrapper: Callable[..., Any]) -> None:
    """Its code is PyTorch's, too, and it has module and name of the other."""
    made = functools.wraps(torch.nn.functional.silu)(wrapper(torch.nn.functional.silu))
    torch.compiler.allow_in_graph(made)
    with pytest.raises(BackendCompilerFailed, match="a function that only this script knows"):
        captured(lambda a: made(a) + 1, torch.tensor(0.5))


def test_a_function_that_calls_one_or_another_is_known_by_both(own_caches: Path) -> None:
    """`max_pool2d` and its like: made by a function of PyTorch's, of two others and the argument that decides."""
    pool = torch.nn.functional.max_pool2d
    image = torch.ones(1, 1, 4, 4)
    largest = captured(lambda a: pool(a, 2), image)
    assert largest == captured(lambda a: pool(a, 2), image)
    assert largest != captured(lambda a: torch.nn.functional.adaptive_max_pool2d(a, 2), image)
    cell = pool.__closure__[pool.__code__.co_freevars.index("if_false")]
    plain = cell.cell_contents
    with pytest.MonkeyPatch.context() as patch:
        name = hashing.function_name(pool)
        patch.setattr(cell, "cell_contents", torch.nn.functional._adaptive_max_pool2d)
        assert hashing.function_name(pool) != name, "another one of PyTorch's in its place"
        with pytest.raises(BackendCompilerFailed, match="the script changes"):
            captured(lambda a: pool(a, 2), image)
        copy = types.FunctionType(plain.__code__, plain.__globals__, plain.__name__, (None, 1, 1, False, False))
        copy.__qualname__, copy.__module__ = plain.__qualname__, plain.__module__
        for others in (lambda a, *_: a * 2, copy):
            patch.setattr(cell, "cell_contents", others)
            with pytest.raises(BackendCompilerFailed, match="this script"):
                captured(lambda a: pool(a, 2) if a.dim() == 4 else a, image)
    script = STEP.replace("torch.tanh(x @ weight)", "torch.nn.functional.max_pool1d(x @ weight, 2)")
    assert [run_step(script)[0] for _start in range(2)] == ["traced forward backward", "traced"]


def test_the_second_waits_for_the_first_and_a_third_for_nobody(own_caches: Path) -> None:
    order: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with dispatch_cache.first_alone("tag", order.append):
            inside.set()
            go_on.wait()
            order.append("first")

    def second() -> None:
        with dispatch_cache.first_alone("tag", order.append):
            order.append("second")

    one, two = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    inside.wait()
    two.start()
    go_on.set()
    one.join()
    two.join()
    assert order == ["first", "second"]
    with dispatch_cache.first_alone("tag", order.append) as waited:
        assert waited == 0


def test_who_waits_for_a_trace_reports_it_once_the_graph_has_a_name(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: queue.Queue[Event] = queue.Queue()
    monkeypatch.setattr(side_channel, "emit", reported.put)
    left_by_another_start = machine_locks.open_lock("traced.lock")
    assert left_by_another_start is not None
    os.write(left_by_another_start, b"MODULE_0123456789abcdef0123+d7517139")
    os.close(left_by_another_start)
    inside, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with dispatch_cache.first_alone("traced", pytest.fail):
            inside.set()
            go_on.wait()
            dispatch_cache.name_for_waiting("MODULE_fedcba9876543210fedc+d7517139")
            dispatch_cache.name_for_waiting("MODULE_of_its_backward_graph+d7517139")
            waiting.append(reported.get(timeout=600))

    def second() -> None:
        with dispatch_cache.first_alone("traced", pytest.fail):
            dispatch_cache.name_for_waiting("nobody waits any more")

    waiting: list[Event] = []
    one, two = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    inside.wait()
    two.start()
    time.sleep(0.2)
    assert reported.empty(), "the graph has no name yet"
    go_on.set()
    one.join()
    two.join()
    (wait,) = waiting
    assert isinstance(wait, WaitBegan)
    assert (wait.module, wait.pid) == ("MODULE_fedcba9876543210fedc+d7517139", os.getpid())
    assert reported.empty(), "said once"


def test_who_has_no_compile_server_lets_the_one_that_has_trace_first(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    other = machine_locks.open_lock("another tag.lock")
    assert other is not None
    looked = iter(range(5))
    is_locked = machine_locks.is_locked

    def arriving(handle: int) -> bool:
        if next(looked) == 3:
            assert machine_locks.try_lock(other), "nobody went ahead"
            order.append("with a server")
        return is_locked(handle)

    with machine_locks.first_compile():
        assert machine_locks.claim_server_start()
        with monkeypatch.context() as patch:
            patch.setattr(machine_locks, "_held", {})  # as another process
            patch.setattr(machine_locks, "_head_start_ends", lambda: math.inf)
            patch.setattr(machine_locks, "is_locked", arriving)
            patch.setattr(time, "sleep", lambda _: order and os.close(other))
            with dispatch_cache.first_alone("another tag", order.append):
                order.append("without")
    assert order == ["with a server", "without"]


TWO_GRAPHS = """
import torch
from torch._dynamo.utils import counters
for function in (lambda x: x.sin() * 2, lambda x: x.cos() * 2):
    torch.compile(function, backend="neurontop")(torch.ones(3))
print("kept", counters["aot_autograd"]["autograd_cache_hit"])
"""


def test_a_start_that_skips_the_first_trace_skips_the_second_too(own_caches: Path) -> None:
    kept = []
    for _ in range(2):
        done = subprocess.run([*warm_python(), "-c", TWO_GRAPHS], capture_output=True, text=True, check=True)
        kept.append(done.stdout.split()[-1])
    assert kept == ["0", "2"]


CHANGED = """
import math, os, types
import torch
import torch._decomp.decompositions as decompositions
import torch._inductor.decomposition as decomposition
import torch._refs as refs
from torch._C import DispatchKey
from torch._dynamo.utils import counters
from torch._subclasses.functional_tensor import FunctionalTensorMode

hardswish, silu = torch.ops.aten.hardswish.default, torch.ops.aten.silu.default

operators = type(torch.ops.aten)("aten")
vars(operators).update(vars(torch.ops.aten))
operators.round = torch.ops.aten.floor

def put(holder, name, item):
    before = getattr(holder, name)
    setattr(holder, name, item)
    return lambda: setattr(holder, name, before)

def enter(table, key, item):
    before = dict(table)
    hardswish._dispatch_cache.clear()
    table[key] = item
    return lambda: [table.clear(), table.update(before), hardswish._dispatch_cache.clear()]

class Limits:
    def __init__(self, dtype):
        self.max, self.min = 7.0, -7.0

def activated(x): return torch.nn.functional.hardswish(x)
def wave(x): return torch.sinc(x)
def tenths(x): return torch.round(x, decimals=1)
def bounded(x): return (x * float("inf")).nan_to_num()

changes = {
    "kernel": (activated, lambda: enter(hardswish.py_kernels, DispatchKey.AutogradCPU, decompositions.silu)),
    "lambda": (activated, lambda: enter(hardswish._dispatch_cache, DispatchKey.AutogradCPU, lambda x: x * 14)),
    "cached": (activated, lambda: enter(hardswish._dispatch_cache, DispatchKey.AutogradCPU, decompositions.silu)),
    "mode": (activated, lambda: enter(hardswish.python_key_table, FunctionalTensorMode, lambda mode, x: x)),
    "operator": (activated, lambda: put(hardswish, "_op", silu._op)),
    "by key": (activated, lambda: put(hardswish, "_op_dk", silu._op_dk)),
    "number": (wave, lambda: put(math, "pi", 3.0)),
    "module": (wave, lambda: put(refs, "math", types.SimpleNamespace(**{**vars(math), "pi": 3.0}))),
    "operators": (tenths, lambda: put(decomposition, "aten", operators)),
    "limits": (bounded, lambda: put(torch, "finfo", Limits)),
}
x = torch.linspace(-1, 1, 9)
for number, (name, (function, change)) in enumerate(changes.items(), 1):
    torch.compiler.reset()
    undo = change() if os.environ["CHANGE"] == "yes" else lambda: None
    try:
        result = torch.compile(lambda x: function(x) + 1000 * number, backend="neurontop")(x) - 1000 * number
    finally:
        undo()
    print(name, *[round(value, 2) for value in result.tolist()], sep=",")
print("kept", counters["aot_autograd"]["autograd_cache_hit"], sep=",")
"""


def test_what_a_script_changes_between_two_starts_is_traced_and_nothing_else(own_caches: Path) -> None:
    def start(change: str) -> list[str]:
        command, environ = [*warm_python(), "-c", CHANGED], {**os.environ, "CHANGE": change}
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout.splitlines()

    *plain, none_kept = start("no")
    assert len(plain) == 10
    assert none_kept == "kept,0"
    *changed, _ = start("yes")
    assert [line for line in changed if line in plain] == []
    *again, all_kept = start("no")
    assert again == plain
    assert all_kept == "kept,10"
