"""What lies in a compile cache, read without a trace. Nothing is changed but locks, by `locks.protocol`."""
