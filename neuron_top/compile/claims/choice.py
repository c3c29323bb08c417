"""Chooses the place of claims for a cache: the one that is named, else the fleet's database for a shared cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from neuron_top.amounts import parse_seconds
from neuron_top.cache import filesystem
from neuron_top.cache.location import is_bucket
from neuron_top.compile.claims.claim import Claims
from neuron_top.compile.claims.turns import ClaimedTurns, Turns
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.database_address import is_address
from neuron_top.errors import NeuronTopError
from neuron_top.settings import Settings, load

LOCK_FILES_ONLY = (
    "there is no place for claims, so lock files alone keep two nodes from compiling one graph: on NFS and Lustre they "
    "may be seen late, and nobody takes them from a node that died. Set NEURONTOP_STORE=postgresql://… or "
    "NEURONTOP_CLAIMS=s3://bucket/prefix"
)


def claims_for(settings: Settings, root: Path, *, many_nodes: bool = False, bucket: str = "") -> Claims | None:
    """The place of claims for entries of `root`, or None. `many_nodes`: they are known to compile into this root.

    `bucket`: where the root is one; it keeps claims of its own where there is no database.

    Raises UsageError, RefusedForSafety for an address that cannot be used.
    """
    if settings.claims == "off":
        return None
    if settings.claims:
        return _opened(settings.claims, settings)
    # A cache that belongs to one node must not wait for other nodes: what they compile never arrives in it.
    if is_address(settings.store) and (many_nodes or filesystem.describe(str(root)).shared):
        return _opened(settings.store, settings)
    return _opened(bucket, settings) if bucket else None


def turns_for(
    root: Path,
    log: WrapperLog,
    *,
    many_nodes: bool = False,
    bucket: str = "",
    key_of: Callable[[Path], str] = str,
) -> Turns:
    """The turns at entries of `root`, by the settings of this process; wrong settings do not end the job.

    `key_of`: the name of an entry that all nodes share, where its path differs between them.
    """
    try:
        settings = load()[0]
        claims = claims_for(settings, root, many_nodes=many_nodes, bucket=bucket)
    except NeuronTopError as problem:
        log.remark_once(f"graphs are not claimed among nodes: {problem}")
        return Turns()
    if claims is None:
        return Turns()
    return ClaimedTurns(
        claims,
        log,
        lease=parse_seconds(settings.claim_lease),
        longest_wait=parse_seconds(settings.claim_wait),
        key_of=key_of,
    )


def _opened(address: str, settings: Settings) -> Claims:
    if is_bucket(address):
        from neuron_top.compile.claims.bucket import BucketClaims  # boto3: only where a bucket is named

        return BucketClaims(address)
    from neuron_top.compile.claims.database import DatabaseClaims  # psycopg: only where a database is named

    return DatabaseClaims(address, insecure=settings.store_insecure)
