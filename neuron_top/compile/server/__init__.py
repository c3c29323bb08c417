"""The process that compiles for a job, and the job's end of it."""
