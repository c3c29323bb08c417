"""Adds the sentences of the advice to a diagnosis: `diagnose` returns codes, but events and results carry sentences.

Each cause carries its advice, so that a viewer of another version has it too.
"""

from __future__ import annotations

from neuron_top.diagnose.diagnoser import Diagnoser
from neuron_top.events.diagnosis import Diagnosis
from neuron_top.views.cause_advice import worded


class AdvisedDiagnoser:
    """A `Diagnoser` whose causes say what to do."""

    def __init__(self, source: str) -> None:
        self._diagnoser = Diagnoser(source)
        self.feed = self._diagnoser.feed
        self.flush = self._diagnoser.flush

    def diagnosis(self, exit_code: int | None = None) -> Diagnosis:
        """The diagnosis of the log after `flush`; `exit_code` where the job's own is known."""
        return worded(self._diagnoser.diagnosis(exit_code))

    def so_far(self, exit_code: int | None = None) -> Diagnosis:
        """The diagnosis of a log that is still being written, as `Diagnoser.so_far`."""
        return worded(self._diagnoser.so_far(exit_code))


def diagnose(data: bytes, source: str = "", exit_code: int | None = None) -> Diagnosis:
    """The diagnosis of a whole log."""
    diagnoser = AdvisedDiagnoser(source)
    diagnoser.feed(data)
    diagnoser.flush()
    return diagnoser.diagnosis(exit_code)
