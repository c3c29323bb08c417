"""Looking at a root: nothing is changed, nothing is counted twice, nothing leads out, and a refresh is a scan."""

from __future__ import annotations

import errno
import gzip
import os
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.actions.plan_context import collect_context
from neuron_top.cache.model.states import State
from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.cache.scan import catalog, index, scanner
from neuron_top.cache.scan.contents import Contents
from neuron_top.cache.scan.legacy import read_old
from neuron_top.cli.main import main
from neuron_top.errors import NothingToShow
from neuron_top.parsers.hlo import HloSummary
from tests.builders import (
    COMPILER,
    FAILURE_LOG,
    HLO_NAME,
    module_name,
    neff,
    set_age,
    small_hlo,
    write_entry,
)

HIT = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}
LONG_AGO = 100_000.0
NOBODY = 65534


def graph(number: int) -> str:
    """Another graph's twenty digits."""
    return f"{number:020x}"


def everything_about(root: Path) -> dict[str, tuple[int, ...]]:
    """Times, sizes and modes of all that lies below a root."""
    found = {}
    for path in (root, *root.rglob("*")):
        info = path.lstat()
        found[str(path)] = (info.st_atime_ns, info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_mode)
    return found


def test_a_look_changes_nothing_access_times_included(tmp_path: Path) -> None:
    write_entry(tmp_path, HIT, age=LONG_AGO)
    write_entry(tmp_path, {HLO_NAME: b"x", "model.log": FAILURE_LOG.encode()}, graph=graph(1), age=LONG_AGO)
    before = everything_about(tmp_path)
    snapshot = scanner.scan(str(tmp_path))
    scanner.refresh(snapshot)
    assert len(snapshot.entries) == 2
    assert everything_about(tmp_path) == before


def test_bytes_are_disk_blocks_and_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    one = write_entry(tmp_path, {**HIT, "model.neff": neff() + b""}, graph=graph(1))
    two = write_entry(tmp_path, {HLO_NAME: b"x", "model.done": b""}, graph=graph(2))
    os.link(one / "model.neff", two / "model.neff")
    os.link(one / "model.neff", one / "again")
    snapshot = scanner.scan(str(tmp_path))
    blocks = {path: path.stat().st_blocks * 512 for path in (*one.iterdir(), *two.iterdir())}
    inodes = {path.stat().st_ino: size for path, size in blocks.items()}
    assert snapshot.totals().all.bytes == sum(inodes.values())
    by_graph = {entry.module: entry for entry in snapshot.entries}
    assert by_graph[two.name].allocated == sum(size for path, size in blocks.items() if path.parent == two)
    assert {entry.state for entry in snapshot.entries} == {State.HIT}


def test_a_sparse_file_counts_what_it_takes(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, HIT)
    with open(folder / "wrapped_neff.hlo", "wb") as file:
        file.truncate(50 * 1024**2)
    (entry,) = scanner.scan(str(tmp_path)).entries
    assert entry.apparent > 50 * 1024**2
    assert entry.allocated < 1024**2


def test_links_are_followed_within_the_cache_and_into_hub_blobs_only(tmp_path: Path) -> None:
    hub = tmp_path / "hub" / "models--aws-neuron--optimum-neuron-cache"
    blob = hub / "blobs" / "abc"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(neff())
    outside = tmp_path / "outside"
    outside.write_bytes(neff())
    good = write_entry(hub / "snapshots" / "c0ffee", {HLO_NAME: b"x", "model.done": b""}, graph=graph(1))
    bad = write_entry(hub / "snapshots" / "c0ffee", {HLO_NAME: b"x", "model.done": b""}, graph=graph(2))
    (good / "model.neff").symlink_to(blob)
    (bad / "model.neff").symlink_to(outside)
    snapshot = scanner.scan(str(hub))
    states = {entry.module: entry.state for entry in snapshot.entries}
    assert states == {good.name: State.HIT, bad.name: State.UNKNOWN}
    [refused] = [entry for entry in snapshot.entries if entry.module == bad.name]
    assert refused.problems == ("model.neff: a link that leads nowhere or out of the cache",)
    assert refused.read_at is None
    assert all(entry.compiler == f"snapshots/c0ffee/{COMPILER}" for entry in snapshot.entries)


@pytest.mark.parametrize("where", ["in the cache", "in a hub"])
def test_a_refresh_sees_that_what_a_link_leads_to_is_gone(tmp_path: Path, where: str) -> None:
    """It changes no time of the entry's folder: the entry stayed a hit until a full scan."""
    root = tmp_path / "root"
    place, old = write_entry(root, {HLO_NAME: b"x", "model.done": b""}), time.time() - 864_000
    target = (root if where == "in the cache" else tmp_path / "models--x") / "blobs" / "abc"
    target.parent.mkdir(parents=True)
    target.write_bytes(neff())
    (place / "model.neff").symlink_to(target)
    for path in (*place.iterdir(), place):
        os.utime(path, (old, old), follow_symlinks=False)
    before = scanner.scan(str(root))
    assert [entry.state for entry in before.entries] == [State.HIT]
    index.save(before, tmp_path / "state")
    target.unlink()
    assert [entry.state for entry in scanner.refresh(before).entries] == [State.UNKNOWN]
    assert set(catalog.sums(str(root), tmp_path / "state").totals.states) == {State.UNKNOWN}


def test_a_link_to_a_file_of_another_entry_takes_its_own_blocks_only(tmp_path: Path) -> None:
    first = write_entry(tmp_path, {**HIT, "model.neff": neff(payload=b"x" * 50_000)}, graph=graph(1))
    second = write_entry(tmp_path, {HLO_NAME: b"x", "model.done": b""}, graph=graph(2))
    (second / "model.neff").symlink_to(first / "model.neff")
    snapshot = scanner.scan(str(tmp_path))
    assert {entry.state for entry in snapshot.entries} == {State.HIT}
    blocks = sum(path.lstat().st_blocks * 512 for path in tmp_path.glob("*/*/*"))
    assert snapshot.totals().all.bytes == blocks


def test_a_folder_that_is_a_link_is_no_entry(tmp_path: Path) -> None:
    elsewhere = write_entry(tmp_path / "elsewhere", HIT)
    root = tmp_path / "root"
    write_entry(root, HIT, graph=graph(1))
    (root / COMPILER / module_name(b"linked")).symlink_to(elsewhere)
    assert len(scanner.scan(str(root)).entries) == 1


def test_names_that_are_no_utf8_and_pipes_do_not_stop_a_scan(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, HIT)
    os.close(os.open(os.fsencode(folder) + b"/bad\xff\x1b[2J", os.O_CREAT))
    (tmp_path / os.fsdecode(b"weird\xff")).mkdir()
    pipe = write_entry(tmp_path, {HLO_NAME: b"x", "model.done": b""}, graph=graph(1))
    os.mkfifo(pipe / "model.neff")
    snapshot = scanner.scan(str(tmp_path))
    states = {entry.module: entry.state for entry in snapshot.entries}
    assert states[folder.name] is State.HIT
    assert states[pipe.name] is State.UNKNOWN
    assert index.save(snapshot, tmp_path / "state")
    assert next(entry for entry in snapshot.entries if entry.module == folder.name).others == ("bad\\xff\x1b[2J",)


def as_nobody(work: Callable[[], str]) -> str:
    """What `work` says in a child that is not root: permissions forbid root nothing."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        status = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.write(theirs, work().encode())
            status = 0
        except BaseException:
            os.write(theirs, traceback.format_exc().encode())
        finally:
            os._exit(status)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as reported:
        text = reported.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, text
    return text


def reported(root: Path) -> str:
    """States and problems of a root as one line."""
    found = sorted(scanner.scan(str(root)).entries, key=lambda entry: entry.module)
    return "; ".join(f"{entry.state} {entry.problems}" for entry in found)


def test_what_may_not_be_read_is_shown_and_said() -> None:
    # Not in tmp_path: its folders above belong to root alone, and nobody could not get there.
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        folder = write_entry(root, HIT, graph=graph(1))
        artifact = write_entry(root, HIT, graph=graph(2)) / "model.neff"
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        artifact.chmod(0)
        folder.chmod(0)
        try:
            seen = as_nobody(lambda: reported(root))
        finally:
            folder.chmod(0o700)
    closed, shut = "unknown ('permission denied',)", "unknown ('model.neff: permission denied',)"
    assert seen == f"{closed}; {shut}"


@pytest.mark.parametrize(
    ("name", "state", "problem"),
    [
        ("model.neff", State.UNKNOWN, "model.neff: input/output error"),
        ("compile_flags.json", State.UNKNOWN, "input/output error"),
    ],
)
def test_a_file_that_a_failing_disk_cannot_read_does_not_hide_the_other_entries(
    name: str, state: State, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound, damaged = write_entry(tmp_path, HIT), write_entry(tmp_path, {**HIT, "model.log": b""}, graph=graph(1))
    lost, read = (damaged / name).stat().st_ino, os.read

    def failing(descriptor: int, count: int) -> bytes:
        if os.fstat(descriptor).st_ino == lost:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(descriptor, count)

    monkeypatch.setattr(os, "read", failing)
    found = {entry.module: entry for entry in scanner.scan(str(tmp_path)).entries}
    assert found[sound.name].state is State.HIT
    assert (found[damaged.name].state, found[damaged.name].problems) == (state, (problem,))


@pytest.mark.parametrize("lost", ["compiler", "of 2022", "unknown"])
def test_a_folder_that_a_failing_disk_cannot_list_does_not_hide_the_other_entries(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = write_entry(tmp_path, HIT)
    old = tmp_path / "USER_neuroncc-1.0.47218.0+162039557" / "MODULE_18200615679846498221"
    folder = {"compiler": tmp_path / "neuronxcc-9.9.9+abc", "of 2022": old, "unknown": tmp_path / "unknown"}[lost]
    folder.mkdir(parents=True)
    number = folder.stat().st_ino
    for name in ("scandir", "listdir"):
        listing = getattr(os, name)

        def failing(path: int, listing: Callable[[int], object] = listing) -> object:
            if isinstance(path, int) and os.fstat(path).st_ino == number:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return listing(path)

        monkeypatch.setattr(os, name, failing)
    snapshot = scanner.scan(str(tmp_path))
    found = {entry.module: (entry.state, entry.problems) for entry in snapshot.entries}
    assert found.pop(sound.name) == (State.HIT, ())
    match lost:
        case "compiler":
            assert (found, snapshot.problems) == ({}, ("neuronxcc-9.9.9+abc: input/output error",))
        case "of 2022":
            assert found == {old.name: (State.EMPTY, ("not all of it could be read",))}
        case _:
            assert (found, snapshot.problems) == ({}, ("unknown: not all of it could be read",))


def test_an_entry_of_another_user_that_is_removed_while_it_is_opened_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, opened = write_entry(tmp_path, HIT), os.open

    def of_another_user(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == folder.name and flags & os.O_NOATIME:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        if path == folder.name:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return opened(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", of_another_user)
    assert scanner.scan(str(tmp_path)).entries == ()


def test_what_is_wrong_with_an_artifact_is_still_said_at_the_second_look(tmp_path: Path) -> None:
    write_entry(tmp_path, {**HIT, "model.neff": b"cut short"})
    first = scanner.scan(str(tmp_path))
    assert "9 bytes" in first.entries[0].problems[0]
    assert scanner.refresh(first).entries == first.entries


def test_what_is_wrong_with_an_artifact_that_was_read_leaves_nothing_unreadable(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, {**HIT, "model.neff": b"cut short"})
    (entry,) = scanner.scan(str(tmp_path)).entries
    assert (len(entry.problems), entry.unreadable) == (1, ())
    os.mkfifo(folder / "pipe")
    (entry,) = scanner.scan(str(tmp_path)).entries
    assert len(entry.problems) == 2
    assert entry.unreadable == ("pipe: neither file nor folder",)


def test_no_folder_and_a_file_in_its_place_are_reported(tmp_path: Path) -> None:
    with pytest.raises(NothingToShow, match="does not exist"):
        scanner.scan(str(tmp_path / "no"))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NothingToShow, match="it is a file"):
        scanner.scan(str(tmp_path / "file"))
    (tmp_path / "loop").symlink_to(tmp_path / "back")
    (tmp_path / "back").symlink_to(tmp_path / "loop")
    with pytest.raises(NothingToShow, match="it is a link that leads back to itself"):
        scanner.scan(str(tmp_path / "loop"))


def test_the_layouts_of_2022_and_of_the_hub_in_2023_are_found(tmp_path: Path) -> None:
    module = "MODULE_18200615679846498221"
    old = f"neuron-compile-cache/USER_neuroncc-1.0.47218.0+162039557/{module}"
    place = tmp_path / old / "MODULE_0_SyncTensorsGraph.318_host-1" / "83a0fd4a"
    place.mkdir(parents=True)
    (place / "MODULE_0.neff").write_bytes(neff())
    hub = "2.10.0.35+3817a0c8c/vit/4c6b/8740"
    write_entry(tmp_path, {"model.hlo.pb": b"x", "model.neff": neff(), "compile_flags.txt": b""}, compiler=hub)
    (tmp_path / COMPILER / "0_REGISTRY").mkdir(parents=True)
    (tmp_path / COMPILER / "0_REGISTRY" / "a.json").write_bytes(b"{}")
    (tmp_path / "lock").write_bytes(b"")
    snapshot = scanner.scan(str(tmp_path))
    found = {entry.compiler: entry.state for entry in snapshot.entries}
    assert found == {old.rpartition("/")[0]: State.HIT_LEGACY, hub: State.HIT_LEGACY}
    assert {other.path: other.files for other in snapshot.others} == {"lock": 1, f"{COMPILER}/0_REGISTRY": 1}


@pytest.mark.parametrize("old", ["USER_neuroncc-1.0.47218.0+162039557", COMPILER])
def test_what_goes_deep_in_an_entry_of_2022_or_an_exported_model_is_seen(tmp_path: Path, old: str) -> None:
    deep = tmp_path / "cache" / old / "MODULE_18200615679846498221" / "unet" / "deep"
    deep.mkdir(parents=True)
    (deep / "model.neff").write_bytes(neff())
    set_age(deep.parent.parent, LONG_AGO)
    before = catalog.open_root(str(tmp_path / "cache"), tmp_path / "state").entries[0]
    (deep / "model.neff").unlink()
    after = catalog.open_root(str(tmp_path / "cache"), tmp_path / "state").entries[0]
    assert (before.allocated > 0, after.allocated) == (True, 0)


@pytest.mark.parametrize("access_times", [True, False])
def test_a_mount_without_access_times_shows_no_read_of_an_entry_of_2022(tmp_path: Path, access_times: bool) -> None:
    compiler, module = "USER_neuroncc-1.0.47218.0+162039557", "MODULE_18200615679846498221"
    path = tmp_path / compiler / module / "MODULE_0" / "83a0fd4a" / "MODULE_0.neff"
    path.parent.mkdir(parents=True)
    path.write_bytes(neff())
    os.utime(path, (2000.0, 1000.0))
    entry = read_old(str(tmp_path), compiler, module, NoAtimeReader(), access_times=access_times)
    assert entry is not None
    assert entry.read_at == (2000.0 if access_times else None)


def test_a_file_in_place_of_a_module_folder_is_no_entry(tmp_path: Path) -> None:
    (tmp_path / COMPILER).mkdir()
    (tmp_path / COMPILER / "MODULE_13190871343506053659").write_bytes(b"")
    assert scanner.scan(str(tmp_path)).entries == ()


@pytest.mark.parametrize("shared", [False, True])
def test_a_plan_counts_what_is_deep_in_other_folders_as_it_is_now(tmp_path: Path, shared: bool) -> None:
    root, state = tmp_path / "cache", tmp_path / "state"
    write_entry(root, HIT)
    deep = root / "dumps" / "run" / "sg00"
    deep.mkdir(parents=True)
    (deep / "bir.json").write_bytes(b"x" * 1_000_000)
    full = catalog.open_root(str(root), state)
    (deep / "bir.json").unlink()
    emptied = catalog.open_root(str(root), state) if not shared else full
    disk = msgspec.structs.replace(full.filesystem, shared=shared)
    before = collect_context(msgspec.structs.replace(emptied, filesystem=disk)).before
    assert before.size == full.totals().all.bytes
    assert before.files == len(HIT) + 1, "and the flags"


def test_entries_in_the_root_itself_are_found_and_what_lies_beside_them_is_counted_once(tmp_path: Path) -> None:
    write_entry(tmp_path, HIT, compiler=".", graph=graph(1))
    write_entry(tmp_path, {HLO_NAME: b"x", "model.log": FAILURE_LOG.encode()}, compiler=".", graph=graph(2))
    write_entry(tmp_path, HIT, graph=graph(3))
    (tmp_path / "lock").write_bytes(b"")
    (tmp_path / "README").mkdir()
    snapshot = scanner.scan(str(tmp_path))
    found = {entry.path: entry.state for entry in snapshot.entries}
    first, second, third = (module_name(b'["--target=trn1"]', graph(number)) for number in (1, 2, 3))
    assert found == {first: State.HIT, second: State.FAILED, f"{COMPILER}/{third}": State.HIT}
    assert sorted(other.path for other in snapshot.others) == ["README", "lock"]
    assert scanner.look_at(str(tmp_path), snapshot.entries)[0].path in found
    assert not any(entry.local for entry in snapshot.entries)


def test_a_folder_of_that_name_makes_no_cache_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "MODULE_docs").mkdir()
    assert scanner.scan(str(tmp_path)).entries == ()


def test_a_compressed_graph_is_a_graph(tmp_path: Path) -> None:
    packed = f"{HLO_NAME}.gz"
    data = gzip.compress(small_hlo())
    write_entry(tmp_path, {packed: data}, graph=graph(1))
    write_entry(tmp_path, {packed: data, "model.log": FAILURE_LOG.encode()}, graph=graph(2))
    write_entry(tmp_path, {packed: data, f"{packed}.lock": b""}, graph=graph(3))
    write_entry(tmp_path, {packed: b"no gzip"}, graph=graph(4))
    entries = sorted(scanner.scan(str(tmp_path)).entries, key=lambda entry: entry.module)
    assert [entry.state for entry in entries] == [State.EXTRACTED, State.FAILED, State.LOCKED_UNKNOWN, State.EXTRACTED]
    read = Contents(str(tmp_path), entries[0])
    assert isinstance(read.graph(), HloSummary)
    assert read.nodes()
    assert isinstance(Contents(str(tmp_path), entries[3]).graph(), str)


def test_an_unchanged_entry_is_the_same_object_and_its_header_is_not_read_again(tmp_path: Path) -> None:
    write_entry(tmp_path, HIT, age=LONG_AGO)
    before = scanner.scan(str(tmp_path))
    after = scanner.refresh(before)
    assert after.entries[0] is before.entries[0]


@pytest.mark.parametrize("ahead", [0, 70], ids=["", "many were written while the clock was ahead"])
def test_a_young_entry_rewritten_in_place_is_seen_by_a_refresh(ahead: int, tmp_path: Path) -> None:
    for number in range(ahead):
        write_entry(tmp_path, HIT, graph=graph(number + 1), age=-LONG_AGO)
    folder = write_entry(tmp_path, HIT, age=60)
    before = scanner.scan(str(tmp_path))
    with open(folder / "model.neff", "r+b") as file:
        file.truncate(1500)
    after = scanner.refresh(before)
    assert [entry.module for entry in after.entries if entry.state is State.CORRUPT] == [folder.name]


ACTIONS = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([*HIT, "model.log", f"{HLO_NAME}.lock", "gone", "folder gone"])),
    max_size=12,
)


@given(ACTIONS, ACTIONS)
@settings(max_examples=40, deadline=None)
def test_a_refresh_sees_what_a_scan_sees(
    tmp_path_factory: pytest.TempPathFactory, first: list[tuple[int, str]], then: list[tuple[int, str]]
) -> None:
    root = tmp_path_factory.mktemp("cache")
    (root / COMPILER).mkdir()
    act(root, first)
    before = scanner.scan(str(root))
    act(root, then)
    fresh, refreshed = scanner.scan(str(root)), scanner.refresh(before)
    assert sorted(refreshed.entries, key=repr) == sorted(fresh.entries, key=repr)
    assert refreshed.totals() == fresh.totals()


def act(root: Path, actions: list[tuple[int, str]]) -> None:
    """Write one file of an entry, empty the entry, or take it away."""
    for number, name in actions:
        folder = root / COMPILER / f"MODULE_{graph(number)}+00000000"
        if name in ("gone", "folder gone"):
            for path in folder.glob("*"):
                path.unlink()
            if name == "folder gone" and folder.exists():
                folder.rmdir()
        else:
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(HIT.get(name, FAILURE_LOG.encode() if name == "model.log" else b""))


def test_a_second_start_reads_the_index_and_a_broken_index_is_as_good_as_none(tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    write_entry(root, HIT, age=LONG_AGO)
    write_entry(root, {HLO_NAME: b"x", f"{HLO_NAME}.lock": b""}, graph=graph(1))
    first = catalog.open_root(str(root), state)
    stored = index.load(str(root.resolve()), state)
    assert stored is not None
    assert sorted(stored.entries, key=repr) == sorted(first.entries, key=repr)
    place = index.path_of(str(root.resolve()), state)
    for damage in (b"", b"nonsense", place.read_bytes()[:-5]):
        place.write_bytes(damage)
        assert index.load(str(root.resolve()), state) is None
        assert len(catalog.open_root(str(root), state).entries) == 2


def test_a_cache_with_a_time_that_no_calendar_has_is_shown_and_only_not_indexed() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:  # memory keeps any time, most disks do not
        root, state = Path(place) / "cache", Path(place) / "state"
        folder = write_entry(root, HIT)
        for path in (*folder.iterdir(), folder):
            os.utime(path, (9e15, 9e15))
        snapshot = scanner.scan(str(root))
        assert [entry.state for entry in snapshot.entries] == [State.HIT]
        assert not index.save(snapshot, state)
        assert main(["cache", "ls", str(root), "--json"]) == 0


def test_sums_from_the_index_follow_open_entries_and_new_ones(tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    write_entry(root, HIT, age=LONG_AGO)
    folder = write_entry(root, {HLO_NAME: b"x"}, graph=graph(1))
    set_age(root / COMPILER, LONG_AGO)
    catalog.open_root(str(root), state)
    (folder / "model.neff").write_bytes(neff())
    set_age(root / COMPILER, 0.0, now=time.time())
    assert catalog.sums(str(root), state).totals.states.keys() == {"hit", "published-unmarked"}
    write_entry(root, HIT, graph=graph(2))
    assert catalog.sums(str(root), state).totals.all.entries == 3


def test_a_notification_of_what_is_no_entry_does_not_count_it_again(tmp_path: Path) -> None:
    write_entry(tmp_path, HIT)
    (tmp_path / COMPILER / "MODULE_1.tmp").write_bytes(b"x")
    before = scanner.scan(str(tmp_path))
    after = scanner.refresh_entries(before, [f"{COMPILER}/MODULE_1.tmp"])
    assert (after.others, after.entries) == (before.others, before.entries)


@pytest.mark.parametrize("compiler", ["neuronxcc-9.9.9+abc", "snapshots/0a1b/neuronxcc-9.9.9+abc", "."])
def test_sums_from_the_index_count_a_compiler_that_came_since(compiler: str, tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    write_entry(root, HIT, age=LONG_AGO)
    (root / "snapshots").mkdir()
    assert catalog.sums(str(root), state).totals.all.entries == 1
    write_entry(root, HIT, graph=graph(1), compiler=compiler)
    assert catalog.sums(str(root), state).totals.all.entries == 2


def test_sums_from_the_index_count_what_else_came_since(tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    write_entry(root, HIT, age=LONG_AGO)
    assert catalog.sums(str(root), state).other_files == 0
    (root / "a\nfile").write_bytes(b"x")
    (root / "dumps").mkdir()
    (root / "dumps" / "core").write_bytes(b"x" * 5000)
    found = catalog.sums(str(root), state)
    assert (found.other_files, found.other_bytes > 5000) == (2, True)
    head = index.load_head(str(root.resolve()), state)
    assert head is not None
    assert len(head.others) == 2, "stored, so that the next sums need not refresh again"


def test_an_index_that_was_written_while_the_clock_was_ahead_is_not_fresh_and_is_written_again(tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    folder = write_entry(root, HIT)
    assert index.save(scanner.scan(str(root), now=time.time() + LONG_AGO), state)
    (folder / "model.neff").write_bytes(neff() + bytes(1_000_000))  # in place, which no folder's time tells
    assert catalog.sums(str(root), state).totals == scanner.scan(str(root)).totals()
    head = index.load_head(str(root.resolve()), state)
    assert head is not None
    assert head.taken_at <= time.time()
