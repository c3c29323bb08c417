"""Disks that fill up during a compile, at every stage: the job gets its result, and its disk is left as it was.

The fine steps are tried with a compiler that copies, on disks that have room for a little more each time; the real
compiler is tried with the cache, its own working folder, or both on a disk that has too little room for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from neuron_top.cache.model import filenames
from neuron_top.cache.model.states import Lookup
from neuron_top.compile import side_channel
from neuron_top.compile.wrapper.compile_end import disk_full, failure, is_disk_full
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.scratch import Scratch
from neuron_top.errors import CacheUnusable, CompileError, CompilerKilled, CompilerMissing, DiskFull
from neuron_top.events import CompileCause, CompileEnded, decode
from tests.adversary.attacker import LONG, mounted
from tests.compile.fakes import GRAPH, Copying, wrapper
from tests.compile.parallel import jobs

PAGE = 4096
LARGE = GraphToCompile(key=GRAPH.key, data=lambda: b"a graph " * 2048)
"""16 KiB, with an artifact of two files of 32 KiB each: every stage needs another page."""


def fill(disk: Path, left: int) -> None:
    """Leave `left` bytes of a disk free."""
    with open(disk / "filler", "wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, os.statvfs(disk).f_bavail * PAGE - left)


def check_nothing_half_made(root: Path) -> None:
    names = [path.name for path in root.rglob("*") if path.is_file()]
    assert not [name for name in names if name.endswith((filenames.TEMPORARY_SUFFIX, ".lock", ".owner"))], names
    assert filenames.FAILURE_LOG not in names


def compiled_rightly(root: Path) -> bool:
    """One process's compile of LARGE; whether the cache has the artifact now."""
    one = wrapper(root)
    obtained = one.get_or_compile(LARGE)
    assert obtained.entry.artifact.read_bytes() == LARGE.data() * 2
    check_nothing_half_made(root)
    entry = one.entry(LARGE.key)
    if entry.state() is Lookup.HIT:
        assert entry.broken_reason() == ""
        return True
    return False


def test_the_caches_disk_fills_up_at_any_page_of_a_compile(small_disk: Path) -> None:
    shared = False
    for pages in range(0, 200, 1 if LONG else 3):
        root = small_disk / "cache"
        root.mkdir(exist_ok=True)
        fill(small_disk, pages * PAGE)
        shared = compiled_rightly(root)
        if shared:
            break
        (small_disk / "filler").unlink()
        subprocess.run(["rm", "-rf", root], check=True)
    assert shared, "the disk was never large enough: the attack attacks nothing"


def test_the_caches_disk_runs_out_of_inodes_at_any_file_of_a_compile(tmp_path: Path) -> None:
    shared = False
    for inodes in range(2, 24):
        with mounted(tmp_path / f"disk-{inodes}", f"size=4m,nr_inodes={inodes}") as disk:
            shared = compiled_rightly(disk)
    assert shared


def test_a_disk_with_room_again_is_used_again(small_disk: Path) -> None:
    fill(small_disk, 0)
    assert not compiled_rightly(small_disk)
    (small_disk / "filler").unlink()
    assert compiled_rightly(small_disk)


class Full(Copying):
    """Finds no room in the folders that `full` names; notes where its temporary files were to go."""

    def __init__(self, *full: str) -> None:
        super().__init__()
        self.full, self.scratches = full, []

    def compile(self, task, *, began):
        self.scratches.append(task.scratch)
        place = task.scratch or Path("usual")
        if any(name in str(path) for name in self.full for path in (place, *task.outputs.values())):
            raise disk_full([place], task.module)
        return super().compile(task, began=began)


def moving(root: Path, one: Copying, *places: Path) -> Wrapper:
    for place in places:
        place.mkdir()
    return Wrapper(one, WrapperOptions(cache_url=str(root)), scratch=Scratch(places))


@pytest.fixture
def _work_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.mark.usefixtures("_work_folder")
def test_where_only_the_scratch_is_full_the_compile_moves_and_the_cache_still_shares(tmp_path: Path) -> None:
    one = Full("usual")
    job = moving(tmp_path / "cache", one, tmp_path / "room")
    assert job.get_or_compile(LARGE).entry.root == tmp_path / "cache"
    assert wrapper(tmp_path / "cache").get_or_compile(LARGE).hit
    assert [scratch is None for scratch in one.scratches] == [True, False]
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"].startswith(str(tmp_path / "room"))


@pytest.mark.usefixtures("_work_folder")
def test_one_full_disk_after_the_other_and_the_job_gets_its_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Full("usual", "cache", "first")
    job = moving(tmp_path / "cache", one, tmp_path / "first", tmp_path / "second", tmp_path / "third")
    obtained = job.get_or_compile(LARGE)
    assert obtained.entry.root.parent == tmp_path / "second"
    assert obtained.entry.artifact.read_bytes() == LARGE.data() * 2
    assert "compiling without the cache" in capsys.readouterr().err


@pytest.mark.usefixtures("_work_folder")
def test_with_no_room_anywhere_the_error_says_which_disks_are_full_and_what_to_do(tmp_path: Path) -> None:
    job = moving(tmp_path / "cache", Full(""), tmp_path / "first", tmp_path / "second")
    with pytest.raises(DiskFull, match=r"no space left to compile MODULE_.*set TMPDIR"):
        job.get_or_compile(LARGE)
    check_nothing_half_made(tmp_path / "cache")


def test_no_folder_at_all_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match="tried /dev/null"):
        Scratch([Path("/dev/null")]).folder()


@pytest.mark.parametrize(
    ("status", "log", "kind"),
    [
        (70, "as: /tmp/cc.s: No space left on device", DiskFull),
        (70, "OSError: [Errno 122] Disk quota exceeded", DiskFull),
        (-9, "", CompilerKilled),
        (-15, "", CompilerKilled),
        (143, "", CompilerKilled),
        (70, "c++: fatal error: Killed signal terminated program cc1plus", CompilerKilled),
        (70, "MemoryError", CompilerKilled),
        (70, "c++: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable", CompilerKilled),
        (70, "OSError: [Errno 24] Too many open files", CompilerKilled),
        (70, "OSError: [Errno 30] Read-only file system", CompilerMissing),
        (70, "walrus: error while loading shared libraries: libx.so", CompilerMissing),
        (-11, "", CompileError),
        (139, "", CompileError),
        (70, "[NCC_EXTP003] too many instructions", CompileError),
        (70, "", CompileError),
    ],
)
def test_what_is_the_graphs_fault_and_what_is_not(
    status: int, log: str, kind: type[CompileError], tmp_path: Path
) -> None:
    problem = failure(status, log, "MODULE_1+2", [tmp_path], "the compiler")
    assert type(problem) is kind


def test_a_failure_without_words_on_a_full_disk_is_the_disks(small_disk: Path) -> None:
    assert type(failure(70, "", "MODULE_1+2", [small_disk], "the compiler")) is CompileError
    fill(small_disk, PAGE)
    problem = failure(-7, "", "MODULE_1+2", [small_disk / "not yet there"], "the compiler")
    assert type(problem) is DiskFull
    assert str(small_disk) in str(problem)


def test_a_full_disk_is_found_at_the_root_of_any_exception() -> None:
    problem = ValueError("a zip file that was not closed")
    problem.__context__ = OSError(28, "No space left on device")
    assert is_disk_full(problem)
    assert not is_disk_full(CacheUnusable("something else"))


def test_a_line_of_the_side_channel_that_was_cut_does_not_swallow_the_next(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(side_channel.EVENTS_VARIABLE, str(small_disk))
    reported = CompileEnded(module="MODULE_1+2" * 100, seconds=1.0, ok=False, cause=CompileCause.DISK_FULL)
    side_channel.emit(reported)
    fill(small_disk, 0)
    for _ in range(5):  # the page that the file has takes some of them, and a part of one
        side_channel.emit(reported)
    (small_disk / "filler").unlink()
    side_channel.emit(reported)
    (file,) = small_disk.glob("*.jsonl")
    assert decode(file.read_bytes().splitlines()[-1]) == msgspec_replaced(reported, file)


def msgspec_replaced(reported: CompileEnded, file: Path) -> CompileEnded:
    """The event with the time that it was stamped with."""
    import msgspec

    return msgspec.structs.replace(reported, at=decode(file.read_bytes().splitlines()[-1]).at)


GRAPHS = 2 if LONG else 1
JOB = """
import torch
def made(width):
    return lambda x: torch.softmax((x * width).sin() @ x.T, -1).cumsum(0) + torch.tanh(x).sum()
for width in range(2, 2 + GRAPHS):
    torch._dynamo.reset()
    f = made(width)
    x = torch.randn(24, 16)
    assert torch.allclose(torch.compile(f, backend="neurontop", dynamic=False)(x), f(x), atol=1e-5), width
print("right results")
"""


@pytest.mark.torch
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("left", [0, 60, 400, 1000] if LONG else [60])
@pytest.mark.parametrize("full", [("cache",), ("work",), ("cache", "work")] if LONG else [("work",)], ids="+".join)
def test_the_real_compiler_on_a_disk_that_fills_up(
    small_disk: Path, tmp_path: Path, full: tuple[str, ...], left: int
) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    folders = {name: (small_disk if name in full else tmp_path) / name for name in ("cache", "work")}
    for folder in folders.values():
        folder.mkdir()
    fill(small_disk, left * 1024)
    environ = jobs.environment(
        tmp_path, NEURON_COMPILE_CACHE_URL=str(folders["cache"]), TMPDIR=str(folders["work"]), OMP_NUM_THREADS="1"
    )
    del environ["TORCHINDUCTOR_CACHE_DIR"]
    done = subprocess.run(
        [sys.executable, "-c", f"GRAPHS = {GRAPHS}\n{JOB}"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "right results\n"), done.stderr
    check_nothing_half_made(folders["cache"])
    hits = list(folders["cache"].rglob(filenames.DONE))
    assert "no space left" in done.stderr or (left == 1000 and len(hits) == GRAPHS), "a megabyte may be enough"
    assert len(hits) == (0 if "cache" in full and left < 400 else len(hits))
    if full == ("work",):
        assert len(hits) == GRAPHS, "the cache had room: what was compiled elsewhere is shared"
    for mark in hits:
        stats = json.loads((mark.parent / filenames.STATS).read_text())
        assert stats["module"] == mark.parent.name
