"""The database's schema as numbered steps of SQL; a step that was released never changes."""
