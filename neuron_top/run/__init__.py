"""A run in memory: events added up. Pure."""
