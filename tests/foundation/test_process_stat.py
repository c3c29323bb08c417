"""`/proc/<pid>/stat`: real processes, names with anything in them, and files that are not as they should be."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from neuron_top.process_stat import ProcessStat, stat_of

REST = "1 1 1 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 7700 1000000 300 18446744073709551615"
"""What follows the state of a process whose parent is process 1."""


@pytest.mark.parametrize("name", ["python", "a b", "a) S 9 9", "(sd-pam)", ") Z (", "", "\udcff"])
def test_the_name_of_a_program_may_hold_anything(name: str, tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_bytes(os.fsencode(f"7 ({name}) S {REST}\n"))
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    found = stat_of(7, tmp_path)
    assert found == ProcessStat(7, 1, "S", 300 / ticks, 7700, 300 * page)
    assert (found.started, found.is_dead) == (7700 / ticks, False)


@pytest.mark.parametrize("text", ["", "7", "7 (a", "7 (a)", "7 (a) S 1 2 3", f"7 (a) S {REST.replace('7700', 'x')}"])
def test_a_file_that_is_cut_or_garbled_tells_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text(text)
    assert stat_of(7, tmp_path) is None


def test_a_process_is_alive_then_a_zombie_then_gone() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        until = time.monotonic() + 10
        while not (alive := stat_of(process.pid)) or not alive.resident:  # it has no memory at first
            assert time.monotonic() < until
        assert (alive.pid, alive.parent, alive.is_dead) == (process.pid, os.getpid(), False)
        process.kill()
        while not (dead := stat_of(process.pid)) or not dead.is_dead:
            assert time.monotonic() < until
        assert dead.start_ticks == alive.start_ticks
    assert stat_of(process.pid) is None
