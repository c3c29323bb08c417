-- What a node does now, once for each job that has an agent there: one row for all let two agents of a node take turns
-- in it. Each agent answers at an address of its own; NULL where an agent of an earlier version wrote the row.

ALTER TABLE neurontop.node_now
    DROP CONSTRAINT node_now_pkey,
    ADD PRIMARY KEY (node, job),
    ADD COLUMN ended boolean NOT NULL DEFAULT false,   -- the agent was stopped, and the node's part of the job with it
    ADD COLUMN address text,
    ADD COLUMN version text;

-- An agent forgets the jobs that its node has left.
GRANT DELETE ON neurontop.node_now TO neurontop_agent;
