"""Counters of compile events that belong to no graph."""

from __future__ import annotations

import msgspec

REASONS_KEPT = 100


class CompileCounts(msgspec.Struct):
    """Counters of a run; None and empty until reported."""

    passes: int = 0
    """`Compiler status PASS` seen; may exceed starts and completions, because some compiles announce nothing."""
    dots: int = 0
    misses_announced: int = 0
    hub_misses: int = 0
    gave_up: int = 0
    fallbacks: dict[str, int] = {}
    """Graphs that ran without our compiler, by reason."""
    first_fallback: float | None = None
    extractions: int = 0
    """Extraction lines, one per rank and graph."""
    lock_lines: int = 0
    longest_wait_minutes: float | None = None
    error_codes: dict[str, int] = {}
    exit_codes: dict[int, int] = {}
    stage_seconds: dict[str, float] = {}
    """Compiler stage → sum of its seconds over all compiles."""
    cache_paths: list[str] = []
    compiler_versions: list[str] = []

    def add_fallback(self, reason: str, time: float | None) -> None:
        """Count a graph that ran without our compiler; reasons beyond REASONS_KEPT are counted together."""
        if reason not in self.fallbacks and len(self.fallbacks) >= REASONS_KEPT:
            reason = "other reasons"
        self.fallbacks[reason] = self.fallbacks.get(reason, 0) + 1
        self.first_fallback = time if self.first_fallback is None else self.first_fallback


def add_new(values: list[str], value: str) -> None:
    """Add a value that is not there yet."""
    if value and value not in values:
        values.append(value)
