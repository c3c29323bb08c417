"""Accounts for a training worker's own memory, once a second: tensors by kind, compiled code, and the rest.

From outside, a worker is one number. From inside, the optimizer knows its parameters, their gradients and its own
state; a forward graph knows what it keeps for the backward pass; the kernel knows what the compiled code takes. A
storage is counted once, and what cannot be known is left out. `rest` is the unique set size minus what is known: the
interpreter, libraries, buffers. The same is done for a GPU, from what PyTorch's allocator holds there (`worker_gpu`).

Tensors are inspected only in the job's own threads, right after an optimizer's step and after a forward graph. The
reporting thread sees only numbers. A second thread that takes hold of a tensor races with autograd's threads, which
free tensors without Python's lock, and crashes the job. Nothing here may disturb the job: looking at tensors is limited
to once a second, and the thread sleeps 200 times as long as its last look took, so that together they stay under a
percent of a core.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from neuron_top.compile import side_channel
from neuron_top.compile.graphs.directions import BACKWARD, FORWARD
from neuron_top.compile.torch import worker_gpu
from neuron_top.events import GpuMemory, WorkerMemoryReported

PERIOD = 1.0
"""Least seconds between two reports, and between two inspections of an optimizer's tensors."""
_SHARE = 200
_MOST_KEPT = 100_000
"""Forward passes without a backward pass that are remembered: who evaluates with gradients may never run one."""
_MAPPINGS_SECONDS = 20.0
"""Seconds between two reads of the mapped files: for each the kernel walks all pages."""


HOST, GPU = "cpu", "cuda"
"""Devices of tensors, as PyTorch names them."""
Kinds = dict[str, int]
"""Bytes, by kind or by device."""


class Storage(NamedTuple):
    """A piece of memory that tensors may share."""

    place: str
    address: int


class Account:
    """Numbers about this process's tensors. Keeps no tensor alive, and inspects none on its own."""

    def __init__(self) -> None:
        self._optimizers: dict[int, dict[str, Kinds]] = {}
        """By optimizer, then by place."""
        self._looked_at: dict[int, float] = {}
        self._living: dict[int, weakref.ref[Optimizer]] = {}
        self._parameters: dict[Storage, int] = {}
        self._kept: deque[Kinds] = deque(maxlen=_MOST_KEPT)
        """By forward graph: bytes by place."""
        self._gpu = worker_gpu.GpuAccount()
        self._mapped_at = float("-inf")
        self._code: int | None = None
        self._files: int | None = None

    def step_taken(self, optimizer: Optimizer, *_: Any) -> None:
        """Inspect the tensors of an optimizer, right after its step and in the thread that called it."""
        now, key = time.monotonic(), id(optimizer)
        self._kept.clear()
        if now - self._looked_at.get(key, float("-inf")) < PERIOD:
            return
        self._looked_at[key] = now
        self._living[key] = weakref.ref(optimizer)
        self._forget_the_gone()
        # The job goes on whatever its tensors are like: what cannot be counted stays unknown.
        with contextlib.suppress(RuntimeError, AttributeError, NotImplementedError):
            self._optimizers[key] = _of_optimizer(optimizer)
        self._gpu.look(lambda: self._of_tensors(GPU))

    def _forget_the_gone(self) -> None:
        """Forget optimizers that are gone: a search trains one model after another. The last one is kept, as a script
        may leave its function before it ends."""
        for key in [key for key, optimizer in list(self._living.items()) if optimizer() is None]:
            for by_optimizer in (self._living, self._looked_at, self._optimizers):
                by_optimizer.pop(key, None)

    def sizes(self, given: Iterable[Tensor], kept: Iterable[Tensor]) -> Kinds:
        """Note the parameters and buffers that a graph is given; returns the bytes it keeps besides them, by device."""
        found: Kinds = {}
        with contextlib.suppress(RuntimeError, AttributeError, NotImplementedError):
            self._parameters.update(_storages(given))
            for storage, size in dict(_storages(kept)).items():
                if storage not in self._parameters:
                    found[storage.place] = found.get(storage.place, 0) + size
        return found

    def forward_ran(self, keeps: Kinds) -> None:
        """Note that a forward graph ran and keeps this many bytes until its backward pass."""
        self._kept.append(keeps)

    def look_at_gpu(self, given: Iterable[Tensor]) -> None:
        """Measure the GPU after a forward graph with these parameters, when most memory is in use."""
        with contextlib.suppress(RuntimeError, AttributeError, NotImplementedError):
            self._gpu.look(lambda: {**self._of_tensors(GPU), "gradients": _gradients_on_gpu(given)})

    def backward_ran(self) -> None:
        """Note that the backward pass of the newest forward graph ran, so what that kept is free again."""
        with contextlib.suppress(IndexError):  # not asked before: another thread may take the last one
            self._kept.pop()

    def code_loaded(self) -> None:
        """Note that an artifact was mapped into this process: the next report reads the mapped files again."""
        self._mapped_at = float("-inf")

    def kinds(self, now: float) -> Kinds:
        """Bytes in host memory by WORKER_KINDS; unknown kinds are absent. `now` is a monotonic clock."""
        found = self._of_tensors(HOST)
        self._look_at_mappings(now)
        if self._code is not None:
            found["compiled_code"] = self._code
        if self._files is not None:
            owned = anonymous_bytes() + self._files
            if found.get("activations", 0) > owned:  # kept for backward passes that never ran, and freed since
                del found["activations"]
            found["rest"] = max(0, owned - sum(found.values()))
        return found

    def gpu(self) -> GpuMemory | None:
        """The same for the GPU that this process computes on, at the moment of highest use since the last report; None
        if it uses none, or none was measured yet."""
        return self._gpu.report()

    def _of_tensors(self, place: str) -> Kinds:
        found: Kinds = {}
        for by_place in list(self._optimizers.values()):
            for kind, size in by_place.get(place, {}).items():
                found[kind] = found.get(kind, 0) + size
        parameters = [size for storage, size in list(self._parameters.items()) if storage.place == place]
        if not found and parameters:
            found["parameters"] = sum(parameters)
        if parameters:
            found["activations"] = sum(keeps.get(place, 0) for keeps in list(self._kept))
        return found

    def _look_at_mappings(self, now: float) -> None:
        """Count private pages of mapped files now and then only: they change rarely and are expensive to count."""
        if now - self._mapped_at > _MAPPINGS_SECONDS:
            self._mapped_at = now
            self._code = compiled_code_bytes()
            uss = unique_set_size()
            self._files = None if uss is None else uss - anonymous_bytes()


def _of_optimizer(optimizer: Optimizer) -> dict[str, Kinds]:
    parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    states = [value for state in optimizer.state.values() for value in state.values() if isinstance(value, Tensor)]
    gradients = [tensor.grad for tensor in parameters if tensor.grad is not None]
    found: dict[str, Kinds] = {}
    seen: set[Storage] = set()
    for kind, tensors in (("parameters", parameters), ("gradients", gradients), ("optimizer", states)):
        fresh = {storage: size for storage, size in _storages(tensors) if storage not in seen}
        seen.update(fresh)
        for storage, size in fresh.items():
            kinds = found.setdefault(storage.place, dict.fromkeys(("parameters", "gradients", "optimizer"), 0))
            kinds[kind] += size
    return found


def _gradients_on_gpu(parameters: Iterable[Tensor]) -> int:
    gradients = [tensor.grad for tensor in parameters if tensor.is_leaf and tensor.grad is not None]
    return sum(size for storage, size in dict(_storages(gradients)).items() if storage.place == GPU)


def _storages(tensors: Iterable[Tensor]) -> Iterator[tuple[Storage, int]]:
    """The storage behind each tensor, and its bytes; of a DTensor, its own shard's."""
    for tensor in tensors:
        local = getattr(tensor, "_local_tensor", tensor)
        if local.device.type in (HOST, GPU):
            storage = local.untyped_storage()
            if address := storage.data_ptr():
                yield Storage(local.device.type, address), storage.nbytes()


def unique_set_size() -> int | None:
    """Bytes that only this process has in memory; None where the kernel does not report them."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def anonymous_bytes() -> int:
    """Bytes of anonymous memory, as the kernel counts them without walking any pages."""
    _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def compiled_code_bytes() -> int | None:
    """Private bytes of the shared libraries that a compiler made for this job; None where none is mapped.

    These are the libraries outside every installation folder: Inductor loads its code from caches and scratch folders.
    """
    try:
        text = Path("/proc/self/smaps").read_text()
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
_stop = threading.Event()
_started = threading.Lock()


class Watch(NamedTuple):
    """What must be known of a compiled graph to measure its arguments and what it keeps. Stored in PyTorch's cache."""

    direction: str
    static: tuple[int, ...]
    """Positions of the arguments that exist anyway: parameters, buffers."""
    first_kept: int | None
    """A forward graph keeps its results from this position on, those after the model's."""


def watch(direction: str) -> Watch | None:
    """How to watch the graph that is being compiled; None where AOTAutograd does not say."""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return None
    metadata = context.fw_metadata
    kept = metadata.num_forward if direction == FORWARD else None
    return Watch(direction, tuple(metadata.static_input_indices), kept)


def watching(run: Callable[..., Any], watch: Watch | None) -> Callable[..., Any]:
    """Wrap `run` of a compiled graph to measure its arguments and what it keeps; unchanged if nobody records."""
    if watch is None or not _listened():
        return run
    if watch.direction == BACKWARD:
        return _watched_backward(run)
    return _WatchedForward(run, watch.static, watch.first_kept)


class _WatchedForward:
    """A forward graph that measures what it keeps, once a second; in between, the last measurement counts."""

    def __init__(self, run: Callable[..., Any], static: Iterable[int], first_kept: int | None) -> None:
        self._run, self._static, self._first_kept = run, tuple(static), first_kept
        self._looked_at = float("-inf")
        self._keeps: Kinds = {}

    def __call__(self, arguments: list[Any]) -> Any:
        now = time.monotonic()
        if now - self._looked_at < PERIOD:
            results = self._run(arguments)
            self._keep()
            return results
        self._looked_at = now
        # A boxed call empties its list of arguments, so they are noted before.
        given = _tensors([arguments[place] for place in self._static if place < len(arguments)])
        results = self._run(arguments)
        kept = () if self._first_kept is None else results[self._first_kept :]
        self._keeps = _account.sizes(given, _tensors(kept))
        self._keep()
        _account.look_at_gpu(given)
        return results

    def _keep(self) -> None:
        if self._first_kept is not None:
            _account.forward_ran(self._keeps)


def _watched_backward(run: Callable[..., Any]) -> Callable[..., Any]:
    def watching(arguments: list[Any]) -> Any:
        results = run(arguments)
        _account.backward_ran()
        return results

    return watching


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    return [value for value in values if isinstance(value, Tensor)]


def code_loaded() -> None:
    """Call this when an artifact has been loaded into this process."""
    _account.code_loaded()


def start() -> None:
    """Begin to report, once per process, if a recording listens."""
    if not _listened() or not _started.acquire(blocking=False):
        return
    # Not traced where the script compiles its optimizer: Dynamo would warn of it and compile parts of it.
    hook = torch.compiler.disable(_account.step_taken)  # type: ignore[no-untyped-call]
    register_optimizer_step_post_hook(hook)
    thread = threading.Thread(target=_report, name="neurontop-memory", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # this user may start no more threads: no reason to end a job
        return
    atexit.register(_end, thread)


def _listened() -> bool:
    return bool(os.environ.get(side_channel.EVENTS_VARIABLE))


def _end(thread: threading.Thread) -> None:
    """End the thread before the interpreter exits: inside PyTorch at that moment it would crash the job's exit."""
    _stop.set()
    thread.join(timeout=5.0)


def _report() -> None:
    """Report until the process ends, and then once more, so that a job of less than a second has its account, too."""
    pause, before, ended = PERIOD, 0.0, False
    while not ended:
        ended = _stop.wait(pause)
        began = time.thread_time()
        # The job's threads change the numbers while we add them up; such a measurement is left out.
        with contextlib.suppress(RuntimeError, OSError, ValueError):
            kinds, gpu = _account.kinds(time.monotonic()), _account.gpu()
            side_channel.emit(WorkerMemoryReported(pid=os.getpid(), rank=side_channel.rank(), kinds=kinds, gpu=gpu))
        took = time.thread_time() - began
        pause, before = max(PERIOD, _SHARE * min(took, before)), took  # a search or a look at mappings is rare
