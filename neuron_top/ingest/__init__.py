"""Moves events from sources through parsers to run, store and subscribers; starts the threads of a live view."""
