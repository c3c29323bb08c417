"""Counts of TorchNeuron's lines and tables, kept apart: the published counts are those of the compile wrapper."""

from __future__ import annotations

import msgspec

from neuron_top.events import (
    CacheHit,
    CacheMissed,
    CompileCompleted,
    CompileFailed,
    CompileLogEvent,
    CompileStarted,
    GraphMeasured,
    LockWaited,
)

_MOST = 100_000


class NativeCounts(msgspec.Struct):
    """Occurrences over all ranks; None or empty until reported."""

    hits: int = 0
    misses: int = 0
    compile_starts: int = 0
    completed: int = 0
    errors: int = 0
    lock_waits: int = 0
    """Lines that report a wait."""
    locks_broken: int = 0
    """Waits that timed out, after which the waiter removed the lock."""
    lock_wait_max_seconds: float | None = None
    modules: set[str] = set()
    measured: int = 0
    """Compiles that the tables report, over all ranks."""
    compile_seconds: dict[str, float] = {}
    """Graph → seconds that its compile took, by the tables of all ranks; the longest where several compiled it."""

    @property
    def any(self) -> bool:
        """Whether anything was reported."""
        return self != NativeCounts()

    def add(self, event: CompileLogEvent) -> None:
        """Count one event of TorchNeuron."""
        if event.module is not None and len(self.modules) < _MOST:
            self.modules.add(event.module)
        match event:
            case CacheHit():
                self.hits += 1
            case CacheMissed():
                self.misses += 1
            case CompileStarted():
                self.compile_starts += 1
            case CompileCompleted():
                self.completed += 1
            case CompileFailed():
                self.errors += 1
            case LockWaited():
                self.lock_waits += 1
                self.locks_broken += event.broken
                if event.minutes is not None:
                    self.lock_wait_max_seconds = max(self.lock_wait_max_seconds or 0.0, event.minutes * 60.0)
            case _:
                pass

    def add_measured(self, event: GraphMeasured) -> None:
        """Count one row of a table."""
        self.measured += event.compile_seconds > 0
        if len(self.compile_seconds) < _MOST and event.compile_seconds > 0:
            longest = max(self.compile_seconds.get(event.module, 0.0), event.compile_seconds)
            self.compile_seconds[event.module] = longest

    def as_json(self) -> dict[str, object]:
        """The value of `native` in the document of `neurontop tally --json`."""
        return {**msgspec.structs.asdict(self), "modules": sorted(self.modules)}
