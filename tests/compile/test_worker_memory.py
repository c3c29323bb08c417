"""A worker's account of its memory: right numbers, and tensors touched in the job's own threads only."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from neuron_top.compile.torch.worker_memory import Account, _WatchedForward, compiled_code_bytes, unique_set_size  # noqa: E402

MIB = 1024 * 1024


def test_an_optimizers_step_reports_parameters_gradients_and_state() -> None:
    weight = torch.nn.Parameter(torch.zeros(MIB // 4))
    optimizer = torch.optim.Adam([weight])
    weight.grad = torch.ones_like(weight)
    optimizer.step()
    account = Account()
    account.step_taken(optimizer)
    kinds = account.kinds(now=0.0)
    assert (kinds["parameters"], kinds["gradients"]) == (MIB, MIB)
    # Two moments of the weight's size, and a step counter.
    assert 2 * MIB <= kinds["optimizer"] <= 2 * MIB + 64
    assert kinds["rest"] > 0


def test_shared_storage_is_counted_once() -> None:
    weight = torch.nn.Parameter(torch.zeros(MIB // 4))
    tied = torch.nn.Parameter(weight.data.view(2, -1))
    account = Account()
    account.step_taken(torch.optim.SGD([weight, tied]))
    assert account.kinds(now=0.0)["parameters"] == MIB


def test_what_a_forward_graph_keeps_lasts_until_its_backward() -> None:
    account = Account()
    weight, kept = torch.zeros(MIB // 4), torch.zeros(MIB // 2)
    keeps = account.sizes(given=[weight], kept=[kept, weight])
    account.forward_ran(keeps)
    assert account.kinds(now=0.0)["activations"] == 2 * MIB
    account.backward_ran()
    assert account.kinds(now=0.0)["activations"] == 0
    assert account.kinds(now=0.0)["parameters"] == MIB


def test_an_optimizer_that_is_gone_counts_until_the_step_of_another() -> None:
    account, kept = Account(), []
    for _fold in range(3):
        kept.append(torch.nn.Parameter(torch.zeros(MIB // 4)))  # so that no two have one place
        optimizer = torch.optim.SGD(kept[-1:])
        account.step_taken(optimizer)
        del optimizer
        gc.collect()
        assert account.kinds(now=0.0)["parameters"] == MIB


def test_forward_passes_without_backward_ones_never_add_up_to_more_than_the_process_has() -> None:
    account = Account()
    account.sizes(given=[torch.zeros(8)], kept=[])
    for _batch in range(1000):
        account.forward_ran({"cpu": 1 << 40})
    kinds = account.kinds(now=0.0)
    assert "activations" not in kinds
    assert kinds["rest"] > 0


def test_a_backward_pass_more_than_forward_passes_does_no_harm() -> None:
    account = Account()
    account.backward_ran()
    account.forward_ran({"cpu": MIB})
    account.backward_ran()
    assert account.kinds(now=0.0).get("activations", 0) == 0


def test_dynamo_does_not_trace_us_where_the_script_compiles_its_optimizer(tmp_path: Path) -> None:
    script = """
import torch
from neuron_top.compile.torch import worker_memory
worker_memory.start()
weight = torch.nn.Parameter(torch.zeros(8))
optimizer = torch.optim.SGD([weight])
weight.grad = torch.ones(8)
torch.compile(lambda: optimizer.step(), backend="eager")()
print(worker_memory._account.kinds(0.0)["parameters"], float(weight.sum()))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NEURONTOP_EVENTS_DIR": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split()[0] == "32"
    assert float(done.stdout.split()[1]) < 0
    assert "monotonic" not in done.stderr


def test_the_reporting_thread_meets_no_tensor() -> None:
    """Whatever the account holds between two looks is a number: no tensor can be freed in the wrong thread."""
    account = Account()
    weight = torch.nn.Parameter(torch.zeros(8))
    account.step_taken(torch.optim.SGD([weight]))
    account.forward_ran(account.sizes([weight], [torch.zeros(8)]))
    held: list[Any] = [*vars(account).values()]
    while held:
        thing = held.pop()
        assert not isinstance(thing, torch.Tensor)
        if isinstance(thing, dict):
            held += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple):
            held += thing


def test_a_watched_graph_gives_what_the_graph_gives_and_looks_once_a_second() -> None:
    looks = []

    def run(arguments: list[Any]) -> tuple[Any, ...]:
        looks.append(threading.get_ident())
        result = arguments[1] * 2
        arguments.clear()
        return (result, result + 1)

    watched = _WatchedForward(run, static=[0], first_kept=1)
    weight, data = torch.zeros(4), torch.ones(4)
    first = watched([weight, data])
    looked_at = watched._looked_at
    second = watched([weight, data])
    assert torch.equal(first[0], second[0])
    assert len(looks) == 2
    assert watched._looked_at == looked_at


def test_the_kernel_reports_the_unique_set_size() -> None:
    size = unique_set_size()
    assert size is not None
    assert size > MIB
    code = compiled_code_bytes()
    assert code is None or code >= 0
