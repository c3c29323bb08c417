"""Who compiled, who waited, and what it cost: a job over its nodes."""
