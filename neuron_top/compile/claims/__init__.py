"""Each key once in a fleet: a claim with a lease in a place that all nodes ask; locks of files are not enough."""
