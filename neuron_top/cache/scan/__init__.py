"""Cache folders read into snapshots, and kept up to date. Looks only."""
