"""Processes: launching a job, its output and signals, growing files, what /proc says."""
