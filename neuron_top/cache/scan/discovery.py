"""Finds where in a root entries lie: the compiler folders of every known layout, and what else is there.

<root>/neuronxcc-<version>+<commit>/MODULE_…            since 2023, and our local compiler's folders
<root>/[neuron-compile-cache/]USER_neuroncc-<version>/  2022
<root>/<version>/<model type>/<sha512>/<sha512>/        the hub in 2023
<root>/snapshots/<commit>/…                             a hub repository's local copy
<root>/MODULE_…                                         the root is itself a compiler's folder, or has its contents
"""

from __future__ import annotations

import os
import re

import msgspec

from neuron_top.cache.model.entry import MODULE, is_module_name
from neuron_top.cache.model.filenames import CACHE_FOLDER, SDK_COMPILERS
from neuron_top.cache.noatime_reader import NoAtimeReader, why_unreadable
from neuron_top.errors import NothingToShow
from neuron_top.escapes import name_text

_BARE_VERSION = re.compile(r"\d+(?:\.\d+)+\+[0-9a-f]+\Z")
_PRINTABLE = re.compile(r"[\x21-\x7e]+\Z")
_GROUPS = {CACHE_FOLDER: 1, "snapshots": 2}
"""Folders that hold compiler folders, and how many levels below them these may lie."""
_NEVER = frozenset({"0_REGISTRY", "blobs", "refs", ".locks"})
_HUB_LEVELS = 3


class Discovered(msgspec.Struct):
    """Paths below the root. A compiler folder "" is the root itself, which then holds entries."""

    compilers: list[str] = []
    others: list[str] = []
    problems: list[str] = []


def discover(root: str, reader: NoAtimeReader) -> Discovered:
    """Search the root. Raises NothingToShow if it does not exist, is no folder, or cannot be read."""
    found = Discovered()
    try:
        names = _folders(root, reader, found, "")
    except FileNotFoundError:
        raise NothingToShow(
            f"no cache at {name_text(root)}: the folder does not exist; `neurontop cache roots` lists what is here"
        ) from None
    except NotADirectoryError:
        # Links to the root were resolved: one that is left leads back to itself.
        what = "it is a link that leads back to itself" if os.path.islink(root) else "it is a file"
        raise NothingToShow(f"no cache at {name_text(root)}: {what}") from None
    except PermissionError:
        raise NothingToShow(f"the cache at {name_text(root)} may not be read by this user") from None
    except OSError as problem:  # a name that is too long, a file server that is gone
        raise NothingToShow(f"no cache at {name_text(root)} can be read: {why_unreadable(problem)}") from None
    if any(map(MODULE.match, names)):
        found.compilers.append("")
        names = [name for name in names if not is_module_name(name)]
    for name in names:
        _place(root, name, reader, found, 1)
    return found


def _place(root: str, path: str, reader: NoAtimeReader, found: Discovered, level: int) -> None:
    name = path.rpartition("/")[2]
    if name in _NEVER or not _PRINTABLE.match(name):
        found.others.append(path)
    elif name.startswith(SDK_COMPILERS):
        found.compilers.append(path)
    elif level == 1 and name in _GROUPS:
        _descend(root, path, reader, found, _GROUPS[name])
    elif _BARE_VERSION.match(name):
        _descend(root, path, reader, found, _HUB_LEVELS)
    elif _holds_modules(f"{root}/{path}", reader):
        found.compilers.append(path)
    else:
        found.others.append(path)


def _descend(root: str, path: str, reader: NoAtimeReader, found: Discovered, levels: int) -> None:
    if _holds_modules(f"{root}/{path}", reader):
        found.compilers.append(path)
        return
    try:
        names = _folders(f"{root}/{path}", reader, found, path + "/")
    except OSError as problem:
        found.problems.append(f"{path}: {why_unreadable(problem)}")
        return
    for name in names:
        below = f"{path}/{name}"
        if name in _NEVER or levels == 0 or not _PRINTABLE.match(name):
            found.others.append(below)
        elif name.startswith(SDK_COMPILERS):
            found.compilers.append(below)
        else:
            _descend(root, below, reader, found, levels - 1)


def _folders(path: str, reader: NoAtimeReader, found: Discovered, prefix: str) -> list[str]:
    """Names of the folders in `path` that are no links, sorted; everything else is added to `found.others`."""
    descriptor = reader.open_folder(path)
    folders = []
    try:
        with os.scandir(descriptor) as members:
            for member in members:
                if member.is_dir(follow_symlinks=False):
                    folders.append(member.name)
                else:
                    found.others.append(prefix + member.name)
    finally:
        os.close(descriptor)
    return sorted(folders)


def _holds_modules(path: str, reader: NoAtimeReader) -> bool:
    try:
        descriptor = reader.open_folder(path)
    except OSError:
        return False
    try:
        with os.scandir(descriptor) as members:
            return any(member.name.startswith("MODULE_") for member in members)
    except OSError:
        return False
    finally:
        os.close(descriptor)
