"""The store of many nodes: one PostgreSQL database that their agents ship to and that people's screens read."""
