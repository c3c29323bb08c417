"""Panels of the overview: each a pure function from a frozen card to lines, and how many lines it requests for."""
