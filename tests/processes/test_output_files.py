"""The files that other processes write their output to are found by their descriptors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from neuron_top.processes.output_files import output_files

WAITS = "import sys; print('begun', flush=True); sys.stdin.read()"


@pytest.fixture
def ended() -> Iterator[ExitStack]:
    """Ends what a test started."""
    with ExitStack() as stack:
        yield stack


def started(ended: ExitStack, command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(command, **options)

    def end() -> None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    ended.callback(end)
    return process


def test_a_file_that_output_and_errors_go_to_is_found_once(tmp_path: Path, ended: ExitStack) -> None:
    with open(tmp_path / "train log.txt", "wb") as log:
        worker = started(ended, [sys.executable, "-c", WAITS], stdin=subprocess.PIPE, stdout=log, stderr=log)
    assert output_files([worker.pid]) == [tmp_path / "train log.txt"]


def test_workers_of_one_job_may_have_logs_of_their_own(tmp_path: Path, ended: ExitStack) -> None:
    workers = []
    for name in ("0.out", "0.err", "1.out", "1.err"):
        (tmp_path / name).touch()
    for rank in range(2):
        with open(tmp_path / f"{rank}.out", "ab") as out, open(tmp_path / f"{rank}.err", "ab") as err:
            workers.append(started(ended, ["sleep", "600"], stdout=out, stderr=err).pid)
    assert output_files(workers) == [tmp_path / name for name in ("0.out", "0.err", "1.out", "1.err")]


def test_behind_a_pipe_the_file_that_its_reader_writes_is_found(tmp_path: Path, ended: ExitStack) -> None:
    (tmp_path / "read.txt").write_text("not written to")
    worker = started(ended, [sys.executable, "-c", WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    tee = started(ended, ["tee", str(tmp_path / "train.log")], stdin=worker.stdout, stdout=subprocess.PIPE)
    assert tee.stdout is not None
    assert tee.stdout.readline() == b"begun\n"
    assert output_files([worker.pid]) == [tmp_path / "train.log"]


def test_terminals_devices_deleted_files_and_processes_that_are_gone_are_left_out(
    tmp_path: Path, ended: ExitStack
) -> None:
    quiet = started(ended, ["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(tmp_path / "gone.log", "wb") as log:
        deleted = started(ended, ["sleep", "600"], stdout=log, stderr=subprocess.DEVNULL)
    (tmp_path / "gone.log").unlink()
    (tmp_path / "gone.log").write_text("another file of that name")
    over = started(ended, ["true"])
    over.wait()
    assert output_files([quiet.pid, deleted.pid, over.pid, 2**22 + 1]) == []
