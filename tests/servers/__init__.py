"""Real servers of the tests and of `make fleet`, each a process of its own on loopback that is ended at the end."""
