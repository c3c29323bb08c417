"""A worker's account of the GPU that it computes on: parts that make up the whole, from one moment."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from neuron_top.compile.torch import worker_gpu  # noqa: E402


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """PyTorch's allocator of a GPU, and what it says."""
    says = {"reserved": 100, "allocated": 70, "peak": 120, "free": 600, "capacity": 1000}
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda place: "A")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda place: (says["free"], says["capacity"]))
    monkeypatch.setattr(
        torch.cuda,
        "memory_stats",
        lambda place: {
            "reserved_bytes.all.current": says["reserved"],
            "reserved_bytes.all.peak": says["peak"],
            "allocated_bytes.all.current": says["allocated"],
        },
    )
    return says


def test_the_parts_of_a_gpus_memory_make_up_what_is_held(allocator: dict[str, int]) -> None:
    account = worker_gpu.GpuAccount()
    account.look(lambda: {"parameters": 40, "activations": 10})
    found = account.report()
    assert found is not None
    assert (found.name, found.index, found.memory, found.peak) == ("A", 1, 100, 120)
    assert (found.capacity, found.beside) == (1000, 300)
    assert found.kinds == {"parameters": 40, "activations": 10, "rest": 20, "reserved": 30}


def test_a_breakdown_that_is_more_than_the_whole_is_not_told(allocator: dict[str, int]) -> None:
    account = worker_gpu.GpuAccount()
    account.look(lambda: {"parameters": 71})
    found = account.report()
    assert found is not None
    assert found.kinds == {"rest": 70, "reserved": 30}


def test_the_fullest_moment_since_the_last_report_is_reported(allocator: dict[str, int]) -> None:
    account = worker_gpu.GpuAccount()
    account.look(lambda: {"activations": 60})
    allocator["allocated"] = 10
    account.look(dict)
    first = account.report()
    account.look(dict)
    second = account.report()
    assert first is not None
    assert first.kinds["activations"] == 60
    assert second is not None
    assert second.kinds == {"rest": 10, "reserved": 90}


def test_a_process_without_a_gpu_has_no_account_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    account = worker_gpu.GpuAccount()
    account.look(lambda: {"parameters": 1})
    assert account.report() is None
