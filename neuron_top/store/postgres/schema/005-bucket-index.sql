-- What buckets hold, as one node listed them for all: an entry's objects with name, bytes, tag and time.

CREATE TABLE neurontop.buckets (
    bucket      text PRIMARY KEY,             -- its URL
    after       text NOT NULL,                -- the first listing was cut off behind this key; '' once it is whole
    at          timestamptz NOT NULL          -- when it was last found to be as the bucket is
);

CREATE TABLE neurontop.bucket_entries (
    bucket      text NOT NULL,
    path        text NOT NULL,
    module      text NOT NULL,
    names       text NOT NULL,                -- of its objects, with slashes between them
    objects     jsonb NOT NULL,
    PRIMARY KEY (bucket, path)
);
CREATE INDEX bucket_entries_by_module ON neurontop.bucket_entries (bucket, module);

-- It says where artifacts are, not what is in them: whoever loads one checks it by its record.
GRANT SELECT ON neurontop.buckets, neurontop.bucket_entries TO neurontop_viewer, neurontop_operator;
GRANT SELECT, INSERT, UPDATE ON neurontop.buckets TO neurontop_agent;
GRANT SELECT, INSERT, UPDATE, DELETE ON neurontop.bucket_entries TO neurontop_agent;
