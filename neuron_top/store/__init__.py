"""Runs on disk: append, replay, retention. The only room that knows sqlite3."""
