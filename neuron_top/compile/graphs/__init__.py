"""A captured graph: copied, hashed, described, serialized, compiled by Inductor."""
