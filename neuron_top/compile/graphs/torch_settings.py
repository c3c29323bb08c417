"""Collects everything outside a graph that can change its code: PyTorch's settings and state, tool-chain variables.

All of it goes into a graph's key and to the process that compiles it. A field of a configuration module counts unless
it is listed in `WITHOUT_EFFECT` with a reason, so a field that is new in a version of PyTorch counts without a change
here. A value that has no exact description (a pass, a class, a function of the script) cannot be keyed:
`TorchSettings.reason` says so, and the graph is compiled in the job's own process and shared with nobody.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import msgspec
import torch

from neuron_top.compile.graphs import hashing

INDUCTOR, FUNCTORCH, DYNAMO = "torch._inductor.config", "torch._functorch.config", "torch._dynamo.config"
MODULES = (
    INDUCTOR,
    "torch._inductor.config_comms",
    FUNCTORCH,
    DYNAMO,
    "torch.compiler.config",
    "torch.fx.experimental._config",
    "torch.distributed.config",
)
"""Configuration modules that PyTorch's compiler reads; modules that this version lacks are left out."""

_CACHES = "where and whether PyTorch keeps compiled code, not which code"
_WORKERS = "how many helpers work, and how they are started"
_DEBUGGING = "what is written down for a person who debugs"
_CAPTURE = "decides what Dynamo captures, and what is captured is hashed node by node"
_NAMES = "names a job or a file"
_PLACE = "a path; the place and version of PyTorch name the cache's folder (see compilers/inductor.py)"
WITHOUT_EFFECT: Mapping[str, Mapping[str, str]] = {
    INDUCTOR: {
        "trace": _DEBUGGING,
        "worker_start_method": _WORKERS,
        "compile_threads": _WORKERS,
        "fx_graph_cache": _CACHES,
        "fx_graph_remote_cache": _CACHES,
        "autotune_local_cache": _CACHES,
        "autotune_remote_cache": _CACHES,
        "cuda.cutlass_dir": _PLACE,
        "cutlass.cutlass_dir": _PLACE,
        "xpu.cutlass_dir": _PLACE,
    },
    FUNCTORCH: {
        "enable_autograd_cache": _CACHES,
        "enable_remote_autograd_cache": _CACHES,
        "bundled_autograd_cache": _CACHES,
        "force_non_lazy_backward_lowering": "when the backward graph is compiled, not to what",
        "unlift_effect_tokens": "decides what AOTAutograd makes, and what it makes is hashed node by node",
    },
    DYNAMO: {
        "debug_dir_root": _DEBUGGING,
        "log_file_name": _DEBUGGING,
        "base_dir": _PLACE,
        "pt2_compile_id_prefix": _NAMES,
        "skipfiles_inline_module_allowlist": _CAPTURE,
        "allowed_functions_module_string_ignorelist": _CAPTURE,
        "traceable_tensor_subclasses": _CAPTURE,
        "nontraceable_tensor_subclasses": _CAPTURE,
        "reorderable_logging_functions": _CAPTURE,
        "ignore_logging_functions": _CAPTURE,
    },
    "torch.compiler.config": {
        "job_id": _NAMES,
        "pgo_extra_read_key": _NAMES,
        "pgo_extra_write_key": _NAMES,
        "cache_key_tag": _CACHES,
        "force_disable_caches": _CACHES,
    },
}
"""Configuration module → field (or its part before a dot) → why none of its values changes a result or the code."""

VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "COMPILER_PATH",
    "CONDA_PREFIX",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDACXX",
    "CUDA_HOME",
    "CUDA_PATH",
    "CXX",
    "C_INCLUDE_PATH",
    "DISABLE_LLVM_OPT",
    "DISABLE_MMA_V3",
    "DISABLE_MMA_V5",
    "DISABLE_PTXAS_OPT",
    "GCC_EXEC_PREFIX",
    "HALIDE_INCLUDE",
    "HALIDE_LIB",
    "LEVEL_ZERO_V1_SDK_PATH",
    "LIBRARY_PATH",
    "LLVM_PASS_PLUGIN_PATH",
    "MACOSX_DEPLOYMENT_TARGET",
    "OMP_PREFIX",
    "PYTORCH_JIT",
    "ONEAPI_ROOT",
    "PYTORCH_ROCM_ARCH",
    "SDKROOT",
    "SYSROOT",
    "TORCHINDUCTOR_DEBUG_COMPILE",
    "TORCHINDUCTOR_DEBUG_SYMBOL",
    "TORCHINDUCTOR_DISABLE_MULTI_KERNEL_CACHE",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES",
    "TORCHINDUCTOR_PATTERN_MATCH_BACKEND",
    "TORCHINDUCTOR_PROLOGUE_FUSION",
    "TORCHINDUCTOR_VEC_ISA_OK",
    "TORCHINDUCTOR_XPU_KERNEL_FORMAT",
    "TORCH_COMPILE_BACKEND",
    "WINDOWS_CUDA_HOME",
)
"""Variables that Inductor and its tool chain read while they compile. Those that are read when PyTorch is imported are
fields of its configuration by then; a test looks at every variable that PyTorch's sources name."""

_OF_TRITON = ("TRITON_", "AMDGCN_")
"""Prefix of Triton's variables. There are dozens, different in each version; all count, whatever they do."""
_PLACES_OF_TRITON = ("TRITON_CACHE_DIR", "TRITON_HOME")
"""Folders of Triton's compiled kernels; PyTorch sets the first in processes that have loaded one."""

_ABSENT = "absent in this PyTorch"
_FAILS = "cannot be read: "


class TorchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that were in force when they were collected."""

    config: dict[str, dict[str, Any]]
    """Configuration module → field → value, for the fields that count."""
    state: dict[str, Any]
    variables: dict[str, str]
    reason: str
    """Why graphs must not be shared under these settings; empty if they may be."""

    def serializable(self) -> dict[str, Any]:
        """The settings as they are hashed, and sent along with a graph."""
        return {"config": self.config, "state": self.state, "variables": self.variables}


def collect(patches: Mapping[str, Any] | None = None, *, cpu_code: bool = True) -> TorchSettings:
    """The settings in force in this process, with `patches` to Inductor's configuration.

    Without `cpu_code`, for a graph whose code is all for a GPU, the CPU's vector instructions are left out: to find
    them, test programs have to be compiled and loaded.
    """
    patched = config_module(INDUCTOR).patch(dict(patches)) if patches else contextlib.nullcontext()
    with patched:
        config = {name: fields(config_module(name)) for name in MODULES if _installed(name)}
    reasons = [
        f"{module}.{name} is {_kind(value)}"
        for module, values in config.items()
        for name, value in indescribable(values).items()
    ]
    state = {name: _read(read) for name, (read, _) in STATE.items() if cpu_code or name != _OF_CPU_CODE}
    return TorchSettings(config=config, state=state, variables=_variables(), reason=", ".join(reasons))


def fields(module: ModuleType) -> dict[str, Any]:
    """Field → value of a configuration module, without aliases of other fields and fields that have no effect."""
    harmless = WITHOUT_EFFECT.get(module.__name__, {})
    entries: Mapping[str, Any] = module._config
    return {
        name: getattr(module, name)
        for name, entry in entries.items()
        if entry.alias is None
        and not getattr(entry, "deprecated", False)  # has no effect any more, and reading it warns
        and name not in harmless
        and name.partition(".")[0] not in harmless
    }


def apply(settings: Mapping[str, Any]) -> list[str]:
    """Put `settings` into force in this process, which exists to compile one graph.

    Returns the names of those that could not be taken over.
    """
    for name, values in settings["config"].items():
        config_module(name).load_config(dict(values))
    for name, value in settings["state"].items():
        write = STATE[name][1]
        if write is not None and _read(STATE[name][0]) != value:
            write(value)
    for name in _variables():
        del os.environ[name]
    os.environ.update(settings["variables"])
    return sorted(_differing(settings, collect(cpu_code=_OF_CPU_CODE in settings["state"]).serializable()))


def _variables() -> dict[str, str]:
    """The variables in force, including those that PyTorch sets when a process first compiles a kernel."""
    have_pytorch_set_its_variables()
    return {name: value for name, value in os.environ.items() if variable_counts(name)}


def have_pytorch_set_its_variables() -> None:
    """Have PyTorch set the paths of its own `ptxas` and of CUDA's `libdevice` now, which Triton reads.

    It sets them when a process first compiles a kernel: keys of two processes, or of one before and after, would
    differ.
    """
    with contextlib.suppress(ImportError):
        tasks = importlib.import_module("torch._inductor.runtime.compile_tasks")
        for name in ("_set_triton_ptxas_path", "_set_triton_libdevice_path"):
            getattr(tasks, name, lambda: None)()  # other versions may do it differently


def variable_counts(name: str) -> bool:
    """Whether an environment variable goes into keys."""
    return name in VARIABLES or (name.startswith(_OF_TRITON) and name not in _PLACES_OF_TRITON)


def indescribable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Names of the `values` that have no exact description."""
    found = {}
    try:
        hashing.exactly(dict(values), {})
    except hashing.NotCacheable:
        for name, value in values.items():
            try:
                hashing.exactly(value, {})
            except hashing.NotCacheable:
                found[name] = value
    return found


def config_module(name: str) -> ModuleType:
    """A configuration module, typed as Any: its attributes are dynamic (see torch.utils._config_module)."""
    return importlib.import_module(name)


def _installed(name: str) -> bool:
    try:
        return hasattr(config_module(name), "_config")
    except ImportError:
        return False


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} with {', '.join(_kind(item) for item in value)}"
    name = value.__qualname__ if isinstance(value, type) or hasattr(value, "__qualname__") else type(value).__qualname__
    return f"{getattr(value, '__module__', '') or type(value).__module__}.{name}"


def _differing(sent: Mapping[str, Any], here: Mapping[str, Any]) -> set[str]:
    found = set()
    for part in ("state", "variables"):
        names = {*sent[part], *here[part]}
        found |= {name for name in names if _text(sent[part].get(name)) != _text(here[part].get(name))}
    for module in {*sent["config"], *here["config"]}:
        ours, theirs = here["config"].get(module, {}), sent["config"].get(module, {})
        found |= {f"{module}.{name}" for name in {*ours, *theirs} if _text(ours.get(name)) != _text(theirs.get(name))}
    return found


def _text(value: Any) -> str:
    try:
        return hashing.exactly(value, {})
    except hashing.NotCacheable:
        return f"object {id(value)}"


Read = Callable[[], Any]
Write = Callable[[Any], Any]


def _read(read: Read) -> Any:
    try:
        return read()
    except AttributeError:
        return _ABSENT
    except RuntimeError as problem:  # PyTorch refuses to answer after old and new ways to set a precision were mixed
        return f"{_FAILS}{str(problem).partition(chr(10))[0]}"


def _known(write: Write) -> Write:
    """`write` for values that could be read."""
    return lambda value: None if isinstance(value, str) and value.startswith((_ABSENT, _FAILS)) else write(value)


def _c(name: str) -> Any:
    return getattr(torch._C, name)


def _native(getter: str, setter: str) -> tuple[Read, Write]:
    return (lambda: _c(getter)()), _known(lambda value: _c(setter)(value))


def _vector_instructions() -> str:
    """The instructions that PyTorch compiles C++ for. Its test can find less in one process than in another (no room
    for the test's file, a busy machine), and code that is loaded under another answer is rebuilt for other
    instructions.
    """
    from torch._inductor import cpu_vec_isa

    return str(cpu_vec_isa.pick_vec_isa())


def _compile_for(instructions: str) -> None:
    """Compile for the instructions that the job's test found, where it found less than this process's test."""
    from torch._inductor import cpu_vec_isa

    same = [kind for kind in cpu_vec_isa.valid_vec_isa_list() if str(kind) == instructions]
    cpu_vec_isa.valid_vec_isa_list = functools.cache(lambda: same)


def _attribute(module: str, name: str) -> tuple[Read, Write]:
    return (
        lambda: getattr(importlib.import_module(module), name),
        _known(lambda value: setattr(importlib.import_module(module), name, value)),
    )


def _precision(backend: str, operation: str) -> tuple[Read, Write]:
    return (
        lambda: torch._C._get_fp32_precision_getter(backend, operation),
        _known(lambda value: torch._C._set_fp32_precision_setter(backend, operation, value)),
    )


def _named(value: Any) -> str:
    """The name of one of PyTorch's enumerators (their `str` takes milliseconds)."""
    return str(value.name)


def _reduced_precision(kind: str) -> tuple[Read, Write]:
    """cuBLAS settings: whether sums may use a shorter type, and whether a product may be split."""
    return (
        lambda: _c(f"_get_cublas_allow_{kind}_reduced_precision_reduction")(),
        _known(lambda value: setattr(torch.backends.cuda.matmul, f"allow_{kind}_reduced_precision_reduction", value)),
    )


def _denormals() -> bool:
    """Whether this thread's arithmetic keeps numbers below the smallest normal one (`torch.set_flush_denormal`)."""
    return sys.float_info.min / 2 > 0


_OF_CPU_CODE = "vector_instructions"
STATE: dict[str, tuple[Read, Write | None]] = {
    "threads": (torch.get_num_threads, torch.set_num_threads),
    "deterministic": (
        lambda: (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()),
        lambda value: torch.use_deterministic_algorithms(value[0], warn_only=value[1]),
    ),
    "fill_uninitialized": _attribute("torch.utils.deterministic", "fill_uninitialized_memory"),
    "default_dtype": (
        lambda: str(torch.get_default_dtype()),
        lambda value: torch.set_default_dtype(getattr(torch, value.removeprefix("torch."))),
    ),
    "default_device": (lambda: str(torch.get_default_device()), torch.set_default_device),
    _OF_CPU_CODE: (_vector_instructions, _compile_for),
    "denormals": (_denormals, lambda value: torch.set_flush_denormal(not value)),
    "matmul_precision": (torch.get_float32_matmul_precision, _known(torch.set_float32_matmul_precision)),
    "fp32_precision": _precision("generic", "all"),
    "cudnn.fp32_precision": _precision("cuda", "all"),
    "cuda.matmul.fp32_precision": _precision("cuda", "matmul"),
    "cudnn.conv.fp32_precision": _precision("cuda", "conv"),
    "cudnn.rnn.fp32_precision": _precision("cuda", "rnn"),
    "mkldnn.fp32_precision": _precision("mkldnn", "all"),
    "mkldnn.matmul.fp32_precision": _precision("mkldnn", "matmul"),
    "mkldnn.conv.fp32_precision": _precision("mkldnn", "conv"),
    "mkldnn.rnn.fp32_precision": _precision("mkldnn", "rnn"),
    "mkldnn.enabled": _native("_get_mkldnn_enabled", "_set_mkldnn_enabled"),
    "mkldnn.deterministic": _native("_get_mkldnn_deterministic", "_set_mkldnn_deterministic"),
    "cudnn.enabled": _native("_get_cudnn_enabled", "_set_cudnn_enabled"),
    "cudnn.deterministic": _native("_get_cudnn_deterministic", "_set_cudnn_deterministic"),
    "cudnn.benchmark": _native("_get_cudnn_benchmark", "_set_cudnn_benchmark"),
    "cudnn.benchmark_limit": (lambda: _c("_cuda_get_cudnn_benchmark_limit")(), None),
    "cudnn.depthwise_kernel": (lambda: str(torch.backends.cudnn.depthwise_kernel), None),
    "cuda.matmul.fp16": _reduced_precision("fp16"),
    "cuda.matmul.bf16": _reduced_precision("bf16"),
    "cuda.matmul.fp16_accumulation": _native(
        "_get_cublas_allow_fp16_accumulation", "_set_cublas_allow_fp16_accumulation"
    ),
    "cuda.sdp.flash": _native("_get_flash_sdp_enabled", "_set_sdp_use_flash"),
    "cuda.sdp.mem_efficient": _native("_get_mem_efficient_sdp_enabled", "_set_sdp_use_mem_efficient"),
    "cuda.sdp.math": _native("_get_math_sdp_enabled", "_set_sdp_use_math"),
    "cuda.sdp.cudnn": _native("_get_cudnn_sdp_enabled", "_set_sdp_use_cudnn"),
    "cuda.sdp.overrideable": _native("_get_overrideable_sdp_enabled", "_set_sdp_use_overrideable"),
    "cuda.sdp.priority": _native("_get_sdp_priority_order", "_set_sdp_priority_order"),
    "cuda.sdp.reduced": _native("_get_math_sdp_allow_fp16_bf16_reduction", "_set_math_sdp_allow_fp16_bf16_reduction"),
    "cuda.linalg": (lambda: _named(_c("_get_linalg_preferred_backend")()), None),
    "cuda.blas": (lambda: _named(_c("_get_blas_preferred_backend")()), None),
    "cuda.attention": (lambda: _named(_c("_get_rocm_fa_preferred_backend")()), None),
    "opt_einsum.enabled": _attribute("torch.backends.opt_einsum", "enabled"),
    "opt_einsum.strategy": _attribute("torch.backends.opt_einsum", "strategy"),
    "nnpack.enabled": _native("_get_nnpack_enabled", "_set_nnpack_enabled"),
    "mha.fastpath": (
        torch.backends.mha.get_fastpath_enabled,
        torch.backends.mha.set_fastpath_enabled,
    ),
    "quantized.engine": (
        lambda: torch.backends.quantized.engine,
        lambda value: setattr(torch.backends.quantized, "engine", value),
    ),
    "miopen.immediate": _native("_get_miopen_immediate", "_set_miopen_immediate"),
}
"""Name → how to read it, and how to set it in a compile process (None: it cannot be set, only compared)."""
