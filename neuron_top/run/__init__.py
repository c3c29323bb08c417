"""A run: what is known of one watched job, added up from its events alone. Pure and deterministic."""
