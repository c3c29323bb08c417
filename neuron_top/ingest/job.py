"""The output of a job we started, on its way to the log file, the parsers and the screen."""

from __future__ import annotations

import time

from neuron_top.events import AnyEvent
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_ingestor import LogIngestor
from neuron_top.ingest.recorder import OutputFile
from neuron_top.processes.interleave import Interleaver
from neuron_top.processes.launch import Job
from neuron_top.telemetry.source import Emit


class JobOutput:
    """A source: moves the output until its end. The job itself is waited for and stopped by its owner."""

    name = "job"

    def __init__(self, job: Job, output: OutputFile, buffer: LogBuffer) -> None:
        self._job, self._output = job, output
        self._ingestor = LogIngestor(str(output.path), buffer)
        self._lines = Interleaver()

    def start(self, emit: Emit) -> None:
        """Move everything; returns at the end of both streams."""

        def record(data: bytes) -> None:
            if data:
                for event in self._ingestor.take(self._output.append(data), data):
                    emit(event)

        def idle() -> None:
            record(self._lines.overdue(time.monotonic()))
            for event in (*self._ingestor.quiet(), *self._ingestor.grew()):
                emit(event)

        self._job.pump(lambda stream, data: record(self._lines.feed(stream, data, time.monotonic())), idle)
        record(self._lines.flush())
        for event in self._ingestor.flush():
            emit(event)
        self._output.close()

    def ended(self, exit_code: int) -> list[AnyEvent]:
        """What the exit code adds to what the output told, after `start` has returned."""
        return self._ingestor.ended(exit_code)

    def stop(self) -> None:
        """Nothing to do: the output ends with the job."""
