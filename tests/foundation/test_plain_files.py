"""Opening files that somebody else may have prepared."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from neuron_top.calendar_bounds import EARLIEST, LATEST, is_in_calendar
from neuron_top.plain_files import NotAPlainFile, last_change, open_plain, read_plain


def read(path: Path, **options: object) -> bytes:
    with open(open_plain(path, **options), "rb") as file:  # type: ignore[arg-type]
        return file.read()


def test_a_plain_file_is_opened_and_made(tmp_path: Path) -> None:
    os.close(open_plain(tmp_path / "new", os.O_WRONLY | os.O_CREAT))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    (tmp_path / "new").write_bytes(b"data")
    assert read(tmp_path / "new") == b"data"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
def test_a_link_a_pipe_and_a_folder_are_none(tmp_path: Path, flags: int) -> None:
    (tmp_path / "target").write_bytes(b"data")
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("link", "pipe", "folder"):
        with pytest.raises(NotAPlainFile):
            open_plain(tmp_path / name, flags)


def test_a_link_is_followed_where_the_caller_says_so(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"data")
    (tmp_path / "link").symlink_to("target")
    assert read(tmp_path / "link", follow=True) == b"data"
    assert read_plain(tmp_path / "link") == b"data"


@pytest.mark.timeout(20)
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(NotAPlainFile):
            read_plain(tmp_path / name)


def test_what_the_caller_objects_to_is_closed_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"data")
    before = len(list(Path("/proc/self/fd").iterdir()))

    def refuse(_: int, facts: os.stat_result) -> None:
        assert facts.st_size == 4
        raise PermissionError("not this one")

    with pytest.raises(PermissionError, match="not this one"):
        open_plain(tmp_path / "file", check=refuse)
    with pytest.raises(NotAPlainFile):
        open_plain(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_time_that_no_calendar_has_is_none() -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:  # memory keeps any time, most disks do not
        for strange in (9e15, LATEST, EARLIEST - 1):
            os.utime(file.name, (strange, strange))
            assert Path(file.name).stat().st_mtime == strange
            assert last_change(file.name) is None
        os.utime(file.name, (1.7e9, 1.7e9))
        assert last_change(file.name) == 1.7e9


def test_a_moment_is_what_every_calendar_has() -> None:
    assert datetime.fromtimestamp(EARLIEST, UTC) == datetime(2, 1, 1, tzinfo=UTC)
    assert datetime.fromtimestamp(LATEST, UTC) == datetime(9999, 1, 1, tzinfo=UTC)
    moments = (EARLIEST, 0.0, LATEST, float("nan"), float("inf"))
    assert [is_in_calendar(moment) for moment in moments] == [True, True, False, False, False]
