"""What the training program prints. Numbers from graph extraction are kept apart, because they are not real."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from operator import itemgetter
from typing import assert_never

import msgspec

from neuron_top.events import (
    CheckpointReported,
    ErrorRaised,
    GraphMetricsReported,
    StepReported,
    TrainingFactReported,
    TrainingFamily,
    WorkerDied,
)
from neuron_top.run.history import Series, median
from neuron_top.run.step_times import StepPace

RECENT_STEPS = 20
"""Throughput and step time are medians over this many of the newest reports."""
BAR_UNIT = "it/s"
"""Unit of the rate that a progress bar prints; the script itself may print another throughput."""
WARM_REPORTS = 3
STEPS_KEPT = 20_000
FACTS_KEPT = 200
CHECKPOINTS_KEPT = 1000
SET_BACK_SECONDS = 30.0
"""More than the clocks of the ranks of a job are apart."""
SAME_CHECKPOINT_SECONDS = 60.0
"""The lines of one checkpoint, from many ranks and files, are at most this far apart."""


Report = tuple[int | None, float | None, float]
"""(step, time, value) of one printed value; step or time is None if it was not printed with the value."""


class Death(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that the launcher reported dead."""

    time: float | None
    rank: int | None
    pid: int | None
    exit_code: int | None
    signal: str
    first: bool


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A saved state from which the job can be resumed."""

    time: float | None
    step: int | None
    """The step printed with it, else the last one that was printed before."""
    path: str
    finished: bool
    """Whether a line says that it was written."""
    source: str
    offset: int | None


class RaisedError(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of a traceback."""

    time: float | None
    rank: int | None
    exception: str
    message: str
    source: str
    offset: int | None


class TrainingTracker:
    """Progress of training; None until printed."""

    def __init__(self) -> None:
        self.step: int | None = None
        self.total_steps: int | None = None
        self.epoch: float | None = None
        self.loss: float | None = None
        self.learning_rate: float | None = None
        self.throughput_unit = ""
        self.reports = 0
        """Step reports that count as real."""
        self.simulated_reports = 0
        """Step reports during graph extraction: counted, never shown as progress."""
        self.first_time: float | None = None
        """When the first real step was reported."""
        self.warm_time: float | None = None
        """When the WARM_REPORTS-th real step was reported: no new graphs are expected after that."""
        self.last_time: float | None = None
        self.losses = Series()
        """Loss over time."""
        self.throughputs = Series()
        self.loss_by_step: deque[Report] = deque(maxlen=STEPS_KEPT)
        """Every printed loss, the newest STEPS_KEPT."""
        self.throughput_by_step: deque[Report] = deque(maxlen=STEPS_KEPT)
        """Every printed throughput, the newest STEPS_KEPT."""
        self.step_times: deque[tuple[float, int]] = deque(maxlen=STEPS_KEPT)
        """(time, step) of the newest STEPS_KEPT reports that had both, to find the step of a moment."""
        self.facts: dict[str, str] = {}
        self.metrics: GraphMetricsReported | None = None
        """torch_xla's newest metrics report."""
        self.deaths: deque[Death] = deque(maxlen=1000)
        self.checkpoints: deque[Checkpoint] = deque(maxlen=CHECKPOINTS_KEPT)
        self.errors: deque[RaisedError] = deque(maxlen=100)
        self.errors_raised = 0
        self._throughputs: deque[float] = deque(maxlen=RECENT_STEPS)
        self._step_seconds: deque[float] = deque(maxlen=RECENT_STEPS)
        self._pace = StepPace()

    @property
    def serves(self) -> bool:
        """Whether it answers requests: throughput is reported, and neither a step nor a loss."""
        return bool(self.reports) and self.step is None and self.loss is None and self.throughput_unit == "tokens/s"

    @property
    def throughput(self) -> float | None:
        """Median of the recent reports, in `throughput_unit`."""
        return median(self._throughputs) if self._throughputs else None

    @property
    def step_seconds(self) -> float | None:
        """Median seconds per step of the recent reports: as printed, else from the times between them."""
        return median(self._step_seconds) if self._step_seconds else None

    def apply(self, event: TrainingFamily, *, simulated: bool = False, is_old: bool = False) -> None:
        """Take one event into account; `simulated`: graph extraction is on; `is_old`: its line has no clock and was
        there before the log was followed, so when it was printed is not known."""
        match event:
            case StepReported():
                if simulated:
                    self.simulated_reports += 1
                else:
                    self._stepped(event, is_old=is_old)
            case TrainingFactReported():
                if not simulated and (event.name in self.facts or len(self.facts) < FACTS_KEPT):
                    self.facts[event.name] = event.value
            case CheckpointReported():
                if not simulated:
                    self._saved(event)
            case WorkerDied():
                self._died(event)
            case ErrorRaised():
                self.errors_raised += 1
                self.errors.append(
                    RaisedError(
                        time=event.time,
                        rank=event.rank,
                        exception=event.exception,
                        message=event.message,
                        source=event.source,
                        offset=event.offset,
                    )
                )
            case GraphMetricsReported():
                self.metrics = event
            case _:
                assert_never(event)

    def apply_folded(self, event: StepReported, count: int, *, simulated: bool) -> None:
        """Take `count` step reports into account, given as one with each field's newest value."""
        if simulated:
            self.simulated_reports += count
        else:
            self._stepped(event)
            self.reports += count - 1

    def step_at(self, time: float | None) -> int | None:
        """The last step that was printed by `time`; None before the first one."""
        before = bisect_right(self.step_times, time, key=itemgetter(0)) if time is not None else 0
        return self.step_times[before - 1][1] if before else None

    def _saved(self, event: CheckpointReported) -> None:
        """Note a checkpoint. It has a line per rank and file; lines of one step, or close together, are of one."""
        time, last = event.time, self.checkpoints[-1] if self.checkpoints else None
        step = event.step if event.step is not None else self.step_at(time)
        step = step if step is not None else self.step
        if last is not None and _is_same(last, step, time, printed=event.step is not None):
            self.checkpoints[-1] = msgspec.structs.replace(
                last, path=last.path or event.path, finished=last.finished or event.finished
            )
            return
        self.checkpoints.append(
            Checkpoint(
                time=time, step=step, path=event.path, finished=event.finished, source=event.source, offset=event.offset
            )
        )

    def _died(self, event: WorkerDied) -> None:
        """Note a dead worker. A launcher reports it twice: when it dies, and in its final report, which knows more."""
        for index, death in enumerate(self.deaths):
            if event.pid is not None and death.pid == event.pid:
                self.deaths[index] = Death(
                    time=death.time,
                    rank=event.rank if event.rank is not None else death.rank,
                    pid=death.pid,
                    exit_code=event.exit_code if event.exit_code is not None else death.exit_code,
                    signal=event.signal or death.signal,
                    first=event.first or death.first,
                )
                return
        self.deaths.append(
            Death(
                time=event.time,
                rank=event.rank,
                pid=event.pid,
                exit_code=event.exit_code,
                signal=event.signal,
                first=event.first,
            )
        )

    def _stepped(self, event: StepReported, *, is_old: bool = False) -> None:
        self.reports += 1
        time = event.time
        if (back := self._set_back(event)) is not None:
            for series in (self.losses, self.throughputs):
                series.set_back(back)
        for name in ("step", "total_steps", "epoch", "loss", "learning_rate"):
            value = getattr(event, name)
            if value is not None:
                setattr(self, name, value)
        if time is not None:
            self.first_time = time if self.first_time is None else self.first_time
            self.last_time = time
            if self.warm_time is None and self.reports >= WARM_REPORTS:
                self.warm_time = time
        if event.step is not None and time is not None:
            self.step_times.append((time, event.step))
        if event.loss is not None:
            if time is not None:
                self.losses.add(time, event.loss)
            self.loss_by_step.append((event.step, time, event.loss))
        if event.throughput is not None and self._takes(event.throughput_unit):
            self._throughputs.append(event.throughput)
            self.throughput_by_step.append((event.step, time, event.throughput))
            if time is not None:
                self.throughputs.add(time, event.throughput)
        self._paced(event, None if is_old else time)

    def _set_back(self, event: StepReported) -> float | None:
        """By how many seconds the clock was set back before this step; None if it was not. The steps of another rank,
        whose log may follow in the same file, begin anew."""
        if event.step is None or self.step is None or event.time is None or self.last_time is None:
            return None
        back = self.last_time - event.time
        return back if event.step > self.step and back > SET_BACK_SECONDS else None

    def _takes(self, unit: str) -> bool:
        """Whether a throughput in this unit belongs to the series, which must not mix units.

        Any unit replaces that of a progress bar; otherwise the first one stays.
        """
        before, begun = self.throughput_unit, bool(self._throughputs)
        if begun and before == BAR_UNIT != unit:
            self.throughputs, before, begun = Series(), "", False
            self.throughput_by_step.clear()
            self._throughputs.clear()
        if begun and unit not in ("", before) and (before or unit == BAR_UNIT):
            return False
        self.throughput_unit = unit or before
        return True

    def _paced(self, event: StepReported, time: float | None) -> None:
        paced = None
        if event.step is not None:
            paced = self._pace.add(event.step, time, arrived=event.at is None)
        seconds = event.step_seconds if event.step_seconds is not None else paced
        if seconds is not None:
            self._step_seconds.append(seconds)


def _is_same(last: Checkpoint, step: int | None, time: float | None, *, printed: bool) -> bool:
    """Whether a line is about the newest checkpoint; a step that it does not name itself may be one off."""
    if step is not None and last.step is not None and (printed or step == last.step):
        return step == last.step
    is_near = time is None or last.time is None or abs(time - last.time) <= SAME_CHECKPOINT_SECONDS
    return is_near and (step is None or last.step is None or abs(step - last.step) <= 1)
