"""A run: what is known of one watched job, computed from its events alone. Pure and deterministic."""
