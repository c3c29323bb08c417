"""What the blame of a job says, as frozen rows. Seconds are of ranks, added up; times are seconds since the epoch."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.run.graph import Precision
from neuron_top.run.spans import SpanKind


class Because(StrEnum):
    """Why a node compiled a graph."""

    NEW = "no node had it"
    OWN_ROOT = "own root per node"
    LOCK_NOT_SEEN = "lock not seen across nodes"
    NOT_SEEN = "artifact not seen there"
    HELD_NAME = "key holds a rank or a process-group name"
    OTHER_COMPILER = "other compiler"
    OTHER_FLAGS = "other flags"
    OTHER_ENVIRONMENT = "other environment"
    REMOVED = "removed from the cache"
    TWICE_HERE = "compiled before on this node"
    UNKNOWN = "unknown"


class RankCost(msgspec.Struct, frozen=True, kw_only=True):
    """Time of ranks, and the accelerator cores that stood idle for it."""

    seconds: float
    core_hours: float | None
    """Of the nodes whose cores are known; None where those of none are."""
    without_cores: tuple[str, ...] = ()
    """Nodes that are left out of `core_hours`: how many cores they have, or ranks ran there, is unknown."""
    undated: int = 0
    """Compiles or waits whose time nobody reported; they are left out."""


class CallState(StrEnum):
    """Whether a call of the compiler runs, or how it ended."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the compiler."""

    node: str
    rank: int | None
    seconds: float | None
    provenance: Precision
    began: float | None
    outcome: CallState
    because: Because
    text: str
    """What differs, with names; "" where `because` says all."""
    again: bool
    """Another node had it, or was compiling it."""


class Waited(msgspec.Struct, frozen=True, kw_only=True):
    """The ranks of one node that waited for one graph."""

    node: str
    ranks: int
    seconds: float
    """Added up over all ranks."""
    longest: float | None
    holder: str
    """The node that compiled it meanwhile; "" where nobody reported it."""
    going_on: int
    """Ranks that wait now."""


class GraphBlame(msgspec.Struct, frozen=True, kw_only=True):
    """One graph: who compiled it, and who waited for that."""

    graph: str
    compiles: tuple[Compiled, ...]
    """The earliest first."""
    waits: tuple[Waited, ...]
    """The longest first."""
    compiling: RankCost
    waiting: RankCost
    again: RankCost
    order_known: bool
    """False where the clock of a node that took part was never compared: which compile came first is not known."""

    @property
    def seconds(self) -> float:
        """What the graph cost: compiles and waits together."""
        return self.compiling.seconds + self.waiting.seconds


class Repeated(msgspec.Struct, frozen=True, kw_only=True):
    """Compiles of what another node had, by their reason."""

    because: Because
    text: str
    """The first of the differing items."""
    compiles: int
    graphs: tuple[str, ...]
    nodes: tuple[str, ...]
    cost: RankCost


class LostLock(msgspec.Struct, frozen=True, kw_only=True):
    """A lock that is waited for, and whose holder's node is gone."""

    graph: str
    holder: str
    waiting: int
    nodes: tuple[str, ...]
    """The nodes whose ranks wait."""


class NodeBar(msgspec.Struct, frozen=True):
    """A stretch of time in which at least one rank of a node compiled, or waited."""

    kind: SpanKind
    start: float
    end: float


class NodeBlame(msgspec.Struct, frozen=True, kw_only=True):
    """One node."""

    node: str
    ranks: int | None
    cores: int | None
    compiling: RankCost
    waiting: RankCost
    bars: tuple[NodeBar, ...]
    clock_known: bool

    @property
    def seconds(self) -> float:
        """What the node spent: compiles and waits together."""
        return self.compiling.seconds + self.waiting.seconds


class Blame(msgspec.Struct, frozen=True, kw_only=True):
    """The answer."""

    job: str
    nodes: tuple[NodeBlame, ...]
    """Who spent most first."""
    graphs: tuple[GraphBlame, ...]
    """The most expensive first; those that nobody compiled and nobody waited for are left out."""
    found: int
    """Graphs that every node found."""
    compiling: RankCost
    waiting: RankCost
    again: RankCost
    repeated: tuple[Repeated, ...]
    """The most expensive first."""
    lost_locks: tuple[LostLock, ...]
    unknown_clocks: tuple[str, ...]
    """Nodes whose clock was never compared with the database's."""

    @property
    def start(self) -> float | None:
        """When the first compile or wait began."""
        return min((bar.start for node in self.nodes for bar in node.bars), default=None)

    @property
    def end(self) -> float | None:
        """When the last one ended."""
        return max((bar.end for node in self.nodes for bar in node.bars), default=None)
