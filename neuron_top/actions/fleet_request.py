"""What an operator asks nodes of a fleet for, and what a node answers. Pure values, carried as JSON by the database."""

from __future__ import annotations

import msgspec

from neuron_top.actions.plan import Count


class FleetRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One requested change. Each node works out for itself what that means there."""

    action: str
    """A name of `registry.FLEET_ACTIONS`."""
    modules: tuple[str, ...] = ()
    """Names of modules, or patterns (`MODULE_123*`); empty: all entries that the action concerns."""
    root: str = ""
    """The cache; empty: the one in force on the node."""
    source: str = ""
    """Where a pull fetches from: `s3://bucket/prefix`, or a folder that the node sees."""
    assume_exclusive: bool = False
    """The operator states that no other host uses the cache."""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries a node skips for one reason."""

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
    """What must be typed to confirm the plan; empty: a yes is enough."""
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
    """(path, reason) of steps that were refused when the disk was checked again, the first ones."""
    refused: Count = 0
    """How many these are; 0 from an agent of an earlier version."""
    text: str = ""
    """What was undone, or what went wrong."""
    pinned: tuple[str, ...] = ()
    """Pins that are new."""
    undoable: bool = False
