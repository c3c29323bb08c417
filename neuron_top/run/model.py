"""`Run`: everything that is known of a run, from its events alone."""

from __future__ import annotations

from neuron_top.events import AnyEvent


class Run:
    """Adds up events; the same events in the same order give the same run."""

    def apply(self, event: AnyEvent) -> None:
        """Take one event into account."""
