"""Finds caches below a folder that is not a cache itself: one per rank, user or model. Reads only, and not deep.

People often name the folder that holds the caches: one with the `NEURON_COMPILE_CACHE_URL` of each rank, a shared one
with a cache per team, or a model's with its cache in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from neuron_top.cache import torch_neuron, vllm_neuron
from neuron_top.cache.model.entry import MODULE
from neuron_top.cache.model.filenames import SDK_COMPILERS
from neuron_top.natural_order import natural_key

_OURS = ".neurontop-"
"""How the names of trashes begin; what lies in them is no cache."""
_LEVELS = 3
_FOLDERS = 256
"""Most folders that are searched."""


def caches_below(root: str, most: int) -> list[str]:
    """Paths of at most `most` caches below `root`, the nearest first; a cache inside another is left out."""
    found: list[str] = []
    level, left = [root], _FOLDERS
    for _ in range(_LEVELS):
        following: list[str] = []
        for folder in (below for above in level for below in _folders(above)):
            if len(found) >= most or not left:
                return found
            left -= 1
            if _is_cache(folder):
                found.append(folder)
            else:
                following.append(folder)
        level = following
    return found


def _is_cache(folder: str) -> bool:
    names = [os.path.basename(path) for path in _folders(folder)]
    if any(name.startswith(SDK_COMPILERS) or MODULE.match(name) for name in names):
        return True
    return torch_neuron.is_cache(folder) or vllm_neuron.is_vllm_neuron(folder)


def _folders(path: str) -> Iterator[str]:
    """The folders in `path`, by name; links are not followed."""
    try:
        with os.scandir(path) as members:
            names = [
                member.name
                for member in members
                if member.is_dir(follow_symlinks=False) and not member.name.startswith(_OURS)
            ]
    except OSError:
        return
    for name in sorted(names, key=natural_key):
        yield f"{path}/{name}"
