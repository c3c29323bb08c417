"""The compile server, a process that compiles for a job, and the job's client for it."""
