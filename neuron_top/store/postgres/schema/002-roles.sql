-- Who may do what. Three roles without a login; people and agents get logins of their own that are members of one.
-- An agent logs in by a role that is named as its node, which a client certificate's common name states: row security
-- compares a row's node with it. Whoever ran `neurontop fleet init` owns the tables and is not restricted.

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['neurontop_agent', 'neurontop_viewer', 'neurontop_operator'] LOOP
        -- Roles belong to the server, not to this database: another one, or an administrator, may have made them.
        CONTINUE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = name);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- made at this moment
        END;
    END LOOP;
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA neurontop FROM PUBLIC;
GRANT USAGE ON SCHEMA neurontop TO neurontop_agent, neurontop_viewer, neurontop_operator;

ALTER TABLE neurontop.runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.compiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.nodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.node_now ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.node_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.waits ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.claims ENABLE ROW LEVEL SECURITY;
ALTER TABLE neurontop.intents ENABLE ROW LEVEL SECURITY;

-- Viewers read everything, operators too.
GRANT SELECT ON neurontop.meta, neurontop.runs, neurontop.parts, neurontop.events, neurontop.compiles, neurontop.nodes,
    neurontop.node_now, neurontop.node_keys, neurontop.waits, neurontop.claims, neurontop.intents
    TO neurontop_viewer, neurontop_operator;
CREATE POLICY read ON neurontop.runs FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.parts FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.events FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.compiles FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.nodes FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.node_now FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.node_keys FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.waits FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.claims FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);
CREATE POLICY read ON neurontop.intents FOR SELECT TO neurontop_viewer, neurontop_operator USING (true);

-- Operators ask nodes for changes in their own name, and take back what no agent has begun.
GRANT INSERT (node, plan) ON neurontop.intents TO neurontop_operator;
GRANT UPDATE (state) ON neurontop.intents TO neurontop_operator;
CREATE POLICY ask ON neurontop.intents FOR INSERT TO neurontop_operator
    WITH CHECK (asked_by = session_user AND state = 'asked');
CREATE POLICY take_back ON neurontop.intents FOR UPDATE TO neurontop_operator
    USING (state = 'asked') WITH CHECK (state = 'canceled');

-- An agent writes rows of its own node, and reads what it needs: jobs, compile times, and who has and holds which key.
GRANT SELECT ON neurontop.meta, neurontop.runs, neurontop.parts, neurontop.compiles, neurontop.nodes, neurontop.node_now,
    neurontop.node_keys, neurontop.waits, neurontop.claims, neurontop.intents TO neurontop_agent;
GRANT INSERT ON neurontop.events TO neurontop_agent;
GRANT INSERT, UPDATE ON neurontop.runs, neurontop.parts, neurontop.compiles, neurontop.nodes, neurontop.node_now,
    neurontop.node_keys, neurontop.waits, neurontop.claims TO neurontop_agent;
GRANT DELETE ON neurontop.node_keys, neurontop.claims TO neurontop_agent;
GRANT UPDATE (state, result) ON neurontop.intents TO neurontop_agent;
GRANT USAGE ON SEQUENCE neurontop.batch_numbers TO neurontop_agent;
GRANT EXECUTE ON FUNCTION neurontop.make_days(integer), neurontop.wake(text) TO neurontop_agent;

CREATE POLICY agent_reads ON neurontop.runs FOR SELECT TO neurontop_agent USING (true);
CREATE POLICY agent_begins ON neurontop.runs FOR INSERT TO neurontop_agent WITH CHECK (node IN ('', session_user));
CREATE POLICY agent_goes_on ON neurontop.runs FOR UPDATE TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_own ON neurontop.parts FOR ALL TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_own ON neurontop.events FOR INSERT TO neurontop_agent WITH CHECK (node = session_user);
CREATE POLICY agent_reads ON neurontop.compiles FOR SELECT TO neurontop_agent USING (true);
CREATE POLICY agent_own ON neurontop.compiles FOR ALL TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_reads ON neurontop.nodes FOR SELECT TO neurontop_agent USING (true);
CREATE POLICY agent_own ON neurontop.nodes FOR ALL TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_own ON neurontop.node_now FOR ALL TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_reads ON neurontop.node_keys FOR SELECT TO neurontop_agent USING (true);
CREATE POLICY agent_own ON neurontop.node_keys FOR ALL TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_own ON neurontop.waits FOR ALL TO neurontop_agent USING (waiter_node = session_user);
CREATE POLICY agent_reads ON neurontop.claims FOR SELECT TO neurontop_agent USING (true);
CREATE POLICY agent_claims ON neurontop.claims FOR INSERT TO neurontop_agent WITH CHECK (node = session_user);
CREATE POLICY agent_takes_over ON neurontop.claims FOR UPDATE TO neurontop_agent
    USING (node = session_user OR until < clock_timestamp()) WITH CHECK (node = session_user);
CREATE POLICY agent_releases ON neurontop.claims FOR DELETE TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_own ON neurontop.intents FOR ALL TO neurontop_agent USING (node = session_user);
