"""One graph through the cache with a compiler that copies: what is a hit, what is reported, what is left behind."""

from __future__ import annotations

import contextlib
import errno
import io
import multiprocessing
import os
import queue
import re
import signal
import stat
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.cache.model.keys import module_key
from neuron_top.cache.model.states import Lookup
from neuron_top.compile.claims.turns import ClaimLost
from neuron_top.compile.compiler import CompileOutcome, CompileTask, NotSerializable
from neuron_top.compile.wrapper import log_lines
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import OnMiss, WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.lock_wait import wait_for_lock
from neuron_top.compile.wrapper.log_lines import FORMATS
from neuron_top.compile.wrapper.persistent_cache import EntryLock
from neuron_top.errors import CachedFailure, CacheUnusable, CompileError, CompilerMissing, DiskFull, RefusedForSafety
from neuron_top.events import (
    CompileBegan,
    CompileCause,
    CompileEnded,
    CompileRequested,
    Event,
    LogGeneration,
    WaitBegan,
)
from tests.compile.fakes import GRAPH, Copying, Gated, obtain_once, wrapper

spawn = multiprocessing.get_context("spawn")


def fresh_graph() -> GraphToCompile:
    """One that no other test has compiled in this process, whose scratch folder they share."""
    return msgspec.structs.replace(GRAPH, key=module_key(uuid.uuid4().hex[:20], []))


def names(path: Path) -> set[str]:
    return {item.name for item in path.iterdir()}


def test_a_miss_is_compiled_and_published_and_then_a_hit(own_caches: Path) -> None:
    first = wrapper(own_caches).get_or_compile(GRAPH)
    assert not first.hit
    assert names(first.entry.path) == {
        "model.fxgraph",
        "compile_flags.json",
        "model.inductor",
        "model.kernels",
        "model.stats.json",
        "model.done",
    }
    compiler = Copying()
    assert wrapper(own_caches, compiler).get_or_compile(GRAPH).hit
    assert compiler.compiled == 0


def test_the_flags_file_and_the_directory_name_agree(own_caches: Path) -> None:
    entry = wrapper(own_caches).get_or_compile(GRAPH).entry
    assert (entry.path / "compile_flags.json").read_bytes() == b"[]"
    assert entry.path.name.endswith("+d7517139")


def test_processes_that_need_one_graph_compile_it_once(own_caches: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    ranks = [spawn.Process(target=obtain_once, args=(str(own_caches), str(journal), 0.5)) for _ in range(4)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    assert [rank.exitcode for rank in ranks] == [0, 0, 0, 0]
    assert len(journal.read_text().splitlines()) == 1


def test_who_waits_reports_it_at_once_and_who_compiles_when_it_asks_for_it(own_caches: Path) -> None:
    compiler, options = Gated(), WrapperOptions(cache_url=str(own_caches))
    compiles: list[Event] = []
    waits: queue.Queue[Event] = queue.Queue()
    first = Wrapper(compiler, options, emit=compiles.append)
    second = Wrapper(Copying(), options, emit=waits.put)
    with ThreadPoolExecutor(2) as pool:
        compiled = pool.submit(first.get_or_compile, GRAPH)
        while not compiler.began:
            time.sleep(0.01)
        assert [type(event) for event in compiles] == [CompileRequested]
        found = pool.submit(second.get_or_compile, GRAPH)
        waiting = waits.get(timeout=600)
        compiler.allowed.set()
    assert (type(waiting), compiled.result().hit, found.result().hit) == (WaitBegan, False, True)
    assert [type(event) for event in compiles] == [CompileRequested, CompileBegan, CompileEnded]
    assert waits.empty()


@pytest.mark.parametrize("retry_failed", [False, True])
def test_a_graph_that_was_published_since_the_lookup_is_not_compiled_again(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch, retry_failed: bool
) -> None:
    first, second = Copying(), Copying()
    ours = wrapper(own_caches, second, retry_failed=retry_failed)
    turn = ours._turn

    def late(*arguments: Any) -> Any:
        wrapper(own_caches, first).get_or_compile(GRAPH)  # after our lookup, before our lock
        return turn(*arguments)

    monkeypatch.setattr(ours, "_turn", late)
    assert ours.get_or_compile(GRAPH).hit
    assert (first.compiled, second.compiled) == (1, 0)


def test_a_lock_record_that_the_holder_swept_half_written_is_a_lock_not_taken(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, link = wrapper(own_caches).entry(GRAPH.key), os.link

    def swept_first(record: Path, lock: str, **where: int | None) -> None:
        record.write_bytes(b"")  # what another process sees between the opening and the writing
        entry.sweep()
        link(record, lock, **where)

    monkeypatch.setattr(os, "link", swept_first)
    assert not EntryLock(entry).acquire()
    monkeypatch.undo()
    assert EntryLock(entry).acquire()


def test_a_graph_is_stored_again_where_a_holder_swept_it_before_it_was_whole(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = wrapper(own_caches)
    entry, rename, swept = one.entry(GRAPH.key), Path.rename, list[Path]()

    def swept_first(path: Path, target: Path) -> Path:
        if not swept:
            swept.append(path)
            entry.sweep()
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", swept_first)
    assert one.extract(GRAPH) is False
    assert swept
    assert not swept[0].exists()
    assert entry.holds_graph(GRAPH.digest)


def test_a_lock_whose_holder_died_is_taken_over(own_caches: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = wrapper(own_caches).entry(GRAPH.key)
    entry.path.mkdir(parents=True)
    dead = msgspec.structs.replace(lock_owner.current(), started=1, token="gone")
    for name in (entry.lock, entry.path / "model.fxgraph.lock.owner"):
        name.write_bytes(msgspec.json.encode(dead))
    assert not wrapper(own_caches).get_or_compile(GRAPH).hit
    assert "taken over" in capsys.readouterr().err
    assert not any(filenames.LOCK_SUFFIX in name for name in names(entry.path))


def test_a_living_holder_is_never_robbed(own_caches: Path) -> None:
    entry = wrapper(own_caches).entry(GRAPH.key)
    lock = EntryLock(entry)
    assert lock.acquire()
    assert EntryLock(entry).break_if_dead() is None
    assert not EntryLock(entry).acquire()
    lock.release()
    assert EntryLock(entry).acquire()


def test_who_waits_for_a_lock_says_so_once_a_minute_in_the_sdks_words(own_caches: Path) -> None:
    entry = wrapper(own_caches).entry(GRAPH.key)
    lock = EntryLock(entry)
    assert lock.acquire()
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        assert seconds <= 0.5
        now += 15.0
        if now > 150.0:
            lock.release()

    said = io.StringIO()
    begins: list[float] = []
    log = log_lines.WrapperLog(stream=said)
    waited = wait_for_lock(entry, log, began=lambda: begins.append(now), clock=lambda: now, sleep=sleep)
    assert (waited, begins) == (165.0, [0.0])
    words = f"[INFO]: Another process must be compiling {entry.graph}, been waiting for: "
    assert [line.split(":  ")[-1].split("  ")[-1] for line in said.getvalue().splitlines()] == [
        f"{words}{minutes} minutes" for minutes in ("1.0", "2.0")
    ]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_lock_is_not_waited_for(own_caches: Path, kind: str) -> None:
    entry = wrapper(own_caches).entry((graph := fresh_graph()).key)
    entry.make()
    {
        "link": lambda: entry.lock.symlink_to("nowhere"),
        "folder": entry.lock.mkdir,
        "pipe": lambda: os.mkfifo(entry.lock),
    }[kind]()
    ours = wrapper(own_caches)
    ours.log = log_lines.WrapperLog(stream=(said := io.StringIO()))
    assert not ours.get_or_compile(graph).hit
    assert entry.state() is Lookup.MISS
    assert re.search("in the place of a lock.*; compiling without the cache", said.getvalue())
    unwaited = partial(pytest.fail, "it waits")
    assert wait_for_lock(entry, ours.log, began=unwaited, sleep=lambda seconds: pytest.fail("it waits")) < 1.0


def test_an_sdk_lock_without_owner_is_never_broken(own_caches: Path) -> None:
    entry = wrapper(own_caches).entry(GRAPH.key)
    entry.path.mkdir(parents=True)
    entry.lock.touch()
    assert EntryLock(entry).break_if_dead() is None
    assert entry.lock.exists()


def test_a_failure_is_stored_and_replayed_until_a_retry_is_asked_for(own_caches: Path) -> None:
    failing = Copying(error=CompileError("no such operator", log="line one\nline two"))
    with pytest.raises(CompileError, match="no such operator"):
        wrapper(own_caches, failing).get_or_compile(GRAPH)
    entry = wrapper(own_caches).entry(GRAPH.key)
    assert entry.failure_text().startswith("Failed compilation with ['copy', ")
    assert "line two" in entry.failure_text()
    assert not entry.lock.exists()
    with pytest.raises(CachedFailure, match="--retry_failed_compilation"):
        wrapper(own_caches).get_or_compile(GRAPH)
    assert not wrapper(own_caches, retry_failed=True).get_or_compile(GRAPH).hit
    assert entry.state() is Lookup.HIT
    assert not entry.failure.exists()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", [filenames.STATS, filenames.FAILURE_LOG])
def test_a_pipe_in_the_place_of_a_record_stops_no_compile(own_caches: Path, name: str) -> None:
    entry = wrapper(own_caches).entry(GRAPH.key)
    entry.make()
    os.mkfifo(entry.path / name)
    assert not wrapper(own_caches, retry_failed=True).get_or_compile(GRAPH).hit
    assert entry.state() is Lookup.HIT


@pytest.mark.parametrize("name", ["model.inductor", "model.kernels", "model.stats.json"])
def test_a_file_of_a_terabyte_fills_no_memory_and_costs_a_compile(own_caches: Path, name: str) -> None:
    """A damaged file system shows such files: the job ended with a MemoryError."""
    place = wrapper(own_caches).get_or_compile(GRAPH).entry.path
    os.truncate(place / name, 1 << 40)
    again = wrapper(own_caches).get_or_compile(GRAPH)
    assert (again.hit, again.entry.artifact.read_bytes()) == (False, b"the graphthe graph")


def test_a_failure_log_of_a_terabyte_is_read_in_part(own_caches: Path) -> None:
    entry = wrapper(own_caches).entry(GRAPH.key)
    entry.make()
    entry.failure.write_bytes(b"Failed compilation with ['x']: no such operator\n")
    os.truncate(entry.failure, 1 << 40)
    with pytest.raises(CachedFailure) as raised:
        wrapper(own_caches).get_or_compile(GRAPH)
    assert raised.value.log is not None
    assert raised.value.log.startswith("Failed compilation with ['x']: no such operator\n")


def test_a_failure_from_before_the_clock_was_set_back_is_retried_when_asked(own_caches: Path) -> None:
    with pytest.raises(CompileError):
        wrapper(own_caches, Copying(error=CompileError("no"))).get_or_compile(GRAPH)
    ahead = time.time() + 3600
    os.utime(wrapper(own_caches).entry(GRAPH.key).failure, (ahead, ahead))
    assert not wrapper(own_caches, retry_failed=True).get_or_compile(GRAPH).hit


def test_a_compile_that_is_interrupted_before_it_begins_does_not_begin(own_caches: Path) -> None:
    class Held(Copying):
        held, ended = threading.Event(), threading.Event()

        def hold(self, lock: Path, token: str) -> None:
            self.held.set()
            assert self.ended.wait(600)

        def close(self) -> None:
            self.ended.set()

    compiler = Held()
    ours = wrapper(own_caches, compiler)
    with ThreadPoolExecutor() as pool:
        compiled = pool.submit(ours.get_or_compile, GRAPH)
        assert compiler.held.wait(600)
        ours.interrupt()
        with pytest.raises(KeyboardInterrupt):
            compiled.result()
    assert compiler.compiled == 0
    assert not [*own_caches.rglob("*.lock"), *own_caches.rglob("*.tmp")]


def test_an_interrupted_compile_is_no_failure_and_leaves_no_lock(own_caches: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        wrapper(own_caches, Copying(error=KeyboardInterrupt())).get_or_compile(GRAPH)  # type: ignore[arg-type]
    entry = wrapper(own_caches).entry(GRAPH.key)
    assert names(entry.path) == {"model.fxgraph", "compile_flags.json"}


@pytest.mark.parametrize("name", ["model.inductor", "model.kernels"])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-3], id="truncated"),
        pytest.param(lambda data: bytes([data[0] ^ 1]) + data[1:], id="bit-flipped"),
        pytest.param(lambda data: b"", id="empty"),
    ],
)
def test_a_corrupt_artifact_is_recompiled_and_kept_aside(
    own_caches: Path, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[bytes], bytes]
) -> None:
    entry = wrapper(own_caches).get_or_compile(GRAPH).entry
    path = entry.path / name
    broken = damage(path.read_bytes())
    path.write_bytes(broken)
    assert not wrapper(own_caches).get_or_compile(GRAPH).hit
    (kept,) = entry.path.glob(f"{name}.*{filenames.QUARANTINE_SUFFIX}")
    assert kept.read_bytes() == broken
    assert kept.name.replace("kernels", "inductor")[:14] in capsys.readouterr().err
    assert entry.broken_reason() == ""


def test_an_entry_renamed_to_another_key_is_not_believed(own_caches: Path) -> None:
    entry = wrapper(own_caches).get_or_compile(GRAPH).entry
    other = entry.path.with_name("MODULE_ffffffffffffffffffff+d7517139")
    entry.path.rename(other)
    compiler = Copying()
    wrapper(own_caches, compiler).get_or_compile(
        msgspec.structs.replace(GRAPH, key=GRAPH.key.__class__("f" * 20, "d7517139"))
    )
    assert compiler.compiled == 1


def test_extraction_stores_the_graph_and_a_later_compile_makes_it_a_hit(
    own_caches: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wrapper(own_caches).extract(GRAPH) is False
    entry = wrapper(own_caches).entry(GRAPH.key)
    assert names(entry.path) == {"model.fxgraph", "compile_flags.json"}
    said = capsys.readouterr().err
    assert f"Extracting graphs ({entry.graph}) for ahead-of-time parallel compilation. No compilation was done." in said
    assert not wrapper(own_caches).compile_entry(entry.path).hit
    assert wrapper(own_caches).extract(GRAPH) is True
    assert wrapper(own_caches).get_or_compile(GRAPH).hit


@pytest.mark.parametrize("field", ["workdir", "dump"])
def test_a_folder_for_the_compilers_work_is_made_or_its_lack_said_but_never_a_failure(
    own_caches: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], field: str
) -> None:
    tasks: list[CompileTask] = []

    class Noting(Copying):
        def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
            tasks.append(task)
            return super().compile(task, began=began)

    (tmp_path / "file").touch()
    for place in ("work", "file"):
        assert not wrapper(own_caches / place, Noting(), **{field: str(tmp_path / place)}).get_or_compile(GRAPH).hit
    assert [getattr(task, field) for task in tasks] == [tmp_path / "work", None]
    assert (tmp_path / "work").is_dir()
    assert f"{tmp_path / 'file'} cannot be made" in capsys.readouterr().err


def test_without_a_cache_nothing_is_written_to_the_root(own_caches: Path) -> None:
    obtained = wrapper(own_caches, no_cache=True).get_or_compile(GRAPH)
    assert obtained.entry.artifact.exists()
    assert not own_caches.exists()


def test_threads_without_a_cache_leave_each_others_work_alone() -> None:
    graph, compiler = fresh_graph(), Overlapping()
    one = wrapper(Path("/nowhere"), compiler, no_cache=True)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(one.get_or_compile, graph)
        assert compiler.written.wait(60)
        found = [one.get_or_compile(graph), first.result()]
    assert [each.entry.artifact.read_bytes() for each in found] == [b"the graphthe graph"] * 2
    assert compiler.compiled == 2, "no scratch folder was given up for another one"


class Overlapping(Copying):
    """Its first compile has written its artifact before the second one begins, and ends with that."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self._both = threading.Event(), threading.Barrier(2)

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        outcome = super().compile(task, began=began)
        self.written.set()
        self._both.wait(60)
        return outcome


@pytest.mark.parametrize(
    ("problem", "cause"),
    [
        (CompilerMissing("a library is missing"), CompileCause.NO_COMPILER),
        (CacheUnusable("the graph's file was changed"), CompileCause.ELSEWHERE),
        (ClaimLost("another node took over"), CompileCause.ELSEWHERE),
        (DiskFull("no space left"), CompileCause.DISK_FULL),
        (OSError(errno.ENOSPC, "No space left on device"), CompileCause.DISK_FULL),
        (CompileError("no such operator"), CompileCause.ERROR),
    ],
    ids=lambda value: "" if isinstance(value, CompileCause) else type(value).__name__,
)
def test_why_a_compile_ended_is_reported(own_caches: Path, problem: Exception, cause: CompileCause) -> None:
    class Once(Copying):
        def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
            raised, self.error = self.error, None
            if raised is not None:
                raise raised
            return super().compile(task, began=began)

    reported: list[Event] = []
    options = WrapperOptions(cache_url=str(own_caches))
    compiler = Once(error=problem)
    with contextlib.suppress(CompileError):
        Wrapper(compiler, options, emit=reported.append).get_or_compile(GRAPH)
    ends = [event.cause for event in reported if isinstance(event, CompileEnded)]
    assert ends[0] is cause
    assert len(ends) == 1 + compiler.compiled


def test_a_compile_that_is_refused_for_no_disks_sake_is_not_tried_on_every_disk() -> None:
    compiler = Copying(error=CacheUnusable("the graph's file was changed"))
    one = wrapper(Path("/nowhere"), compiler, no_cache=True)
    with pytest.raises(CacheUnusable, match="was changed"):
        one.get_or_compile(fresh_graph())
    assert compiler.compiled == 1


def test_a_graph_that_cannot_travel_is_left_to_its_job_and_leaves_nothing(own_caches: Path) -> None:
    def cannot() -> bytes:
        raise NotSerializable("a lambda")

    reported: list[Event] = []
    one = Wrapper(Copying(), WrapperOptions(cache_url=str(own_caches)), emit=reported.append)
    with pytest.raises(NotSerializable, match="a lambda"):
        one.get_or_compile(GraphToCompile(key=GRAPH.key, data=cannot))
    assert not [event for event in reported if isinstance(event, CompileBegan)]
    assert one.entry(GRAPH.key).state() is Lookup.MISS
    assert names(one.entry(GRAPH.key).path) == set()


def test_a_file_in_place_of_the_root_is_an_error_that_names_it(tmp_path: Path) -> None:
    root = tmp_path / "file"
    root.touch()
    with pytest.raises(CacheUnusable, match=re.escape(str(root))):
        wrapper(root).entry(GRAPH.key)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_root_costs_a_warning_not_the_job(own_caches: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_caches.mkdir()
    own_caches.chmod(0o555)
    assert wrapper(own_caches).get_or_compile(GRAPH).entry.artifact.exists()
    assert "compiling without the cache" in capsys.readouterr().err


def test_an_entry_that_cannot_be_reached_costs_a_warning_not_the_job(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that another user has closed, or a file system that has gone: to look at a file in it raises then."""
    one, exists = wrapper(own_caches), Path.exists

    def closed(path: Path) -> bool:
        if own_caches in path.parents and path.name == filenames.DONE:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return exists(path)

    monkeypatch.setattr(Path, "exists", closed)
    assert one.find_hit(GRAPH.key, "") is None
    with pytest.raises(CacheUnusable, match="Permission denied"):
        one.extract(GRAPH)
    with pytest.raises(CacheUnusable, match="Permission denied"):
        wrapper(own_caches, on_miss=OnMiss.ERROR).get_or_compile(GRAPH)
    assert one.get_or_compile(GRAPH).entry.artifact.read_bytes() == b"the graphthe graph"
    assert "compiling without the cache" in capsys.readouterr().err


def test_a_graph_that_only_its_job_can_compile_is_left_to_the_job(own_caches: Path) -> None:
    class Refusing(Copying):
        def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
            raise NotSerializable("an operator of the script")

    one = wrapper(own_caches, Refusing())
    one.extract(GRAPH)
    entry = one.entry(GRAPH.key)
    with pytest.raises(CompileError, match="only be compiled in the job"):
        one.compile_entry(entry.path)
    assert entry.state() is Lookup.MISS
    assert names(entry.path) == {"model.fxgraph", "compile_flags.json"}
    assert not wrapper(own_caches).get_or_compile(GRAPH).hit


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_costs_a_warning_not_the_job(own_caches: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class OnFullDisk(Copying):
        def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
            outcome = super().compile(task, began=began)
            if str(own_caches) in str(task.graph):
                with open("/dev/full", "wb", buffering=0) as full:
                    full.write(b"x")
            return outcome

    one = wrapper(own_caches, OnFullDisk())
    assert one.get_or_compile(GRAPH).entry.artifact.exists()
    assert "no space left" in capsys.readouterr().err
    left = one.entry(GRAPH.key)
    assert left.state() is Lookup.MISS
    assert not left.lock.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")
@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777])
def test_a_root_of_somebody_else_that_others_can_write_to_is_refused(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    own_caches.mkdir()
    own_caches.chmod(mode)
    os.chown(own_caches, 12345, 12345)
    with pytest.raises(RefusedForSafety, match="NEURONTOP_TRUST_CACHE"):
        wrapper(own_caches).get_or_compile(GRAPH)
    monkeypatch.setenv("NEURONTOP_TRUST_CACHE", "1")
    assert not wrapper(own_caches).get_or_compile(GRAPH).hit


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_strangers_artifact_in_a_shared_root_is_refused(own_caches: Path) -> None:
    entry = wrapper(own_caches).get_or_compile(GRAPH).entry
    own_caches.chmod(stat.S_IMODE(own_caches.stat().st_mode) | stat.S_IWGRP)
    os.chown(entry.artifact, 12345, 12345)
    with pytest.raises(RefusedForSafety, match="12345"):
        wrapper(own_caches).get_or_compile(GRAPH)


def test_an_empty_cache_has_misses_without_a_word_from_the_compiler(own_caches: Path) -> None:
    class Slow(Copying):
        def directory(self) -> str:
            raise AssertionError("it takes a second to know its directory")

    assert wrapper(own_caches, Slow()).expects_misses
    wrapper(own_caches).get_or_compile(GRAPH)
    assert not wrapper(own_caches).expects_misses

    class Newer(Copying):
        def directory(self) -> str:
            return "inductor-1.0.1+00000000"

    assert wrapper(own_caches, Newer()).expects_misses, "nothing of this compiler"


@pytest.mark.parametrize("form", FORMATS.values())
def test_the_lines_are_in_the_sdks_shape(own_caches: Path, form: LogGeneration) -> None:
    stream = io.StringIO()
    one = Wrapper(
        Copying(), WrapperOptions(cache_url=str(own_caches)), log=log_lines.WrapperLog(form=form, stream=stream)
    )
    one.get_or_compile(GRAPH)
    one.get_or_compile(GRAPH)
    tag = r"\|\|[A-Z_]+\|\|:" if form is LogGeneration.G2 else ""
    header = rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.000\d{{3}}:  {os.getpid()}  " + (
        rf"INFO {tag} " if form is LogGeneration.G2 else r"\[INFO\]: "
    )
    lines = [line for line in stream.getvalue().splitlines() if line and line != "Compiler status PASS"]
    assert all(re.match(header, line) for line in lines)
    assert stream.getvalue().count("\nCompiler status PASS\n") == 1
    texts = [re.sub(header, "", line).split(maxsplit=2)[0] for line in lines]
    newest = ["Call", "Compilation", "Using"]
    assert texts == (["Compile", "Call", "Compile", "Using"] if form is LogGeneration.G2 else newest)


def test_a_job_without_standard_error_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has none where it was started with that descriptor closed."""
    monkeypatch.setattr(sys, "stderr", None)
    log_lines.WrapperLog().compile_passed("MODULE_1+d41d8cd9", "model.fxgraph")


def _publish_and_stop(root: str, steps: int) -> None:
    one = wrapper(Path(root))
    entry = one.entry(GRAPH.key)
    assert EntryLock(entry).acquire()
    entry.store_graph(b"the graph", GRAPH.key.graph, [])
    made = {path.name: entry.temporary(path.name) for path in entry.artifacts}
    for path in made.values():
        path.write_bytes(b"the graphthe graph")
    from neuron_top.cache.model.record import Stats

    for step in entry.publishing(made, Stats(module=entry.module, graph=GRAPH.key.graph))[:steps]:
        step()
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("steps", range(12))
def test_a_kill_after_any_step_of_publishing_is_repaired(own_caches: Path, steps: int) -> None:
    victim = spawn.Process(target=_publish_and_stop, args=(str(own_caches), steps))
    victim.start()
    victim.join()
    assert victim.exitcode == -signal.SIGKILL
    obtained = wrapper(own_caches).get_or_compile(GRAPH)
    assert obtained.entry.artifact.read_bytes() == b"the graphthe graph"
    assert obtained.entry.broken_reason() == ""
    assert wrapper(own_caches).get_or_compile(GRAPH).hit
    if not obtained.hit:
        assert not any(name.endswith(".tmp") for name in names(obtained.entry.path))


def test_kills_at_random_instants_never_leave_a_false_hit_or_a_dead_end(own_caches: Path, tmp_path: Path) -> None:
    for round_number in range(12):
        victim = spawn.Process(target=obtain_once, args=(str(own_caches), str(tmp_path / "journal"), 0.05))
        victim.start()
        victim.join(0.25 + round_number * 0.03)
        victim.kill()
        victim.join()
        entry = wrapper(own_caches).entry(GRAPH.key)
        assert entry.state() is not Lookup.HIT or entry.broken_reason() == ""
        if round_number % 3 == 2:
            obtained = wrapper(own_caches).get_or_compile(GRAPH)
            assert obtained.entry.artifact.read_bytes() == b"the graphthe graph"
            obtained.entry.done.unlink()


def test_this_module_is_importable_by_the_processes_it_starts() -> None:
    assert sys.modules[__name__].__name__ == "tests.compile.test_wrapper"
