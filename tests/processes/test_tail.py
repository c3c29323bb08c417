"""Files that grow, rotate and shrink: in order, nothing lost, nothing twice."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from neuron_top.events import Rotation
from neuron_top.processes.tail import Chunk, FileChange, FileTail


def text_of(found: list[Chunk | FileChange]) -> bytes:
    return b"".join(item.data for item in found if isinstance(item, Chunk))


def turns_of(found: list[Chunk | FileChange]) -> list[str]:
    return [item.how for item in found if isinstance(item, FileChange)]


def test_a_file_that_does_not_exist_yet_is_read_from_its_beginning_once_it_does(tmp_path: Path) -> None:
    tail = FileTail(tmp_path / "later.log", from_end=True)
    assert tail.read() == []
    (tmp_path / "later.log").write_bytes(b"first\n")
    assert text_of(tail.drain()) == b"first\n"


def test_from_end_skips_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old\n")
    tail = FileTail(path, from_end=True)
    with path.open("ab") as log:
        log.write(b"new\n")
    assert tail.drain() == [Chunk(str(path), 4, b"new\n")]


def test_chunks_are_bounded_and_carry_their_offsets(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"0123456789")
    tail = FileTail(path, chunk_bytes=4)
    assert [(chunk.offset, chunk.data) for chunk in tail.drain()] == [(0, b"0123"), (4, b"4567"), (8, b"89")]  # type: ignore[union-attr]


def test_what_a_writer_adds_to_the_renamed_file_comes_before_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    writer = path.open("ab", buffering=0)
    writer.write(b"one\n")
    tail = FileTail(path)
    assert text_of(tail.read()) == b"one\n"
    path.rename(tmp_path / "a.log.1")
    path.write_bytes(b"three\n")
    assert tail.read() == []
    writer.write(b"two\n")
    writer.close()
    found = tail.drain()
    assert text_of(found) == b"two\nthree\n"
    assert turns_of(found) == ["rotated"]


def test_a_file_cut_and_grown_past_the_old_size_is_read_again_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"short\n")
    tail = FileTail(path)
    tail.drain()
    with path.open("r+b") as log:
        log.truncate(0)
        log.write(b"much longer than before\n")
    found = tail.drain()
    assert turns_of(found) == ["truncated"]
    assert text_of(found) == b"much longer than before\n"


def test_the_hole_before_what_is_written_to_a_file_that_was_cut_is_not_read(tmp_path: Path) -> None:
    path, size = tmp_path / "a.log", 1 << 20
    with path.open("wb", buffering=0) as log:
        log.write(b"old\n" * (size // 4))
        tail = FileTail(path)
        tail.drain()
        log.truncate(0)
        log.write(b"new\n")  # at the offset that it had: it does not append
        found = tail.drain()
        log.write(b"newer\n")
        assert tail.drain() == [Chunk(str(path), size + 4, b"newer\n")]
    if path.stat().st_blocks * 512 >= size:
        pytest.skip("this file system keeps no holes")
    assert found == [FileChange(str(path), Rotation.TRUNCATED), Chunk(str(path), size, b"new\n")]


def test_a_file_that_vanishes_and_returns_is_reported_once_each(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    tail = FileTail(path)
    tail.drain()
    path.unlink()
    assert turns_of(tail.drain() + tail.drain()) == ["vanished"]
    path.write_bytes(b"two\n")
    found = tail.drain()
    assert (turns_of(found), text_of(found)) == (["appeared"], b"two\n")


def test_a_symbolic_link_that_is_turned_to_another_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "day1").write_bytes(b"one\n")
    (tmp_path / "day2").write_bytes(b"two\n")
    link = tmp_path / "current.log"
    link.symlink_to("day1")
    tail = FileTail(link)
    tail.drain()
    link.unlink()
    link.symlink_to("day2")
    assert text_of(tail.drain()) == b"two\n"


def test_a_named_pipe_is_read_without_waiting_for_its_writer(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    tail = FileTail(pipe)
    assert tail.read() == []
    assert tail.is_silent_pipe
    writer = os.open(pipe, os.O_WRONLY)
    os.write(writer, b"one\n")
    assert text_of(tail.read()) == b"one\n"
    assert not tail.is_silent_pipe
    os.close(writer)
    assert tail.read() == []


def test_a_folder_is_a_problem_that_is_named(tmp_path: Path) -> None:
    tail = FileTail(tmp_path)
    assert tail.read() == []
    assert isinstance(tail.problem, IsADirectoryError)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file, so the refusal cannot be provoked")
def test_a_file_that_may_not_be_read_is_a_problem_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secret.log"
    path.write_bytes(b"x")
    path.chmod(0)
    assert isinstance(FileTail(path).problem, PermissionError)


def test_a_closed_tail_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    tail = FileTail(path)
    tail.drain()
    tail.close()
    with path.open("ab") as log:
        log.write(b"two\n")
    assert text_of(tail.drain()) == b"two\n"


def test_a_file_that_cannot_be_read_for_a_moment_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    tail = FileTail(path)
    tail.drain()

    def unreachable(*_: object) -> bytes:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", unreachable)
        assert tail.read() == []
    assert tail.problem is not None
    with path.open("ab") as log:
        log.write(b"two\n")
    assert tail.drain() == [Chunk(str(path), 4, b"two\n")]
    assert tail.problem is None


def test_a_file_that_was_replaced_while_the_tail_was_closed_is_reported_before_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old, unfinished")
    tail = FileTail(path)
    tail.drain()
    tail.close()
    path.rename(tmp_path / "a.log.1")
    path.write_bytes(b"new\n")
    assert tail.drain() == [FileChange(str(path), Rotation.ROTATED), Chunk(str(path), 0, b"new\n")]


@pytest.mark.parametrize("seen_gone", [False, True])
def test_a_successor_that_cannot_be_opened_at_first_is_reported_when_it_can(tmp_path: Path, seen_gone: bool) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old, unfinished")
    tail = FileTail(path)
    tail.drain()
    path.rename(tmp_path / "a.log.1")
    assert turns_of(tail.drain() if seen_gone else []) == (["vanished"] if seen_gone else [])
    path.mkdir()
    assert tail.drain() == []
    assert isinstance(tail.problem, IsADirectoryError)
    path.rmdir()
    path.write_bytes(b"new\n")
    how = Rotation.APPEARED if seen_gone else Rotation.ROTATED
    assert tail.drain() == [FileChange(str(path), how), Chunk(str(path), 0, b"new\n")]


class FileLife(RuleBasedStateMachine):
    """A writer does to a file what programs and logrotate do; the tail reads in between.

    Bytes that were cut away, or whose name was taken a second time, before anyone could read them are lost to every
    reader; so the model reads first there. Everything else has to arrive, once and in order.
    """

    counter = 0

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "job.log"
        self.writer = self.path.open("ab", buffering=0)
        self.tail = FileTail(self.path, chunk_bytes=7)
        self.written = b""
        self.received = b""
        self.rotations = 0

    def take(self, found: list[Chunk | FileChange]) -> None:
        self.received += text_of(found)

    def next_line(self) -> bytes:
        self.counter += 1
        return b"line %d\n" % self.counter

    @rule(times=st.integers(1, 5))
    def write(self, times: int) -> None:
        for _ in range(times):
            line = self.next_line()
            self.writer.write(line)
            self.written += line

    @rule()
    def write_half_a_line(self) -> None:
        # Never the same twice: a file cut and refilled with the very same bytes looks untouched to every reader.
        self.counter += 1
        half = b"half %d," % self.counter
        self.writer.write(half)
        self.written += half

    @rule(limit=st.integers(1, 4))
    def read(self, limit: int) -> None:
        self.take(self.tail.read(limit))

    @rule()
    def rotate(self) -> None:
        self.take(self.tail.drain())
        self.rotations += 1
        self.path.rename(self.path.with_suffix(f".{self.rotations}"))
        self.write(1)
        self.writer.close()
        self.writer = self.path.open("ab", buffering=0)

    @rule(regrow=st.integers(0, 6))
    def cut(self, regrow: int) -> None:
        self.take(self.tail.drain())
        self.writer.truncate(0)
        for _ in range(regrow):
            self.write(1)

    @rule()
    def replace(self) -> None:
        self.take(self.tail.drain())
        self.writer.close()
        fresh = self.path.with_suffix(".new")
        self.writer = fresh.open("ab", buffering=0)
        self.write(1)
        fresh.rename(self.path)

    @invariant()
    def nothing_doubled_or_out_of_order(self) -> None:
        if hasattr(self, "written"):
            assert self.written.startswith(self.received)

    def teardown(self) -> None:
        if hasattr(self, "written"):
            self.take(self.tail.drain())
            self.tail.close()
            self.writer.close()
            self.folder.cleanup()
            assert self.received == self.written


FileLife.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestFileLife = FileLife.TestCase
