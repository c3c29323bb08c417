"""The store of many nodes: one PostgreSQL database that their agents ship to and that people's screens read."""

from neuron_top.errors import UsageError

try:  # before any module of this package: each of them needs it
    import psycopg  # noqa: F401
    import psycopg_pool  # noqa: F401
except ImportError:
    raise UsageError("a PostgreSQL store needs psycopg: pip install 'neuron-top[fleet]'") from None
