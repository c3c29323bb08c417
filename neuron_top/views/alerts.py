"""Words alerts: what was seen, never a guess, and a next step that the reader can take."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from neuron_top.events import AdviceKind
from neuron_top.run.alerts.alert import AlertKind, Limits, RaisedAlert
from neuron_top.run.alerts.raised import raised
from neuron_top.run.cores import BUSY, SMOOTH_SECONDS
from neuron_top.run.graph import Attempt
from neuron_top.run.model import Run
from neuron_top.run.severity import SEVERITIES, Severity
from neuron_top.units import bytes_text, count_text, counted, duration_text, exit_text, percent_text, whole_seconds_text
from neuron_top.views.advice import RECOMPILE_STEP, next_step_of, title_of
from neuron_top.views.diagnosis import cause_text, sentence_part

__all__ = ["SEVERITIES", "Alert", "AlertKind", "Limits", "Severity", "alerts"]


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that needs a person. `key` stays the same while it lasts, so a screen can keep its row."""

    key: str
    kind: AlertKind
    severity: Severity
    since: float | None
    title: str
    evidence: str
    next_step: str
    graph: str | None = None
    """Key of the graph it is about."""
    core: str | None = None
    """Key of the core it is about."""


MOMENTS = frozenset(
    {
        AlertKind.JOB_FAILED,
        AlertKind.MEMORY_EXHAUSTED,
        AlertKind.WORKER_DIED,
        AlertKind.ERROR_LINES,
        AlertKind.COMPILE_FAILED,
        AlertKind.COMPILE_KILLED,
        AlertKind.COMPILE_WORKER_FAILED,
        AlertKind.CACHED_FAILURE,
        AlertKind.FALLBACK,
        AlertKind.DEVICE_RESET,
        AlertKind.RECOMPILED,
        AlertKind.LATE_RECOMPILES,
    }
)
"""Kinds of alerts about single events; all others hold for some time."""


def since_words(kind: AlertKind, since: float | None, now: float, until: float | None = None) -> str:
    """`5 m 00 s ago` of what happened, `for 5 m 00 s` of what holds; "" where that is not known.

    `until`: up to when things have gone on, if not until now: what holds in a log that has ended is no longer so.
    """
    has_happened = kind in MOMENTS
    end = now if has_happened or until is None else until
    if since is None or end <= since:
        return ""
    held = whole_seconds_text(end - since)
    return f"{held} ago" if has_happened else f"for {held}"


def alerts(run: Run, now: float, limits: Limits | None = None) -> tuple[Alert, ...]:
    """All alerts that hold at `now`, worst first, then oldest first."""
    return tuple(_in_words(alert) for alert in raised(run, now, limits))


def _in_words(alert: RaisedAlert) -> Alert:
    words = _WORDS[alert.kind]
    title = "worker memory nearly full" if alert.kind is AlertKind.MEMORY_LOW and alert.local else words.title
    title = _MANY_TITLES.get(alert.kind, title) if alert.core is not None and alert.count > 1 else title
    next_step = alert.cause.advice if alert.cause is not None else words.next_step.format(graph=alert.graph)
    return Alert(
        key=alert.key,
        kind=alert.kind,
        severity=alert.severity,
        since=alert.since,
        title=title,
        evidence=words.evidence(alert),
        next_step=next_step,
        graph=alert.graph,
        core=alert.core,
    )


def _job_failed(alert: RaisedAlert) -> str:
    if alert.cause is None:
        return exit_text(alert.exit_code) if alert.exit_code is not None else "the log does not state why"
    said = sentence_part(_first_line(alert.cause.text))
    text = cause_text(alert.cause.cause_class, said, stated=alert.cause.stated, confidence=alert.cause.confidence)
    return f"{text} (line {count_text(alert.cause.line)})"


def _lock(alert: RaisedAlert) -> str:
    waiting = f"{_waiting(alert)} for {alert.graph}, {duration_text(alert.seconds)}"
    unattended = alert.kind is AlertKind.STALE_LOCK and not alert.compiling_elsewhere
    compiling = (
        "no compiler is seen at work in this run" if unattended else f"{counted(alert.total, 'compile')} in progress"
    )
    return "; ".join(filter(None, (waiting, compiling, alert.proof)))


def _waiting(alert: RaisedAlert) -> str:
    return f"{counted(alert.count, 'worker')} {'waits' if alert.count == 1 else 'wait'}"


def _cached_failure(alert: RaisedAlert) -> str:
    return f"{alert.graph}, served {counted(alert.count, 'time')}: {_first_line(alert.text) or 'no message stored'}"


def _failed_compile(alert: RaisedAlert) -> str:
    peak = alert.attempt.peak_rss_bytes if alert.attempt is not None else None
    end = f" (peak {bytes_text(peak)})" if peak is not None else ""
    return f"{alert.graph}: {_first_line(alert.text) or _cause(alert.attempt)}{end}"


def _failed_workers(alert: RaisedAlert) -> str:
    reason = f"{alert.names[0]}: {_first_line(alert.names[1])}" if alert.names else alert.text
    return f"{alert.count} of {counted(alert.total, 'worker')} ended by an exception: {reason}"


def _memory_low(alert: RaisedAlert) -> str:
    used = f"{bytes_text(alert.size)} of {bytes_text(alert.capacity)}"
    if alert.count > 1:
        return f"{_cores(alert)}, the fullest core {alert.index}: {used}, {percent_text(alert.share)} free"
    return f"core {alert.index}: {used}, {percent_text(alert.share)} free"


def _memory_exhausted(alert: RaisedAlert) -> str:
    named = [
        f"{name} {number}" for name, number in (("device", alert.device), ("core", alert.index)) if number is not None
    ]
    where = f" on {', '.join(named)}" if named else ""
    requested = f" for {bytes_text(alert.size)}" if alert.size is not None else ""
    last = f", the last{requested}{where}" if requested or where else ""
    return f"{counted(alert.count, 'allocation')} failed{last}"


def _recompiles(alert: RaisedAlert) -> str:
    return f"{alert.count} new graphs were compiled after training had begun, the last one {alert.graph}"


def _advised(alert: RaisedAlert) -> str:
    kind, *devices = alert.names
    where = f" (device {', '.join(devices[:16])})" if devices else ""
    return f"{title_of(AdviceKind(kind))}{where}, said {alert.count}×: {_first_line(alert.text)}"


def _recompiled(alert: RaisedAlert) -> str:
    function, place = alert.names
    why = f": {_first_line(alert.text)}" if alert.text else ""
    counts = f"{counted(alert.count, 'recompile')} of {counted(alert.total, 'function')}"
    return f"{counts}, most often {function} ({place}){why}"


def _idle_core(alert: RaisedAlert) -> str:
    peers = f"median of {alert.total} cores {percent_text(alert.typical)} over {SMOOTH_SECONDS:.0f} s or a step"
    if alert.count > 1:
        return f"{_cores(alert)} below {percent_text(BUSY)}, {peers}"
    return f"core {alert.index} at {percent_text(alert.share)}, {peers}"


def _disk_low(alert: RaisedAlert) -> str:
    return f"{bytes_text(alert.size)} free at {alert.names[0]}; the cache takes {bytes_text(alert.capacity)}"


def _telemetry_lost(alert: RaisedAlert) -> str:
    return "; ".join(filter(None, (f"no sample for {whole_seconds_text(alert.seconds)}", alert.text)))


def _worker_died(alert: RaisedAlert) -> str:
    how = alert.signal or (f"exit status {alert.exit_code}" if alert.exit_code is not None else "unknown cause")
    rank = alert.rank if alert.rank is not None else "?"
    error = ": ".join(filter(None, (alert.names[0], _first_line(alert.names[1])))) if alert.names else ""
    return "; ".join(filter(None, (f"rank {rank} ({how})", error, f"{alert.count} in all")))


def _cores(alert: RaisedAlert) -> str:
    where = f" of device {alert.device}" if alert.device is not None else ""
    return f"{alert.count} {'workers' if alert.local else 'cores'}{where}"


class _Words(NamedTuple):
    title: str
    evidence: Callable[[RaisedAlert], str]
    next_step: str


_WORDS = {
    AlertKind.JOB_FAILED: _Words("job failed", _job_failed, "Look at the last lines of its log."),
    AlertKind.ERROR_LINES: _Words(
        "error lines that nothing explains",
        lambda alert: f"{count_text(alert.count)} in the log, the last: {_first_line(alert.text)}",
        "Read the lines around them: `m` in the logs shows what is marked; the job may have gone on all the same.",
    ),
    AlertKind.LOCK_WAIT: _Words(
        "waiting for a lock",
        _lock,
        "Wait for the compile, or compile beforehand with `neurontop compile` so that ranks do not queue up.",
    ),
    AlertKind.STALE_LOCK: _Words(
        "stale lock",
        _lock,
        "If no process on any host compiles it, the lock was left behind: `neurontop cache show {graph}` says who "
        "holds it.",
    ),
    AlertKind.CACHED_FAILURE: _Words(
        "cached failure replayed",
        _cached_failure,
        "The cache answers with an earlier failure. Fix its cause, then retry once with "
        "--retry_failed_compilation in NEURON_CC_FLAGS.",
    ),
    AlertKind.COMPILE_FAILED: _Words(
        "compile failed", _failed_compile, "Open the graph for the compiler's text and its advice."
    ),
    AlertKind.COMPILE_KILLED: _Words(
        "compile killed",
        _failed_compile,
        "Ended by a signal, most often the kernel's for want of host memory: compile fewer graphs at a time (-j) or "
        "with more memory, then retry.",
    ),
    AlertKind.COMPILE_WORKER_FAILED: _Words(
        "parallel compile worker failed",
        _failed_workers,
        "Its graphs may stay uncompiled: find the exception in the log, fix its cause, compile again.",
    ),
    AlertKind.MEMORY_LOW: _Words(
        "device memory nearly full",
        _memory_low,
        "Reduce the batch size or sequence length, or raise tensor parallelism.",
    ),
    AlertKind.MEMORY_EXHAUSTED: _Words(
        "device memory exhausted",
        _memory_exhausted,
        "See the breakdown by kind: tensors call for a smaller batch, scratchpad and code for smaller graphs.",
    ),
    AlertKind.LATE_RECOMPILES: _Words(
        "graphs compiled during training",
        _recompiles,
        "Look for shapes that change between steps (last batch, sequence length): pad them, drop the last batch, or "
        "compile them beforehand.",
    ),
    AlertKind.IDLE_CORE: _Words(
        "core idle while its peers work",
        _idle_core,
        "Look at the last lines of its ranks: they may wait for data, a lock or a collective.",
    ),
    AlertKind.TELEMETRY_LOST: _Words(
        "telemetry lost", _telemetry_lost, "`neurontop doctor` says which source is missing and why."
    ),
    AlertKind.FALLBACK: _Words(
        "graphs run without our compiler",
        lambda alert: f"{alert.count}×: {_first_line(alert.text)}",
        "Such graphs are slow and never cached; see their log lines for the operator or shape at fault.",
    ),
    AlertKind.CACHE_UNUSED: _Words(
        "the compile cache is not in use",
        lambda alert: f"--no_cache in NEURON_CC_FLAGS; {counted(alert.count, 'graph was', 'graphs were')} compiled",
        "Remove --no_cache to keep what is compiled.",
    ),
    AlertKind.SEVERAL_CACHES: _Words(
        "one run uses several caches",
        lambda alert: ", ".join(alert.names[:4]),
        "Give all tools one root: NEURON_COMPILE_CACHE_URL, or --cache_dir in NEURON_CC_FLAGS.",
    ),
    AlertKind.DISK_LOW: _Words(
        "cache disk nearly full",
        _disk_low,
        "`neurontop cache stats` shows what can go: failed, incomplete and superseded entries first.",
    ),
    AlertKind.TRIAL_RUN: _Words(
        "trial run in progress",
        lambda _alert: "graphs are extracted, nothing is computed",
        "Ignore loss, throughput and checkpoints until it ends; they mean nothing.",
    ),
    AlertKind.DEVICE_RESET: _Words("a device failed to reset", _advised, next_step_of(AdviceKind.DEVICE_RESET)),
    AlertKind.RUNTIME_ADVICE: _Words(
        "the runtime recommends",
        _advised,
        "The report and `neurontop tally` have each piece of advice with what to set.",
    ),
    AlertKind.RECOMPILED: _Words("functions were compiled again", _recompiled, RECOMPILE_STEP),
    AlertKind.NODE_SILENT: _Words(
        "node went silent",
        lambda alert: f"{alert.names[0]}: nothing for {duration_text(alert.seconds)}, others of {alert.total} go on",
        "See whether the node is up (`sinfo -N`, `kubectl get nodes`) and its agent runs; ranks that wait for it hang.",
    ),
    AlertKind.NODE_COMPILES_AGAIN: _Words(
        "a node compiles what others found",
        lambda alert: (
            f"{alert.names[0]} compiled {counted(alert.count, 'graph')} that others had found, last {alert.graph}"
        ),
        "Compare its cache root, compiler and flags with the others': `neurontop fleet different` ranks what differs.",
    ),
    AlertKind.LOCK_HOLDER_GONE: _Words(
        "ranks wait for a node that is gone",
        lambda alert: f"{_waiting(alert)} for {alert.graph}, whose lock {alert.names[0]} holds; it is gone",
        "Nothing will end this wait: `neurontop cache unlock` on the root of {graph}, or restart the job.",
    ),
    AlertKind.VERSIONS_DIFFER: _Words(
        "versions differ between nodes",
        lambda alert: f"{alert.count} of {alert.total} nodes have {alert.text}: {', '.join(alert.names[:4])}",
        "Install the same packages on all nodes: other versions have other keys, and some ranks then compile.",
    ),
    AlertKind.NODE_SLOW: _Words(
        "node slower than the rest",
        lambda alert: (
            f"{alert.names[0]}: {duration_text(alert.seconds)} a step, typical of {alert.total} nodes "
            f"{duration_text(alert.typical)}"
        ),
        "`neurontop fleet different` ranks what this node has that the others have not; look at its cores and disk.",
    ),
    AlertKind.CLOCK_SKEW: _Words(
        "clock is off",
        lambda alert: f"{alert.names[0]}: {alert.seconds or 0.0:+.1f} s from the database's clock",
        "Let chrony or the Amazon Time Sync Service set it; times shown here are corrected by what was measured.",
    ),
    AlertKind.WORKER_DIED: _Words(
        "worker died",
        _worker_died,
        "Start with the rank that failed first: the others fail because it is gone.",
    ),
}


_MANY_TITLES = {AlertKind.IDLE_CORE: "cores idle while their peers work"}
"""Titles of alerts about several cores, where they differ."""


def _cause(attempt: Attempt | None) -> str:
    if attempt is None:
        return "as the parallel compile's report says"
    if attempt.code:
        return f"code {attempt.code}"
    exit_status = f"exit status {attempt.exit_status}" if attempt.exit_status is not None else "no message"
    return attempt.cause or exit_status


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:240]
