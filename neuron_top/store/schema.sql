-- The store: one row per recording, its events in compressed batches, and past compile times for estimates.
-- Every table that could meet another machine's rows carries the node. Times are seconds since the epoch.

CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    node        TEXT NOT NULL DEFAULT '',
    name        TEXT NOT NULL DEFAULT '',
    command     TEXT NOT NULL DEFAULT '[]',   -- JSON array of arguments
    directory   TEXT NOT NULL DEFAULT '',
    pid         INTEGER,                      -- of the recording process, while it records
    started     REAL,
    finished    REAL,                         -- NULL: running, or its recorder died
    exit_code   INTEGER,
    touched     REAL NOT NULL,                -- last append: how a dead recorder is told from a silent one
    events      INTEGER NOT NULL DEFAULT 0,
    bytes       INTEGER NOT NULL DEFAULT 0,   -- of its batches
    folder      TEXT NOT NULL DEFAULT '',     -- recording folder, below the state folder; '' = none
    summary     TEXT NOT NULL DEFAULT ''      -- JSON of the closing summary; '' = not written
) STRICT;

-- A batch is JSON lines as `events.encode` writes them, deflated; rows never change once written. The default format is
-- the oldest: a recorder of 0.1 that goes on while this version has upgraded the file does not name one.
CREATE TABLE events (
    run         TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,             -- of the batch, from 0
    node        TEXT NOT NULL DEFAULT '',
    first       REAL,
    last        REAL,
    count       INTEGER NOT NULL,
    data        BLOB NOT NULL,
    format      INTEGER NOT NULL DEFAULT 1,   -- see FORMAT in batches.py
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE compiles (
    module      TEXT NOT NULL,
    node        TEXT NOT NULL DEFAULT '',
    run         TEXT NOT NULL DEFAULT '',
    compiler    TEXT NOT NULL DEFAULT '',
    graph_bytes INTEGER,
    operators   INTEGER,
    seconds     REAL NOT NULL,
    peak_rss    INTEGER,
    finished    REAL NOT NULL,
    mix         TEXT NOT NULL DEFAULT '{}',   -- JSON: operator -> how many of it
    PRIMARY KEY (module, node, run, finished)
) STRICT, WITHOUT ROWID;
CREATE INDEX compiles_by_time ON compiles (finished);
