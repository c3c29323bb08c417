"""The verdict on a job: its state, the reason, the next step, progress and remaining time. Every front end draws it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from neuron_top.diagnose import CauseClass
from neuron_top.run.alerts.alert import AlertKind
from neuron_top.run.estimate import Range
from neuron_top.run.log_activity import SILENT_SECONDS, Backlog
from neuron_top.run.severity import Severity
from neuron_top.run.state import JobState
from neuron_top.units import (
    bytes_text,
    count_text,
    counted,
    duration_text,
    number_text,
    percent_text,
    range_text,
    whole_seconds_text,
)
from neuron_top.views.alerts import Alert
from neuron_top.views.counts import GRAPH_ENDED, graph_words
from neuron_top.views.diagnosis import headline
from neuron_top.views.overview import Header, Overview
from neuron_top.views.progress import RunningGraph
from neuron_top.views.states import end_text

_ASK_AGENTS = "`neurontop fleet nodes` lists the agents and when each was heard of last"
_START = "`neurontop run -- <command>` starts and records a job; `neurontop watch train.log` reads a log"
_NO_LOG = "start it with `neurontop run -- …`: then its output and how it ends are recorded"
_NO_END = "its log just stops; see its last lines and how the command ended (`sacct`, `dmesg`, the exit code)"
_BUSY = 0.01
"""Utilization from which on a core is at work."""
_COMPARED = 60
"""Characters by which lines are compared, as alerts and causes cut a line at different places."""
_RISING, _FALLING = "↑", "↓"


class VerdictState(StrEnum):
    """Where a job stands, as people say it."""

    IDLE = "idle"
    COMPILING = "compiling"
    WAITING = "waiting"
    TRAINING = "training"
    SERVING = "serving"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    CUT_OFF = "cut off"
    SILENT = "silent"
    """A recording elsewhere of which nothing is heard."""


LATE_SECONDS = 60.0
"""Seconds without news after which the state is no longer shown as fresh."""


class Freshness(StrEnum):
    """How what is shown relates to now; that the server is lost is seen by the browser alone."""

    LIVE = "live"
    LATE = "late"
    """Goes on as far as is known, but nothing was heard of it for a while."""
    REPLAY = "replay"
    ENDED = "ended"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one job. Seconds, shares 0…1; None is unknown."""

    state: VerdictState
    severity: Severity
    name: str
    reason: str
    """Why the job is in that state, or its progress."""
    next_step: str = ""
    progress: float | None = None
    """Share that is done, where the whole is known."""
    left: Range | None = None
    """Seconds that remain."""
    alert: str = ""
    """The worst alert that `reason` does not report."""
    alert_step: str = ""
    more: int = 0
    """Further alerts."""
    alerts: int = 0
    """All of them that `reason` does not report."""
    freshness: Freshness = Freshness.LIVE
    age: float | None = None
    """Seconds since anything was heard; None where nothing was."""


_STATES = {
    JobState.IDLE: VerdictState.IDLE,
    JobState.EXTRACTING: VerdictState.COMPILING,
    JobState.COMPILING: VerdictState.COMPILING,
    JobState.LOCK_WAIT: VerdictState.WAITING,
    JobState.TRAINING: VerdictState.TRAINING,
    JobState.SERVING: VerdictState.SERVING,
    JobState.RUNNING: VerdictState.RUNNING,
    JobState.FINISHED: VerdictState.COMPLETED,
    JobState.FAILED: VerdictState.FAILED,
    JobState.KILLED: VerdictState.FAILED,
    JobState.INTERRUPTED: VerdictState.INTERRUPTED,
    JobState.CUT_OFF: VerdictState.CUT_OFF,
}
ENDED = frozenset({VerdictState.COMPLETED, VerdictState.FAILED, VerdictState.INTERRUPTED, VerdictState.CUT_OFF})


def verdict(view: Overview, *, replayed: bool = False, clock: float | None = None) -> Verdict:
    """The verdict on what an overview shows; `replayed`: it is a recording that is played.

    `clock`: our own time, where the overview has that of a recording.
    """
    head = view.header
    state = state_of(head)
    reason, next_step = _reason(view, state)
    cause = headline(view.diagnosis, over=head.over)
    if cause is not None and state is not VerdictState.FAILED:
        next_step = next_step or cause.next_step
    alerts = alerts_besides_failure(view)
    first = alerts[0] if alerts else None
    progress, left = _progress(view, state) if head.unread is None else (None, None)
    age = _age(view, view.now if clock is None else clock)
    return Verdict(
        state=state,
        severity=_severity(state, cause.severity if cause is not None else None),
        name=head.name,
        reason=reason,
        next_step=next_step,
        progress=progress,
        left=left,
        alert=f"{first.title}: {first.evidence}" if first is not None else "",
        alert_step=first.next_step if first is not None else "",
        more=max(0, len(alerts) - 1),
        alerts=len(alerts),
        freshness=_freshness(view, age, replayed=replayed),
        age=age,
    )


def unopened_verdict(name: str, silent_seconds: float) -> Verdict:
    """The verdict on a recording that is being made and was not opened; `silent_seconds`: 0 where it is heard from."""
    if not silent_seconds:
        return Verdict(state=VerdictState.RUNNING, severity=Severity.INFO, name=name, reason="is being recorded")
    return Verdict(
        state=VerdictState.SILENT,
        severity=Severity.WARNING,
        name=name,
        reason="was being recorded when it was last heard from",
        freshness=Freshness.LATE,
        age=silent_seconds,
    )


def alerts_besides_failure(view: Overview) -> list[Alert]:
    """The alerts without those about the failure that is the reason already."""
    if state_of(view.header) is not VerdictState.FAILED:
        return list(view.alerts)
    cause = view.diagnosis.cause if view.diagnosis is not None else None
    line = cause.text.strip()[:_COMPARED] if cause is not None else ""
    ran_out = cause is not None and cause.cause_class is CauseClass.RUNTIME_OOM
    return [alert for alert in view.alerts if not _tells_of(alert, line, ran_out)]


def _tells_of(alert: Alert, line: str, ran_out: bool) -> bool:
    """Whether an alert is about the failure that this log line states; `ran_out`: device memory ran out."""
    if alert.kind in (AlertKind.COMPILE_FAILED, AlertKind.COMPILE_KILLED):
        return bool(line) and line in alert.evidence
    return alert.kind is AlertKind.JOB_FAILED or (alert.kind is AlertKind.MEMORY_EXHAUSTED and ran_out)


def state_of(head: Header) -> VerdictState:
    """The state of a job, by its header alone."""
    return _STATES[head.state]


def state_words(state: VerdictState) -> str:
    """The state as a band shows it."""
    return state.upper()


def progress_text(one: Verdict) -> str:
    """Share and remaining time: `20 % · ETA 1 h 12 m`; "" where neither is known."""
    parts = [percent_text(one.progress)] if one.progress is not None else []
    if one.left is not None:
        is_one = one.left.low == one.left.high
        left = whole_seconds_text(one.left.high) if is_one else range_text(one.left.low, one.left.high)
        parts.append(f"ETA {left}")
    return " · ".join(parts)


SIGNS = {
    VerdictState.IDLE: "○",
    VerdictState.WAITING: "◷",
    VerdictState.COMPLETED: "✓",
    VerdictState.FAILED: "✗",
    VerdictState.INTERRUPTED: "▲",
    VerdictState.CUT_OFF: "▲",
    VerdictState.SILENT: "▲",
}
"""The sign in front of a state's word, the same in the terminal, on a page and on a browser's tab."""
GOES_ON = "●"
"""The sign of every other state."""


def title_text(one: Verdict) -> str:
    """The title of a browser's tab: `● 20 % bar-tp1 – neurontop`."""
    share = percent_text(one.progress) if one.progress is not None and one.state not in ENDED else str(one.state)
    return " ".join(filter(None, (SIGNS.get(one.state, GOES_ON), share, one.name, "– neurontop")))


def freshness_text(one: Verdict) -> str:
    """The text that says how fresh the page is: `live`, `live, 12 s ago`, `last heard 3 m ago`, `ended 3 d 04 h ago`,
    `replay`."""
    if one.freshness is Freshness.REPLAY or one.age is None:
        return str(one.freshness)
    if one.freshness is Freshness.ENDED:
        return f"ended {_ago(one.age)}"
    if one.freshness is Freshness.LATE:
        return f"last heard {_ago(one.age)}"
    return f"live, {_ago(one.age)}" if one.age >= 2.0 else "live"


def _ago(seconds: float) -> str:
    """How long ago, in whole seconds, then whole minutes: a text that changes more often would distract."""
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    return f"{seconds // 60:.0f} m ago" if seconds < 3600 else f"{duration_text(seconds)} ago"


def verdict_lines(one: Verdict) -> list[str]:
    """The verdict as text: the state first, then the next step and the worst alert."""
    first = " · ".join(filter(None, (f"{state_words(one.state)} {one.name}".rstrip(), progress_text(one), one.reason)))
    rest = [f"next: {one.next_step}"] if one.next_step else []
    if one.alert:
        rest.append(f"{one.alert}" + (f" (+{one.more} more)" if one.more else ""))
    return [first, *rest]


def _severity(state: VerdictState, cause: Severity | None) -> Severity:
    if state is VerdictState.FAILED:
        return Severity.ERROR
    if state in (VerdictState.INTERRUPTED, VerdictState.CUT_OFF, VerdictState.WAITING) or cause is Severity.WARNING:
        return Severity.WARNING
    return Severity.INFO


def _freshness(view: Overview, age: float | None, *, replayed: bool) -> Freshness:
    if replayed:
        return Freshness.REPLAY
    state = state_of(view.header)
    is_old = state is VerdictState.IDLE and age is not None and age > SILENT_SECONDS
    if state in ENDED or is_old:
        return Freshness.ENDED
    return Freshness.LATE if age is not None and age >= LATE_SECONDS else Freshness.LIVE


def _age(view: Overview, clock: float) -> float | None:
    head = view.header
    if head.unread is not None:
        return None  # what was read is of another time than now
    if state_of(head) is VerdictState.IDLE and head.last_line is None and not view.cores:
        return None  # no job, no log and no core: silence means nothing
    heard = [at for at in (head.last_line, head.last_event) if at is not None]
    last = max(heard, default=None)
    if state_of(head) in ENDED:
        end = head.until if head.workers_ended else head.finished
        last = next((at for at in (end, head.last_line) if at is not None), last)
    return max(0.0, clock - last) if last is not None else None


def _reason(view: Overview, state: VerdictState) -> tuple[str, str]:
    """(the reason, the next step)."""
    head = view.header
    match state:
        case VerdictState.FAILED:
            return _failure(view)
        case VerdictState.COMPLETED:
            return " · ".join(filter(None, (*_done(view), _after(head)))), ""
        case VerdictState.INTERRUPTED:
            return " · ".join(filter(None, (f"by {head.interrupted_by}", _after(head), *_done(view)))), ""
        case VerdictState.CUT_OFF:
            return _cut_off(view)
        case VerdictState.IDLE if head.unread is not None:
            return unread_text(head.unread), ""
        case VerdictState.IDLE:
            if head.name and not head.logs:  # a job of a fleet
                return "none of its agents has sent anything yet", _ASK_AGENTS
            if head.name:  # name of the only log that is read
                unread = (source.text for source in view.sources if source.unreadable)
                return next(unread, "the log has no line yet"), ""
            return _without_job(view), _START
        case _:
            return " · ".join(filter(None, (unread_text(head.unread), _goes_on(view, state)))), ""


def unread_text(backlog: Backlog | None) -> str:
    """How far the job's logs were read; "" once that is all of them."""
    if backlog is None:
        return ""
    return f"reading its log: {percent_text(backlog.read / backlog.size)} of {bytes_text(backlog.size)}"


def _goes_on(view: Overview, state: VerdictState) -> str:
    """What a job does that has not ended."""
    if state is VerdictState.WAITING:
        return _waiting(view)
    if state is VerdictState.COMPILING:
        return _compiling(view)
    return " · ".join(_training(view)) or _compiled(view)


def _without_job(view: Overview) -> str:
    """What is seen where no job is known: telemetry may show cores at work for one."""
    if not view.cores:
        return "no job"
    seen = f"{counted(len(view.cores), 'core')} seen"
    busiest = max((core.utilization or 0.0 for core in view.cores if not core.stale), default=0.0)
    return f"{seen}, up to {percent_text(busiest)} busy, no job known" if busiest >= _BUSY else f"{seen}, no job"


def _after(head: Header) -> str:
    """For how long the job had run; "" if unknown, or if all lines have one time."""
    return f"after {duration_text(head.elapsed)}" if head.elapsed else ""


def _failure(view: Overview) -> tuple[str, str]:
    head = view.header
    cause = headline(view.diagnosis, over=True)
    after = _after(head)
    if cause is not None and cause.severity is Severity.ERROR:
        return " · ".join(filter(None, (cause.reason, after))), cause.next_step
    end = head.state_text if head.state is JobState.KILLED else end_text(head.state, head.exit_code)
    words = end or "no log states why"
    return " · ".join(filter(None, (words, after))), "look at its last lines; `neurontop diagnose` names causes"


def _cut_off(view: Overview) -> tuple[str, str]:
    head = view.header
    cause = headline(view.diagnosis, over=True)
    seen = "its processes have ended, nothing states how" if head.workers_ended else "no end seen"
    was = " ".join(filter(None, (f"{seen}; it was {_STATES[head.phase]}", _after(head))))
    next_step = _NO_END if head.last_line is not None else _NO_LOG
    if view.diagnosis is not None and view.diagnosis.last_wait:
        next_step = view.diagnosis.last_wait.advice
    elif cause is not None and view.diagnosis is not None and view.diagnosis.is_wait:
        next_step = cause.next_step
    return " · ".join(filter(None, (was, *_done(view), cause.text if cause is not None else ""))), next_step


def _done(view: Overview) -> list[str]:
    training = _training(view)
    return [*training, *([_compiled(view)] if view.compile.total else [])]


def _compiled(view: Overview) -> str:
    """How many graphs were met, and where they came from."""
    card = view.compile
    if not card.total:
        yet = "nothing printed yet" if view.header.last_line is None else "no graph and no step yet"
        return f"{counted(view.header.workers, 'worker')}, {yet}" if view.header.workers else ""
    return graph_words(card, GRAPH_ENDED)


def _compiling(view: Overview) -> str:
    card = view.compile
    dated = [(one.elapsed, one.exact) for one in card.running if one.elapsed is not None]
    oldest, is_exact = max(dated, default=(None, True))
    said = (", the longest for" if len(card.running) > 1 else " for") + ("" if is_exact else " at most")
    longest = f"{said} {whole_seconds_text(oldest)}" if oldest is not None else ""
    words = [f"{counted(len(card.running), 'graph')} under way{longest}"] if card.running else []
    if card.trial_run:
        words.insert(0, f"trial run, {counted(card.extracted, 'graph')} extracted")
    if card.done:
        words.append(f"{count_text(card.done)} done")
    if card.left:
        words.append(f"{count_text(card.left)} to come")
    waiters = sum(one.waiters for one in (*card.running, *card.waiting))
    return " · ".join([*words, *([f"{counted(waiters, 'worker')} waiting"] if waiters else [])])


def _waiting(view: Overview) -> str:
    """What the job waits for, and the holder of the lock."""
    card = view.compile
    if not card.waiting:
        return "for a lock of the cache"
    first = max(card.waiting, key=lambda one: one.elapsed or 0.0)
    waiters = sum(one.waiters for one in card.waiting)
    since = f" for {whole_seconds_text(first.elapsed)}" if first.elapsed is not None else ""
    return f"{counted(waiters, 'worker')} for the compile of {_short(first.key)}{since}, held by {_holder(first)}"


def _holder(graph: RunningGraph) -> str:
    if graph.lock is None or graph.lock.holder is None:
        return "an unknown process"
    return graph.lock.holder


def _short(key: str) -> str:
    return key if len(key) <= 28 else f"{key[:27]}…"


def _training(view: Overview) -> list[str]:
    training = view.training
    parts = []
    if training.step is not None:
        whole = f" of {count_text(training.total_steps)}" if training.total_steps else ""
        parts.append(f"step {count_text(training.step)}{whole}")
    if training.loss is not None:
        parts.append(f"loss {number_text(training.loss)}{_trend(training.losses)}")
    if training.throughput is not None:
        parts.append(f"{number_text(training.throughput, 3)} {training.throughput_unit}".rstrip())
    fresh = [core for core in view.cores if not core.stale]
    memory = [
        (1 - core.headroom, core.memory + core.beside) for core in fresh if core.memory and core.headroom is not None
    ]
    if memory and parts and state_of(view.header) not in ENDED:
        share, used = max(memory)
        parts.append(f"HBM at most {percent_text(share)} ({bytes_text(used)})")
    return parts


def _trend(losses: Sequence[float | None]) -> str:
    """The arrow of the loss: the median of the last fifth against that of the fifth before; none once it diverged."""
    known = [loss for loss in losses if loss is not None]
    size = min(20, len(known) // 3)
    if size < 2 or losses[-1] is None:
        return ""
    late, early = sorted(known[-size:])[size // 2], sorted(known[-2 * size : -size])[size // 2]
    return "" if late == early else f" {_FALLING if late < early else _RISING}"


def _progress(view: Overview, state: VerdictState) -> tuple[float | None, Range | None]:
    card, training = view.compile, view.training
    if state in (VerdictState.COMPILING, VerdictState.WAITING):
        settled = card.done + card.hit + card.failed + card.cached_failures
        whole = settled + len(card.running) + len(card.waiting) + card.extracted
        known = card.left is not None or card.extracted > 0
        return (settled / whole if known and whole else None), card.estimate
    if training.step is None or not training.total_steps or state is VerdictState.COMPLETED:
        return None, None
    share = min(1.0, training.step / training.total_steps)
    seconds = training.left_seconds
    if state in ENDED or seconds is None:
        return share, None
    return share, Range(low=seconds, high=seconds, ground="the median of the last steps")
