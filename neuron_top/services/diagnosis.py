"""What went wrong in a job: from a log file, standard input or a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO

from neuron_top.diagnose import Diagnoser, Diagnosis
from neuron_top.errors import NothingToShow
from neuron_top.ingest.recordings import OUTPUT_NAME, run_folder
from neuron_top.ingest.run_loader import is_log
from neuron_top.processes.log_input import portions
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings


class DiagnosisService:
    """Diagnoses of logs and recordings. `tell` takes remarks for the person (a pipe is waited for, …)."""

    def __init__(self, settings: Settings, tell: Callable[[str], None] = lambda remark: None) -> None:
        self._settings, self._tell = settings, tell
        self._runs = RunService(settings)

    def of(self, names: Sequence[str], standard_input: IO[bytes] | None = None) -> dict[str, Diagnosis]:
        """The diagnosis of each log file, `-` or recording. Raises NothingToShow, UsageError, StoreUnusable."""
        return {name: self._of_one(name, standard_input) for name in dict.fromkeys(names)}

    def _of_one(self, name: str, standard_input: IO[bytes] | None) -> Diagnosis:
        if is_log(name):
            return _read(f"log:{name}", portions(name, self._tell, standard_input), None)
        record = self._runs.find(name)
        output = run_folder(self._settings, record.id) / OUTPUT_NAME
        if not output.exists():
            raise NothingToShow(f"recording {record.id} has kept no output; give the log file of its job instead")
        exit_code = None if record.open else record.exit_code
        return _read(f"log:{output}", portions(str(output), self._tell), exit_code)


def _read(source: str, log: Iterator[bytes], exit_code: int | None) -> Diagnosis:
    diagnoser = Diagnoser(source)
    for data in log:
        diagnoser.feed(data)
    diagnoser.flush()
    return diagnoser.diagnosis(exit_code)
