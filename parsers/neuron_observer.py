"""A scrape of Neuron Observer's `/metrics` → values by name, in both spellings of its names.

OpenTelemetry writes `neuron.core.utilization.avg`, Prometheus `neuron_core_utilization_avg`, with `_total` behind a
counter and perhaps a unit; an export may rename an aggregate (`…_core`, `…_system`). All of them get the documented
base name here. Pure text → values; `telemetry/observer_events.py` knows what they mean for a core.
Names: the public reference of Neuron Observer 0.2.0 and a public export configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from neuron_top.escapes import visible
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_fields

LONGEST_SCRAPE = 8 * 1024**2
"""Bytes of one answer; 128 cores with every documented metric take about 2 MB."""
MOST_SAMPLES = 50_000
"""Samples that are taken of one answer."""
MOST_UNKNOWN = 20
"""Unknown names that are named; all of them are counted."""
_LONGEST_LINE = 8192
_LONGEST_NAME = 200

_MEMORY = (
    "model_code", "tensors", "constants", "model_shared_scratchpad", "uncategorized", "runtime_memory", "driver_memory",
    "collectives", "nonshared_scratchpad", "notifications", "dma_rings",
)  # fmt: skip
DEVICE_MEMORY = {f"device_mem_{kind}": kind for kind in _MEMORY}
"""Memory of a core by kind."""
ECC = (
    "mem_ecc_corrected", "mem_ecc_uncorrected", "mem_ecc_unrepairable_uncorrected", "mem_ecc_repairable_uncorrected",
    "sram_ecc_corrected", "sram_ecc_uncorrected",
)  # fmt: skip
"""Running totals of a device."""
STATUSES = {
    "infer_completed": "completed",
    "infer_completed_with_err": "completed_with_err",
    "infer_completed_with_num_err": "completed_with_num_err",
    "infer_timed_out": "timed_out",
    "infer_incorrect_input": "incorrect_input",
    "infer_failed_to_queue": "failed_to_queue",
}
"""Running totals of executions, by neuron-monitor's name."""
ERRORS = {
    "err_generic": "generic", "err_numerical": "numerical", "err_model": "model", "err_transient": "transient",
    "err_hw": "hardware", "err_rt": "runtime",
}  # fmt: skip
"""Running totals of failed executions, by neuron-monitor's name."""
COUNTERS = (
    "hw_err_collectives", "hw_err_hbm_ue", "hw_err_nc_ue", "hw_err_dma_abort", "hw_err_repairable_hbm_ue",
    "err_sw_nq_overflow", "err_sw_semaphore_error", "err_sw_event_error", "err_sw_psum_collision",
    "err_sw_sequencer_fatal", "reset_req_count", "reset_fail_count",
)  # fmt: skip
"""Running totals of a core."""
HOST = ("memory_total_bytes", "memory_used_bytes", "swap_total_bytes", "swap_used_bytes", "vcpu_idle_percent")
MACHINE = ("neuron_device_count", "physical_neuroncore_count", "logical_neuroncore_count", "system_info", "device_info")
_LATENCY = tuple(
    f"latency_{part}_p{percent}" for part in ("total", "device") for percent in (0, 1, 25, 50, 75, 99, 100)
)

USED = frozenset((
    "utilization", "effective_flops", "mem_usage_total_device", "power_avg",
    *DEVICE_MEMORY, *ECC, *STATUSES, *ERRORS, *COUNTERS, *HOST, *MACHINE,
))  # fmt: skip
"""Base names that become events."""
KNOWN = USED | frozenset((
    "power_min", "power_max", "device_memory_capacity", "process_rss",
    *(f"host_mem_{kind}" for kind in (
        "dma_buffers", "tensors", "constants", "application_memory", "driver_memory", "notifications", "dma_rings",
        "uncategorized",
    )),
    *(f"mem_usage_{kind}_host" for kind in ("code", "tensors", "constants", "scratchpad", "misc", "total")),
    *(f"vcpu_{kind}_percent" for kind in ("user", "nice", "system", "iowait", "irq", "softirq")),
    "vcpu_usage_user", "vcpu_usage_system", "vcpu_count", "cpu_average_usage", "context_switch_count",
    "mem_ecc_corrected_delta", "sram_ecc_corrected_delta",
    "inference_count", "model_load_count", "loaded_model_count", "flop_count", "generic_fail", "err_resource",
    "err_resource_nc", "err_invalid", "err_unsupported_neff_version",
    "latency_device", "latency_total", *_LATENCY, "nc_time", "cc_time", "time_in_use",
    "tx_bytes", "rx_bytes", "tx_pkts", "rx_pkts", "rx_drops", "send_bytes", "recv_bytes", "send_wrs", "recv_wrs",
    "rdma_write_wrs", "rdma_read_wrs", "rdma_write_bytes", "rdma_read_bytes", "rdma_write_wr_err", "rdma_read_wr_err",
    "rdma_read_resp_bytes", "rdma_write_recv_bytes", "retrans_bytes", "retrans_pkts", "retrans_timeout_events",
    "impaired_remote_conn_events", "unresponsive_remote_events",
))  # fmt: skip
"""Base names that are documented; those that are not used are ignored without a message."""

_SPELLED = late_pattern(r"neuron[._](device|core|vcpu|efa|system)[._]([A-Za-z0-9_.:]{1,200})")
_STRATEGY = late_pattern(r"_(sum|avg|max|min|p[0-9]{1,3})$")
_ENDINGS = ("_total", "_bytes", "_percent", "_ratio", "_seconds", "_info")
_RENAMED = ("_core", "_system", "_device")
_PERCENT = late_pattern(r"percent|%", re.IGNORECASE)
_SHARE = late_pattern(r"\bratio\b|\bfraction\b|\b0(?:\.0)?\s*(?:-|–|to|\.\.|…)\s*1(?:\.0)?\b", re.IGNORECASE)


class ObserverName(msgspec.Struct, frozen=True):
    """A name taken apart: `neuron_core_utilization_avg` is `utilization` of a core, averaged."""

    scope: str
    base: str
    strategy: str = ""
    ending: str = ""


class ObserverSample(msgspec.Struct, frozen=True):
    """One value of one series."""

    name: ObserverName
    labels: dict[str, str]
    value: float


class ObserverScrape(msgspec.Struct, frozen=True, kw_only=True):
    """What one answer holds. `documented` counts the samples of documented names, used or not."""

    samples: tuple[ObserverSample, ...] = ()
    documented: int = 0
    unknown: tuple[str, ...] = ()
    """Names of the observer's kind that are not documented, each once, at most MOST_UNKNOWN."""
    unknown_count: int = 0
    malformed: int = 0
    problem: str = ""
    """Why the first malformed line could not be read, or what was left out."""
    percent: bool | None = None
    """Whether utilization is stated to be in percent (True) or a share of 1 (False); None where that is not stated."""


@lru_cache(maxsize=4096)
def read_name(name: str) -> ObserverName | None:
    """A name in either spelling; None where it is none of the documented ones."""
    match = _SPELLED.fullmatch(name)
    if match is None:
        return None
    scope, rest = match[1], match[2].replace(".", "_")
    if rest == "info":
        return ObserverName(scope, f"{scope}_info")
    for ending, strategy, base in _readings(rest):
        if base in KNOWN:
            return ObserverName(scope, base, strategy, ending)
    return None


def is_observers(name: str) -> bool:
    """Whether a name is of the observer's kind, documented or not."""
    return _SPELLED.fullmatch(name) is not None


def _readings(rest: str) -> Iterator[tuple[str, str, str]]:
    """(ending, strategy, base), the one that removes least first: `power_avg_avg` is `power_avg`, averaged."""
    endings = [("", rest), *((ending, rest.removesuffix(ending)) for ending in _ENDINGS if rest.endswith(ending))]
    for ending, text in endings:
        yield ending, "", text
    for ending, text in endings:
        match = _STRATEGY.search(text)
        parts = [(match[1], text[: match.start()])] if match else []
        for strategy, stem in [*parts, ("", text)]:
            yield ending, strategy, stem
            for renamed in _RENAMED:
                yield ending, strategy, stem.removesuffix(renamed)
            for unit in _ENDINGS:
                yield unit, strategy, stem.removesuffix(unit)


def read_scrape(text: str) -> ObserverScrape:
    """The answer's values. Never raises: what cannot be read is counted."""
    kept: list[str] = []
    unknown: dict[str, None] = {}
    stated: dict[str, str] = {}
    documented = malformed = left_out = 0
    problem = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("#"):
            _state(line, stated)
            continue
        name = _name_of(line)
        if name is None:
            continue
        known = read_name(name)
        if known is None:
            unknown[name] = None
        elif len(line) > _LONGEST_LINE:
            malformed, problem = malformed + 1, problem or f"a line of more than {_LONGEST_LINE} characters"
        elif documented >= MOST_SAMPLES:
            left_out += 1
        else:
            documented += 1
            if known.base in USED:
                kept.append(line)
    samples, broken, reason = _samples(kept)
    if left_out:
        problem = problem or f"more than {MOST_SAMPLES} samples: {left_out} left out"
    return ObserverScrape(
        samples=tuple(samples),
        documented=documented - broken,
        unknown=tuple(visible(name) for name in list(unknown)[:MOST_UNKNOWN]),
        unknown_count=len(unknown),
        malformed=malformed + broken,
        problem=problem or reason,
        percent=_scale(samples, stated),
    )


def _name_of(line: str) -> str | None:
    """The observer's name at the start of a line, also where it is quoted inside the braces; None of another kind."""
    if line.startswith("{"):
        start = line.find('"')
        name = line[start + 1 : line.find('"', start + 1)] if start > 0 else ""
    else:
        name = re.split(r"[{\s]", line[: _LONGEST_NAME + 1], maxsplit=1)[0]
    return name if is_observers(name) else None


def _state(line: str, stated: dict[str, str]) -> None:
    """Note `# HELP` and `# UNIT` of utilization: besides the ending of its name, they alone may state its scale."""
    words = line[:_LONGEST_LINE].split(None, 3)
    if len(words) == 4 and words[1] in ("HELP", "UNIT"):
        known = read_name(words[2].strip('"'))
        if known is not None and known.base == "utilization":
            stated[words[1]] = words[3]


def _scale(samples: Iterable[ObserverSample], stated: dict[str, str]) -> bool | None:
    endings = {sample.name.ending for sample in samples if sample.name.base == "utilization"}
    if endings & {"_percent", "_ratio"}:
        return "_percent" in endings
    for text in (stated.get("UNIT", ""), stated.get("HELP", "")):
        if _PERCENT.search(text):
            return True
        if _SHARE.search(text) or text.strip() == "1":
            return False
    return None


def _samples(lines: list[str]) -> tuple[list[ObserverSample], int, str]:
    """The samples of well-formed lines, how many were not, and why the first was not."""
    try:
        return list(_parsed("\n".join([*lines, ""]))), 0, ""
    except ValueError:
        pass
    found: list[ObserverSample] = []
    broken, reason = 0, ""
    for line in lines:  # one bad line makes the library refuse all of them
        try:
            found += _parsed(line + "\n")
        except ValueError as problem:
            broken, reason = broken + 1, reason or visible(str(problem)[:200])
    return found, broken, reason


def _parsed(text: str) -> Iterator[ObserverSample]:
    from prometheus_client.parser import text_string_to_metric_families

    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name, value = read_name(sample.name), json_fields.number(sample.value)
            if name is not None and value is not None:
                yield ObserverSample(name, sample.labels, value)
