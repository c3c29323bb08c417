"""The cache on a disk that is really full, and on one that is really read-only: the job goes on without the cache."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.parallel import jobs

ROOT = Path(__file__).parents[2]
JOB = """
import json, sys
from pathlib import Path
from neuron_top.cache.model.keys import module_key
from neuron_top.compile.wrapper.compiling import GraphToCompile
from tests.compile.fakes import wrapper
graph = GraphToCompile(key=module_key("0123456789abcdef0123", []), data=lambda: b"a graph" * 20_000)
for _ in range(2):
    obtained = wrapper(Path(sys.argv[1])).get_or_compile(graph)
    assert obtained.entry.artifact.read_bytes() == graph.data() * 2
print(json.dumps([path.name for path in Path(sys.argv[1]).rglob("*") if path.is_file()]))
"""


def with_a_disk(folder: Path, prepare: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command in a mount namespace of its own, where `folder` is a small disk, prepared by shell commands."""
    script = f'mount -t tmpfs -o size=64k none "$0" && {prepare} && exec "$@"'
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(folder), *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )


@functools.cache
def disks_can_be_made() -> bool:
    """Whether this user may make a disk in a namespace."""
    return shutil.which("unshare") is not None and with_a_disk(Path("/tmp"), "true", ["true"]).returncode == 0


@pytest.mark.parametrize(
    ("prepare", "complaint"),
    [
        pytest.param("true", "no space left for the compile cache", id="full"),
        pytest.param(
            'mount -o remount,ro "$0"', "cannot be written by this user (Read-only file system)", id="read-only"
        ),
    ],
)
def test_a_disk_that_takes_nothing_costs_a_warning_and_leaves_nothing_half_made(
    prepare: str, complaint: str, tmp_path: Path
) -> None:
    if not disks_can_be_made():
        pytest.skip("this user may not make a mount namespace")
    done = with_a_disk(tmp_path, prepare, [sys.executable, "-c", JOB, str(tmp_path)])
    assert done.returncode == 0, done.stderr
    assert complaint in done.stderr
    assert "compiling without the cache" in done.stderr
    assert set(json.loads(done.stdout)) <= {"compile_flags.json"}


@pytest.mark.parametrize(
    ("prepare", "complaint"),
    [
        pytest.param('mount -o remount,nr_inodes=1 "$0"', "no space left for the compile cache", id="full"),
        pytest.param('mount -o remount,ro "$0"', "cannot be written by this user", id="read-only"),
    ],
)
def test_a_cache_that_cannot_even_be_made_costs_a_warning(prepare: str, complaint: str, tmp_path: Path) -> None:
    if not disks_can_be_made():
        pytest.skip("this user may not make a mount namespace")
    done = with_a_disk(tmp_path, prepare, [sys.executable, "-c", JOB, str(tmp_path / "not" / "there")])
    assert done.returncode == 0, done.stderr
    assert complaint in done.stderr
    assert "compiling without the cache" in done.stderr
    assert json.loads(done.stdout) == []
