"""Status codes of the Neuron runtime by name, from its public API page; `meaning` says how to read one."""

from __future__ import annotations

NAMES = {
    0: "NRT_SUCCESS",
    1: "NRT_FAILURE",
    2: "NRT_INVALID",
    3: "NRT_INVALID_HANDLE",
    4: "NRT_RESOURCE",
    5: "NRT_TIMEOUT",
    6: "NRT_HW_ERROR",
    7: "NRT_QUEUE_FULL",
    9: "NRT_LOAD_NOT_ENOUGH_NC",
    10: "NRT_UNSUPPORTED_NEFF_VERSION",
    11: "NRT_FAIL_HOST_MEM_ALLOC",
    13: "NRT_UNINITIALIZED",
    14: "NRT_CLOSED",
    15: "NRT_QUEUE_EMPTY",
    101: "NRT_EXEC_UNIT_UNRECOVERABLE",
    1002: "NRT_EXEC_BAD_INPUT",
    1003: "NRT_EXEC_COMPLETED_WITH_NUM_ERR",
    1004: "NRT_EXEC_COMPLETED_WITH_ERR",
    1005: "NRT_EXEC_NC_BUSY",
    1006: "NRT_EXEC_OOB",
    1100: "NRT_COLL_PENDING",
    1200: "NRT_EXEC_HW_ERR_COLLECTIVES",
    1201: "NRT_EXEC_HW_ERR_HBM_UE",
    1202: "NRT_EXEC_HW_ERR_NC_UE",
    1203: "NRT_EXEC_HW_ERR_DMA_ABORT",
    1204: "NRT_EXEC_SW_NQ_OVERFLOW",
    1205: "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE",
    1206: "NRT_NETWORK_PROXY_FAILURE",
}
CODES = {name: code for code, name in NAMES.items()} | {"NERR_RESOURCE": 4}
"""Codes by name; `NERR_…` is how runtime 1.x spelled one of them."""
_MEANINGS = {
    1: "unspecific: look at the line before",
    2: "the artifact is corrupt or its tensors do not fit",
    3: "the program used a handle wrongly",
    4: "device memory (or another resource) was used up",
    5: "execution did not finish: a hang, a dead partner, or too low a limit",
    6: "hardware error",
    7: "too many executions queued",
    9: "fewer free cores than the artifact needs",
    10: "the compiler is newer than the runtime",
    11: "host memory was used up",
    101: "the process must be restarted",
    1003: "NaN was produced",
    1005: "the core is held by another process or model",
    1006: "out-of-bounds index of an indirect copy; harmless during some warm-ups",
    1200: "stuck collective: look at the other workers first",
    1201: "uncorrectable memory error: replace the instance",
    1202: "uncorrectable core error: replace the instance",
    1203: "DMA abort: replace the instance",
    1204: "notification queue overflow: turn DGE notifications off",
    1205: "repairable memory error: reload the driver or reboot",
    1206: "the network proxy failed (EFA)",
}


def name(code: int | None) -> str:
    """`NRT_RESOURCE` for 4, "" for an unknown code."""
    return NAMES.get(code, "") if code is not None else ""


def meaning(code: int | None) -> str:
    """What a code means in practice, "" where its name says enough."""
    return _MEANINGS.get(code, "") if code is not None else ""
