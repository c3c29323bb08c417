"""Decides whether a cache root may be used. Loading an artifact runs code, so this is checked before any lookup.

The rules are those of the gate, `cache/trust.py`: whoever else can place a file there could run code as this user.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from neuron_top.cache import trust
from neuron_top.errors import CacheNotMade, CacheUnusable

FULL = (errno.ENOSPC, errno.EDQUOT)
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def check_root(root: Path) -> None:
    """Make sure that `root` is a directory that we may load code from, and make it if it is missing.

    Raises CacheUnusable (a file in its place, cannot be read), CacheNotMade, or RefusedForSafety (see above).
    """
    try:
        with trust.open_folder(str(root), make=True):
            readable = os.access(root, os.R_OK | os.X_OK)
    except trust.Untrusted as reason:
        raise trust.refusal(reason) from None
    except (FileExistsError, NotADirectoryError):
        raise CacheUnusable(f"cache root {root} is not a directory: a file is in its place") from None
    except OSError as problem:
        if problem.errno in (*FULL, *READ_ONLY) and not os.path.lexists(root):
            raise CacheNotMade(str(unusable(root, problem))) from None
        raise unusable(root, problem) from None
    if not readable:
        raise CacheUnusable(f"cache root {root} cannot be read by this user")


def unusable(path: Path, problem: OSError) -> CacheUnusable:
    """A file-system error as a sentence with the path and what to do."""
    if problem.errno in FULL:
        return CacheUnusable(f"no space left for the compile cache at {path}: free some, or use another root")
    if problem.errno in READ_ONLY:
        return CacheUnusable(f"the compile cache at {path} cannot be written by this user ({problem.strerror})")
    return CacheUnusable(f"the compile cache at {path} cannot be used: {problem.strerror or problem}")
