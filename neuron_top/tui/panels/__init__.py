"""Panels of the overview: each a pure function from a frozen card to lines, and a function that says how many lines it
needs."""
