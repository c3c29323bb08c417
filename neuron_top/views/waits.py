"""How long a worker waited for another's lock, as far as that is known."""

from __future__ import annotations

from neuron_top.run.graph import Wait


def waited_seconds(wait: Wait, until: float | None = None) -> float | None:
    """Seconds of a wait; of one that goes on, up to `until` (None: as the worker reported it).

    None if neither a measure, nor both ends, nor a report tells. Ends do not tell if the clock was set back between
    them.
    """
    if wait.seconds is not None:
        return wait.seconds
    if wait.start is not None and wait.end is not None and wait.end >= wait.start:
        return wait.end - wait.start
    if wait.start is not None and wait.end is None and until is not None:
        return max(0.0, until - wait.start)
    return None if wait.minutes is None else wait.minutes * 60.0
