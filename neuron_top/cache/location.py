"""Tells a folder's path from a bucket's URL, by the text alone."""

from __future__ import annotations

BUCKET_SCHEME = "s3://"


def is_bucket(root: str) -> bool:
    """Whether `root` names a bucket rather than a folder. For addresses without an open backend: a `CacheBackend` has
    its `kind`."""
    return root.startswith(BUCKET_SCHEME)


def is_location(root: str) -> bool:
    """Whether `root` is an absolute path or a bucket's URL."""
    return root.startswith(("/", BUCKET_SCHEME)) and "\0" not in root
