"""Decides what a continuous-integration job fails on: a job that failed, and thresholds on its report.

An unknown metric breaks its threshold, as a gate that passes because nothing was measured is useless. And whatever the
thresholds, a recorded run that failed, or has not ended yet, does not pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.units import bytes_text, percent_text
from neuron_top.views.diagnosis import one_line
from neuron_top.views.metric import Provenance, Unit, value_text
from neuron_top.views.report import Report

if TYPE_CHECKING:
    from neuron_top.views.compare import Comparison


class Rule(msgspec.Struct, frozen=True):
    """One threshold that can be asked for; `metrics` are added up. All but the first may be unknown: of a run without
    a trace of PyTorch's, say, nothing is to be added."""

    option: str
    metrics: tuple[str, ...]
    at_least: bool
    """True: the metric must reach the threshold; False: it must not exceed it."""
    text: str
    most: float = 1e12
    """The largest threshold that means something."""


class GateVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one threshold found."""

    option: str
    what: str
    value: float | None
    unit: str
    provenance: Provenance
    limit: float
    passed: bool
    reason: str
    """A sentence; also for what passed."""


RULES = (
    Rule(
        "max-failed",
        ("failures", "cached_failures", "nameless_failures"),
        False,
        "failed compiles and cached failures",
    ),
    Rule("min-hit-rate", ("hit_rate",), True, "share of graphs that came from the cache, 0 to 1", most=1.0),
    Rule("max-compile-share", ("compile_share",), False, "share of wall time spent compiling, 0 to 1", most=1.0),
    Rule("max-compile-seconds", ("compile_wall",), False, "wall seconds spent compiling"),
    Rule("max-misses", ("graphs_missed",), False, "graphs that had to be compiled"),
    Rule("max-late-compiles", ("late", "torch_late"), False, "graphs compiled after warm-up, by PyTorch itself too"),
    Rule("max-wait-seconds", ("waiting",), False, "wall seconds spent waiting for others' compiles"),
    Rule("max-fallbacks", ("fallbacks",), False, "graphs that ran without a compiler"),
    Rule("max-step-seconds", ("step_seconds",), False, "seconds per training step"),
    Rule("min-throughput", ("throughput",), True, "throughput, in the unit that the log prints"),
    Rule("max-wall-seconds", ("wall",), False, "wall seconds of the whole run"),
)


class GrowthRule(msgspec.Struct, frozen=True):
    """One threshold on how much a figure of the second run may exceed that of the first."""

    option: str
    metric: str
    label: str
    text: str


GROWTH_RULES = (
    GrowthRule(
        "max-slowdown", "step_seconds", "time per step", "largest allowed growth of the time per step, such as 0.1"
    ),
    GrowthRule(
        "max-compile-growth",
        "compile_wall",
        "time spent compiling",
        "largest allowed growth of the time spent compiling",
    ),
    GrowthRule(
        "max-memory-growth",
        "memory total",
        "peak memory per core",
        "largest allowed growth of the peak memory per core",
    ),
)
END = "exit-status"
"""Option of the verdict on how the command ended; nobody asks for it."""
DIAGNOSIS = "diagnosis"
"""Option of the verdict on whether the job failed; nobody asks for it."""


def empty_logs() -> GateVerdict:
    """The verdict on logs without a line: nothing says that a job ran, and any threshold would hold."""
    return GateVerdict(
        option=END,
        what="lines of the log",
        value=0,
        unit="",
        provenance=Provenance.MEASURED,
        limit=1,
        passed=False,
        reason="the log holds no line, so nothing is known of the job",
    )


def end(view: Report) -> tuple[GateVerdict, ...]:
    """A verdict on how a recorded command ended, failed where it has not ended yet; none for logs, which do not report.

    What a job has not done yet cannot exceed a threshold: a gate that let it pass would depend on when it was asked.
    """
    summary = view.summary
    if view.goes_on:
        reason = f"the job has not ended ({summary.state_text}): run this check again when it has"
    elif summary.cut_off:
        reason = "the run was cut off: its recorder died, so how the command ended is not known; run it again"
    elif summary.exit_code is not None:
        reason = (
            f"the command ended well ({summary.state_text})"
            if summary.exit_code == 0
            else (f"the command did not end well: {summary.state_text}, allowed is exit status 0")
        )
    else:
        return ()
    provenance = Provenance.UNKNOWN if summary.exit_code is None else Provenance.MEASURED
    return (
        GateVerdict(
            option=END,
            what="exit status",
            value=summary.exit_code,
            unit="",
            provenance=provenance,
            limit=0,
            passed=summary.exit_code == 0,
            reason=reason,
        ),
    )


def job(diagnosis: Diagnosis) -> GateVerdict:
    """A verdict on whether the job failed, with the cause; what it has overcome is no failure."""
    return GateVerdict(
        option=DIAGNOSIS,
        what="the job",
        value=float(diagnosis.failed),
        unit="",
        provenance=Provenance.COMPUTED,
        limit=0,
        passed=not diagnosis.failed,
        reason=f"the job: {one_line(diagnosis)}",
    )


def judge(view: Report, limits: Mapping[str, float], *, allow_unknown: bool = False) -> tuple[GateVerdict, ...]:
    """A verdict for each threshold in `limits` (by option), in the order of RULES."""
    return tuple(_verdict(view, rule, limits[rule.option], allow_unknown) for rule in RULES if rule.option in limits)


def judge_size(taken: int, limit: int) -> GateVerdict:
    """Whether a cache of so many bytes is small enough."""
    reason = f"size of the cache: {bytes_text(taken)}, allowed is at most {bytes_text(limit)}"
    return GateVerdict(
        option="max-size",
        what="size of the cache",
        value=taken,
        unit="bytes",
        provenance=Provenance.MEASURED,
        limit=limit,
        passed=taken <= limit,
        reason=reason,
    )


def growth_reasons(comparison: Comparison, newer: Report, limits: Mapping[str, float]) -> tuple[str, ...]:
    """Why the newer run breaks the thresholds in `limits` (by option of GROWTH_RULES), or how it ended; none if not."""
    if not limits:
        return ()
    figures = {pair.name: _Figure(pair.a, pair.b, pair.change, pair.unit) for pair in comparison.metrics}
    figures |= {f"memory {one.kind}": _Figure(one.a, one.b, one.change, Unit.BYTES) for one in comparison.memory}
    reasons = [verdict.reason for verdict in end(newer) if not verdict.passed]
    for rule in GROWTH_RULES:
        limit = limits.get(rule.option)
        if limit is not None and (growth := _growth(figures.get(rule.metric), limit)):
            reasons.append(f"{rule.label}: {growth}")
    return tuple(reasons)


class _Figure(NamedTuple):
    """A number of both runs."""

    a: float | None
    b: float | None
    change: float | None
    unit: str


def _growth(figure: _Figure | None, limit: float) -> str:
    """How a number grew by more than `limit`, or why that cannot be known; empty if it did not grow so much."""
    if figure is not None and figure.a == 0 and figure.b is not None:
        # Growth from nothing is no share: none if there is nothing in the second run either, else beyond any limit.
        grown = f"grew from nothing to {value_text(figure.b, figure.unit)}, allowed is {percent_text(limit)}"
        return grown if figure.b > 0 else ""
    if figure is None or figure.change is None:
        return "not known of both"
    return f"grew by {percent_text(figure.change)}, allowed is {percent_text(limit)}" if figure.change > limit else ""


def _verdict(view: Report, rule: Rule, limit: float, allow_unknown: bool) -> GateVerdict:
    metrics = [metric for metric in view.metrics if metric.name in rule.metrics]
    values = [metric.value for metric in metrics if metric.value is not None]
    unit, provenance = metrics[0].unit, metrics[0].provenance
    what = " and ".join(metric.label for metric in metrics if metric.value) or metrics[0].label
    value = sum(values) if metrics[0].value is not None else None
    if value is None:
        return GateVerdict(
            option=rule.option,
            what=what,
            value=None,
            unit=unit,
            provenance=Provenance.UNKNOWN,
            limit=limit,
            passed=allow_unknown,
            reason=f"{what}: not known of this run",
        )
    passed = value >= limit if rule.at_least else value <= limit
    side = "at least" if rule.at_least else "at most"
    value_words = value_text(value, unit) + (
        f" ({provenance.value})" if provenance not in (Provenance.COUNTED, Provenance.MEASURED) else ""
    )
    reason = f"{what}: {value_words}, allowed is {side} {value_text(limit, unit)}"
    return GateVerdict(
        option=rule.option,
        what=what,
        value=value,
        unit=unit,
        provenance=provenance,
        limit=limit,
        passed=passed,
        reason=reason,
    )
