"""Inductor's cache as a catalog: what is an entry, how large, when used; and nothing is changed by looking."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from neuron_top.cache import inductor
from neuron_top.cli.main import main

FX, AOT = "f" + "a" * 51, "a" + "b" * 51


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """One FX graph for two sets of shapes, one AOTAutograd entry, two folders of code, one Triton device."""
    for place, size in (
        (f"fxgraph/aa/{FX}/one", 5000),
        (f"fxgraph/aa/{FX}/two", 100),
        (f"aotautograd/{AOT}/x", 9000),
        ("xy/cabc.py", 10),
        ("zz/cdef.so", 20),
        ("triton/0/kernel/k.cubin", 30),
        ("locks/l.lock", 0),
    ):
        path = tmp_path / "torchinductor" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return tmp_path / "torchinductor"


def test_entries_are_what_pytorch_keeps_by_key(root: Path) -> None:
    found = inductor.entries(str(root))
    assert [(one.kind, one.key, one.files) for one in found] == [
        ("fx-graph", FX, 2),
        ("aot-autograd", AOT, 1),
        ("code", "xy", 1),
        ("code", "zz", 1),
        ("triton", "0", 1),
    ]
    assert found[0].bytes >= 5100
    assert inductor.is_inductor(str(root))
    assert not inductor.is_inductor(str(root.parent))


def test_last_use_is_reported_only_where_something_was_read_after_it_was_written(root: Path) -> None:
    for name, accessed in (("one", 2_000_000_000), ("two", 1_000_000_000)):
        os.utime(root / f"fxgraph/aa/{FX}/{name}", (accessed, 1_500_000_000))
    os.utime(root / f"aotautograd/{AOT}/x", (1_400_000_000, 1_500_000_000))
    first, second = inductor.entries(str(root))[:2]
    assert (first.changed, first.used) == (1_500_000_000, 2_000_000_000)
    assert (second.changed, second.used) == (1_500_000_000, None)


def test_a_file_that_vanishes_while_its_folder_is_listed_hides_no_other(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = root / "fxgraph" / "aa" / FX
    for number in range(5):
        (folder / f"more-{number}").write_bytes(b"x")
    scandir = os.scandir

    @contextmanager
    def vanishing(handle: int) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(handle) as members:
            listed = list(members)
        (folder / listed[0].name).unlink()
        yield listed

    (first, *_) = inductor.entries(str(root))
    monkeypatch.setattr(os, "scandir", vanishing)
    listed = inductor.files(first)
    monkeypatch.undo()
    assert sorted(name for name, _ in listed) == sorted(path.name for path in folder.iterdir())


def test_looking_reads_no_file_and_follows_no_link(root: Path) -> None:
    (root / "fxgraph" / "bb").mkdir()
    (root / "fxgraph" / "bb" / ("f" + "c" * 51)).symlink_to(root / "fxgraph" / "aa" / FX)
    os.utime(root / f"fxgraph/aa/{FX}/one", (1, 5))
    inductor.entries(str(root))
    assert (root / f"fxgraph/aa/{FX}/one").stat().st_atime == 1
    assert len(inductor.entries(str(root))) == 5


def test_a_root_that_is_gone_or_junk_has_no_entries(tmp_path: Path) -> None:
    assert inductor.entries(str(tmp_path / "nowhere")) == []
    (tmp_path / "fxgraph").write_text("not a folder")
    assert inductor.entries(str(tmp_path)) == []


def test_the_commands_show_it(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(root))
    assert main(["cache", "ls", "--inductor", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["key"] for one in listed["entries"]][:2] == [FX, AOT]
    assert main(["cache", "stats", str(root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["fx-graph"]["files"] == 2
    assert main(["cache", "show", "--inductor", "faaa", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {"one": 5000, "two": 100}
    assert main(["cache", "show", str(root), "nothing-like-it"]) == 3


def test_a_list_of_one_says_one_and_a_file_dated_ahead_has_no_age(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "fxgraph" / FX[1:3] / FX
    folder.mkdir(parents=True)
    (folder / "one").write_bytes(b"x")
    ahead = time.time() + 30 * 86400
    for path in (folder / "one", folder):
        os.utime(path, (ahead, ahead))
    assert main(["cache", "ls", "--inductor", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("1 entry in ")
    assert printed.out.splitlines()[1].split()[-2:] == ["—", "—"]
