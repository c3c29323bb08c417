"""Storage of caches: `open_backend` is the only place that tells a folder from a bucket by its name."""

from __future__ import annotations

from neuron_top.actions.backends.base import BackendKind, BackendOptions, CacheBackend
from neuron_top.cache.location import is_bucket
from neuron_top.errors import UsageError
from neuron_top.escapes import without_secret


def open_backend(root: str, options: BackendOptions) -> CacheBackend:
    """The storage behind a path, a `file://` or an `s3://` URL. Raises UsageError for any other."""
    if is_bucket(root):
        from neuron_top.actions.backends.s3 import S3Backend  # boto3's types and the listing: only where one is named

        return S3Backend(root, options)
    if "://" in root.removeprefix("file://"):
        raise UsageError(f"{without_secret(root)} is not a folder of this machine: name a local copy of it")
    from neuron_top.actions.backends.local import LocalBackend

    return LocalBackend(root, options)


__all__ = ["BackendKind", "BackendOptions", "CacheBackend", "open_backend"]
