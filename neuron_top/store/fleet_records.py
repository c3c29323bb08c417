"""Rows of the fleet's tables as typed values. Times are seconds since the epoch."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.events import AnyEvent
from neuron_top.store.batches import Packed

Attribute = str | int | float | bool | None


class Batch(Packed, frozen=True):
    """A packed batch on its way to the database."""

    sequence: int
    """Its number in its spool, from 1, over all jobs of the spool."""
    run: str
    """The job, or recording, that it belongs to."""


class NodeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A node as an agent of it describes it: at its start and when something changes.

    Agents of several jobs may run on it. Where it is read for a job, `seen` and the rest are by the agent of that job.
    """

    node: str
    cluster: str = ""
    job: str = ""
    machine_id: str = ""
    attributes: dict[str, Attribute] = {}
    clock_offset: float | None = None
    """The node's clock minus the database's, seconds."""
    address: str = ""
    """Where its agent answers for log pages."""
    version: str = ""
    seen: float = 0.0
    """Last sign of life, by the database's clock; set by the database."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A metric over the cores of a node: never an average alone."""

    low: float
    median: float
    high: float
    worst_core: int | None = None


class AgentCount(StrEnum):
    """What an agent counts of itself."""

    SPOOLED_EVENTS = "spooled_events"
    SPOOLED_BYTES = "spooled_bytes"
    DROPPED_SAMPLES = "dropped_samples"
    """For want of room on the disk."""
    DROPPED_EVENTS = "dropped_events"
    """For want of room in memory, while the disk is full."""


class HeartbeatSteps(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The newest steps of a rank, or of several ranks of a node: each step is then that of the slowest."""

    rank: int | None = None
    """None: its lines name no rank, or it stands for several."""
    ranks: int = 1
    steps: list[int] = []
    seconds: list[float] = []


class PhaseSpan(msgspec.Struct, frozen=True, kw_only=True):
    """What a node did from when to when, by the database's clock."""

    node: str
    since: float
    until: float
    phase: str


class NodeNow(msgspec.Struct, frozen=True, kw_only=True):
    """What a node does now for a job: a heartbeat of the job's agent there, with its last samples."""

    node: str
    at: float
    """By the database's clock; set by the database."""
    job: str = ""
    phase: str = ""
    step: int | None = None
    step_seconds: float | None = None
    graphs_left: int | None = None
    worst_wait: float | None = None
    clock_offset: float | None = None
    metrics: dict[str, Spread] = {}
    cores: dict[str, list[float | None]] = {}
    """Metric → a value for every core; empty where it was not asked for."""
    steps: list[HeartbeatSteps] = []
    """Empty where it was not asked for."""
    notes: dict[str, int] = {}
    """Counts of the agent itself by `AgentCount`; another version may know more."""
    ended: bool = False
    """The agent was stopped; set by the database."""
    address: str | None = None
    """Where this agent answers, "" nowhere; None where that is not known of this one."""
    version: str | None = None
    """Of this agent, likewise."""


class NodeKey(msgspec.Struct, frozen=True, kw_only=True):
    """What a node has of a key in a cache root."""

    root: str
    key: str
    node: str
    state: str
    bytes: int | None = None
    compiler: str = ""
    seen: float
    program: str = ""
    """Digest of the graph without names and numbers of ranks; "" where it was not read."""
    held: dict[str, list[str]] = {}
    """Those names and numbers, by their kind (`parsers/hlo_program.py`)."""


class WaitRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Ranks of a node that waited for a key which another node compiled."""

    job: str
    key: str
    holder_node: str = ""
    waiter_node: str
    ranks: int
    seconds: float
    first: float
    last: float


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job or recording, added up over its nodes."""

    run: str
    name: str
    cluster: str
    started: float | None
    touched: float
    finished: float | None
    """None while a node's part goes on."""
    exit_code: int | None
    """Of the part that ended worst."""
    last_phases: list[str] = []
    """What its nodes did last, each phase once: where all parts ended and nobody saw an exit status."""
    nodes: int
    ended: int
    """Of how many nodes the part ended."""
    events: int
    bytes: int


class RunPart(msgspec.Struct, frozen=True, kw_only=True):
    """What one spool of one node has landed of a run."""

    run: str
    node: str
    spool: str
    sequence: int
    events: int
    bytes: int
    first: float | None
    last: float | None
    touched: float
    finished: float | None
    exit_code: int | None


Cursor = dict[tuple[str, str], int]
"""How far a reader is: (node, spool) → sequence of the last batch read."""


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that a reader has not seen yet."""

    node: str
    spool: str
    sequence: int
    events: list[AnyEvent]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Who may compile a key now."""

    key: str
    node: str
    holder: str
    until: float
    """By the database's clock."""
    seconds_left: float
    mine: bool
    """Whether who asked has it."""
    taken_from: str = ""
    """The node whose lease had run out and was taken over."""


class IntentState(StrEnum):
    """Where a change stands that an operator asked a node for; the database lets it go forward only."""

    ASKED = "asked"
    PLANNED = "planned"
    """The node's agent has planned it, and says what it would do."""
    CONFIRMED = "confirmed"
    TAKEN = "taken"
    """The agent carries it out, or was killed while it did."""
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELED = "canceled"
    UNDO = "undo"
    """An operator asks to undo it."""
    UNDOING = "undoing"
    UNDONE = "undone"


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """A change that an operator asks a node's own agent for."""

    id: int
    node: str
    plan: dict[str, object]
    """What is asked for, see `actions.fleet_request`."""
    asked_by: str
    asked: float
    state: IntentState
    result: dict[str, object]
    """What the node answered: what it would do, then what it did."""
    batch: str = ""
    """What the intents of one command have in common."""
    until: float = 0.0
    """By the database's clock: later it is not begun any more."""
    expired: bool = False
