"""Reads compile caches without changing even access times. Only `locks.protocol` changes anything: locks."""
