"""Typed rows of the fleet's tables. Times are seconds since the epoch."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.events import AnyEvent
from neuron_top.store.batches import Packed

Attribute = str | int | float | bool | None
KEY_VARIABLES = ("NEURON_", "XLA_")
"""How the names of variables begin that may change keys: nodes report them as attributes, under their own names."""


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
    """The address where its agent answers requests for log pages."""
    version: str = ""
    seen: float = 0.0
    """Last sign of life, by the database's clock; set by the database."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A metric over the cores of a node, with its spread and not only an average."""

    low: float
    median: float
    high: float
    worst_core: int | None = None


class AgentCount(StrEnum):
    """Names of the counts that an agent keeps about itself."""

    SPOOLED_EVENTS = "spooled_events"
    SPOOLED_BYTES = "spooled_bytes"
    DROPPED_SAMPLES = "dropped_samples"
    """Dropped for want of room on the disk."""
    DROPPED_EVENTS = "dropped_events"
    """Dropped for want of room in memory, while the disk is full."""


class HeartbeatSteps(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The newest steps of a rank, or of several ranks of a node: each step is then that of the slowest."""

    rank: int | None = None
    """None: its lines name no rank, or it stands for several."""
    ranks: int = 1
    steps: list[int] = []
    seconds: list[float] = []


class PhaseSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A phase of a node with its beginning and end, by the database's clock."""

    node: str
    since: float
    until: float
    phase: str


class NodeNow(msgspec.Struct, frozen=True, kw_only=True):
    """The current state of a node for a job: the last heartbeat of the job's agent there, with its last samples."""

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
    """Metric → a value for every core; empty if not requested."""
    steps: list[HeartbeatSteps] = []
    """Empty if not requested."""
    notes: dict[str, int] = {}
    """The agent's counts about itself, by `AgentCount`; another version may have more."""
    ended: bool = False
    """The agent was stopped; set by the database."""
    address: str | None = None
    """The address where this agent answers; "" if it does not; None if unknown."""
    version: str | None = None
    """The version of this agent; None if unknown."""


class NodeKey(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a key in a cache root of a node."""

    root: str
    key: str
    node: str
    state: str
    bytes: int | None = None
    compiler: str = ""
    seen: float
    program: str = ""
    """Digest of the graph without names and numbers of ranks; "" if the graph was not read."""
    held: dict[str, list[str]] = {}
    """The names and numbers left out of the digest, by kind (`parsers/hlo_program.py`)."""


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
    """None while some node's part goes on."""
    exit_code: int | None
    """Exit status of the part that ended worst."""
    last_phases: list[str] = []
    """The last phases of its nodes, each once, if all parts ended and nobody saw an exit status."""
    nodes: int
    ended: int
    """The number of nodes whose part ended."""
    events: int
    bytes: int


Cursor = dict[tuple[str, str], int]
"""A reader's position: (node, spool) → sequence of the last batch read."""


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that a reader has not seen yet."""

    node: str
    spool: str
    sequence: int
    events: list[AnyEvent]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The holder of a key, who may compile it."""

    key: str
    node: str
    holder: str
    until: float
    """By the database's clock."""
    seconds_left: float
    mine: bool
    """Whether the process that asked has the key."""
    taken_from: str = ""
    """The node that lost the key because its lease had run out."""


class IntentState(StrEnum):
    """Where a change stands that an operator asked a node for; the database lets it go forward only."""

    ASKED = "asked"
    PLANNED = "planned"
    """The node's agent has planned it and reported what it would do."""
    CONFIRMED = "confirmed"
    TAKEN = "taken"
    """The agent is carrying it out, or was killed while doing so."""
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELED = "canceled"
    UNDO = "undo"
    """An operator asks to undo it."""
    UNDOING = "undoing"
    UNDONE = "undone"


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """A change that an operator asks a node's agent to make."""

    id: int
    node: str
    plan: dict[str, object]
    """The request, see `actions.fleet_request`."""
    asked_by: str
    asked: float
    state: IntentState
    result: dict[str, object]
    """The node's answer: what it would do, later what it did."""
    batch: str = ""
    """Id shared by the intents of one command."""
    until: float = 0.0
    """Time, by the database's clock, after which it is not begun any more."""
    expired: bool = False
