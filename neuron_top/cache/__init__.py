"""Reads compile caches without leaving a trace. Nothing is changed but locks, by `locks.protocol`."""
