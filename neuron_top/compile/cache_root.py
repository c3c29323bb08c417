"""May this cache root be used? Loading an artefact is running code, so the question comes before any look-up.

A root that others can write to and that belongs to somebody else is refused: whoever can place a file there could
run code as this user. `NEURONTOP_TRUST_CACHE=1` says that everyone with write access is trusted.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from neuron_top.errors import CacheUnusable, RefusedForSafety

TRUST_VARIABLE = "NEURONTOP_TRUST_CACHE"
FULL = (errno.ENOSPC, errno.EDQUOT)
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
_GROUP_OR_WORLD = stat.S_IWGRP | stat.S_IWOTH


def trusted(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the user vouches for everyone who can write to the cache."""
    return environ.get(TRUST_VARIABLE, "").lower() in ("1", "true", "yes", "on")


def check_root(root: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Make sure that `root` is a directory we may load code from; it is made when it is missing.

    Raises CacheUnusable (a file in its place, cannot be made or read) or RefusedForSafety (see above).
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        facts = root.stat()
        readable = os.access(root, os.R_OK | os.X_OK)
    except (FileExistsError, NotADirectoryError):
        raise CacheUnusable(f"cache root {root} is not a directory: a file is in its place") from None
    except OSError as problem:
        raise unusable(root, problem) from None
    if not readable:
        raise CacheUnusable(f"cache root {root} cannot be read by this user")
    if facts.st_uid != os.geteuid() and facts.st_mode & _GROUP_OR_WORLD and not trusted(environ):
        raise RefusedForSafety(
            f"cache root {root} belongs to user {facts.st_uid} and others can write to it "
            f"(mode {stat.S_IMODE(facts.st_mode):o}): loading from it would run their code. "
            f"Use a root of your own (NEURON_COMPILE_CACHE_URL), or set {TRUST_VARIABLE}=1 if you trust them."
        )


def check_artefact_owner(path: Path, root: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Raises RefusedForSafety for a file that a stranger placed in a root that others can write to."""
    root_facts, owner = root.stat(), path.stat().st_uid
    if not root_facts.st_mode & _GROUP_OR_WORLD or trusted(environ):
        return
    if owner not in (os.geteuid(), root_facts.st_uid, 0):
        raise RefusedForSafety(
            f"{path} was written by user {owner}, and others can write to {root}: loading it would run their code. "
            f"Set {TRUST_VARIABLE}=1 if you trust them."
        )


def unusable(path: Path, problem: OSError) -> CacheUnusable:
    """A file-system error as a sentence that names the place and what to do."""
    if problem.errno in FULL:
        return CacheUnusable(f"no space left for the compile cache at {path}: free some, or use another root")
    if problem.errno in READ_ONLY:
        return CacheUnusable(f"the compile cache at {path} cannot be written by this user ({problem.strerror})")
    return CacheUnusable(f"the compile cache at {path} cannot be used: {problem.strerror or problem}")
