"""The overview that `neurontop status` prints once, for scripts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import IO

import msgspec

from neuron_top.errors import NothingToShow
from neuron_top.ingest import run_loader
from neuron_top.plain_files import size_of
from neuron_top.processes.log_input import quiet
from neuron_top.processes.output_files import LARGE_BYTES, output_files
from neuron_top.run.model import Run
from neuron_top.services.diagnosis import diagnosis_of
from neuron_top.services.feeds import estimator
from neuron_top.services.runs import LAST, RunService
from neuron_top.settings import Settings
from neuron_top.units import bytes_text
from neuron_top.views.overview import Overview, overview

_BUSY_SECONDS = 0.5
"""Between two looks at workers: how busy they are is the difference."""


def status(
    settings: Settings,
    name: str | None = None,
    standard_input: IO[bytes] | None = None,
    notify: Callable[[str], None] = quiet,
) -> Overview:
    """The overview of a recording or a log (`-`: `standard_input`); without a name of the recording that is made now,
    else of workers that run here, else of the last recording. `notify`: takes remarks for the person.

    Raises NothingToShow, StoreUnusable, UsageError.
    """
    if name is not None and run_loader.is_log(name):
        run = run_loader.read_logs([name], settings.history_seconds, standard_input, notify, diagnosed=True, grows=True)
        return _overview(settings, run)
    runs = RunService(settings)
    if name is not None:
        return _overview(settings, runs.load(name))
    if (running := runs.in_progress()) is not None:
        return _overview(settings, runs.load_running(running))
    if (view := _workers_here(settings, notify)) is not None:
        return view
    if runs.count():
        return _overview(settings, runs.load(LAST))
    raise NothingToShow(
        f"no recording in {runs.folder}, and no process of yours with LOCAL_RANK or NEURON_RT_VISIBLE_CORES; "
        "start a job with `neurontop run -- <command>`"
    )


def _overview(settings: Settings, run: Run) -> Overview:
    view = overview(run, time.time(), estimator(settings))
    return msgspec.structs.replace(view, diagnosis=diagnosis_of(run, settings))


def _workers_here(settings: Settings, notify: Callable[[str], None]) -> Overview | None:
    """The worker processes that run here without a recording, and the logs that they write."""
    from neuron_top.ingest.worker_finder import WorkerFinder, job_found
    from neuron_top.telemetry.workers import WorkerSampler

    pids = WorkerFinder().look()
    if not pids:
        return None
    sampler = WorkerSampler(lambda: pids, placed_only=True, period=_BUSY_SECONDS)
    events = [job_found(pids), *sampler.look()]
    began = time.monotonic()
    logs = [path for path in map(str, output_files(pids)) if not _is_too_large(path, notify)]
    run = Run(settings.history_seconds)
    if logs:
        run = run_loader.read_logs(logs, settings.history_seconds, None, notify, diagnosed=True, grows=True)
    time.sleep(max(0.0, began + _BUSY_SECONDS - time.monotonic()))
    for event in [*events, *sampler.look()]:
        run.apply(msgspec.structs.replace(event, seen=time.time()))
    return _overview(settings, run)


def _is_too_large(log: str, notify: Callable[[str], None]) -> bool:
    """Whether a log that nobody named is too large to be read before anything is printed."""
    is_large = (size := size_of(log)) > LARGE_BYTES
    if is_large:
        notify(f"{log} is not read, as it has {bytes_text(size)}: `neurontop status {log}` reads it")
    return is_large
