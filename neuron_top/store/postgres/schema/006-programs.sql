-- What a graph computes without names and numbers of ranks, and those: tells why two nodes have two keys for it.

ALTER TABLE neurontop.node_keys
    ADD COLUMN program text NOT NULL DEFAULT '',
    ADD COLUMN held jsonb NOT NULL DEFAULT '{}';
