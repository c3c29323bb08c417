"""Many graphs compiled side by side, each in a process of its own."""
