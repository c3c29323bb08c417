"""Reads events that earlier versions have written into recordings and side channels, under today's names.

When an event, a field or a state is renamed, its old name must be added here.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.events import AnyEvent, decode

EVENTS = {
    "ArtefactLoaded": "ArtifactLoaded",
    "CachedFailureMet": "CachedFailureHit",
    "CompileDotted": "CompilerProgress",
    "GraphShared": "GraphReused",
    "ProcessGone": "ProcessExited",
    "TorchCacheAsked": "TorchCacheLookedUp",
}
"""Names of events: old → new."""
FIELDS = {
    "CompileEnded": {"artefact_bytes": "artifact_bytes"},
    "GraphDescribed": {"mix": "op_counts"},
}
"""Names of fields, by the new name of the event: old → new."""
ENTRY_STATES = {"todo": "extracted"}
"""States of cache entries in the events of the catalog: old → new."""

_OLD_NAMES = re.compile(
    b'"(?:%b)"'
    % b"|".join(
        name.encode() for name in (*EVENTS, *(old for names in FIELDS.values() for old in names), *ENTRY_STATES)
    )
)


def decode_any(line: bytes) -> AnyEvent:
    """The event of a line that this or an earlier version wrote. Raises as `decode` does."""
    return decode(line if _OLD_NAMES.search(line) is None else _upgraded(line))


def _upgraded(line: bytes) -> bytes:
    """The record with today's names; a line that is no record is returned as it is, for `decode` to reject."""
    try:
        record = msgspec.json.decode(line)
    except MALFORMED:
        return line
    if not isinstance(record, dict):
        return line
    kind = record["type"] = EVENTS.get(str(record.get("type")), record.get("type"))
    for old, new in FIELDS.get(str(kind), {}).items():
        if old in record:
            record[new] = record.pop(old)
    if kind == "EntryChanged":
        record |= {name: _entry_state(record[name]) for name in ("state", "previous") if name in record}
    elif kind == "CacheScanned" and isinstance(record.get("states"), dict):
        record["states"] = {_entry_state(state): count for state, count in record["states"].items()}
    return msgspec.json.encode(record)


def _entry_state(state: Any) -> Any:
    return ENTRY_STATES.get(state, state) if isinstance(state, str) else state
