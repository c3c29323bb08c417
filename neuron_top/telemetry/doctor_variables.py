"""The environment variables that decide something for a Neuron job, and what each decides: one row per variable.

A variable that begins with `NEURON` and is not here is reported as unknown, with the nearest name that exists.
"""

from __future__ import annotations

import difflib

EFFECTS: dict[str, str] = {
    "NEURON_CC_FLAGS": "compiler flags, and the wrapper's own options among them",
    "NEURON_COMPILE_CACHE_URL": "root of the compile cache, unless --cache_dir is given",
    "NEURON_LIBTORCH_REMOTE_CACHE": "remote compile cache of vLLM-Neuron",
    "NEURON_LIBTORCH_CACHE_ROOT": "folder of vLLM-Neuron's local compile cache, without the plugin",
    "NEURON_LIBTORCH_DISABLE_COMPILE_CACHE": "1: vLLM-Neuron's cache is off, every process compiles for itself",
    "NEURON_LIBTORCH_COMPILATION_TIMEOUT": "seconds that vLLM-Neuron waits for another's compile; 600 by default",
    "NEURON_LIBTORCH_PARALLEL_COMPILE_WORKERS": "how many compiles vLLM-Neuron runs at once; 8 by default",
    "NEURON_LIBTORCH_DISABLE_GRAPH_CAPTURE_BACKEND": "1: vLLM-Neuron captures no graph, so it compiles none",
    "NEURON_PLATFORM_TARGET_OVERRIDE": "target that is compiled for; needed to compile without a device",
    "NEURON_LAUNCH_BLOCKING": "1: native PyTorch reports an error where it happens",
    "NEURON_COMPILATION_CACHE_MAX_SIZE_MB": "NEFFs that native PyTorch keeps in the memory of a process, MB",
    "NEURON_COMPILATION_CACHE_MAX_ENTRIES": "how many NEFFs it keeps there",
    "NEURON_EXTRACT_GRAPHS_ONLY": "collect graphs, execute nothing",
    "NEURON_PARALLEL_COMPILE": "set by the parallel pre-compile for its trial run",
    "NEURON_PARALLEL_COMPILE_MAX_RETRIES": "how often a failed graph is tried again",
    "NEURON_PARALLEL_COMPILE_DUMP_RESULTS": "write a results file in the current folder",
    "NEURON_PARALLEL_COMPILE_CACHE_PATH_LOG": "set by the parallel pre-compile for its trial run",
    "NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE": "compile what was collected before a crash",
    "NEURON_FALL_BACK_TO_NULL_NEFF": "set by the parallel pre-compile for its trial run",
    "NEURON_ANALYZE_MODEL": "analyze operators instead of training",
    "NEURON_FRAMEWORK_DEBUG": "keep copies of graphs and artifacts in the current folder",
    "NEURON_NUM_RECENT_MODELS_TO_KEEP": "how many loaded models stay on a core",
    "NEURON_COMPILED_ARTIFACTS": "folder of a compiled model for vLLM",
    "NEURON_CACHE_BUCKET": "storage bucket of optimum-neuron",
    "NEURON_CACHE_MOUNTED": "whether that bucket is mounted",
    "NEURON_RT_LOG_LEVEL": "how much the runtime logs; ERROR by default",
    "NEURON_RT_LOG_LOCATION": "where the runtime logs",
    "NEURON_RT_VISIBLE_CORES": "exactly these cores are reserved",
    "NEURON_RT_NUM_CORES": "so many free cores are reserved",
    "NEURON_LOGICAL_NC_CONFIG": "physical cores per logical core",
    "NEURON_RT_VIRTUAL_CORE_SIZE": "old name of NEURON_LOGICAL_NC_CONFIG",
    "NEURON_PROCESS_TAG": "name of the process in the SDK's tools",
    "NEURON_RT_EXEC_TIMEOUT": "seconds until an execution counts as hung",
    "NEURON_RT_STOCHASTIC_ROUNDING_EN": "stochastic rounding",
    "NEURON_RT_STOCHASTIC_ROUNDING_SEED": "its seed",
    "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "implicit asynchronous execution; gone since SDK 2.32",
    "NEURON_SCRATCHPAD_PAGE_SIZE": "page size of the scratchpad, MB",
    "NEURON_RT_CONTIGUOUS_SCRATCHPAD": "form of the scratchpad",
    "NEURON_RT_NUMERICAL_ERRORS_VERBOSITY": "report NaN; off since SDK 2.26",
    "NEURON_FAIL_ON_NAN": "fail on NaN; off since SDK 2.26",
    "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR": "dump inputs when an execution fails",
    "NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY": "where dumps go",
    "NEURON_RT_S3_CORE_DUMP_PREFIX": "where dumps go",
    "NEURON_RT_ENABLE_DGE_NOTIFICATIONS": "profiling aid; can cause status 1204 or timeouts",
    "NEURON_RT_ENABLE_DEVICE_MEMORY_OOM_LOG": "the memory table on out-of-memory",
    "NEURON_RT_ROOT_COMM_ID": "address of the collectives' root",
    "NEURON_RT_RESET_CORES": "reset cores when the runtime starts",
    "NEURON_RT_ULTRASERVER_MODE": "UltraServer",
    "NEURON_RT_ULTRASERVER_NODE_ID": "UltraServer",
    "NEURON_RT_ULTRASERVER_SERVER_ID": "UltraServer",
    "NEURON_RT_VALIDATE_HASH": "check a NEFF's digest when it is loaded",
    "NEURON_RT_MULTI_INSTANCE_SHARED_WEIGHTS": "share weights between loaded copies",
    "NEURON_RT_ALLOW_LEGACY_NEFF": "load old NEFFs",
    "AWS_NEURON_VISIBLE_DEVICES": "devices a container gets",
    "TORCHINDUCTOR_CACHE_DIR": "cache of PyTorch's Inductor",
    "TRITON_CACHE_DIR": "cache of Triton",
    "JAX_COMPILATION_CACHE_DIR": "cache of JAX",
    "VLLM_CACHE_ROOT": "caches of vLLM",
    "VLLM_NEURON_CPU_COMPILE": "1: vLLM compiles for Neuron on a machine without a device",
    "VLLM_NEURON_DISABLE_WARMUP_COMPILE": "1: a graph that vLLM-Neuron's cache does not hold is an error",
    "VLLM_NEURON_ENABLE_METRICS": "1: vLLM's /metrics includes Neuron's, compile times among them",
    "TORCH_NEURONX_NEFF_CACHE_DIR": "NEFF cache of native PyTorch on Neuron, may be shared; /tmp/neff_cache by default",
    "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR": "its locks, on a local disk; /tmp/local_cache by default",
    "TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT": "seconds until it breaks another's lock, dead or not; 1200 by default",
    "TORCH_NEURONX_NEFF_DISABLE_CACHE": "1: it keeps no NEFF on disk",
    "TORCH_NEURONX_HLO_CACHE_DIR": "its cache of lowered graphs",
    "TORCH_NEURONX_LOG_LEVEL": "how much native PyTorch logs; 3 logs lookups and compiles",
    "TORCH_NEURONX_LOG_FILE": "where it logs",
    "TORCH_NEURONX_DEBUG_DIR": "where it keeps what it compiles; /tmp/neuron_backend by default",
    "TORCH_NEURONX_DISABLE_FALLBACK_EXECUTION": "1: an operator that Neuron lacks is an error, not run on the CPU",
    "TORCH_NEURONX_METRICS_ENABLED": "1: native PyTorch counts and times what it does",
    "TORCH_NEURONX_ENABLED_METRIC_TABLES": "graph_stats: a table of compile times per graph, written at the end",
    "TORCH_NEURONX_METRICS_DIR": "where that table is written; /tmp by default",
    "BASE_COMPILE_WORK_DIR": "work folder of NxD",
    "CUSTOM_CACHE_REPO": "cache repository of optimum-neuron",
    "LOCAL_RANK": "which worker of this host",
    "RANK": "which worker of the job",
    "WORLD_SIZE": "how many workers",
}
PREFIXES = ("NEURON_RT_LOG_LEVEL_", "NEURON_RT_LOG_LOCATION_", "NEURON_RT_INSPECT_", "NEURON_RT_PROFILE_", "NEURONTOP_")
"""Families of variables in which every name has a meaning."""


_OPEN = ("TORCH_NEURONX_", "VLLM_NEURON_")


def matters(name: str) -> bool:
    """Whether a variable is worth showing at all."""
    return name in EFFECTS or name.startswith(("NEURON", "AWS_NEURON", *_OPEN))


def known(name: str) -> bool:
    """Whether the SDK or we read it; of families that are not documented in full, whatever resembles no known name."""
    return name in EFFECTS or name.startswith(PREFIXES) or (name.startswith(_OPEN) and nearest(name) is None)


def nearest(name: str) -> str | None:
    """The existing name that an unknown one resembles most."""
    found = difflib.get_close_matches(name, EFFECTS, n=1, cutoff=0.75)
    return found[0] if found else None
