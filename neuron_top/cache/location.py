"""Where a cache may lie, by its name alone: a folder's path or a bucket's URL."""

from __future__ import annotations

BUCKET_SCHEME = "s3://"


def is_bucket(root: str) -> bool:
    """Whether `root` names a bucket rather than a folder: for an address of which no backend is open
    (yet). Where there is a `CacheBackend`, ask its `kind`."""
    return root.startswith(BUCKET_SCHEME)


def is_location(root: str) -> bool:
    """Whether `root` is an absolute path or a bucket's URL."""
    return root.startswith(("/", BUCKET_SCHEME)) and "\0" not in root
