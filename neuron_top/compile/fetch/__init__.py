"""Fetches artifacts that a job's cache lacks from where the fleet keeps them; one process of a node does it for all."""
