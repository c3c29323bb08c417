"""Diagnoses why a job failed, from a log file, standard input or a recording."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import IO

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.errors import NothingToShow
from neuron_top.events.log_sources import log_source
from neuron_top.ingest.advised import AdvisedDiagnoser
from neuron_top.ingest.recordings import OUTPUT_NAME, is_recording, run_folder
from neuron_top.ingest.run_loader import is_log
from neuron_top.parsers.graph_stats import is_graph_table
from neuron_top.parsers.readable import SAMPLE_BYTES, why_unreadable
from neuron_top.processes.log_input import portions, quiet
from neuron_top.run.model import Run
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings


class DiagnosisService:
    """Diagnoses of logs and recordings. `notify` is called with remarks for the person (a pipe is waited for, …)."""

    def __init__(self, settings: Settings, notify: Callable[[str], None] = lambda remark: None) -> None:
        self._settings, self._notify = settings, notify
        self._runs = RunService(settings)

    def of(self, name: str, standard_input: IO[bytes] | None = None) -> Diagnosis:
        """The diagnosis of a log file, `-` or a recording. Raises NothingToShow, UsageError, StoreUnusable."""
        if is_log(name):
            log = portions(name, self._notify, standard_input)
            first = next(log, b"")
            if is_graph_table(first):  # it has times but no causes
                return AdvisedDiagnoser(log_source(name)).diagnosis()
            return _read_file(log_source(name), itertools.chain((first,), log))
        record = self._runs.find(name)
        exit_code = None if record.open else record.exit_code
        diagnosis = recorded_diagnosis(self._settings, record.id, exit_code, self._runs.interrupted_by(record))
        if diagnosis is None:
            raise NothingToShow(f"recording {record.id} has kept no output; give the log file of its job instead")
        return diagnosis

    def goes_on(self, name: str) -> bool:
        """Whether this names a recording that is still being made. Raises NothingToShow, StoreUnusable."""
        return not is_log(name) and is_recording(run_folder(self._settings, self._runs.find(name).id))


def diagnosis_of(run: Run, settings: Settings) -> Diagnosis | None:
    """The diagnosis of a run: the one made while it was read, else from the output that its recording has kept.

    None if there is neither, as for an old recording without output, or for traces of PyTorch alone.
    """
    return run.job.diagnosis or recorded_diagnosis(settings, run.job.run, run.job.exit_code, run.job.interrupted_by)


def recorded_diagnosis(
    settings: Settings, run: str, exit_code: int | None, interrupted_by: str = ""
) -> Diagnosis | None:
    """The diagnosis of a recording by its id, from its kept output; None if it has none."""
    output = run_folder(settings, run) / OUTPUT_NAME
    if not run or not output.exists():
        return None
    goes_on = is_recording(run_folder(settings, run))
    log = portions(str(output), quiet)
    return _read(log_source(output), log, exit_code, goes_on=goes_on).if_interrupted_by(interrupted_by)


def _read_file(source: str, log: Iterator[bytes]) -> Diagnosis:
    """The diagnosis of a log file, which may be empty or not text."""
    head = tail = b""

    def sampled() -> Iterator[bytes]:
        nonlocal head, tail
        for data in log:
            head = head or data[:SAMPLE_BYTES]
            tail = data[-SAMPLE_BYTES:] or tail
            yield data

    diagnosis = _read(source, sampled())
    reason = None if diagnosis.causes else why_unreadable(head, tail)
    return diagnosis if reason is None else msgspec.structs.replace(diagnosis, unreadable=reason)


def _read(source: str, log: Iterator[bytes], exit_code: int | None = None, *, goes_on: bool = False) -> Diagnosis:
    """The diagnosis of a log; where the job goes on, its last line is not the end of anything."""
    diagnoser = AdvisedDiagnoser(source)
    for data in log:
        diagnoser.feed(data)
    if goes_on:
        return diagnoser.so_far(exit_code)
    diagnoser.flush()
    return diagnoser.diagnosis(exit_code)
