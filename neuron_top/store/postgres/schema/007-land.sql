-- What an agent ships each second, in one round trip and with plans that the server keeps: batches of one spool that
-- lie above its mark land, the mark moves, and who listens is woken. False where the spool has no mark yet, or one that
-- is not below them: the agent then goes the long way. It runs with the rights of the caller.
CREATE FUNCTION neurontop.land(of_run text, of_node text, of_spool text, sequences bigint[], firsts double precision[],
    lasts double precision[], counts integer[], written_as smallint, contents bytea[]) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE neurontop.parts
    SET sequence = (SELECT max(told) FROM unnest(sequences) AS told),
        events = events + (SELECT sum(told) FROM unnest(counts) AS told),
        bytes = bytes + (SELECT sum(length(told)) FROM unnest(contents) AS told),
        first = least(first, (SELECT min(told) FROM unnest(firsts) AS told)),
        last = greatest(last, (SELECT max(told) FROM unnest(lasts) AS told)),
        touched = greatest(touched, extract(epoch FROM clock_timestamp()))
    WHERE run = of_run AND node = of_node AND spool = of_spool
    AND sequence < (SELECT min(told) FROM unnest(sequences) AS told);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO neurontop.events (run, node, spool, sequence, first, last, count, format, data)
    SELECT of_run, of_node, of_spool, told.sequence, told.first, told.last, told.count, written_as, told.data
    FROM unnest(sequences, firsts, lasts, counts, contents) AS told (sequence, first, last, count, data);
    PERFORM neurontop.wake(of_run);
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION neurontop.land FROM PUBLIC;
GRANT EXECUTE ON FUNCTION neurontop.land TO neurontop_agent;
