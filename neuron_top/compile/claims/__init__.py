"""Compiles each key once in a fleet, where file locks are not enough: a claim with a lease, asked for by all nodes."""
