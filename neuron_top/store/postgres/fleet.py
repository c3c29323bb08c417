"""What agents ship and what the screens of a fleet read. `recordings` has the part that every store offers."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

import msgspec
import psycopg
from psycopg.rows import dict_row

from neuron_top.errors import UsageError
from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.store.batches import FORMAT
from neuron_top.store.errors import LeaseExpired, NodeNameTaken, StoreCorrupt
from neuron_top.store.fleet_records import (
    Batch,
    Claim,
    Cursor,
    JobRecord,
    Landed,
    NodeKey,
    NodeNow,
    NodeRecord,
    PhaseSpan,
    RunPart,
    WaitRecord,
)
from neuron_top.store.postgres.connection import Database, Opened
from neuron_top.store.postgres.intents import Intents
from neuron_top.store.postgres.landing import in_transaction, land, land_ahead, lock_part, move_mark
from neuron_top.store.postgres.recordings import ENDED, TOTALS, decoded, put_compiles, storable
from neuron_top.store.records import CompileRecord

CHANNEL = "neurontop_events"
"""Channel of NOTIFY; the payload is the id of a run that has news."""
NAME_SECONDS = 120.0
"""After this long without a sign of life a node's name may be taken by another machine."""
LEFT_SECONDS = 3600.0
"""After this long without a sign of life a node's agent of another job is forgotten."""
NEWS_AT_ONCE = 1024
"""Batches per page of news, besides one for each spool."""
_NOW = "extract(epoch FROM clock_timestamp())::float8"

_FREE_FORM = frozenset({"attributes", "metrics", "cores", "steps", "notes", "held"})
"""Columns of JSON, whose content depends on the agent's version."""

Row = TypeVar("Row", bound=msgspec.Struct)


class FleetStore:
    """The database of a fleet: safe from several threads, which take turns or have a pool."""

    def __init__(self, address: str, *, insecure: bool = False, pool: int = 0, patience: float = math.inf) -> None:
        """Connects at the first request. `patience`, UsageError and RefusedForSafety: see Database."""
        self._database = Database(address, insecure=insecure, pool=pool, patience=patience)
        self.intents = Intents(self._database)
        """Changes that operators ask nodes for."""

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
            row = connection.execute(f"SELECT {_NOW}").fetchone()
        return float(row[0]) if row is not None else 0.0

    def register(self, node: NodeRecord) -> None:
        """Enter or update a node. Raises NodeNameTaken if another machine of that name was seen a moment ago.

        If the name belonged to another machine before, or to another start of it, the rows of its caches and jobs go.
        """
        with self._database.transaction() as connection:
            registered = connection.execute(
                "INSERT INTO neurontop.nodes AS n (node, cluster, job, machine_id, attributes, clock_offset, address, "
                f"version, seen) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, {_NOW}) "
                "ON CONFLICT (node) DO UPDATE SET cluster = excluded.cluster, job = excluded.job, "
                "machine_id = excluded.machine_id, attributes = excluded.attributes, "
                "clock_offset = excluded.clock_offset, address = excluded.address, version = excluded.version, "
                f"seen = excluded.seen WHERE n.machine_id = excluded.machine_id OR n.seen < {_NOW} - %s "
                # The row as it was before this statement.
                "RETURNING (SELECT b.machine_id FROM neurontop.nodes b WHERE b.node = n.node)",
                (
                    node.node,
                    node.cluster,
                    node.job,
                    node.machine_id,
                    _json(node.attributes),
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
                "one a name of its own with NEURONTOP_NODE, or stop the other agent"
            )

    def beat(self, now: NodeNow) -> None:
        """Note that a node is alive, and its state for a job. For an unregistered node only its last samples are kept.

        One statement, so that a thousand nodes ask the database once each, not five times.
        """
        samples = {name: _json(getattr(now, name)) for name in ("metrics", "cores", "steps", "notes")}
        with self._database.connection() as connection:
            connection.execute(_BEAT, msgspec.structs.asdict(now) | samples | {"silent": SILENT_SECONDS})

    def open_job(
        self,
        run: str,
        *,
        name: str = "",
        cluster: str = "",
        started: float | None = None,
        command: Sequence[str] = (),
        directory: str = "",
    ) -> None:
        """Enter a job that many nodes ship to; the first node describes it."""
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO neurontop.runs (id, name, cluster, started, touched, command, directory) "
                f"VALUES (%s, %s, %s, %s, {_NOW}, %s, %s) ON CONFLICT DO NOTHING",
                (run, storable(name), cluster, started, storable(_json(list(command))), storable(directory)),
            )

    def go_on(self, node: str, spool: str, run: str) -> None:
        """Note that this node's part of a job goes on, even if an earlier agent reported its end when it stopped."""
        self._changed(
            "UPDATE neurontop.parts SET finished = NULL, exit_code = NULL "
            "WHERE run = %s AND node = %s AND spool = %s AND finished IS NOT NULL",
            (run, node, spool),
        )

    def forget_left_jobs(self, node: str, job: str) -> None:
        """Delete this node's last state for jobs that it has left, now that it works for another one."""
        with self._database.connection() as connection:
            connection.execute(
                f"DELETE FROM neurontop.node_now WHERE node = %s AND job <> %s AND (ended OR at < {_NOW} - %s::float8)",
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
        """Note that this node's part of a job ended; its batches must have been shipped before."""
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
                [{**msgspec.structs.asdict(row), "held": _json(row.held)} for row in rows],
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
        return self._rows(JobRecord, _JOBS, (limit, named, named, named))

    def nodes(self, job: str | None = None) -> list[NodeRecord]:
        """Nodes by name: all of them, or those with an agent of this job, as that agent describes them."""
        if job is None:
            return self._rows(NodeRecord, f"SELECT {_NODE_COLUMNS} FROM neurontop.nodes ORDER BY node", ())
        return self._rows(
            NodeRecord,
            f"SELECT {_AGENT_COLUMNS} FROM neurontop.nodes n "
            "LEFT JOIN neurontop.node_now a ON a.node = n.node AND a.job = %s "
            "WHERE a.node IS NOT NULL OR n.job = %s ORDER BY n.node",
            (job, job),
        )

    def node(self, name: str, job: str | None = None) -> NodeRecord | None:
        """One node, as its agent of a job describes it, without one that of the newest job whose agent lives there.

        None if there is no node of that name.
        """
        found = self._rows(NodeRecord, _NODE, (job, job, name))
        return found[0] if found else None

    def now(self, job: str | None = None, *, cores: bool = False, steps: bool = False) -> list[NodeNow]:
        """The current state of nodes, by name and job. `cores`: with all cores' values; `steps`: with newest steps."""
        return self._rows(
            NodeNow,
            f"SELECT {_NOW_COLUMNS}, metrics, "
            f"{'cores' if cores else 'jsonb_build_object() AS cores'}, "
            f"{'steps' if steps else 'jsonb_build_array() AS steps'}, notes FROM neurontop.node_now "
            "WHERE %s::text IS NULL OR job = %s ORDER BY node, job",
            (job, job),
        )

    def node_now(self, node: str, job: str) -> NodeNow | None:
        """The current state of one node for a job, with a value for every core; None if it never reported."""
        found = self._rows(
            NodeNow,
            f"SELECT {_NOW_COLUMNS}, metrics, cores, notes FROM neurontop.node_now WHERE node = %s AND job = %s",
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

    def parts(self, run: str) -> list[RunPart]:
        """The part of a run that each spool of a node has shipped."""
        return self._rows(
            RunPart,
            "SELECT run, node, spool, sequence, events, bytes, first, last, touched, finished, exit_code "
            "FROM neurontop.parts WHERE run = %s ORDER BY node, spool",
            (run,),
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
                _BEHIND, (*map(list, zip(*behind, strict=True)), _shares(behind), run), binary=True
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

    def keys(self, root: str | None = None) -> list[NodeKey]:
        """The states of keys on nodes: in all roots, or in one."""
        return self._rows(
            NodeKey,
            "SELECT root, key, node, state, bytes, compiler, seen, program, held FROM neurontop.node_keys "
            "WHERE %s::text IS NULL OR root = %s ORDER BY root, key, node",
            (root, root),
        )

    def keys_of(self, node: str) -> list[NodeKey]:
        """The states of keys on one node, in all roots."""
        return self._rows(
            NodeKey,
            "SELECT root, key, node, state, bytes, compiler, seen, program, held FROM neurontop.node_keys "
            "WHERE node = %s",
            (node,),
        )

    def waits(self, job: str) -> list[WaitRecord]:
        """Waits of a job for locks, the longest first."""
        return self._rows(
            WaitRecord,
            "SELECT job, key, holder_node, waiter_node, ranks, seconds, first, last FROM neurontop.waits "
            "WHERE job = %s ORDER BY seconds DESC, key, waiter_node",
            (job,),
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

    # --- who compiles a key ---

    def claim(self, key: str, node: str, lease: float, holder: str = "") -> Claim:
        """Take a key for `lease` seconds if it is free, its lease ran out, or it is ours already; see `Claim.mine`.

        `holder` names a process of the node: two of one node are distinguished by it.
        """
        with self._database.transaction() as connection:
            # The lock puts simultaneous requests in order; a row that somebody else holds must not be written to find
            # out.
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 7))", (key,))
            before = _claim_row(connection, key)
            if before is None:
                connection.execute(
                    f"INSERT INTO neurontop.claims (key, node, holder, until) VALUES (%s, %s, %s, {_IN_SECONDS})",
                    (key, node, holder, lease),
                )
                return self._claimed(connection, key, mine=True)
            ours = (before.node, before.holder) == (node, holder)
            if not ours and before.seconds_left > 0:
                return before
            connection.execute(
                "UPDATE neurontop.claims SET node = %s, holder = %s, taken = CASE WHEN %s THEN taken ELSE "
                f"clock_timestamp() END, until = {_IN_SECONDS} WHERE key = %s",
                (node, holder, ours, lease, key),
            )
            return self._claimed(connection, key, mine=True, taken_from="" if ours else before.node)

    def renew(self, claim: Claim, lease: float) -> Claim:
        """Extend the lease of a key. Raises LeaseExpired if it ran out and was taken over, or was released."""
        with self._database.transaction() as connection:
            done = connection.execute(
                f"UPDATE neurontop.claims SET until = {_IN_SECONDS} WHERE key = %s AND node = %s AND holder = %s",
                (lease, claim.key, claim.node, claim.holder),
            ).rowcount
            if not done:
                raise LeaseExpired(f"{claim.key} is not claimed by {claim.node} any more: its lease ran out")
            return self._claimed(connection, claim.key, mine=True)

    def release(self, claim: Claim) -> bool:
        """Give a key back; False if it was not held any more."""
        return self._changed(
            "DELETE FROM neurontop.claims WHERE key = %s AND node = %s AND holder = %s",
            (claim.key, claim.node, claim.holder),
        )

    def claims(self) -> list[Claim]:
        """All claims, also those that ran out and were not taken over yet."""
        return self._rows(Claim, f"SELECT {_CLAIM_COLUMNS} FROM neurontop.claims ORDER BY key", ())

    def _claimed(self, connection: Opened, key: str, *, mine: bool, taken_from: str = "") -> Claim:
        found = _claim_row(connection, key)
        if found is None:
            raise LeaseExpired(f"{self.place}: the claim of {key} is gone")
        return msgspec.structs.replace(found, mine=mine, taken_from=taken_from)

    # --- below ---

    def _changed(self, statement: str, values: tuple[object, ...]) -> bool:
        with self._database.connection() as connection:
            return connection.execute(statement.encode(), values).rowcount > 0

    def _rows(self, kind: type[Row], statement: str, values: tuple[object, ...]) -> list[Row]:
        with self._database.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
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


_JOBS = f"""
SELECT r.id AS run, r.name, r.cluster, r.started, greatest(r.touched, t.touched) AS touched,
       coalesce(r.finished, CASE WHEN {ENDED} THEN t.finished END) AS finished,
       coalesce(r.exit_code, t.exit_code) AS exit_code, t.nodes, t.ended,
       CASE WHEN {ENDED} AND coalesce(r.exit_code, t.exit_code) IS NULL THEN ARRAY(
           SELECT DISTINCT newest.phase FROM (
               SELECT DISTINCT ON (node) phase FROM neurontop.phases WHERE job = r.id ORDER BY node, since DESC
           ) newest
       ) ELSE '{{}}' END AS last_phases,
       coalesce(t.events, 0)::bigint AS events, coalesce(t.bytes, 0)::bigint AS bytes
FROM neurontop.runs r
{TOTALS}
WHERE r.id IN (
    (SELECT id FROM neurontop.runs ORDER BY coalesce(started, touched) DESC, id DESC LIMIT %s)
    UNION (SELECT job FROM neurontop.nodes)
    UNION (SELECT job FROM neurontop.node_now)
    UNION (SELECT id FROM neurontop.runs WHERE id = %s OR name = %s OR starts_with(id, %s))
)
ORDER BY coalesce(r.started, r.touched) DESC, r.id DESC
"""
_BEAT = f"""
WITH beat AS (
    INSERT INTO neurontop.node_now (node, at, job, phase, step, step_seconds, graphs_left, worst_wait, clock_offset,
        metrics, cores, steps, notes, address, version)
    VALUES (%(node)s, {_NOW}, %(job)s, %(phase)s, %(step)s, %(step_seconds)s, %(graphs_left)s, %(worst_wait)s,
        %(clock_offset)s, %(metrics)s, %(cores)s, %(steps)s, %(notes)s, %(address)s, %(version)s)
    ON CONFLICT (node, job) DO UPDATE SET at = excluded.at, phase = excluded.phase, step = excluded.step,
        step_seconds = excluded.step_seconds, graphs_left = excluded.graphs_left, worst_wait = excluded.worst_wait,
        clock_offset = excluded.clock_offset, metrics = excluded.metrics, cores = excluded.cores,
        steps = excluded.steps, notes = excluded.notes, ended = false, address = excluded.address,
        version = excluded.version
), seen AS (
    UPDATE neurontop.nodes SET seen = {_NOW}, job = %(job)s, clock_offset = coalesce(%(clock_offset)s, clock_offset)
    WHERE node = %(node)s
), newest AS (
    SELECT since, until, phase FROM neurontop.phases WHERE job = %(job)s AND node = %(node)s ORDER BY since DESC LIMIT 1
), grown AS (
    UPDATE neurontop.phases p SET until = greatest(p.until, {_NOW}) FROM newest n
    WHERE p.job = %(job)s AND p.node = %(node)s AND p.since = n.since AND n.phase = %(phase)s
    AND n.until > {_NOW} - %(silent)s::float8 RETURNING 1
)
INSERT INTO neurontop.phases (job, node, since, until, phase)
SELECT %(job)s, %(node)s, {_NOW}, {_NOW}, %(phase)s
WHERE %(job)s::text <> '' AND %(phase)s::text <> '' AND NOT EXISTS (SELECT 1 FROM grown) ON CONFLICT DO NOTHING
"""
"""Update the node's last samples, its sign of life, and its phase, which goes on or is a new one."""
_BEHIND = """
SELECT e.node, e.spool, e.sequence, e.number, e.data, e.format
FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[]) AS b (node, spool, read, mark, most)
CROSS JOIN LATERAL (
    SELECT * FROM neurontop.events v WHERE v.run = %s AND v.node = b.node AND v.spool = b.spool
    AND v.sequence > b.read AND v.sequence <= b.mark ORDER BY v.sequence LIMIT b.most
) e ORDER BY e.number
"""


def _finite(column: str, table: str = "") -> str:
    value = f"{table}{column}"
    return f"CASE WHEN {value} > '-Infinity' AND {value} < 'Infinity' THEN {value} END AS {column}"


_NODE_COLUMNS = f"node, cluster, job, machine_id, attributes, {_finite('clock_offset')}, address, version, seen"
_AGENT_COLUMNS = (
    f"n.node, n.cluster, coalesce(a.job, n.job) AS job, n.machine_id, n.attributes, {_finite('clock_offset', 'n.')}, "
    "coalesce(a.version, n.version) AS version, coalesce(a.at, n.seen) AS seen, "
    # An agent that is gone may have left its address to the next.
    "CASE WHEN EXISTS (SELECT FROM neurontop.node_now o WHERE o.node = n.node AND o.job <> coalesce(a.job, n.job) "
    "AND o.address = coalesce(a.address, n.address) "
    f"AND (a.ended OR o.at > coalesce(a.at, n.seen) + {SILENT_SECONDS})) "
    "THEN '' ELSE coalesce(a.address, n.address) END AS address"
)
_NODE = f"""
SELECT {_AGENT_COLUMNS} FROM neurontop.nodes n LEFT JOIN LATERAL (
    SELECT b.* FROM (
        SELECT every.*, NOT every.ended AND every.at > {_NOW} - {SILENT_SECONDS} AS lives
        FROM neurontop.node_now every WHERE every.node = n.node
    ) b LEFT JOIN neurontop.runs r ON r.id = b.job WHERE %s::text IS NULL OR b.job = %s
    ORDER BY b.lives DESC, CASE WHEN b.lives THEN coalesce(r.started, r.touched) ELSE b.at END DESC, b.job DESC LIMIT 1
) a ON true WHERE n.node = %s
"""
_NOW_COLUMNS = (
    f"node, at, job, phase, step, {_finite('step_seconds')}, graphs_left, {_finite('worst_wait')}, "
    f"{_finite('clock_offset')}, ended, address, version"
)
_IN_SECONDS = "clock_timestamp() + make_interval(secs => %s)"
_CLAIM_COLUMNS = (
    "key, node, holder, extract(epoch FROM until)::float8 AS until, "
    "extract(epoch FROM until - clock_timestamp())::float8 AS seconds_left, false AS mine"
)


def _shares(behind: Sequence[tuple[str, str, int, int]]) -> list[int]:
    """How many batches of each (node, spool, read, mark) go on a page, in proportion to what each has left.

    So all spools are finished at about the same time, and a page costs the same however much is left.
    """
    left = [mark - read for _node, _spool, read, mark in behind]
    return [1 + NEWS_AT_ONCE * one // sum(left) for one in left]


def _claim_row(connection: Opened, key: str) -> Claim | None:
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(
            f"SELECT {_CLAIM_COLUMNS} FROM neurontop.claims WHERE key = %s",
            (key,),
        ).fetchone()
    return msgspec.convert(row, Claim) if row is not None else None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode().replace("\\u0000", "\\ufffd")  # jsonb cannot hold zero bytes


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
