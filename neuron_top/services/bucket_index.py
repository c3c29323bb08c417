"""Reads a bucket's entries from the shared index, in the fleet's database or else in the state folder."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection

from neuron_top.cache import s3
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.compile.claims.claim import Claims
from neuron_top.compile.fetch.indexing import Indexing
from neuron_top.database_address import is_address
from neuron_top.errors import RefusedForSafety
from neuron_top.settings import Settings
from neuron_top.store.bucket_index import BucketIndex, LocalIndex
from neuron_top.store.errors import StoreUnusable


def indexed_snapshot(
    settings: Settings, root: str, modules: Collection[str], notify: Callable[[str], None]
) -> Snapshot:
    """All entries, or those of these modules; if the index cannot be used, the bucket is listed.

    Raises NothingToShow, UsageError.
    """
    bucket = s3.connect(root)
    try:
        index, claims = _index(settings)
        try:
            objects = Indexing(bucket, index, claims, notify).objects(modules)
        finally:
            index.close()
            if claims is not None:
                claims.rest()
    except (StoreUnusable, RefusedForSafety, OSError, sqlite3.Error) as problem:
        notify(f"the index of {root} cannot be used ({problem}): listing it here")
        return s3.take(bucket).snapshot
    return s3.snapshot_of(bucket, objects, time.time())


def _index(settings: Settings) -> tuple[BucketIndex, Claims | None]:
    if not is_address(settings.store):
        return LocalIndex(settings.state_path), None
    from neuron_top.compile.claims.database import DatabaseClaims
    from neuron_top.store.postgres.bucket_index import DatabaseIndex

    insecure = settings.store_insecure
    return DatabaseIndex(settings.store, insecure=insecure), DatabaseClaims(settings.store, insecure=insecure)
