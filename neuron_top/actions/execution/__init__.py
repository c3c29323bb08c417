"""What carries a plan out: renames into the trash, deletions in a bucket, copies, compiles."""
