"""Why a graph's compile failed: by the compiler's text, and by how its process ended."""

from __future__ import annotations

from neuron_top.cache.model.failures import FailureClass, class_of
from neuron_top.run.graph import Attempt, AttemptOutcome, Graph


def newest_failure(graph: Graph) -> Attempt | None:
    """The last of its compiles that failed; None if none did in this run."""
    return next((attempt for attempt in reversed(graph.attempts) if attempt.outcome is AttemptOutcome.FAILED), None)


def failure_text(graph: Graph) -> str:
    """The text by which the failure is classed: the compiler's, and how its process ended if that text names no
    cause."""
    failed = newest_failure(graph)
    text = (failed.message if failed is not None else "") or graph.message
    if failed is None:
        return text
    if failed.killed and (not text or class_of(text) is FailureClass.UNKNOWN):
        return f"{text}\nterminated with signal 9".strip()
    if not text and failed.exit_status is not None:
        return f"exit status {failed.exit_status}"
    return text
