"""The lock protocol of an entry: taking and breaking locks, and whether a lock's holder lives."""
