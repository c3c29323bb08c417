"""Recordings on disk: SQLite for events and past compile times, and the folders beside it."""
