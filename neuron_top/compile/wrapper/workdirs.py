"""Folders in which a user wants to find a compile's work afterwards: `--compile_workdir` and `--dump`.

What a folder is good for depends on the compiler. Inductor keeps its generated sources, libraries and kernels in the
work folder (its `TORCHINDUCTOR_CACHE_DIR`), and writes graphs, schedule and output code of each compile into the dump
folder (its `trace`). The Neuron compiler works in a folder of the module's name below either. Such a folder is
optional: one that cannot be written is reported once, and the compile goes on without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from neuron_top.cache import trust
from neuron_top.compile.wrapper.flags import FLAGS_VARIABLE


def kept_folder(flag: str, wanted: str | None, warn: Callable[[str], None]) -> Path | None:
    """The folder that `flag` names, made if need be; None where none is wanted or it cannot be written."""
    if not wanted:
        return None
    folder = Path(wanted).expanduser().absolute()
    try:
        trust.make_folders(str(folder))
    except OSError as problem:
        warn(f"{FLAGS_VARIABLE}: {flag} {folder} cannot be made ({problem.strerror}); compiling without it")
        return None
    if reason := trust.problem_with(str(folder)):  # Inductor executes what lies in its work folder
        warn(f"{FLAGS_VARIABLE}: {flag} is not used: {reason}; compiling without it")
        return None
    if not os.access(folder, os.W_OK | os.X_OK):
        warn(f"{FLAGS_VARIABLE}: {flag} {folder} cannot be written by this user; compiling without it")
        return None
    return folder
