"""What the state of a cache entry means. Change any sentence: nothing but screens and texts changes."""

from __future__ import annotations

from neuron_top.cache.model.states import State

MEANINGS = {
    State.HIT: "usable",
    State.HIT_LEFTOVER_LOCK: "usable; its lock was left behind or is about to go",
    State.HIT_LEGACY: "usable for the old client that wrote it; newer clients compile again",
    State.CORRUPT: "clients take it for a hit, but the artifact is not valid: quarantine it",
    State.PARTIAL: "the store of the artifact was cut short, or is going on: wait, then compile again",
    State.COMPILING: "being compiled now: leave it alone",
    State.RETRYING: "a failure being compiled again now: leave it alone",
    State.LOCKED_UNKNOWN: "locked, with no proof that the holder lives or is dead",
    State.STALE_LOCK: "locked by a process that is proved dead: the lock file may go",
    State.FAILED: "a failure that every rank will be served from the cache",
    State.FAILED_LEGACY: "a failure of an old client: log and marker must go together",
    State.PUBLISHED_UNMARKED: "artifact stored, mark missing: the writer is between the two, or died there",
    State.EXTRACTED: "extracted, not compiled yet",
    State.EMPTY: "only leftovers",
    State.INCONSISTENT: "marked as done without an artifact: clients take it for a hit",
    State.TRACED: "a whole exported model, only sized",
    State.UNKNOWN: "matches no known form: shown, never changed",
}
