"""One screen per view."""
