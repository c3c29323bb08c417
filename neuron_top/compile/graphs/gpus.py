"""Lists the GPUs that PyTorch knows as `cuda` (NVIDIA's, and AMD's by the same name), and prepares compiles for them.

A process that has asked the driver for its GPUs cannot use one in its forks. The compile server works by forking, so it
never asks itself: a fork asks on its behalf, and each compile is the first in its process to use a GPU.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch._inductor.config as inductor_config
from torch import fx

from neuron_top.compile.graphs import copying
from neuron_top.compile.graphs.torch_settings import INDUCTOR

_GPU = "cuda"
_KIND = (
    "name",
    "major",
    "minor",
    "gcnArchName",
    "multi_processor_count",
    "regs_per_multiprocessor",
    "max_threads_per_multi_processor",
    "max_threads_per_block",
    "shared_memory_per_block_optin",
    "warp_size",
    "L2_cache_size",
)
"""Properties that kernels are compiled for, such as the compute capability (major, minor). Not which card of its kind
it is (`uuid`, its place on the bus), nor how much memory the driver leaves."""


_IMPORTED_BY_COMPILES = (
    "torch._inductor.codegen.segmented_tree",
    "torch._inductor.fx_passes.apply_gumbel_max_trick",
    "torch._inductor.fx_passes.efficient_conv_bn_eval",
    "torch._inductor.fx_passes.freezing_patterns",
    "torch._inductor.fx_passes.fuse_attention",
    "torch._inductor.fx_passes.mkldnn_fusion",
    "torch._inductor.fx_passes.pad_mm",
    "torch._inductor.fx_passes.quantization",
    "torch._inductor.runtime.caching.interfaces",
    "torch.fx.experimental.validator",
)
"""Further modules, besides those of PyTorch's patterns."""


def kinds() -> list[str]:
    """The GPUs that this process sees. Equal ones count as one, so that a rank with one GPU shares with a rank that
    sees eight; different ones keep their order, which a graph's `cuda:1` refers to."""
    if not torch.cuda.is_available():
        return []
    gpus = [torch.cuda.get_device_properties(place) for place in range(torch.cuda.device_count())]
    found = [str({name: getattr(gpu, name) for name in _KIND if hasattr(gpu, name)}) for gpu in gpus]
    return found[:1] if len(set(found)) == 1 else found


def used_by(gm: fx.GraphModule) -> bool:
    """Whether a graph computes on a GPU, be it one that Dynamo captured or one that AOTAutograd made."""
    return _GPU in _devices(gm)


def cpu_code_in(gm: fx.GraphModule, patches: Mapping[str, Any]) -> bool:
    """Whether code for the CPU may be generated for a graph, under these patches to Inductor's configuration: for
    tensors that are not on a GPU, or to call kernels from C++."""
    return _devices(gm) != {_GPU} or bool(patches.get("cpp_wrapper", inductor_config.cpp_wrapper))


def _devices(gm: fx.GraphModule) -> set[str]:
    """The device types of a graph's values, including its subgraphs and constants."""
    found = set()
    for module in copying.parts(gm):
        for node in module.graph.nodes:
            value = node.meta.get("val", node.meta.get("example_value"))
            if value is None and node.op == "get_attr":
                value = operator.attrgetter(str(node.target))(module)
            leaves = value if isinstance(value, (list, tuple)) else [value]
            found |= {leaf.device.type for leaf in leaves if isinstance(leaf, torch.Tensor)}
    return found


def reason_to_stay(settings: Mapping[str, Any], gm: fx.GraphModule) -> str:
    """Why a graph for a GPU is compiled in the job under these settings; empty where it need not be.

    A CUDA graph is a recording of calls with their addresses: it is made in the process that replays it, from
    Inductor's own function, which PyTorch cannot save for it.
    """
    if settings["config"][INDUCTOR].get("triton.cudagraphs") and used_by(gm):
        return "CUDA graphs are recorded by the process that runs them"
    return ""


@contextlib.contextmanager
def counted_elsewhere() -> Iterator[None]:
    """Within the block, this process can tell how many GPUs there are without asking the driver itself."""
    ask = getattr(torch._C, "_cuda_getDeviceCount", None)
    if ask is None:  # PyTorch is built without CUDA
        yield
        return
    torch._C._cuda_getDeviceCount = functools.cache(lambda: _in_a_fork(ask))
    try:
        yield
    finally:
        torch._C._cuda_getDeviceCount = ask


def _in_a_fork(count: Callable[[], int]) -> int:
    pid = os.fork()
    if pid == 0:
        found = 0
        with contextlib.suppress(BaseException):
            found = count()
        os._exit(min(found, 255))
    _, status = os.waitpid(pid, 0)
    return max(0, os.waitstatus_to_exitcode(status))


def imported_by_compiles() -> list[str]:
    """Modules that PyTorch imports in the middle of a compile for a GPU."""
    from torch._inductor.fx_passes import serialized_patterns

    patterns = pkgutil.iter_modules(serialized_patterns.__path__)
    return [*_IMPORTED_BY_COMPILES, *(f"{serialized_patterns.__name__}.{found.name}" for found in patterns)]


def start_kernel_compilers() -> None:
    """Let forks of this process, which exists to compile one graph, compile Triton's kernels in parallel.

    PyTorch would start another program, which first imports PyTorch and is ready only when such a graph is compiled.
    """
    from torch._inductor.async_compile import AsyncCompile

    inductor_config.worker_start_method = "fork"
    AsyncCompile.use_process_pool()  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def kernels_ready() -> Iterator[None]:
    """For loading code whose kernels are compiled: within the block PyTorch starts no programs to compile them."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        yield
        return
    with inductor_config.patch(compile_threads=1):
        yield
