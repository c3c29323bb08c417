"""A training worker's account of its own memory, once a second: whose tensors, compiled code, and the rest.

From outside, a worker is one number. From inside, the optimizer knows its parameters, their gradients and its own
state; forward graphs know what they keep for the backward pass; the kernel knows what the compiled code takes. Each
kind is what lies in host memory at that moment (gradients come and go within a step), a storage is counted once, and
what can't be told is left out. `rest` is the unique set size minus what is known: the interpreter, libraries, buffers.

The thread sleeps 200 times as long as its last look took, so it never costs more than half a percent of a core.
Nothing here may disturb the job: a look that fails is left out, and the thread ends with the process.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from neuron_top.compile import side_channel
from neuron_top.events import WorkerMemoryReported

PERIOD = 1.0
"""Seconds between two reports, at least."""
_SHARE = 200
_SEARCH_SECONDS = 60.0
"""Seconds between two searches for modules, while no optimizer has shown itself."""
_MAPPINGS_SECONDS = 20.0
"""Seconds between two looks at the mapped files: a look costs the kernel a walk of all pages."""


class Account:
    """What is known of this process's tensors. Holds nothing alive."""

    def __init__(self) -> None:
        self._optimizers: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._modules: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._kept: dict[int, list[weakref.ref[Tensor]]] = {}
        self._searched_at = self._mapped_at = float("-inf")
        self._code: int | None = None
        self._files: int | None = None

    def step_taken(self, optimizer: Optimizer, *_: Any) -> None:
        """An optimizer took a step: it and its parameters are in use."""
        self._optimizers.add(optimizer)

    def forward_ran(self, graph: int, kept: Iterable[Tensor]) -> None:
        """The forward graph numbered `graph` ran and keeps these tensors until its backward pass."""
        self._kept[graph] = [weakref.ref(tensor) for tensor in kept]

    def kinds(self, now: float) -> dict[str, int]:
        """Bytes in host memory by WORKER_KINDS; a kind that can't be told is absent. `now` is a monotonic clock."""
        seen: set[int] = set()
        found: dict[str, int] = {}
        parameters = list(self._parameters(now))
        if parameters:
            found["parameters"] = _fresh_bytes(parameters, seen)
        if self._optimizers:
            found["gradients"] = _fresh_bytes((p.grad for p in parameters), seen)
            found["optimizer"] = _fresh_bytes(self._states(), seen)
        if self._kept:
            found["activations"] = _fresh_bytes((ref() for kept in list(self._kept.values()) for ref in kept), seen)
        self._look_at_mappings(now)
        if self._code is not None:
            found["compiled_code"] = self._code
        if self._files is not None:
            found["rest"] = max(0, anonymous_bytes() + self._files - sum(found.values()))
        return found

    def _parameters(self, now: float) -> Iterator[Tensor]:
        for optimizer in list(self._optimizers):
            for group in optimizer.param_groups:
                yield from group["params"]
        if not self._optimizers and now - self._searched_at > _SEARCH_SECONDS:
            self._searched_at = now
            self._modules.update(thing for thing in gc.get_objects() if issubclass(type(thing), nn.Module))
        for module in list(self._modules):
            yield from (tensor for tensor in list(module._parameters.values()) if tensor is not None)
            yield from (tensor for tensor in list(module._buffers.values()) if tensor is not None)

    def _states(self) -> Iterator[Tensor]:
        for optimizer in list(self._optimizers):
            for state in list(optimizer.state.values()):
                yield from (value for value in list(state.values()) if isinstance(value, Tensor))

    def _look_at_mappings(self, now: float) -> None:
        """Private pages of mapped files change rarely and are dear to count: now and then is enough."""
        if now - self._mapped_at > _MAPPINGS_SECONDS:
            self._mapped_at = now
            self._code = compiled_code_bytes()
            uss = unique_set_size()
            self._files = None if uss is None else uss - anonymous_bytes()


def _fresh_bytes(tensors: Iterable[Any], seen: set[int]) -> int:
    """Bytes of the host storages behind `tensors` that are not in `seen` yet; adds them."""
    total = 0
    for tensor in tensors:
        local = getattr(tensor, "_local_tensor", tensor)  # a DTensor's own shard
        if local is None or local.device.type != "cpu":
            continue
        storage = local.untyped_storage()
        if (address := storage.data_ptr()) and address not in seen:
            seen.add(address)
            total += storage.nbytes()
    return total


def unique_set_size(proc: Path = Path("/proc/self")) -> int | None:
    """Bytes that only this process has in memory; None where the kernel does not tell."""
    try:
        lines = (proc / "smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def anonymous_bytes(proc: Path = Path("/proc/self")) -> int:
    """Bytes of memory that no file stands behind, told by the kernel without walking any pages."""
    _, resident, shared, *_ = (proc / "statm").read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def compiled_code_bytes(proc: Path = Path("/proc/self")) -> int | None:
    """Private bytes of the shared libraries that a compiler made for this job; None where none is mapped.

    These are the libraries outside every installation folder: Inductor loads its code from caches and scratch folders.
    """
    try:
        text = (proc / "smaps").read_text()
    except OSError:
        return None
    total, found, ours = 0, False, False
    for line in text.splitlines():
        head, _, rest = line.partition(" ")
        if "-" in head and not head.endswith(":"):
            ours = _is_compiled(rest.split(maxsplit=4)[-1] if rest.count(" ") >= 4 else "")
            found = found or ours
        elif ours and head in ("Private_Clean:", "Private_Dirty:"):
            total += int(rest.split()[0]) * 1024
    return total if found else None


def _is_compiled(path: str) -> bool:
    return path.endswith(".so") and not any(part in path for part in ("/site-packages/", "/dist-packages/", "/lib"))


_account = Account()
_numbers = itertools.count()
_stop = threading.Event()
_started = threading.Lock()


def watched(run: Callable[..., Any], direction: str) -> Callable[..., Any]:
    """`run` of a forward graph, telling what it keeps for the backward pass; unchanged where nobody listens.

    To be called while the graph is being compiled: what it keeps are the results behind those of the model.
    """
    context = torch._guards.TracingContext.try_get()
    if direction != "forward" or not _listened() or context is None or context.fw_metadata is None:
        return run
    first_kept, number = context.fw_metadata.num_forward, next(_numbers)

    def watching(arguments: list[Any]) -> Any:
        results = run(arguments)
        _account.forward_ran(number, [item for item in results[first_kept:] if isinstance(item, Tensor)])
        return results

    return watching


def start() -> None:
    """Begin to report, once per process, if a recording listens."""
    if not _listened() or not _started.acquire(blocking=False):
        return
    register_optimizer_step_post_hook(_account.step_taken)
    thread = threading.Thread(target=_report, name="neurontop-memory", daemon=True)
    thread.start()
    atexit.register(_end, thread)


def _listened() -> bool:
    return bool(os.environ.get(side_channel.DIRECTORY))


def _end(thread: threading.Thread) -> None:
    """Before the interpreter goes down: a thread inside PyTorch at that moment would crash the job's exit."""
    _stop.set()
    thread.join(timeout=5.0)


def _report() -> None:
    pause, before = PERIOD, 0.0
    while not _stop.wait(pause):
        began = time.thread_time()
        # The job changes its tensors while we look; a look that trips over that is simply left out.
        with contextlib.suppress(RuntimeError, KeyError, AttributeError, ReferenceError):
            kinds = _account.kinds(time.monotonic())
            side_channel.tell(WorkerMemoryReported(pid=os.getpid(), rank=side_channel.rank(), kinds=kinds))
        took = time.thread_time() - began
        pause, before = max(PERIOD, _SHARE * min(took, before)), took  # a search or a look at mappings is rare
