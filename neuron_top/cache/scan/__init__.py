"""Reads cache folders into snapshots, and keeps these up to date. Reads only."""
