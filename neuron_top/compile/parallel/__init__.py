"""Compiles many graphs in parallel, each in a process of its own."""
