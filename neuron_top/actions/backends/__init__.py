"""Storage of caches: `open_backend` is the only place that tells a folder from a bucket by its name."""

from __future__ import annotations

import os

from neuron_top.actions.backends.base import BackendKind, BackendOptions, CacheBackend
from neuron_top.cache.location import is_bucket
from neuron_top.cache.model.filenames import SDK_COMPILERS
from neuron_top.errors import UsageError
from neuron_top.escapes import without_secret


def open_backend(root: str, options: BackendOptions) -> CacheBackend:
    """The storage behind a path, a `file://` or an `s3://` URL. Raises UsageError for any other."""
    if is_bucket(root):
        from neuron_top.actions.backends.s3 import S3Backend  # boto3's types and the listing: only where one is named

        return S3Backend(root, options)
    if "://" in root.removeprefix("file://"):
        raise UsageError(f"{without_secret(root)} is not a folder of this machine: name a local copy of it")
    if _is_torch_neuron(root.removeprefix("file://")):
        from neuron_top.actions.backends.torch_neuron import TorchNeuronBackend

        return TorchNeuronBackend(root, options)
    from neuron_top.actions.backends.local import LocalBackend

    return LocalBackend(root, options)


def _is_torch_neuron(folder: str) -> bool:
    """Whether a root is a cache of TorchNeuron. Looks at a few names before it imports the module that knows for
    sure."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 (names of 50,000 entries are no paths)
    except OSError:
        return False
    if any(name.startswith((*SDK_COMPILERS, "MODULE_")) for name in names):
        return False
    if not any(len(name) == 2 or name == "locks" for name in names) and names:
        return False
    from neuron_top.cache import torch_neuron

    return torch_neuron.is_cache(folder)


__all__ = ["BackendKind", "BackendOptions", "CacheBackend", "open_backend"]
