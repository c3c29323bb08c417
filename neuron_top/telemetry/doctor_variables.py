"""The environment variables that decide something for a Neuron job; `views/variable_effects.py` says what each does.

A variable that begins with `NEURON` and is not here is reported as unknown, with the nearest name that exists.
"""

from __future__ import annotations

import difflib

from neuron_top.settings import Settings

NAMES = (
    "NEURON_CC_FLAGS",
    "NEURON_COMPILE_CACHE_URL",
    "NEURON_LIBTORCH_REMOTE_CACHE",
    "NEURON_LIBTORCH_CACHE_ROOT",
    "NEURON_LIBTORCH_DISABLE_COMPILE_CACHE",
    "NEURON_LIBTORCH_COMPILATION_TIMEOUT",
    "NEURON_LIBTORCH_PARALLEL_COMPILE_WORKERS",
    "NEURON_LIBTORCH_DISABLE_GRAPH_CAPTURE_BACKEND",
    "NEURON_PLATFORM_TARGET_OVERRIDE",
    "NEURON_LAUNCH_BLOCKING",
    "NEURON_COMPILATION_CACHE_MAX_SIZE_MB",
    "NEURON_COMPILATION_CACHE_MAX_ENTRIES",
    "NEURON_EXTRACT_GRAPHS_ONLY",
    "NEURON_PARALLEL_COMPILE",
    "NEURON_PARALLEL_COMPILE_MAX_RETRIES",
    "NEURON_PARALLEL_COMPILE_DUMP_RESULTS",
    "NEURON_PARALLEL_COMPILE_CACHE_PATH_LOG",
    "NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE",
    "NEURON_FALL_BACK_TO_NULL_NEFF",
    "NEURON_ANALYZE_MODEL",
    "NEURON_FRAMEWORK_DEBUG",
    "NEURON_NUM_RECENT_MODELS_TO_KEEP",
    "NEURON_COMPILED_ARTIFACTS",
    "NEURON_CACHE_BUCKET",
    "NEURON_CACHE_MOUNTED",
    "NEURON_RT_LOG_LEVEL",
    "NEURON_RT_LOG_LOCATION",
    "NEURON_RT_VISIBLE_CORES",
    "NEURON_RT_NUM_CORES",
    "NEURON_LOGICAL_NC_CONFIG",
    "NEURON_RT_VIRTUAL_CORE_SIZE",
    "NEURON_PROCESS_TAG",
    "NEURON_RT_EXEC_TIMEOUT",
    "NEURON_RT_STOCHASTIC_ROUNDING_EN",
    "NEURON_RT_STOCHASTIC_ROUNDING_SEED",
    "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS",
    "NEURON_SCRATCHPAD_PAGE_SIZE",
    "NEURON_RT_CONTIGUOUS_SCRATCHPAD",
    "NEURON_RT_NUMERICAL_ERRORS_VERBOSITY",
    "NEURON_FAIL_ON_NAN",
    "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR",
    "NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY",
    "NEURON_RT_S3_CORE_DUMP_PREFIX",
    "NEURON_RT_ENABLE_DGE_NOTIFICATIONS",
    "NEURON_RT_ENABLE_DEVICE_MEMORY_OOM_LOG",
    "NEURON_RT_ROOT_COMM_ID",
    "NEURON_RT_RESET_CORES",
    "NEURON_RT_ULTRASERVER_MODE",
    "NEURON_RT_ULTRASERVER_NODE_ID",
    "NEURON_RT_ULTRASERVER_SERVER_ID",
    "NEURON_RT_VALIDATE_HASH",
    "NEURON_RT_MULTI_INSTANCE_SHARED_WEIGHTS",
    "NEURON_RT_ALLOW_LEGACY_NEFF",
    "AWS_NEURON_VISIBLE_DEVICES",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "JAX_COMPILATION_CACHE_DIR",
    "VLLM_CACHE_ROOT",
    "VLLM_NEURON_CPU_COMPILE",
    "VLLM_NEURON_DISABLE_WARMUP_COMPILE",
    "VLLM_NEURON_ENABLE_METRICS",
    "TORCH_NEURONX_NEFF_CACHE_DIR",
    "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR",
    "TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT",
    "TORCH_NEURONX_NEFF_DISABLE_CACHE",
    "TORCH_NEURONX_HLO_CACHE_DIR",
    "TORCH_NEURONX_LOG_LEVEL",
    "TORCH_NEURONX_LOG_FILE",
    "TORCH_NEURONX_DEBUG_DIR",
    "TORCH_NEURONX_DISABLE_FALLBACK_EXECUTION",
    "TORCH_NEURONX_METRICS_ENABLED",
    "TORCH_NEURONX_ENABLED_METRIC_TABLES",
    "TORCH_NEURONX_METRICS_DIR",
    "BASE_COMPILE_WORK_DIR",
    "CUSTOM_CACHE_REPO",
    "LOCAL_RANK",
    "RANK",
    "WORLD_SIZE",
)
_NAMES = frozenset(NAMES)
OWN = (
    *(f"NEURONTOP_{field.upper()}" for field in Settings.__struct_fields__),
    "NEURONTOP_ACT_TOKEN",
    "NEURONTOP_AGENT_TOKEN",
    "NEURONTOP_CACHE_KEY_FILE",
    "NEURONTOP_CHILD",
    "NEURONTOP_CLUSTER",
    "NEURONTOP_COMPILE_AHEAD",
    "NEURONTOP_COMPILE_FALLBACK",
    "NEURONTOP_CONFIG",
    "NEURONTOP_EVENTS_DIR",
    "NEURONTOP_JOB",
    "NEURONTOP_LINKER",
    "NEURONTOP_LOGS",
    "NEURONTOP_LOG_FORMAT",
    "NEURONTOP_NODE",
    "NEURONTOP_ON_MISS",
    "NEURONTOP_PROMETHEUS_PASSWORD",
    "NEURONTOP_PROMETHEUS_TOKEN",
    "NEURONTOP_PROMETHEUS_USER",
    "NEURONTOP_READ_TOKEN",
    "NEURONTOP_RUN",
    "NEURONTOP_SKIP_TRACE",
    "NEURONTOP_TRUST_CACHE",
)
"""Our own variables: one per setting, and a few others. Their values may be secrets and are not shown."""
_OWN = frozenset(OWN)
PREFIXES = ("NEURON_RT_LOG_LEVEL_", "NEURON_RT_LOG_LOCATION_", "NEURON_RT_INSPECT_", "NEURON_RT_PROFILE_")
"""Families of variables in which every name has a meaning."""


_OPEN = ("TORCH_NEURONX_", "VLLM_NEURON_")


def matters(name: str) -> bool:
    """Whether a variable is worth showing at all."""
    return name in _NAMES or name.startswith(("NEURON", "AWS_NEURON", *_OPEN))


def is_documented(name: str) -> bool:
    """Whether the effect of a variable is known."""
    return name in _NAMES


def known(name: str) -> bool:
    """Whether the SDK or we read a variable; in families without full documentation, all but misspelled names count."""
    return (
        name in _NAMES
        or name in _OWN
        or name.startswith(PREFIXES)
        or (name.startswith(_OPEN) and nearest(name) is None)
    )


def nearest(name: str) -> str | None:
    """The existing name that is most similar to an unknown one."""
    names = OWN if name.startswith("NEURONTOP_") else NAMES
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    return found[0] if found else None
