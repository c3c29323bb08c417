"""Pure planners: from a snapshot and its context to a plan, one module per verb."""
