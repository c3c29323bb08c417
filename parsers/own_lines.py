"""Recognizes lines that `neurontop run` itself has printed into the log of its job (`2>&1`, a batch system's file).

They repeat what the job printed: its steps, its alerts, and at the end the line that states why it failed. If they were
read as the job's own, a step would count twice, and the sentence that names the cause would be a second cause.
"""

from __future__ import annotations

from neuron_top.late_pattern import late_pattern

MARK = "neurontop: "
"""Begins every line of ours except the rows of the summary."""
_ROWS = (
    "wall time", "compile time", "cache", "lock waits", "PyTorch", "its caches", "last step", "peak memory",
    "fell back", "recorded", "next",
)  # fmt: skip
_ROW = late_pattern(r"\s{0,20}(?:" + "|".join(f"{row:<13}" for row in _ROWS) + r")\S")
_REPETITION = late_pattern(
    MARK
    + r"(?:\d{1,4}:\d\d:\d\d \w|(?:error|warning|info|resolved): |(?:failed|recovered)[:;] |\S.{0,400}?: completed$)"
)
OF_STEPS = (MARK.encode(), f"  {'last step':<13}".encode())
"""How lines of ours begin that name a step of the job."""


def is_own(text: str) -> bool:
    """Whether we printed this line."""
    return text.startswith(MARK) or _ROW.match(text) is not None


def repeats(text: str) -> bool:
    """Whether we printed this line, and it only repeats the job's own lines; one that says how the command ended does
    not."""
    return _ROW.match(text) is not None or (text.startswith(MARK) and _REPETITION.match(text) is not None)
