"""The longer statements of `fleet`, and the columns that several share."""

from __future__ import annotations

from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.store.postgres.recordings import ENDED, LAST_PHASES, TOTALS

NOW = "extract(epoch FROM clock_timestamp())::float8"
JOBS = f"""
SELECT r.id AS run, r.name, r.cluster, r.started, greatest(r.touched, t.touched) AS touched,
       coalesce(r.finished, CASE WHEN {ENDED} THEN t.finished END) AS finished,
       coalesce(r.exit_code, t.exit_code) AS exit_code, t.nodes, t.ended,
       {LAST_PHASES} AS last_phases,
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
BEAT = f"""
WITH beat AS (
    INSERT INTO neurontop.node_now (node, at, job, phase, step, step_seconds, graphs_left, worst_wait, clock_offset,
        metrics, cores, steps, notes, address, version)
    VALUES (%(node)s, {NOW}, %(job)s, %(phase)s, %(step)s, %(step_seconds)s, %(graphs_left)s, %(worst_wait)s,
        %(clock_offset)s, %(metrics)s, %(cores)s, %(steps)s, %(notes)s, %(address)s, %(version)s)
    ON CONFLICT (node, job) DO UPDATE SET at = excluded.at, phase = excluded.phase, step = excluded.step,
        step_seconds = excluded.step_seconds, graphs_left = excluded.graphs_left, worst_wait = excluded.worst_wait,
        clock_offset = excluded.clock_offset, metrics = excluded.metrics, cores = excluded.cores,
        steps = excluded.steps, notes = excluded.notes, ended = false, address = excluded.address,
        version = excluded.version
), seen AS (
    UPDATE neurontop.nodes SET seen = {NOW}, job = %(job)s, clock_offset = coalesce(%(clock_offset)s, clock_offset)
    WHERE node = %(node)s
), newest AS (
    SELECT since, until, phase FROM neurontop.phases WHERE job = %(job)s AND node = %(node)s ORDER BY since DESC LIMIT 1
), grown AS (
    UPDATE neurontop.phases p SET until = greatest(p.until, {NOW}) FROM newest n
    WHERE p.job = %(job)s AND p.node = %(node)s AND p.since = n.since AND n.phase = %(phase)s
    AND n.until > {NOW} - %(silent)s::float8 RETURNING 1
)
INSERT INTO neurontop.phases (job, node, since, until, phase)
SELECT %(job)s, %(node)s, {NOW}, {NOW}, %(phase)s
WHERE %(job)s::text <> '' AND %(phase)s::text <> '' AND NOT EXISTS (SELECT 1 FROM grown) ON CONFLICT DO NOTHING
"""
"""Update the node's last samples, its sign of life, and its phase, which goes on or is a new one."""
BEHIND = """
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


NODE_COLUMNS = f"node, cluster, job, machine_id, attributes, {_finite('clock_offset')}, address, version, seen"
AGENT_COLUMNS = (
    f"n.node, n.cluster, coalesce(a.job, n.job) AS job, n.machine_id, n.attributes, {_finite('clock_offset', 'n.')}, "
    "coalesce(a.version, n.version) AS version, coalesce(a.at, n.seen) AS seen, "
    # An agent that is gone may have left its address to the next.
    "CASE WHEN EXISTS (SELECT FROM neurontop.node_now o WHERE o.node = n.node AND o.job <> coalesce(a.job, n.job) "
    "AND o.address = coalesce(a.address, n.address) "
    f"AND (a.ended OR o.at > coalesce(a.at, n.seen) + {SILENT_SECONDS})) "
    "THEN '' ELSE coalesce(a.address, n.address) END AS address"
)
NODE = f"""
SELECT {AGENT_COLUMNS} FROM neurontop.nodes n LEFT JOIN LATERAL (
    SELECT b.* FROM (
        SELECT every.*, NOT every.ended AND every.at > {NOW} - {SILENT_SECONDS} AS lives
        FROM neurontop.node_now every WHERE every.node = n.node
    ) b LEFT JOIN neurontop.runs r ON r.id = b.job WHERE %s::text IS NULL OR b.job = %s
    ORDER BY b.lives DESC, CASE WHEN b.lives THEN coalesce(r.started, r.touched) ELSE b.at END DESC, b.job DESC LIMIT 1
) a ON true WHERE n.node = %s
"""
NOW_COLUMNS = (
    f"node, at, job, phase, step, {_finite('step_seconds')}, graphs_left, {_finite('worst_wait')}, "
    f"{_finite('clock_offset')}, ended, address, version"
)
