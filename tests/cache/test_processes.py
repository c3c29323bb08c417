"""Processes as /proc shows them, in small trees of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neuron_top.cache import processes
from neuron_top.cache.locks import verdicts


def process(proc: Path, pid: int, *, program: str | None, opened: Path | None = None) -> None:
    """A process without a command line; one that runs no program is the kernel's."""
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    for name in ("cmdline", "environ"):
        (folder / name).write_bytes(b"")
    if program:
        (folder / "exe").symlink_to(program)
    if opened:
        (folder / "fd" / "3").symlink_to(opened)


def test_a_process_in_the_middle_of_its_exec_still_holds_its_files_open(tmp_path: Path) -> None:
    proc, root = tmp_path / "proc", tmp_path / "cache"
    root.mkdir()
    process(proc, 1000, program="/usr/bin/python3", opened=root / "model.neff")
    process(proc, 1001, program=None)
    assert [one.pid for one in processes.read_processes(str(proc))] == [1000]
    evidence = verdicts.evidence_on(str(root), [], proc=str(proc), tmp=str(tmp_path), environ={})
    assert evidence.use is not None
    assert evidence.use.why == "process 1000 has a file of the cache open"


def test_whoever_reads_what_we_print_is_distinguished_from_a_job_beside_us(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    streams = {
        os.getpid(): ("/dev/pts/1", "pipe:[1]"),
        2000: ("pipe:[1]", "pipe:[2]"),  # tee
        2001: ("pipe:[2]", "/dev/pts/1"),  # less
        2002: ("/dev/null", "pipe:[1]"),  # a job whose output goes where ours goes
        2003: ("pipe:[7]", "pipe:[8]"),
    }
    for pid, (source, target) in streams.items():
        process(proc, pid, program="/usr/bin/some")
        (proc / str(pid) / "fd" / "0").symlink_to(source)
        (proc / str(pid) / "fd" / "1").symlink_to(target)
    assert processes.readers(processes.read_processes(str(proc)), str(proc)) == {2000, 2001}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("/bin/sleep", "60"), "sleep"),
        (("python3", "-u", "/x/train.py", "--lr", "1"), "train.py"),
        (("/usr/bin/python", "-m", "pkg.train"), "pkg.train"),
        (("python", "-c", "print(1)", "-m"), "python"),
        (("python",), "python"),
        ((), ""),
    ],
)
def test_a_process_is_called_by_its_program(command: tuple[str, ...], name: str) -> None:
    assert processes.CacheProcess(pid=1, command=command, environ=None, cwd=None).name == name
