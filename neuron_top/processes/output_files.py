"""Finds the files into which other processes write their output.

`torchrun train.py > train.log` opens the file for the workers, and `torchrun train.py | tee train.log` for the process
that reads their pipe. Both are seen in /proc (proc_pid_fd(5), proc_pid_fdinfo(5)), for processes of one's own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from neuron_top.processes import proc

_OUTPUTS = ("1", "2")
"""Standard output and standard error."""
LARGE_BYTES = 1 << 30
"""A larger log that was found is not read as a whole: nobody named it, and reading it takes a core most of a minute."""


def output_files(pids: Iterable[int]) -> list[Path]:
    """The regular files that these processes, or whoever reads their pipes, write output to; each file once.

    Left out is what cannot be read under its name: deleted files, those of other containers or users.
    """
    places, pipes = dict[tuple[int, int], Path](), set[str]()
    for pid in pids:
        for number in _OUTPUTS:
            link = f"/proc/{pid}/fd/{number}"
            name = _target(link)
            if name.startswith("pipe:"):
                pipes.add(name)
            else:
                _take(link, name, places)
    for pid in _readers(pipes):
        for number in _numbers(pid):
            if number != "0" and _is_written(pid, number):
                link = f"/proc/{pid}/fd/{number}"
                _take(link, _target(link), places)
    return list(places.values())


def _readers(pipes: set[str]) -> Iterator[int]:
    """Processes whose standard input is one of these pipes, as that of `tee` and `cat` behind a `|`."""
    if pipes:
        yield from (pid for pid in proc.process_ids() if _target(f"/proc/{pid}/fd/0") in pipes)


def _take(link: str, name: str, places: dict[tuple[int, int], Path]) -> None:
    """Add the file behind a descriptor, if it is a regular one that has this name."""
    try:
        opened, named = Path(link).stat(), Path(name).stat()
    except (OSError, ValueError):
        return
    identity = opened.st_dev, opened.st_ino
    if stat.S_ISREG(opened.st_mode) and identity == (named.st_dev, named.st_ino) and os.access(name, os.R_OK):
        places.setdefault(identity, Path(name))


def _is_written(pid: int, number: str) -> bool:
    """Whether a descriptor was opened for writing."""
    try:
        fields = Path(f"/proc/{pid}/fdinfo/{number}").read_text().split()
        return int(fields[fields.index("flags:") + 1], 8) & os.O_ACCMODE in (os.O_WRONLY, os.O_RDWR)
    except (OSError, ValueError, IndexError):
        return False


def _numbers(pid: int) -> list[str]:
    try:
        return sorted(link.name for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []


def _target(link: str) -> str:
    try:
        return str(Path(link).readlink())
    except OSError:
        return ""
