"""Folders for Inductor in which the C++ compiler has been tried before, with what came out.

In a folder without that, PyTorch compiles and loads ten small programs to learn which vector instructions there are:
14 s of a processor before the first graph, in each of the tests that give a job a folder of its own.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_TRY = "from torch._inductor import cpu_vec_isa; cpu_vec_isa.pick_vec_isa()"
_NAMED = "FOLDER_OF_COMPILER_TRIALS"
"""The variable that names the folder of the trials to the workers of pytest, so that one tries for all."""


def inductor_folder(place: Path) -> Path:
    """`place`, made with the compiler's trials where nothing is there yet and its parent is; else left as it is."""
    if place.parent.is_dir() and not place.exists():
        shutil.copytree(_tried(), place)
    return place


def programs(folder: Path) -> set[Path]:
    """The C++ sources in a folder of `inductor_folder` that jobs have put there."""
    trials = {path.name for path in _tried().glob("*/*.cpp")}
    return {path for path in folder.glob("*/*.cpp") if path.name not in trials}


def share_trials() -> None:
    """Name a folder for the trials to this process and all that it starts; the folder goes when this process ends."""
    if _NAMED not in os.environ:
        place = tempfile.TemporaryDirectory(prefix="neurontop-tests-inductor-", ignore_cleanup_errors=True)
        atexit.register(place.cleanup)
        os.environ[_NAMED] = place.name


@functools.cache
def _tried() -> Path:
    """The folder that others are copied from, filled by the first of the processes that share it; empty where there is
    no PyTorch."""
    share_trials()
    place = Path(os.environ[_NAMED])
    folder, done = place / "trials", place / "done"
    folder.mkdir(exist_ok=True)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            environ = {name: value for name, value in os.environ.items() if not name.startswith("TORCHINDUCTOR")}
            subprocess.run(
                [sys.executable, "-c", _TRY],
                env=environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder)},
                capture_output=True,
                check=False,
            )
            done.touch()
    return folder
