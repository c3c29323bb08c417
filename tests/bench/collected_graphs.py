"""A job whose graphs are collected once, and commands that each run on a copy of that cache."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.bench.figures import Timed, own_folders, timed

COMPILE = (sys.executable, "-m", "neuron_top", "compile")
JOB = "job.py"
"""The script, in the folder in which commands run."""


class Run(NamedTuple):
    """A command, and the variables that it has besides those of its folder."""

    command: Sequence[str]
    environ: Mapping[str, str] = {}


def timed_in_turns(
    script: str, collect: Sequence[str], runs: Mapping[str, Run], repeats: int
) -> dict[str, list[Timed]]:
    """Collect the graphs of `collect`, a job that runs `script`; then time each run, in turns, in fresh folders."""
    taken: dict[str, list[Timed]] = {name: [] for name in runs}
    with own_folders() as (folder, environ):
        (folder / JOB).write_text(script)
        timed([*COMPILE, "--collect-only", "--", *collect], environ, folder)
        shutil.move(folder / "cache", folder / "collected")
        for _ in range(repeats):
            for name, run in runs.items():
                with own_folders() as (fresh, own):
                    shutil.copytree(folder / "collected", fresh / "cache")
                    shutil.copy(folder / JOB, fresh)
                    taken[name].append(timed(run.command, {**own, **run.environ}, fresh))
    return taken


def seconds(taken: Mapping[str, Sequence[Timed]]) -> dict[str, list[float]]:
    """Wall seconds of each."""
    return {name: [one.seconds for one in all_] for name, all_ in taken.items()}


def cpu_seconds(taken: Mapping[str, Sequence[Timed]]) -> dict[str, list[float]]:
    """Processor seconds of each."""
    return {name: [one.cpu_seconds for one in all_] for name, all_ in taken.items()}
