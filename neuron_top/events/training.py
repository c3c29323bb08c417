"""What the training or serving program prints about its own progress."""

from __future__ import annotations

from math import isfinite

from msgspec.structs import force_setattr

from neuron_top.events.base import LogEvent


class StepReported(LogEvent, frozen=True, kw_only=True):
    """Progress of training, as printed. None = not in this line.

    `throughput` comes with its unit as printed or implied (`seq/s`, `tokens/s`, `samples/s`, `it/s`).
    """

    step: int | None = None
    total_steps: int | None = None
    epoch: float | None = None
    loss: float | None = None
    learning_rate: float | None = None
    throughput: float | None = None
    throughput_unit: str = ""
    step_seconds: float | None = None
    non_finite_loss: str = ""
    """`nan`, `inf` or `-inf` if the loss is one of these, for which JSON has no number; `loss` is restored from it."""

    def __post_init__(self) -> None:
        if self.loss is None and self.non_finite_loss in _NON_FINITE:
            force_setattr(self, "loss", float(self.non_finite_loss))
        else:
            is_lost = self.loss is not None and not isfinite(self.loss)
            force_setattr(self, "non_finite_loss", str(self.loss) if is_lost else "")


_NON_FINITE = frozenset({"nan", "inf", "-inf"})


class CheckpointReported(LogEvent, frozen=True, kw_only=True):
    """The program reported that it saves, or has saved, a checkpoint."""

    path: str = ""
    """Where it is saved, as printed; "" if the line does not say."""
    step: int | None = None
    """The step, if the line names one."""
    finished: bool = False
    """True if it is written, False if the line only says that saving begins."""


class TrainingFactReported(LogEvent, frozen=True, kw_only=True):
    """A fact about the run: batch size, number of examples, train_runtime, tensor parallel size, …"""

    name: str
    value: str


class WorkerDied(LogEvent, frozen=True, kw_only=True):
    """A launcher reported that a rank failed; `exit_code` is negative for a signal."""

    exit_code: int | None = None
    signal: str = ""
    first: bool = False
    """The launcher reports this as the root cause."""


class ErrorRaised(LogEvent, frozen=True, kw_only=True):
    """The last line of a traceback."""

    exception: str
    message: str = ""


class GraphMetricsReported(LogEvent, frozen=True, kw_only=True):
    """torch_xla's metrics report: totals since process start, None where the report leaves them out."""

    compiled: int | None = None
    compile_seconds: float | None = None
    executed: int | None = None
    cache_hits: int | None = None
    cache_misses: int | None = None
    transfers_to_device: int | None = None
    transfers_from_device: int | None = None
