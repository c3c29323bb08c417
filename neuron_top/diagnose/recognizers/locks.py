"""Locks of the compile cache that could not be acquired in time."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import ReasonGiven, Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass, Confidence

WAITS = "a lock that nobody gives back"
"""Row of what a process prints each minute while it waits for another one's compile; `ranking` decides how long a wait
must be to explain the end of a job."""
LOCKS: tuple[Recognizer, ...] = (
    Recognizer(
        "native lock broken",
        CauseClass.LOCK_TIMEOUT,
        Weight.REASON,
        words("stale lock"),
        r"Lock acquisition timed out, breaking stale lock path=",
        any_level=True,
    ),
    Recognizer(
        "lock timeout",
        CauseClass.LOCK_TIMEOUT,
        Weight.REASON,
        words("lock acquisition|stale lock|filelock|file lock|acquire lock|acquire the lock|for lock|on lock|the lock"),
        (
            r"(?i)lock acquisition timed out|breaking stale lock|filelock\.\w*\.?Timeout"
            r"|(?:timed out|timeout|time-out).{0,40}\block\b|\block\b.{0,80}(?:timed out|could not be acquired)"
            r"|(?:could not|failed to|unable to|cannot) acquire (?:\w+ ){0,3}lock"
        ),
        any_level=True,
    ),
    Recognizer(
        WAITS,
        CauseClass.LOCK_TIMEOUT,
        Weight.CASCADE,
        words("been waiting for: "),
        r"must be compiling \S.{0,400}, been waiting for: \d{1,9}(?:\.\d+)? minutes",
        Confidence.LOW,
        ReasonGiven.MISSING,
        any_level=True,
    ),
)
