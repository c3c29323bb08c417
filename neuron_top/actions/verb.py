"""What can be asked of a cache."""

from __future__ import annotations

from enum import StrEnum


class Verb(StrEnum):
    """What can be asked of a cache (`actions.registry` has a row for each). Plans and journals carry them."""

    EVICT = "evict"
    SLIM = "slim"
    """An eviction that keeps graph and flags; its plan's verb is EVICT."""
    RETRY = "retry"
    """On the next run: the failure marks go."""
    RETRY_DETERMINISTIC = "retry-deterministic"
    """Also what is bound to fail again; its plan's verb is RETRY."""
    COMPILE = "compile"
    """Failures are compiled again now."""
    UNLOCK = "unlock"
    FORCE_UNLOCK = "force-unlock"
    """Also locks whose holder nothing proves dead; its plan's verb is UNLOCK."""
    VERIFY = "verify"
    """Artifacts are read whole, broken ones moved aside; its plan's verb is QUARANTINE."""
    QUARANTINE = "quarantine"
    SWEEP = "sweep"
    COPY = "copy"
    RESTORE = "restore"
    PURGE = "purge"
    PIN = "pin"
    UNKNOWN = "unknown"
    """In a plan of another version, or one found in the trash without its plan file."""

    @classmethod
    def _missing_(cls, value: object) -> Verb:
        return cls.UNKNOWN
