"""Finds caches below a folder that is none itself: one per rank, user or model. Looks only, and not deep.

People name the folder that holds them: `NEURON_COMPILE_CACHE_URL` of each rank below one path, a shared folder with
one cache per team, a model's folder with its cache in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from neuron_top.cache import torch_neuron, vllm_neuron
from neuron_top.cache.model.entry import MODULE
from neuron_top.cache.model.filenames import SDK_COMPILERS
from neuron_top.natural_order import natural_key

_OURS = ".neurontop-"
"""How trashes are called: what lies there is no cache."""
_LEVELS = 3
_FOLDERS = 256
"""How many folders are looked into before the search ends."""


def caches_below(root: str, most: int) -> list[str]:
    """Paths of at most so many caches below `root`, the nearest first; one inside another is not named."""
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
