"""A node's agent: what is read here is folded, kept on this disk, and shipped to the fleet's database."""
