"""The environment variables that decide something for a Neuron job, and what each decides: one row per variable.

A variable that begins with `NEURON` and is not here is reported as unknown, with the nearest name that exists.
"""

from __future__ import annotations

import difflib

EFFECTS: dict[str, str] = {
    "NEURON_CC_FLAGS": "compiler flags, and the wrapper's own options among them",
    "NEURON_COMPILE_CACHE_URL": "root of the compile cache, unless --cache_dir is given",
    "NEURON_LIBTORCH_REMOTE_CACHE": "remote compile cache of vLLM-Neuron",
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
    "TORCH_NEURONX_NEFF_CACHE_DIR": "NEFF cache of native PyTorch on Neuron",
    "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR": "its local part",
    "BASE_COMPILE_WORK_DIR": "work folder of NxD",
    "CUSTOM_CACHE_REPO": "cache repository of optimum-neuron",
    "LOCAL_RANK": "which worker of this host",
    "RANK": "which worker of the job",
    "WORLD_SIZE": "how many workers",
}
PREFIXES = ("NEURON_RT_LOG_LEVEL_", "NEURON_RT_LOG_LOCATION_", "NEURON_RT_INSPECT_", "NEURON_RT_PROFILE_", "NEURONTOP_")
"""Families of variables in which every name has a meaning."""


def matters(name: str) -> bool:
    """Whether a variable is worth showing at all."""
    return name in EFFECTS or name.startswith(("NEURON", "AWS_NEURON"))


def known(name: str) -> bool:
    """Whether the SDK or we read it."""
    return name in EFFECTS or name.startswith(PREFIXES)


def nearest(name: str) -> str | None:
    """The existing name that an unknown one resembles most."""
    found = difflib.get_close_matches(name, EFFECTS, n=1, cutoff=0.75)
    return found[0] if found else None
