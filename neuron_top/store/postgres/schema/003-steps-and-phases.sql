-- What a picture of ranks and steps, and one of phases by node, is made of.

ALTER TABLE neurontop.node_now ADD COLUMN steps jsonb NOT NULL DEFAULT '[]';   -- rows of ranks with their newest steps

-- What a node did from when to when, by the server's clock: a heartbeat makes the newest row of its node longer, another
-- phase begins a new one, and so does a heartbeat after a silence.
CREATE TABLE neurontop.phases (
    job         text NOT NULL,
    node        text NOT NULL,
    since       double precision NOT NULL,
    until       double precision NOT NULL,
    phase       text NOT NULL,
    PRIMARY KEY (job, node, since)
) WITH (fillfactor = 70);

ALTER TABLE neurontop.phases ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON neurontop.phases TO neurontop_viewer, neurontop_operator;
GRANT SELECT, INSERT, UPDATE ON neurontop.phases TO neurontop_agent;
CREATE POLICY read ON neurontop.phases FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY agent_own ON neurontop.phases FOR ALL TO neurontop_agent USING (node = session_user);
