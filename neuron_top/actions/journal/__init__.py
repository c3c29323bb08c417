"""The record of what was done to a cache, the trash beside it, and undo."""
