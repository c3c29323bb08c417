"""Folders that others reach: the state folder and what lies in it, and the side channel of a job's processes."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.actions import recorded_uses
from neuron_top.actions.journal.s3_journal import BucketJournal
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.pins import Pins
from neuron_top.actions.recorded_uses import USES
from neuron_top.cache.scan import catalog, index
from neuron_top.compile.side_channel import EVENTS_VARIABLE
from neuron_top.compile.side_channel import emit as tell_channel
from neuron_top.errors import RefusedForSafety
from neuron_top.events import AnyEvent, CompileEnded, LineMalformed, RunFinished, RunStarted, SourceUnavailable, encode
from neuron_top.ingest.recorder import OutputFile, Recorder
from neuron_top.ingest.recordings import store_path
from neuron_top.ingest.side_channel_source import SideChannel
from neuron_top.settings import Settings
from neuron_top.store.errors import StoreUnusable
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from neuron_top.tui.ui_state import UiState, load, save
from tests.adversary.attacker import give_away, needs_root

ENDED = CompileEnded(module="MODULE_1+a", seconds=2.0, ok=True)


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def at_most_a_minute() -> Iterator[None]:
    """What hangs for ever ends the test."""
    signal.alarm(60)
    yield
    signal.alarm(0)


def open_to_others(folder: Path) -> list[str]:
    """What another user could enter or read below `folder`, itself included, were the folders above it open."""
    places = [folder, *folder.rglob("*")]
    return [str(path.relative_to(folder)) for path in places if stat.S_IMODE(path.lstat().st_mode) & 0o077]


# --- the state folder ---


@pytest.mark.parametrize("first", ["catalog", "store", "output", "screen", "bucket", "pins"])
def test_whatever_makes_the_state_folder_nobody_else_can_enter_it(first: str, tmp_path: Path) -> None:
    state = tmp_path / "made" / "state"
    (tmp_path / "cache").mkdir()
    match first:
        case "catalog":
            assert index.save(catalog.open_root(str(tmp_path / "cache"), state), state)
        case "store":
            SqliteStore(store_path(Settings(state_dir=str(state)))).close()
        case "output":
            OutputFile(state / "runs" / "r", pytest.fail).close()
        case "screen":
            save(state, UiState(screen="logs"))
        case "bucket":
            BucketJournal("s3://bucket/prefix", state).prepare()
        case "pins":
            Pins(state).add(["MODULE_1*"])
    assert open_to_others(state) == []
    assert stat.S_IMODE(state.lstat().st_mode) == 0o700


def test_a_state_folder_that_others_may_enter_still_hides_what_we_put_into_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "cache").mkdir()
    SqliteStore(tmp_path / "state" / "db").close()
    state = tmp_path / "state"
    state.chmod(0o755)
    with SqliteStore(store_path(Settings(state_dir=str(state)))) as store:
        store.begin(RunStarted(run="r"))
        OutputFile(state / "runs" / "r", pytest.fail).close()
        save(state, UiState(screen="logs"))
        index.save(catalog.open_root(str(tmp_path / "cache"), state), state)
        assert set(open_to_others(state)) == {"."}  # the write-ahead log too


@needs_root
@pytest.mark.parametrize("planted", ["folder", "file", "link", "fifo"])
def test_a_strangers_state_folder_is_not_written_to(planted: str, tmp_path: Path) -> None:
    state, victim = tmp_path / "state", tmp_path / "victim"
    state.mkdir()
    path = store_path(Settings(state_dir=str(state)))
    match planted:
        case "folder":
            give_away(state)
        case "file":
            path.touch()
            give_away(path)
        case "link":
            path.symlink_to(victim)
        case "fifo":
            os.mkfifo(path)
    with pytest.raises(StoreUnusable, match=r"state_dir|is not a file"):
        SqliteStore(path)
    assert not victim.exists()


def test_a_state_folder_that_everybody_can_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(0o777)
    with pytest.raises(StoreUnusable, match="everybody can write"):
        SqliteStore(tmp_path / "state" / "db")


@needs_root
@pytest.mark.usefixtures("at_most_a_minute")
@pytest.mark.parametrize("kind", ["link", "fifo", "foreign"])
def test_what_lies_under_the_name_of_a_file_of_ours_costs_the_recording_only(kind: str, tmp_path: Path) -> None:
    folder, victim, said = tmp_path / "state" / "runs" / "r", tmp_path / "victim", list[str]()
    folder.mkdir(parents=True)
    for path in (folder / "output.log", tmp_path / "state" / "screen.json"):
        match kind:
            case "link":
                path.symlink_to(victim)
            case "fifo":
                os.mkfifo(path)
            case "foreign":
                path.touch()
                give_away(path)
    output = OutputFile(folder, said.append)
    assert output.append(b"secret\n") == 0
    assert len(said) == 1
    save(tmp_path / "state", UiState(screen="logs"))
    assert load(tmp_path / "state") == UiState(screen="logs"), "it took the place of what was there"
    assert not victim.exists()
    written = [path.name for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes()]
    assert written == ["screen.json"]


@pytest.mark.usefixtures("at_most_a_minute")
def test_a_pipe_under_the_name_of_a_state_file_stops_no_command(tmp_path: Path) -> None:
    pins = Pins(tmp_path)
    for path in (pins.path, tmp_path / "screen.json", tmp_path / USES, index.path_of("/cache", tmp_path)):
        path.parent.mkdir(exist_ok=True)
        os.mkfifo(path)
    with pytest.raises(RefusedForSafety, match="not a plain file"):
        pins.add(["MODULE_1*"])
    assert load(tmp_path) == UiState()
    assert index.load("/cache", tmp_path) is None
    assert index.load_head("/cache", tmp_path) is None
    with SqliteStore(tmp_path / FILE_NAME):
        assert recorded_uses.read(tmp_path, "/cache") == ({}, {})


@needs_root
def test_a_recorder_without_its_folder_says_so_once_and_goes_on(tmp_path: Path) -> None:
    state, said = tmp_path / "state", list[str]()
    state.mkdir()
    give_away(state)
    recorder = Recorder(store_path(Settings(state_dir=str(state))), RunStarted(run="r"), state / "runs/r", said.append)
    recorder.append([ENDED], 1.0)
    assert not recorder.complete
    assert len(said) == 1
    assert "belongs to user" in said[0]


@needs_root
def test_a_bucket_journal_in_a_strangers_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s3-journal").mkdir()
    give_away(tmp_path / "s3-journal")
    with pytest.raises(RefusedForSafety, match="belongs to user"):
        BucketJournal("s3://bucket/prefix", tmp_path).prepare()


# --- the side channel ---


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    folder = tmp_path / "events"
    folder.mkdir()
    return folder


def our_file(folder: Path) -> Path:
    return folder / f"{os.getpid()}.jsonl"


@pytest.mark.usefixtures("at_most_a_minute")
def test_a_pipe_without_a_reader_does_not_stop_the_job(channel: Path) -> None:
    os.mkfifo(our_file(channel))
    tell_channel(ENDED, {EVENTS_VARIABLE: str(channel)})


@pytest.mark.usefixtures("at_most_a_minute")
def test_a_pipe_whose_reader_does_not_read_does_not_stop_the_job(channel: Path) -> None:
    os.mkfifo(our_file(channel))
    reader = os.open(our_file(channel), os.O_RDONLY | os.O_NONBLOCK)
    for _ in range(3000):
        tell_channel(ENDED, {EVENTS_VARIABLE: str(channel)})
    os.close(reader)


@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_a_link_leads_the_report_nowhere(link: str, channel: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    if link == "hard":
        our_file(channel).hardlink_to(victim)
    else:
        our_file(channel).symlink_to(victim)
    tell_channel(ENDED, {EVENTS_VARIABLE: str(channel)})
    assert victim.read_text() == "mine\n"


def test_a_link_to_nothing_makes_no_file(channel: Path, tmp_path: Path) -> None:
    our_file(channel).symlink_to(tmp_path / "made-for-a-stranger")
    tell_channel(ENDED, {EVENTS_VARIABLE: str(channel)})
    assert not (tmp_path / "made-for-a-stranger").exists()


@needs_root
def test_a_file_of_another_user_gets_no_events(channel: Path) -> None:
    our_file(channel).touch()
    give_away(our_file(channel))
    tell_channel(ENDED, {EVENTS_VARIABLE: str(channel)})
    assert our_file(channel).read_bytes() == b""


def test_what_is_reported_is_readable_for_this_user_alone(channel: Path) -> None:
    tell_channel(ENDED, {EVENTS_VARIABLE: str(channel)})
    assert stat.S_IMODE(our_file(channel).stat().st_mode) == 0o600


@pytest.mark.parametrize("folder", ["", "/", "/proc/self/nowhere", "\0", "x" * 5000, "relative/nowhere"])
def test_a_folder_that_cannot_be_written_is_no_failure_of_the_job(folder: str) -> None:
    tell_channel(ENDED, {EVENTS_VARIABLE: folder})


def heard(channel: SideChannel) -> list[AnyEvent]:
    """Everything there is, read in this thread."""
    found: list[AnyEvent] = []
    channel.stop()
    channel.start(found.append)
    return found


@pytest.mark.usefixtures("at_most_a_minute")
def test_only_plain_files_are_read(channel: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(encode(RunFinished(run="r", exit_code=9)) + b"\n")
    (channel / "1.jsonl").symlink_to(tmp_path / "elsewhere")
    (channel / "2.jsonl").symlink_to("/dev/zero")
    os.mkfifo(channel / "3.jsonl")
    (channel / "4.jsonl").mkdir()
    (channel / "5.jsonl").write_bytes(encode(ENDED) + b"\n")
    assert [event.source for event in heard(SideChannel(channel))] == ["worker:5"]


def test_junk_is_reported_and_the_reading_goes_on(channel: Path) -> None:
    deep = b'{"type":"RunStarted","run":"x","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    junk = [
        deep,
        b"\xff\xfe",
        b"\0" * 1000,
        b"{}",
        b"[]",
        b"1e999",
        b'{"type":"CompileEnded","module":1e999}',
        b'{"type":"CompileEnded","at":1e300}',
        b'{"type":"\x1b]0;x\x07"}',
        b'{"type":"' + b"9" * 5000 + b'"}',
    ]
    (channel / "7.jsonl").write_bytes(b"\n".join([*junk, encode(ENDED)]) + b"\n")
    *bad, good = heard(SideChannel(channel))
    assert isinstance(good, CompileEnded)
    assert [type(event) for event in bad] == [LineMalformed] * len(junk)
    assert all(isinstance(event, LineMalformed) and (event.text + event.reason).isprintable() for event in bad)


def test_a_line_without_end_is_held_up_to_a_limit_and_what_follows_is_read(channel: Path) -> None:
    with (channel / "7.jsonl").open("wb") as file:
        for _ in range(40):
            file.write(b"x" * (1 << 18))
        file.write(b"\n" + encode(ENDED) + b"\n")
    reported = heard(SideChannel(channel, longest_line=1 << 20))
    assert [type(event) for event in reported] == [LineMalformed, CompileEnded]


def test_more_processes_than_descriptors(channel: Path) -> None:
    import resource

    for number in range(300):
        (channel / f"{number}.jsonl").write_bytes(encode(ENDED) + b"\n")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    reading = SideChannel(channel)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200 + len(list(Path("/proc/self/fd").iterdir())), before[1]))
    try:
        reported = heard(reading)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [type(event) for event in reported] == [CompileEnded] * 300


def test_files_beyond_the_limit_are_reported_once(channel: Path) -> None:
    for number in range(10):
        (channel / f"{number}.jsonl").write_bytes(encode(ENDED) + b"\n")
    reported = heard(SideChannel(channel, most_files=4))
    assert [type(event) for event in reported] == [SourceUnavailable, *[CompileEnded] * 4]


def test_a_folder_that_comes_later_is_read(tmp_path: Path) -> None:
    source, reported = SideChannel(tmp_path / "later"), list[AnyEvent]()
    more = threading.Event()

    def emit(event: AnyEvent) -> None:
        reported.append(event)
        more.set()

    thread = threading.Thread(target=source.start, args=(emit,))
    thread.start()
    (tmp_path / "later").mkdir()
    tell_channel(ENDED, {EVENTS_VARIABLE: str(tmp_path / "later")})
    assert more.wait(240)
    source.stop()
    thread.join(60)


# --- the trash of a cache ---


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_trash_is_its_users_alone_whatever_the_umask(mask: int, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    root.mkdir()
    before = os.umask(mask)
    try:
        trash = Trash(root)
        trash.prepare()
        chosen = Trash(root, tmp_path / "far" / "away")
        chosen.prepare()
    finally:
        os.umask(before)
    for folder in (trash.folder, trash.folder.parent, chosen.folder, tmp_path / "far" / "away", tmp_path / "far"):
        assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("which", ["", ".."])
def test_a_trash_in_which_everybody_can_exchange_plans_is_refused(which: str, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    root.mkdir()
    trash = Trash(root)
    trash.prepare()
    (trash.folder / which).chmod(0o777)
    with pytest.raises(RefusedForSafety, match="everybody can write"):
        trash.prepare()
    (trash.folder / which).chmod(0o1777)
    trash.prepare()
