"""Logs that were rotated and compressed: read wherever logs are read, within bounds, each line once."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from backports.zstd import compress

from neuron_top import events
from neuron_top.cli.main import main
from neuron_top.errors import UsageError
from neuron_top.events import AnyEvent
from neuron_top.ingest import assembly
from neuron_top.ingest.followed_logs import LogFiles
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.rotated import log_of
from neuron_top.ingest.run_loader import read_logs
from neuron_top.processes import log_input
from neuron_top.processes.log_input import portions, quiet
from neuron_top.settings import Settings

MODULE = "MODULE_{:020d}+d7517139"


def hits(first: int, count: int) -> bytes:
    """Lines of a job that finds so many graphs in its cache."""
    return b"".join(
        f"2024-05-01 10:00:{n % 60:02d}.000{n:03d}: {n} INFO ||NEURON_CC_WRAPPER||: Using a cached neff at "
        f"/cache/neuronxcc-2.13.66.0/{MODULE.format(n)}/model.neff\n".encode()
        for n in range(first, first + count)
    )


def zstd(data: bytes) -> bytes:
    return compress(data)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstd,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}


def read(path: Path) -> bytes:
    return b"".join(portions(str(path), quiet))


@pytest.mark.parametrize("ending", PACKERS)
def test_every_command_reads_a_compressed_log(tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"train.log.1.{ending}"
    path.write_bytes(PACKERS[ending](hits(0, 50) + b"Traceback (most recent call last):\nValueError: no\n"))
    assert main(["tally", "--json", str(path)]) == 0
    counted = json.loads(capsys.readouterr().out)
    assert counted["hits"] == 50
    assert counted["diagnosis"]["failed"]
    assert main(["diagnose", "--json", str(path)]) == 1
    assert "ValueError: no" in json.loads(capsys.readouterr().out)["causes"][0]["text"]
    assert main(["report", str(path)]) == 0
    assert len(read_logs([str(path)], 3600.0).compiles.graphs) == 50


UNREAD = {
    "lz4": (b"\x04\x22\x4d\x18\x64\x40\xa7", "lz4"),
    "Z": (b"\x1f\x9d\x90\x68\xca", "compress (.Z)"),
    "lzma": (b"\x5d\0\0\x80\0", "lzma"),
    "zip": (b"PK\x03\x04\x0a\0", "zip"),
}
"""How files of compressors that are not read begin, as their commands write them, and their names."""


@pytest.mark.parametrize("ending", UNREAD)
def test_a_compressor_that_is_not_read_is_named_with_those_that_are(
    tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    beginning, name = UNREAD[ending]
    path = tmp_path / f"train.log.{ending}"
    path.write_bytes(beginning + os.urandom(300))
    for command in ("tally", "diagnose", "report", "status", "explain", "check"):
        assert main([command, str(path)]) == 2
        told = capsys.readouterr()
        assert f"it is packed with {name}; unpack it first (gzip, zstd, xz and bzip2 are read as they are)" in told.err
        assert told.out == ""
    feed = assembly.paths_feed(_settings(tmp_path), [str(path)])
    feed.start(lambda: None)
    try:
        until(lambda: f"log:{path}" in feed.read(lambda run, _now: {*run.cores.sources}))
        source = feed.read(lambda run, _now: run.cores.sources[f"log:{path}"])
        assert not source.available
        assert f"it is packed with {name}" in source.text
        assert feed.log_tail(10) == []
    finally:
        feed.stop()


def test_frames_that_follow_each_other_and_odd_portions_are_one_log(tmp_path: Path) -> None:
    data = hits(0, 300)
    for pack in PACKERS.values():
        (tmp_path / "log").write_bytes(pack(data[:5000]) + pack(data[5000:]))
        assert read(tmp_path / "log") == data


def test_zeros_between_and_behind_frames_of_xz_are_no_damage(tmp_path: Path) -> None:
    data = hits(0, 300)
    (tmp_path / "log").write_bytes(lzma.compress(data[:5000]) + bytes(8) + lzma.compress(data[5000:]) + bytes(4))
    assert read(tmp_path / "log") == data


@pytest.mark.parametrize("ending", PACKERS)
def test_a_cut_file_is_a_reason_and_what_came_before_is_given(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "cut"
    path.write_bytes(PACKERS[ending](os.urandom(3 << 20))[: 2 << 20])
    found: list[bytes] = []
    with pytest.raises(UsageError, match=r"ended|ends before"):
        found.extend(portions(str(path), quiet))
    assert sum(map(len, found)) > 1 << 20


@pytest.mark.parametrize(("ending", "name"), [("zst", "zstd"), ("xz", "xz"), ("bz2", "bzip2")])
def test_damaged_data_is_a_reason(tmp_path: Path, ending: str, name: str) -> None:
    path = tmp_path / "damaged"
    whole = PACKERS[ending](os.urandom(1000))
    path.write_bytes(whole + whole[:4] + b"\xff" * 90)
    with pytest.raises(UsageError, match=f"damaged {name} data"):
        read(path)


@pytest.mark.parametrize("ending", PACKERS)
def test_data_that_is_made_to_fill_a_machine_is_given_up(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(PACKERS[ending](bytes(200 << 20)))
    monkeypatch.setattr(log_input, "_MOST_UNPACKED", 40 << 20)
    sizes: list[int] = []
    with pytest.raises(UsageError, match="that is not a log"):
        sizes.extend(len(data) for data in portions(str(path), quiet))
    assert max(sizes) <= 33 << 20, "so much is in memory at a time"
    assert sum(sizes) < 100 << 20, "it is left long before its end"


@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("train.log", ""),
        ("train.log.1", "train.log"),
        ("train.log.2.gz", "train.log"),
        ("train.log-20260301.zst", "train.log"),
        ("train.log.gz", "train.log"),
        ("train-7.log", ""),
        ("train.log.bz2", "train.log"),
        ("train.log.2.xz", "train.log"),
        ("train.log.lz4", ""),
    ],
)
def test_the_name_reports_which_log_a_file_was(name: str, log: str) -> None:
    assert log_of(name) == log


def until(condition: Callable[[], bool]) -> None:
    """Wait for it; the test's own time limit ends a wait in vain."""
    while not condition():
        time.sleep(0.01)


def followed(source: LogFiles, reported: list[AnyEvent]) -> threading.Thread:
    thread = threading.Thread(target=source.start, args=(reported.append,))
    thread.start()
    return thread


def counted(reported: list[AnyEvent]) -> list[int]:
    return [int(event.module[7:27]) for event in reported if isinstance(event, events.CacheHit) and event.module]


def test_a_folder_gives_its_rotated_logs_the_oldest_first_and_each_line_once(tmp_path: Path) -> None:
    names = ("train.log.3.gz", "train.log.2.zst", "train.log.1", "train.log", "other.txt.gz", "model.gz")
    contents = (gzip.compress(hits(0, 5)), zstd(hits(5, 5)), hits(10, 5), hits(15, 5), gzip.compress(hits(90, 1)))
    for age, (name, data) in enumerate(zip(names, (*contents, gzip.compress(hits(95, 1))), strict=True)):
        (tmp_path / name).write_bytes(data)
        os.utime(tmp_path / name, (1000 + age, 1000 + age))
    buffer, reported = LogBuffer(), list[AnyEvent]()
    listed = [path.name for path in assembly._Logs([tmp_path])()]
    assert listed == ["other.txt.gz", *names[:4]]
    source = LogFiles(assembly._Logs([tmp_path]), buffer)
    thread = followed(source, reported)
    until(lambda: len(counted(reported)) >= 21)
    # Now it is rotated once more: nothing of it may be read a second time.
    (tmp_path / "train.log.1").rename(tmp_path / "train.log.4")
    (tmp_path / "train.log").rename(tmp_path / "train.log.1")
    (tmp_path / "train.log").write_bytes(hits(20, 5))
    until(lambda: len(counted(reported)) >= 26)
    source.stop()
    thread.join()
    assert counted(reported) == [90, *range(25)]


def test_lines_of_a_compressed_log_can_be_scrolled_through(tmp_path: Path) -> None:
    path, log = tmp_path / "train.log.1.gz", tmp_path / "train.log"
    path.write_bytes(gzip.compress(hits(0, 9000)))
    log.write_bytes(hits(9000, 1))
    feed = assembly.paths_feed(_settings(tmp_path), [str(path), str(log)])
    feed.start(lambda: None)
    try:
        until(lambda: MODULE.format(9000) in "".join(line.text for line in feed.log_tail(1)))
        # Its copy stays while the log that it was is read.
        with log.open("ab") as file:
            file.write(hits(9001, 1))
        until(lambda: MODULE.format(9001) in "".join(line.text for line in feed.log_tail(1)))
        page = feed.log_older({f"log:{path}": 2 * len(hits(0, 1)), f"log:{log}": 0}, 5)
        assert page.lines
        assert all(line.text.endswith(f"{MODULE.format(n)}/model.neff") for n, line in enumerate(page.lines))
    finally:
        feed.stop()


def test_copies_of_compressed_logs_take_no_more_files_and_bytes_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_top.ingest.followed_logs._COPIED_FILES", 2)
    monkeypatch.setattr("neuron_top.ingest.followed_logs._COPIED_BYTES", len(hits(0, 500)))
    paths = [tmp_path / f"{rank}.log.gz" for rank in range(4)]
    for path, count in zip(paths, (400, 200, 50, 50), strict=True):
        path.write_bytes(gzip.compress(hits(0, count)))
    buffer, reported = LogBuffer(), list[AnyEvent]()
    source = LogFiles(lambda: paths, buffer)
    thread = followed(source, reported)
    until(lambda: len(counted(reported)) >= 700)
    source.stop()
    thread.join()
    # The second one is too large beside the first one; the fourth one would be the third copy.
    assert list(buffer.copies) == [f"log:{paths[0]}", f"log:{paths[2]}"]
    assert [len(Path(copy).read_bytes()) for copy in buffer.copies.values()] == [len(hits(0, n)) for n in (400, 50)]


def _settings(folder: Path) -> Settings:
    return Settings(state_dir=str(folder / "state"))


def test_a_cut_log_in_a_folder_is_reported_and_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = gzip.compress(hits(0, 400) + os.urandom(4000))
    (tmp_path / "train.log.gz").write_bytes(whole[:-2000])
    reported: list[AnyEvent] = []
    source = LogFiles(assembly._Logs([tmp_path]), LogBuffer())
    thread = followed(source, reported)
    until(lambda: any(isinstance(event, events.SourceUnavailable) for event in reported))
    source.stop()
    thread.join()
    assert counted(reported) == list(range(400))
    (reason,) = [event.reason for event in reported if isinstance(event, events.SourceUnavailable)]
    assert "train.log.gz" in reason
