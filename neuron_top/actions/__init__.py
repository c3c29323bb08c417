"""What changes a cache: plans, their execution, the journal."""
