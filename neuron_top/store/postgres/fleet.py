"""What agents ship and what the screens of a fleet read. `recordings` has the part that every store offers."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Self, TypeVar

import msgspec
import psycopg
from psycopg.rows import dict_row

from neuron_top.errors import UsageError
from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.store.batches import FORMAT
from neuron_top.store.errors import NodeNameTaken, StoreCorrupt
from neuron_top.store.fleet_records import (
    Batch,
    Cursor,
    JobRecord,
    Landed,
    NodeKey,
    NodeNow,
    NodeRecord,
    PhaseSpan,
    WaitRecord,
)
from neuron_top.store.postgres.claims import KeyClaims
from neuron_top.store.postgres.connection import Database, Opened
from neuron_top.store.postgres.fleet_queries import (
    AGENT_COLUMNS,
    BEAT,
    BEHIND,
    JOBS,
    NODE,
    NODE_COLUMNS,
    NOW,
    NOW_COLUMNS,
)
from neuron_top.store.postgres.intents import Intents
from neuron_top.store.postgres.landing import in_transaction, land, land_ahead, lock_part, move_mark
from neuron_top.store.postgres.recordings import decoded, put_compiles
from neuron_top.store.postgres.values import jsonb, storable
from neuron_top.store.records import CompileRecord

CHANNEL = "neurontop_events"
"""Channel of NOTIFY; the payload is the id of a run that has news."""
NAME_SECONDS = 120.0
"""After this long without a sign of life a node's name may be taken by another machine."""
LEFT_SECONDS = 3600.0
"""After this long without a sign of life a node's agent of another job is forgotten."""
NEWS_AT_ONCE = 1024
"""Batches per page of news, besides one for each spool."""
_FREE_FORM = frozenset({"attributes", "metrics", "cores", "steps", "notes", "held"})
"""Columns of JSON, whose content depends on the agent's version."""

Row = TypeVar("Row", bound=msgspec.Struct)


class FleetStore:
    """The database of a fleet: safe from several threads, which take turns or have a pool."""

    def __init__(self, address: str, *, insecure: bool = False, pool: int = 0) -> None:
        """Connects at the first request. UsageError and RefusedForSafety: see Database."""
        self._database = Database(address, insecure=insecure, pool=pool)
        self.intents = Intents(self._database)
        """Changes that operators ask nodes for."""
        self.claims = KeyClaims(self._database)
        """Who compiles a key."""

    @property
    def place(self) -> str:
        """Its address without a password."""
        return self._database.place

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the next call makes new ones."""
        self._database.close()

    def end(self) -> None:
        """Close for good: later requests are refused."""
        self._database.end()

    # --- an agent writes ---

    def clock(self) -> float:
        """The database's clock."""
        with self._database.connection() as connection:
            row = connection.execute(f"SELECT {NOW}").fetchone()
        return float(row[0]) if row is not None else 0.0

    def register(self, node: NodeRecord) -> None:
        """Enter or update a node. Raises NodeNameTaken if another machine of that name was seen a moment ago.

        If the name belonged to another machine before, or to another start of it, the rows of its caches and jobs go.
        """
        with self._database.transaction() as connection:
            registered = connection.execute(
                "INSERT INTO neurontop.nodes AS n (node, cluster, job, machine_id, attributes, clock_offset, address, "
                f"version, seen) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, {NOW}) "
                "ON CONFLICT (node) DO UPDATE SET cluster = excluded.cluster, job = excluded.job, "
                "machine_id = excluded.machine_id, attributes = excluded.attributes, "
                "clock_offset = excluded.clock_offset, address = excluded.address, version = excluded.version, "
                f"seen = excluded.seen WHERE n.machine_id = excluded.machine_id OR n.seen < {NOW} - %s "
                # The row as it was before this statement.
                "RETURNING (SELECT b.machine_id FROM neurontop.nodes b WHERE b.node = n.node)",
                (
                    node.node,
                    node.cluster,
                    node.job,
                    node.machine_id,
                    jsonb(node.attributes),
                    node.clock_offset,
                    node.address,
                    node.version,
                    NAME_SECONDS,
                ),
            ).fetchone()
            if registered is not None and registered[0] not in (None, node.machine_id):
                connection.execute("DELETE FROM neurontop.node_keys WHERE node = %s", (node.node,))
                connection.execute("DELETE FROM neurontop.node_now WHERE node = %s", (node.node,))
        if registered is None:
            raise NodeNameTaken(
                f"{self.place}: another machine ships as node {node.node!r} now (its machine id differs); give this "
                "one a name of its own with NEURONTOP_NODE, or stop the other agent: two minutes later the name is free"
            )

    def beat(self, now: NodeNow) -> None:
        """Note that a node is alive, and its state for a job. For an unregistered node only its last samples are kept.

        One statement, so that a thousand nodes ask the database once each, not five times.
        """
        samples = {name: jsonb(getattr(now, name)) for name in ("metrics", "cores", "steps", "notes")}
        with self._database.connection() as connection:
            connection.execute(BEAT, msgspec.structs.asdict(now) | samples | {"silent": SILENT_SECONDS})

    def open_job(self, run: str, *, name: str = "", cluster: str = "", started: float | None = None) -> None:
        """Enter a job that many nodes ship to, as the first of them names it. `started`: by the database's clock."""
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO neurontop.runs (id, name, cluster, started, touched) "
                f"VALUES (%s, %s, %s, %s, {NOW}) ON CONFLICT DO NOTHING",
                (run, storable(name), cluster, started),
            )

    def go_on(self, node: str, spool: str, run: str) -> None:
        """Note that this node's part of a job goes on, even if an earlier agent reported its end when it stopped."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE neurontop.parts SET finished = NULL, exit_code = NULL "
                "WHERE run = %s AND node = %s AND spool = %s AND finished IS NOT NULL",
                (run, node, spool),
            )

    def forget_left_jobs(self, node: str, job: str) -> None:
        """Delete this node's last state for jobs that it has left, now that it works for another one."""
        with self._database.connection() as connection:
            connection.execute(
                f"DELETE FROM neurontop.node_now WHERE node = %s AND job <> %s AND (ended OR at < {NOW} - %s::float8)",
                (node, job, LEFT_SECONDS),
            )

    def shipped(self, node: str, spool: str) -> int:
        """Sequence of a spool's last stored batch, after which its agent goes on; 0 if none is stored."""
        with self._database.connection() as connection:
            row = connection.execute(
                "SELECT coalesce(max(sequence), 0) FROM neurontop.parts WHERE node = %s AND spool = %s", (node, spool)
            ).fetchone()
        return int(row[0]) if row is not None else 0

    def ship(self, node: str, spool: str, batches: Sequence[Batch]) -> int:
        """Store batches, each exactly once, in one transaction; returns the sequence of the last one stored.

        `batches` must be in the order of their sequence; those that are stored already are skipped.
        """
        if not batches:
            return self.shipped(node, spool)
        if any(later.sequence <= earlier.sequence for earlier, later in itertools.pairwise(batches)):
            raise UsageError("batches are shipped in the order of their sequence")
        with self._database.connection() as connection:
            if land_ahead(connection, node, spool, batches):
                return batches[-1].sequence
        runs = sorted({batch.run for batch in batches})  # all in one order, so that no two wait for each other
        in_transaction(self._database, lambda connection: _land(connection, node, spool, runs, batches))
        with self._database.connection() as connection:
            for run in runs:
                connection.execute("SELECT neurontop.wake(%s)", (run,))
        return batches[-1].sequence

    def end_job(self, node: str, spool: str, run: str, finished: float, exit_code: int | None) -> None:
        """Note that this node's part of a job ended; its batches must have been shipped before. `finished`: by the
        database's clock."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE neurontop.parts SET finished = %s, exit_code = %s WHERE run = %s AND node = %s AND spool = %s",
                (finished, exit_code, run, node, spool),
            )
            connection.execute("UPDATE neurontop.node_now SET ended = true WHERE node = %s AND job = %s", (node, run))
            connection.execute("SELECT neurontop.wake(%s)", (run,))

    def put_keys(self, rows: Iterable[NodeKey]) -> None:
        """Store the entries of a node's cache roots; a row of the same root, key and node is replaced."""
        with self._database.transaction() as connection, connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO neurontop.node_keys (root, key, node, state, bytes, compiler, seen, program, held) "
                "VALUES (%(root)s, %(key)s, %(node)s, %(state)s, %(bytes)s, %(compiler)s, %(seen)s, %(program)s, "
                "%(held)s) ON CONFLICT (root, key, node) DO UPDATE SET state = excluded.state, "
                "bytes = excluded.bytes, compiler = excluded.compiler, seen = excluded.seen, "
                "program = excluded.program, held = excluded.held",
                [{**msgspec.structs.asdict(row), "held": jsonb(row.held)} for row in rows],
            )

    def put_compiles(self, records: Iterable[CompileRecord]) -> None:
        """Store measured compile times, for later estimates; duplicates are stored once."""
        put_compiles(self._database, records)

    def put_waits(self, rows: Iterable[WaitRecord]) -> None:
        """Store waits for locks so far; a row of the same job, key, holder and waiter is replaced."""
        with self._database.transaction() as connection, connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO neurontop.waits (job, key, holder_node, waiter_node, ranks, seconds, first, last) "
                "VALUES (%(job)s, %(key)s, %(holder_node)s, %(waiter_node)s, %(ranks)s, %(seconds)s, %(first)s, "
                "%(last)s) ON CONFLICT (job, key, holder_node, waiter_node) DO UPDATE SET ranks = excluded.ranks, "
                "seconds = excluded.seconds, first = excluded.first, last = excluded.last",
                [msgspec.structs.asdict(row) for row in rows],
            )

    # --- screens read ---

    def jobs(self, limit: int = 100, named: str | None = None) -> list[JobRecord]:
        """Jobs and recordings, newest first, each added up over its nodes: the newest ones, those that nodes work for
        or worked for last (however old), and those with this id, prefix of an id, or name."""
        name = storable(named) if named is not None else None
        with self._database.without_jit() as connection:
            return self._rows_of(connection, JobRecord, JOBS, (limit, name, name, name))

    def nodes(self, job: str | None = None) -> list[NodeRecord]:
        """Nodes by name: all of them, or those with an agent of this job, as that agent describes them."""
        if job is None:
            return self._rows(NodeRecord, f"SELECT {NODE_COLUMNS} FROM neurontop.nodes ORDER BY node", ())
        return self._rows(
            NodeRecord,
            f"SELECT {AGENT_COLUMNS} FROM neurontop.nodes n "
            "LEFT JOIN neurontop.node_now a ON a.node = n.node AND a.job = %s "
            "WHERE a.node IS NOT NULL OR n.job = %s ORDER BY n.node",
            (job, job),
        )

    def node(self, name: str, job: str | None = None) -> NodeRecord | None:
        """One node, as its agent of a job describes it, without one that of the newest job whose agent lives there.

        None if there is no node of that name.
        """
        found = self._rows(NodeRecord, NODE, (job, job, name))
        return found[0] if found else None

    def now(self, job: str | None = None, *, cores: bool = False, steps: bool = False) -> list[NodeNow]:
        """The current state of nodes, by name and job. `cores`: with all cores' values; `steps`: with newest steps."""
        return self._rows(
            NodeNow,
            f"SELECT {NOW_COLUMNS}, metrics, "
            f"{'cores' if cores else 'jsonb_build_object() AS cores'}, "
            f"{'steps' if steps else 'jsonb_build_array() AS steps'}, notes FROM neurontop.node_now "
            "WHERE %s::text IS NULL OR job = %s ORDER BY node, job",
            (job, job),
        )

    def node_now(self, node: str, job: str) -> NodeNow | None:
        """The current state of one node for a job, with a value for every core; None if it never reported."""
        found = self._rows(
            NodeNow,
            f"SELECT {NOW_COLUMNS}, metrics, cores, notes FROM neurontop.node_now WHERE node = %s AND job = %s",
            (node, job),
        )
        return found[0] if found else None

    def phases(self, job: str) -> list[PhaseSpan]:
        """The phases of each node of a job so far, by node and time."""
        return self._rows(
            PhaseSpan,
            "SELECT node, since, until, phase FROM neurontop.phases WHERE job = %s ORDER BY node, since",
            (job,),
        )

    def news(self, run: str, cursor: Cursor) -> list[Landed]:
        """Batches of a run after `cursor`, which moves to the last of them; call again until there are none.

        The batches of one spool come in order. Numbers in the order of arrival would have gaps that are filled later,
        because transactions do not end in the order in which they begin; sequences of spools have no gaps. Raises
        StoreCorrupt for a batch that cannot be read, once: the cursor moves past it.
        """
        with self._database.connection() as connection:
            marks = connection.execute(
                "SELECT node, spool, sequence FROM neurontop.parts WHERE run = %s", (run,)
            ).fetchall()
            behind = [
                (node, spool, cursor.get((node, spool), 0), mark)
                for node, spool, mark in marks
                if mark > cursor.get((node, spool), 0)
            ]
            if not behind:
                return []
            rows = connection.execute(  # binary, as a bytea takes twice the bytes in text
                BEHIND, (*map(list, zip(*behind, strict=True)), _shares(behind), run), binary=True
            ).fetchall()
        if not rows:  # dropped with their partition: nothing is left to read before the marks
            cursor.update({(node, spool): mark for node, spool, _read, mark in behind})
        landed: list[Landed] = []
        for node, spool, sequence, number, data, written_as in rows:
            try:
                events = decoded(self.place, run, number, data, written_as)
            except StoreCorrupt:
                if landed:  # return these first, as the cursor has passed them
                    break
                cursor[node, spool] = sequence
                raise
            cursor[node, spool] = sequence
            landed.append(Landed(node=node, spool=spool, sequence=sequence, events=events))
        return landed

    def keys(self) -> list[NodeKey]:
        """The states of keys on nodes, in all roots."""
        return self._rows(
            NodeKey,
            "SELECT root, key, node, state, bytes, compiler, seen, program, held FROM neurontop.node_keys "
            "ORDER BY root, key, node",
            (),
        )

    def keys_of(self, node: str) -> list[NodeKey]:
        """The states of keys on one node, in all roots."""
        return self._rows(
            NodeKey,
            "SELECT root, key, node, state, bytes, compiler, seen, program, held FROM neurontop.node_keys "
            "WHERE node = %s",
            (node,),
        )

    def listen(self, stop: threading.Event, *, seconds: float = 1.0) -> Iterator[str | None]:
        """Yield ids of runs as news arrives, and None after `seconds` without news; ends when `stop` is set.

        Uses a connection of its own that bypasses a pooler. A notification only wakes the reader; missed ones do no
        harm, as `news` finds everything.
        """
        connection = self._database.connect()
        try:
            connection.execute(f"LISTEN {CHANNEL}")
            while not stop.is_set():
                woken = {note.payload for note in connection.notifies(timeout=seconds, stop_after=1)}
                yield from woken or (None,)  # several may arrive in one packet
        except psycopg.Error as problem:
            raise self._database.sentence(problem) from None
        finally:
            connection.close()

    def _rows(self, kind: type[Row], statement: str, values: tuple[object, ...]) -> list[Row]:
        with self._database.connection() as connection:
            return self._rows_of(connection, kind, statement, values)

    def _rows_of(self, connection: Opened, kind: type[Row], statement: str, values: tuple[object, ...]) -> list[Row]:
        with connection.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(statement.encode(), values).fetchall()
        try:
            return msgspec.convert(found, list[kind])  # type: ignore[valid-type]
        except msgspec.ValidationError:
            return [self._row(kind, row) for row in found]

    def _row(self, kind: type[Row], row: Mapping[str, object]) -> Row:
        """Read a row; values that cannot be read (of an agent of another version, say) count as unknown."""
        with suppress(msgspec.ValidationError):
            return msgspec.convert(row, kind)
        try:
            return msgspec.convert({name: value for name, value in row.items() if name not in _FREE_FORM}, kind)
        except msgspec.ValidationError as problem:
            raise StoreCorrupt(f"{self.place}: a row of {kind.__name__} cannot be read ({problem})") from None


def _shares(behind: Sequence[tuple[str, str, int, int]]) -> list[int]:
    """How many batches of each (node, spool, read, mark) go on a page, in proportion to what each has left.

    So all spools are finished at about the same time, and a page costs the same however much is left.
    """
    left = [mark - read for _node, _spool, read, mark in behind]
    return [1 + NEWS_AT_ONCE * one // sum(left) for one in left]


def _land(connection: Opened, node: str, spool: str, runs: Sequence[str], batches: Sequence[Batch]) -> None:
    marks = {run: lock_part(connection, run, node, spool) for run in runs}
    new = [batch for batch in batches if batch.sequence > marks[batch.run]]
    land(
        connection,
        [
            (batch.run, node, spool, batch.sequence, batch.first, batch.last, batch.count, FORMAT, batch.data)
            for batch in new
        ],
    )
    for run in runs:
        landed = [batch for batch in new if batch.run == run]
        if landed:
            move_mark(connection, run, node, spool, landed[-1].sequence, landed)
