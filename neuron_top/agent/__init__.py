"""A node's agent: reads what runs here, folds it, spools it on this disk, and ships it to the fleet's database."""
