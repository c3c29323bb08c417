-- Who ships only looks whether the run has been entered: to insert where it stands already waits for whoever is waking
-- at that moment, until that transaction has been written to disk, and a thousand agents waited there in turns.
CREATE OR REPLACE FUNCTION neurontop.wake(woken text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM neurontop.wakes WHERE run = woken;
    IF NOT FOUND THEN
        INSERT INTO neurontop.wakes VALUES (woken, '-infinity') ON CONFLICT DO NOTHING;
    END IF;
    PERFORM 1 FROM neurontop.wakes WHERE run = woken AND at < clock_timestamp() - interval '250 ms' FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE neurontop.wakes SET at = clock_timestamp() WHERE run = woken;
        PERFORM pg_notify('neurontop_events', woken);
    END IF;
END
$$;
