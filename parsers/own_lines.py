"""Lines of `neurontop run` itself, in a log that its messages were written to as well (`2>&1`, a batch system's file).

They repeat what the job printed: its steps, its alerts, and at the end the line that states why it failed. Read as the
job's own, a step would count twice, and the sentence that names the cause would be one more cause.
"""

from __future__ import annotations

from neuron_top.late_pattern import late_pattern

MARK = "neurontop: "
"""In front of every line of ours but for the rows of the summary."""
_ROWS = (
    "wall time", "compile time", "cache", "lock waits", "PyTorch", "last step", "peak memory", "fell back", "recorded",
    "next",
)  # fmt: skip
_ROW = late_pattern(r"\s{0,20}(?:" + "|".join(f"{row:<13}" for row in _ROWS) + r")\S")
_REPETITION = late_pattern(
    MARK
    + r"(?:\d{1,4}:\d\d:\d\d \w|(?:error|warning|info|resolved): |(?:failed|recovered)[:;] |\S.{0,400}?: completed$)"
)
OF_STEPS = (MARK.encode(), f"  {'last step':<13}".encode())
"""What stands in front of steps in lines of ours."""


def is_own(text: str) -> bool:
    """Whether we printed this line."""
    return text.startswith(MARK) or _ROW.match(text) is not None


def repeats(text: str) -> bool:
    """Whether we printed this line and it tells nothing that the job's own lines do not: not how the command ended."""
    return _ROW.match(text) is not None or (text.startswith(MARK) and _REPETITION.match(text) is not None)
