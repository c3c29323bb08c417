"""Keeps what AOTAutograd made of a captured graph, so that a warm start loads compiled graphs without tracing again.

PyTorch keeps it (`AOTAutogradCache`, in Inductor's own directory), under its own key for what was captured. Our part:

- The entry holds no code, but the keys of our modules (`CachedGraph`). Each is looked up in our cache as usual, with
  the same checks and lines. If one is missing or unsound, the graph is traced as if nothing had been kept.
- A wrong hit is the worst defect a compile cache can have, and PyTorch's key trusts more than ours does. So our own
  exact description goes into the key as well: every node with its arguments, every input with its form, place, aliases
  and autograd state, the settings that code generation sees, the compiler flags, the modes in force. And only graphs
  made of nothing but PyTorch's own operators on plain tensors of fixed sizes take part: what they are traced to is
  determined by the description and by PyTorch's sources, which the key contains.
- What a script changes inside PyTorch would escape a description of the graph. So the code that traces is checked as
  well: functions in Python (`torch_functions`), kernels in Python and in C++ (`torch_kernels`).
- `fingerprint` raises for what cannot be shown to be equal, which is then traced. `NEURONTOP_SKIP_TRACE=0` traces
  everything.
- Ranks that capture the same graph at the same time wait for the first of them instead of tracing it all at once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._functorch.config as functorch_config
import torch.compiler.config as compiler_config
from torch import fx
from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache, FXGraphCacheMiss
from torch._inductor.output_code import OutputCode

from neuron_top.cache.locks.kernel_lock import give_back
from neuron_top.cache.model.keys import parse_key
from neuron_top.compile import side_channel
from neuron_top.compile.graphs import hashing, own_code, torch_functions, torch_kernels
from neuron_top.compile.graphs.hashing import NotCacheable
from neuron_top.compile.torch import equal_blocks, machine_locks, saved_strides, worker_memory, written_inputs
from neuron_top.compile.torch.loading import Runner, load_known
from neuron_top.compile.wrapper.flags import is_switched_off
from neuron_top.compile.wrapper.log_lines import SAY_EVERY_SECONDS

SKIP_TRACE_VARIABLE = "NEURONTOP_SKIP_TRACE"
_FORMAT = "neuron-top dispatch 13"
_LONGEST_NAME = 200
_FIRST_POLL, _LONGEST_POLL = 0.05, 0.5


class _FirstProcess(threading.local):
    """Of the thread that traces a graph while other processes wait for it."""

    lock: int | None = None
    """The lock's file, until the name of the graph stands in it."""


_first = _FirstProcess()


def wanted() -> bool:
    """Whether warm starts may skip the trace: unless the user says no."""
    return not is_switched_off(SKIP_TRACE_VARIABLE)


@dataclasses.dataclass(eq=False)
class CachedGraph(OutputCode):
    """A compiled graph as AOTAutograd sees it: runs here, and is kept as the key of a module."""

    module: str
    """`MODULE_…`; empty for a graph that our cache does not hold."""
    watch: worker_memory.Watch | None
    run: Runner | None
    saved: saved_strides.ExpectedStrides = saved_strides.NOTHING
    """What the backward graph expects of the tensors that are saved for it."""
    digest: str = ""
    """Digest of the whole graph; the artifact of another graph is refused, even under the same key."""
    written: tuple[int, ...] = ()
    """The inputs that its artifact writes to."""

    def __post_init__(self) -> None:
        """Set AOTAutograd's mark of such functions on the instance, from where Dynamo's wrappers copy it."""
        self._boxed_call = True
        self._saved_strides = saved_strides.SavedStrides(self.saved)

    def __call__(self, inputs: Any) -> Any:
        """Run by AOTAutograd's convention: one list of arguments, which is emptied so that they can be freed early."""
        taken = list(inputs)
        inputs.clear()
        with written_inputs.versions_kept(taken, self.written) if self.written else contextlib.nullcontext():
            outputs = self.run(taken)  # type: ignore[misc]  # an instance without it exists in files only
        return self._saved_strides.applied(outputs) if self.saved.strides else outputs

    def prepare_for_serialization(self) -> None:
        """Drop the code before PyTorch caches this. Raises BypassAOTAutogradCache where there is no key to keep."""
        if not self.module:
            raise BypassAOTAutogradCache("this graph is not in the compile cache")
        self.run = None

    def post_compile(self, example_inputs: Any, constants: Any, graph_kwargs: Any) -> None:
        """Get the code from our cache after PyTorch's cache had this. Raises FXGraphCacheMiss where it is missing."""
        runner = load_known(self.module, self.digest)
        if runner is None:
            raise FXGraphCacheMiss
        self.run = equal_blocks.counting(worker_memory.watching(runner, self.watch), self.module, self.watch)
        self._saved_strides = saved_strides.SavedStrides(self.saved)


def fingerprint(gm: fx.GraphModule, inputs: Sequence[Any], surroundings: Iterable[str]) -> str:
    """64 hex digits for a captured graph, its inputs and everything that its trace depends on.

    `surroundings`: compiler, its flags and settings, as exact text; evaluated only once the rest is known to be
    suitable, since that may take seconds. Raises NotCacheable (see above).
    """
    lines = [_FORMAT, *_graph_lines(gm), *_input_lines(inputs), *_state_lines(), *surroundings]  # the slowest last
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@contextlib.contextmanager
def in_force(tag: str, *, keep: bool) -> Iterator[None]:
    """AOTAutograd with its cache under `tag`. `keep=False`: the same graphs in the same order, but nothing is kept.

    The backward graph is compiled with the forward one, since what is kept holds both.
    """
    settings = {
        "enable_autograd_cache": keep,
        "enable_remote_autograd_cache": False,
        "bundled_autograd_cache": True,
        "force_non_lazy_backward_lowering": True,
    }
    with functorch_config.patch(settings), compiler_config.patch(cache_key_tag=tag):  # type: ignore[attr-defined]
        yield


@contextlib.contextmanager
def never(*, backward_too: bool) -> Iterator[None]:
    """AOTAutograd without its cache. `backward_too`: it compiles the backward graph now, not when that is first run."""
    settings = {"enable_autograd_cache": False, "bundled_autograd_cache": False}
    if backward_too:
        settings["force_non_lazy_backward_lowering"] = True
    with functorch_config.patch(settings):
        yield


@contextlib.contextmanager
def first_alone(tag: str, say: Callable[[str], None]) -> Iterator[float]:
    """Let the first process with this graph go ahead while the others wait for it; gives the seconds waited.

    If one of them has started a compile server, it is the first. The lock ends with its holder. Once a process has
    finished without an error, nobody waits any more.
    """
    mark = machine_locks.folder() / tag
    if mark.exists():
        yield 0.0
        return
    handle = machine_locks.open_lock(f"{tag}.lock")
    if handle is None:
        yield 0.0
        return
    try:
        taken = handle
        machine_locks.let_the_server_go_first(lambda: mark.exists() or machine_locks.is_locked(taken))
        waited = _wait(handle, mark, say)
        if mark.exists():
            os.close(handle)
            handle = None
        else:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, 0)
        _first.lock = handle
        yield waited
        with contextlib.suppress(OSError):
            mark.touch()
    finally:
        _first.lock = None
        if handle is not None:
            give_back(handle)


def name_for_waiting(module: str) -> None:
    """Name the graph that was traced to the processes that wait for it in `first_alone`: nothing else tells them."""
    if _first.lock is not None:
        with contextlib.suppress(OSError):
            os.pwrite(_first.lock, module.encode(), 0)
        _first.lock = None


def _wait(handle: int, mark: Path, say: Callable[[str], None]) -> float:
    """Wait until the lock is ours or the mark exists; returns the seconds slept.

    The wait is reported as soon as the graph has a name.
    """
    start = said = time.monotonic()
    pause, waited, named = _FIRST_POLL, 0.0, False
    while not mark.exists() and not machine_locks.try_lock(handle):
        if not named and (module := _named(handle)):
            named = True
            side_channel.emit(side_channel.wait_began(module))
        time.sleep(pause)
        pause, waited = min(pause * 1.5, _LONGEST_POLL), time.monotonic() - start
        if time.monotonic() - said >= SAY_EVERY_SECONDS:
            said = time.monotonic()
            say(f"Another process traces and compiles the same graph, been waiting for {waited / 60:.1f} minutes")
    return waited


def _named(handle: int) -> str:
    """The name that `name_for_waiting` wrote; "" as long as there is none."""
    try:
        key = parse_key(os.pread(handle, _LONGEST_NAME, 0).decode("ascii", "replace"))
    except OSError:
        return ""
    return "" if key is None else key.name


def _state_lines() -> Iterator[str]:
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.ddp_optimizer_ctx is not None:
        raise NotCacheable("the graph is one of several buckets")
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        raise NotCacheable("a mode changes what operators do")
    if foreign := own_code.foreign() or torch_functions.replaced() or torch_kernels.replaced():
        raise NotCacheable(foreign)
    if own_code.rules_of_vmap():
        raise NotCacheable("vmap has rules in Python, which a script could have replaced")
    yield f"operators {own_code.tables()}"
    yield f"functions {torch_functions.places()} {torch_kernels.places()}"  # in this order
    yield f"grad {torch.is_grad_enabled()} inference {torch.is_inference_mode_enabled()}"
    for device in torch._C._autocast_supported_devices():  # a graph may switch it on, with the type that is set for it
        yield f"autocast {device} {torch.is_autocast_enabled(device)} {torch.get_autocast_dtype(device)}"
    yield f"autocast cache {torch.is_autocast_cache_enabled()}"
    yield f"included {torch._C._dispatch_tls_local_include_set()}"  # guards of the script change what is dispatched to
    yield f"excluded {torch._C._dispatch_tls_local_exclude_set()}"
    yield f"default {torch.get_default_device()} {torch.get_default_dtype()}"


def _graph_lines(gm: fx.GraphModule) -> Iterator[str]:
    if hasattr(gm, "saved_tensors_hooks_pack_0"):
        raise NotCacheable("hooks change what is saved for backward")
    places = {node: place for place, node in enumerate(gm.graph.nodes)}
    for node, place in places.items():
        if node.meta.get("custom"):
            raise NotCacheable("the script annotates the graph")
        if node.op == "placeholder":
            yield f"{place} placeholder {_fixed(node.meta.get('example_value'))}"
        else:
            arguments = f"{hashing.exactly(node.args, places)} {hashing.exactly(node.kwargs, places)}"
            yield f"{place} {_operation(node)} {arguments}"


def _operation(node: fx.Node) -> str:
    target = node.target
    if node.op == "output":
        return "output"
    if node.op == "call_method" and isinstance(target, str):
        return f"method {target}"
    if node.op != "call_function" or isinstance(target, torch._ops.HigherOrderOperator):
        raise NotCacheable(f"the graph holds {node.op} {target}")
    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        name = str(target)
        if name.partition(".")[0] not in own_code.OWN_NAMESPACES:
            raise NotCacheable(f"the graph calls {name}")
        return f"operator {name}"
    return hashing.function_name(target)


def _fixed(value: Any) -> str:
    sizes = (*value.shape, *value.stride()) if isinstance(value, torch.Tensor) else (value,)
    if any(isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)) for size in sizes):
        raise NotCacheable("sizes are symbolic")
    return hashing.described(value)


def _input_lines(inputs: Sequence[Any]) -> Iterator[str]:
    objects: dict[int, int] = {}
    storages: dict[int, int] = {}
    for place, item in enumerate(inputs):
        yield f"input {_fixed(item)}"
        if isinstance(item, torch.Tensor):
            if item.layout != torch.strided:
                raise NotCacheable("an input is not a plain dense tensor")
            storage = item.untyped_storage()
            same, alias = objects.setdefault(id(item), place), storages.setdefault(storage._cdata, place)
            yield f"same as {same}, memory of {alias}, {storage.nbytes()} bytes, at {item.storage_offset()}"
            yield f"leaf {item.is_leaf} view {item._is_view()} inference {item.is_inference()}"
            if (base := item._base) is not None:  # what is written to views of one memory is traced as written to it
                same = objects.setdefault(id(base), len(objects) + len(inputs))
                yield f"base {same} {_fixed(base)}, at {base.storage_offset()}, leaf {base.is_leaf}"
