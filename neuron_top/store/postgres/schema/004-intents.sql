-- Changes that operators ask nodes for: planned by each node, confirmed once, carried out once, undone.
-- `batch` is what the intents of one command have in common. One that is past `until` is not begun any more.

ALTER TABLE neurontop.intents
    ADD COLUMN batch text NOT NULL DEFAULT '',
    ADD COLUMN until timestamptz NOT NULL DEFAULT now() + interval '15 minutes';
ALTER TABLE neurontop.intents DROP CONSTRAINT intents_state_check;
ALTER TABLE neurontop.intents ADD CONSTRAINT intents_state_check CHECK (state IN (
    'asked', 'planned', 'confirmed', 'taken', 'done', 'refused', 'failed', 'canceled', 'undo', 'undoing', 'undone'));
CREATE INDEX intents_by_batch ON neurontop.intents (batch);

-- Whoever writes, an intent goes one way. An agent that was killed finds 'taken' and begins nothing again.
CREATE FUNCTION neurontop.check_intent() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.state, NEW.state) NOT IN (
        ('asked', 'planned'), ('asked', 'refused'), ('asked', 'canceled'),
        ('planned', 'confirmed'), ('planned', 'canceled'),
        ('confirmed', 'taken'), ('confirmed', 'refused'), ('confirmed', 'canceled'),
        ('taken', 'taken'), ('taken', 'done'), ('taken', 'failed'), ('taken', 'refused'),
        ('done', 'undo'), ('failed', 'undo'),
        ('undo', 'undoing'), ('undoing', 'undone'), ('undoing', 'failed')
    ) THEN
        RAISE EXCEPTION 'an intent that is % cannot become %', OLD.state, NEW.state USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state IN ('planned', 'confirmed', 'taken', 'undoing') AND NEW.state <> OLD.state
        AND OLD.until < clock_timestamp() THEN
        RAISE EXCEPTION 'the intent expired' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION neurontop.check_intent() FROM PUBLIC;
CREATE TRIGGER check_intent BEFORE UPDATE ON neurontop.intents
    FOR EACH ROW EXECUTE FUNCTION neurontop.check_intent();

GRANT INSERT (node, plan, batch, until) ON neurontop.intents TO neurontop_operator;
GRANT UPDATE (state, until) ON neurontop.intents TO neurontop_operator;
DROP POLICY take_back ON neurontop.intents;
CREATE POLICY decide ON neurontop.intents FOR UPDATE TO neurontop_operator
    USING (state IN ('asked', 'planned', 'confirmed', 'done', 'failed')) WITH CHECK (state IN ('canceled', 'confirmed', 'undo'));
DROP POLICY agent_own ON neurontop.intents;
CREATE POLICY agent_reads ON neurontop.intents FOR SELECT TO neurontop_agent USING (node = session_user);
CREATE POLICY agent_answers ON neurontop.intents FOR UPDATE TO neurontop_agent USING (node = session_user)
    WITH CHECK (node = session_user AND state IN ('planned', 'refused', 'taken', 'done', 'failed', 'undoing', 'undone'));
