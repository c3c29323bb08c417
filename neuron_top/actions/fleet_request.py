"""What an operator asks nodes of a fleet for, and what a node answers. Pure values, carried as JSON by the database."""

from __future__ import annotations

import msgspec

from neuron_top.actions.plan import Count


class FleetRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change. Each node looks up by itself what it means there."""

    action: str
    """A name of `registry.FLEET_ACTIONS`."""
    modules: tuple[str, ...] = ()
    """Names of modules, or patterns (`MODULE_123*`); empty: all entries that the action concerns."""
    root: str = ""
    """The cache; empty: the one in force on the node."""
    source: str = ""
    """Of a pull: `s3://bucket/prefix`, or a folder that the node sees."""
    assume_exclusive: bool = False
    """The operator states that no other host uses the cache."""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """Entries that a node leaves alone, and why."""

    reason: str
    entries: int


class NodePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a node would do."""

    identity: str
    root: str
    steps: Count
    frees: Count
    copies: Count = 0
    word: str = ""
    """What must be typed to confirm it; empty: a yes is enough."""
    shown: tuple[str, ...] = ()
    """The first of its steps, in words."""
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


class NodeDone(msgspec.Struct, frozen=True, kw_only=True):
    """What a node did."""

    identity: str
    root: str
    done: Count
    moved_bytes: Count = 0
    not_done: tuple[tuple[str, str], ...] = ()
    """(path, reason) of steps that were refused at the last look."""
    text: str = ""
    """What was undone, or why it went wrong."""
    pinned: tuple[str, ...] = ()
    """Pins that are new."""
    undoable: bool = False
