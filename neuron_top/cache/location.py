"""Tells a folder's path from a bucket's URL, by the text alone."""

from __future__ import annotations

import re

BUCKET_SCHEME = "s3://"
_HUB_COMMIT = re.compile(r"/(?:models|datasets|spaces)--[^/]+/snapshots/[^/]+(?:/|\Z)")


def is_bucket(root: str) -> bool:
    """Whether `root` names a bucket rather than a folder. For addresses without an open backend: a `CacheBackend` has
    its `kind`."""
    return root.startswith(BUCKET_SCHEME)


def is_hub_commit(root: str) -> bool:
    """Whether `root` is, or lies in, one commit of a hub repository's local copy, whose files are links to blobs."""
    return _HUB_COMMIT.search(root) is not None


def is_hub_blob(path: str) -> bool:
    """Whether a real path is that of a file's content in a hub's cache, to which links in a commit's folder lead.

    Beside the cache itself, such links are the only ones that are followed.
    """
    return "/blobs/" in path and "/models--" in path


def is_location(root: str) -> bool:
    """Whether `root` is an absolute path or a bucket's URL."""
    return root.startswith(("/", BUCKET_SCHEME)) and "\0" not in root
