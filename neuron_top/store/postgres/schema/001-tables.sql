-- The tables. Times are seconds since the epoch by the clock of who wrote them, unless a column says otherwise.
-- Every name is qualified: connections come through poolers that keep no search path.

CREATE SCHEMA neurontop;

CREATE TABLE neurontop.meta (
    version     integer NOT NULL,             -- of the schema: the number of the last step that was applied
    made        timestamptz NOT NULL DEFAULT now()
);

-- A recording of one machine, or a job that many nodes ship to (node is '' then, and parts tell who).
CREATE TABLE neurontop.runs (
    id          text PRIMARY KEY,
    node        text NOT NULL DEFAULT '',
    name        text NOT NULL DEFAULT '',
    command     text NOT NULL DEFAULT '[]',   -- JSON array of arguments
    directory   text NOT NULL DEFAULT '',
    pid         bigint,                       -- of the recording process, while it records
    started     double precision,
    finished    double precision,             -- NULL: running, or a job of many nodes: parts tell
    exit_code   integer,
    touched     double precision NOT NULL,
    folder      text NOT NULL DEFAULT '',
    summary     text NOT NULL DEFAULT '',
    cluster     text NOT NULL DEFAULT ''
);
CREATE INDEX runs_by_time ON neurontop.runs ((coalesce(started, touched)) DESC);

-- What one spool of one node has landed of a run. `sequence` is the mark that makes a batch land exactly once: it moves
-- in the transaction that inserts the batches, and what is not above it is already there.
CREATE TABLE neurontop.parts (
    run         text NOT NULL,
    node        text NOT NULL,
    spool       text NOT NULL,
    sequence    bigint NOT NULL DEFAULT 0,
    events      bigint NOT NULL DEFAULT 0,
    bytes       bigint NOT NULL DEFAULT 0,
    first       double precision,
    last        double precision,
    touched     double precision NOT NULL DEFAULT 0,   -- by the server's clock
    finished    double precision,
    exit_code   integer,
    PRIMARY KEY (run, node, spool)
) WITH (fillfactor = 50);
CREATE INDEX parts_by_spool ON neurontop.parts (node, spool);

-- A row is a batch: events as JSON lines, deflated. Rows never change.
CREATE SEQUENCE neurontop.batch_numbers;
CREATE TABLE neurontop.events (
    day         date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,   -- of arrival, by the server's clock
    run         text NOT NULL,
    node        text NOT NULL,
    spool       text NOT NULL,
    sequence    bigint NOT NULL,              -- of the batch in its spool, from 1
    number      bigint NOT NULL DEFAULT nextval('neurontop.batch_numbers'),   -- order of arrival over all nodes
    first       double precision,
    last        double precision,
    count       integer NOT NULL,
    format      smallint NOT NULL,            -- see store/batches.py
    data        bytea NOT NULL,
    PRIMARY KEY (run, node, spool, sequence, day)
) PARTITION BY RANGE (day);
CREATE INDEX events_by_arrival ON neurontop.events (run, number);
ALTER TABLE neurontop.events ALTER COLUMN data SET STORAGE EXTERNAL;   -- deflated already

CREATE TABLE neurontop.compiles (
    module      text NOT NULL,
    node        text NOT NULL DEFAULT '',
    run         text NOT NULL DEFAULT '',
    compiler    text NOT NULL DEFAULT '',
    graph_bytes bigint,
    operators   bigint,
    seconds     double precision NOT NULL,
    peak_rss    bigint,
    finished    double precision NOT NULL,
    mix         jsonb NOT NULL DEFAULT '{}',  -- operator -> how many of it
    PRIMARY KEY (module, node, run, finished)
);
CREATE INDEX compiles_by_time ON neurontop.compiles (finished);

CREATE TABLE neurontop.nodes (
    node        text PRIMARY KEY,
    cluster     text NOT NULL DEFAULT '',
    job         text NOT NULL DEFAULT '',
    machine_id  text NOT NULL DEFAULT '',     -- two machines with one name are told apart by it
    attributes  jsonb NOT NULL DEFAULT '{}',
    clock_offset double precision,            -- the node's clock minus the server's, seconds
    address     text NOT NULL DEFAULT '',     -- where its agent answers for log pages
    version     text NOT NULL DEFAULT '',     -- of its agent
    seen        double precision NOT NULL     -- by the server's clock
) WITH (fillfactor = 70);

-- What every node does now: one row each, overwritten. Unlogged: after a crash of the server the agents fill it again.
CREATE UNLOGGED TABLE neurontop.node_now (
    node        text PRIMARY KEY,
    at          double precision NOT NULL,
    job         text NOT NULL DEFAULT '',
    phase       text NOT NULL DEFAULT '',
    step        bigint,
    step_seconds double precision,
    graphs_left integer,
    worst_wait  double precision,
    clock_offset double precision,
    metrics     jsonb NOT NULL DEFAULT '{}',  -- metric -> {low, median, high, worst_core}
    cores       jsonb NOT NULL DEFAULT '{}',  -- metric -> a value for every core
    notes       jsonb NOT NULL DEFAULT '{}'   -- counts of the agent itself: spooled, dropped, ...
) WITH (fillfactor = 50);

CREATE TABLE neurontop.node_keys (
    root        text NOT NULL,
    key         text NOT NULL,
    node        text NOT NULL,
    state       text NOT NULL,
    bytes       bigint,
    compiler    text NOT NULL DEFAULT '',
    seen        double precision NOT NULL,
    PRIMARY KEY (root, key, node)
);
CREATE INDEX node_keys_by_node ON neurontop.node_keys (node);

CREATE TABLE neurontop.waits (
    job         text NOT NULL,
    key         text NOT NULL,
    holder_node text NOT NULL DEFAULT '',     -- '' where nobody told
    waiter_node text NOT NULL,
    ranks       integer NOT NULL,
    seconds     double precision NOT NULL,    -- over all ranks
    first       double precision NOT NULL,
    last        double precision NOT NULL,
    PRIMARY KEY (job, key, holder_node, waiter_node)
);

-- Who compiles a key now, over all nodes. `until` is by the server's clock.
CREATE TABLE neurontop.claims (
    key         text PRIMARY KEY,
    node        text NOT NULL,
    holder      text NOT NULL DEFAULT '',     -- which process of the node
    taken       timestamptz NOT NULL DEFAULT clock_timestamp(),
    until       timestamptz NOT NULL
);

-- A change that an operator asks a node's own agent for.
CREATE TABLE neurontop.intents (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node        text NOT NULL,
    plan        jsonb NOT NULL,
    asked_by    text NOT NULL DEFAULT session_user,
    asked       timestamptz NOT NULL DEFAULT now(),
    state       text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'taken', 'done', 'refused', 'failed', 'canceled')),
    result      jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX intents_by_node ON neurontop.intents (node, state);

-- When a run's listeners were last woken, so that a thousand agents do not wake them a thousand times a second.
CREATE UNLOGGED TABLE neurontop.wakes (
    run         text PRIMARY KEY,
    at          timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Makes the partitions of today and of the next days. Agents may call it: they find out first that a day has none.
CREATE FUNCTION neurontop.make_days(ahead integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    begins date;
    name text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('neurontop.make_days', 0));
    FOR step IN 0 .. least(greatest(ahead, 0), 31) LOOP
        begins := today + step;
        name := 'events_' || to_char(begins, 'YYYYMMDD');
        CONTINUE WHEN to_regclass('neurontop.' || name) IS NOT NULL;
        -- Attached, not created as a partition: that would lock all readers out.
        EXECUTE format('CREATE TABLE neurontop.%I (LIKE neurontop.events INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE neurontop.events ATTACH PARTITION neurontop.%I FOR VALUES FROM (%L) TO (%L)',
                       name, begins, begins + 1);
    END LOOP;
END
$$;

-- Wakes who listens to a run, at most four times a second; who finds the row taken leaves it to the other.
CREATE FUNCTION neurontop.wake(woken text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO neurontop.wakes VALUES (woken, '-infinity') ON CONFLICT DO NOTHING;
    PERFORM 1 FROM neurontop.wakes WHERE run = woken AND at < clock_timestamp() - interval '250 ms' FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE neurontop.wakes SET at = clock_timestamp() WHERE run = woken;
        PERFORM pg_notify('neurontop_events', woken);
    END IF;
END
$$;
