"""Logs read a page at a time: every line once, in order, from either end; queries find what a look at all would."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_top.events import Rotation
from neuron_top.ingest import log_files
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_file_map import LogFileMap
from neuron_top.ingest.log_files import lines_at, newer, older
from neuron_top.ingest.log_ingestor import LogIngestor
from neuron_top.ingest.log_line import LogLine, LogPage, readable
from neuron_top.ingest.log_query import LogQuery
from neuron_top.ingest.rotated import earlier, earlier_files

FAILURE = "2026-02-14 09:30:11.000123:  4711  ERROR ||NEURON_CC_WRAPPER||: Failed compilation of a graph"
TEXTS = st.lists(st.sampled_from(["", "step 1 loss 0.5", "x" * 300, "[rank2]: ValueError: shapes", "\x1b[2J", FAILURE]))


def never_late() -> float:
    return 0.0


def written(folder: Path, name: str, lines: list[str], end: str = "\n") -> dict[str, int]:
    path = folder / name
    path.write_bytes(("\n".join(lines) + (end if lines else "")).encode())
    return {f"log:{path}": path.stat().st_size}


def all_pages(step: object, ends: dict[str, int], count: int, query: LogQuery | None = None) -> list[LogPage]:
    pages: list[LogPage] = []
    at: dict[str, int] = {} if step is newer else dict(ends)
    while True:
        pages.append(step(ends, at, count, query, never_late))
        at = pages[-1].at
        if pages[-1].ended:
            return pages


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=TEXTS, count=st.integers(1, 7), block=st.integers(64, 700), torn=st.booleans())
def test_pages_from_either_end_hold_every_line_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], count: int, block: int, torn: bool
) -> None:
    ends = written(tmp_path, "a.log", lines, "" if torn else "\n")
    with monkeypatch.context() as patched:
        patched.setattr(log_files, "BLOCK_BYTES", block)
        forwards = [line for page in all_pages(newer, ends, count) for line in page.lines]
        backwards = [line for page in reversed(all_pages(older, ends, count)) for line in page.lines]
    data = next(iter(ends)).removeprefix("log:")
    raw = Path(data).read_bytes()
    assert [raw[line.offset : line.end].rstrip(b"\n").decode() for line in forwards] == raw.decode().splitlines()
    assert [(line.offset, line.text) for line in backwards] == [(line.offset, line.text) for line in forwards]


def test_a_query_finds_the_lines_that_a_look_at_all_of_them_finds(tmp_path: Path) -> None:
    lines = [f"[rank{number % 4}]: step {number}" for number in range(5000)]
    lines[1234] = FAILURE
    lines[2345] = "torch.OutOfMemoryError: ran OUT of memory"
    ends = written(tmp_path, "train.log", lines)
    everything = newer(ends, {}, 10_000, None, never_late).lines
    for text in ("step 12", "rank:3 /step \\d+7$/", "level:error", "!step", "out of memory", "source:train step 4999"):
        query = LogQuery(text)
        expected = [line for line in everything if query.keep(line)]
        assert expected, text
        for step in (newer, older):
            assert list(step(ends, {} if step is newer else ends, 10_000, query, never_late).lines) == expected, text


def test_a_query_finds_words_in_a_log_in_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("step 1\nout of memory\nstep 2\n", encoding="utf-16")
    ends = {f"log:{path}": path.stat().st_size}
    assert [line.text for line in older(ends, {}, 10, LogQuery("memory")).lines] == ["out of memory"]
    assert [line.text for line in older(ends, {}, 10).lines] == ["step 1", "out of memory", "step 2"]


@pytest.mark.parametrize("escape", ["\x1b", "^[", ""])
def test_a_query_finds_a_word_with_a_color_inside(tmp_path: Path, escape: str) -> None:
    path = tmp_path / "train.log"
    path.write_text("step 1\n\x1b[31mout\x1b[0m of \x1b[1mme\x1b[0mmory\nstep 2\n".replace("\x1b", escape))
    page = older({f"log:{path}": path.stat().st_size}, {}, 10, LogQuery("out memory"))
    assert [line.text for line in page.lines] == ["out of memory"]


def test_several_logs_are_merged_by_the_clocks_in_their_lines(tmp_path: Path) -> None:
    stamp = "2026-02-14 09:30:{:02d} worker {}"
    ends = written(tmp_path, "a.log", [stamp.format(second, "a") for second in range(0, 60, 2)])
    ends |= written(tmp_path, "b.log", [stamp.format(second, "b") for second in range(1, 60, 2)])
    seconds = [line.text[17:19] for line in older(ends, ends, 60, None, never_late).lines]
    assert seconds == [f"{second:02d}" for second in range(60)]


def test_the_end_and_the_beginning_of_a_file_of_eight_gigabytes_come_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.write(b"the first line\n")
        file.seek(8 << 30)
        file.write(b"\nlast but one\nthe last line\n")
    ends = {f"log:{path}": path.stat().st_size}
    assert [line.text for line in older(ends, ends, 2).lines] == ["last but one", "the last line"]
    assert newer(ends, {}, 1).lines[0].text == "the first line"
    assert Path(path).stat().st_blocks * 512 < 1 << 20


def test_a_search_gives_up_the_keyboard_and_goes_on_where_it_was(tmp_path: Path) -> None:
    ends = written(tmp_path, "a.log", ["needle", *("hay" * 20 for _ in range(20_000))])
    moments = iter(range(1000))
    pages = []
    at = ends
    while True:
        pages.append(older(ends, at, 1, LogQuery("needle"), lambda: float(next(moments))))
        at = pages[-1].at
        if pages[-1].lines or pages[-1].ended:
            break
    assert len(pages) > 5
    assert [line.text for line in pages[-1].lines] == ["needle"]


def test_lines_are_found_by_their_places_and_those_that_are_no_more_are_left_out(tmp_path: Path) -> None:
    ends = written(tmp_path, "a.log", ["one", "two", "three"])
    (source,) = ends
    found = lines_at(ends, [(source, 4), (source, 99), ("log:/gone", 0)])
    assert [line.text for line in found] == ["two"]


def test_the_tail_of_a_recording_bears_the_marks_of_the_live_tail(tmp_path: Path) -> None:
    from neuron_top.ingest.log_ingestor import LogIngestor

    lines = ["plain", FAILURE, "[rank1]: Traceback (most recent call last):", "[rank1]: ValueError: no", "WARNING: dry"]
    ends = written(tmp_path, "a.log", lines)
    (source,) = ends
    buffer = LogBuffer()
    ingestor = LogIngestor(source.removeprefix("log:"), buffer)
    ingestor.take(0, Path(source.removeprefix("log:")).read_bytes())
    ingestor.flush()

    def facts(found: list[LogLine]) -> list[tuple[object, ...]]:
        return [(line.text, line.offset, line.end, line.level, line.family, line.rank) for line in found]

    assert facts(list(older(ends, ends, 9).lines)) == facts(buffer.tail(9))
    assert {line.level for line in buffer.tail(9)} >= {"", "error", "warning"}


def test_a_broken_expression_is_reported_and_keeps_nothing() -> None:
    query = LogQuery("/(/")
    assert query.problem
    assert not query.keep(LogLine(source="log:a", offset=0, text="("))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("level:err", "level:err names no level: write event, warning, error"),
        (
            "!family:compiler",
            "family:compiler names no family: write compile, parallel, training, runtime, cache, other",
        ),
        ("LEVEL:Warning family:cache", ""),
        ("http://node:80 step:7", ""),
    ],
)
def test_a_level_or_family_that_does_not_exist_is_named(text: str, problem: str) -> None:
    assert LogQuery(text).problem == problem


def test_a_log_that_is_rotated_while_it_is_followed_is_scrolled_back_through_as_one(tmp_path: Path) -> None:
    buffer, path = LogBuffer(), tmp_path / "train.log"
    ingestor, written_lines = LogIngestor(str(path), buffer), []
    for turn in range(3):
        for number in (2, 1):
            if (earlier := Path(f"{path}.{number}")).exists():
                earlier.rename(f"{path}.{number + 1}")
        if path.exists():
            path.rename(f"{path}.1")
        lines = [f"turn {turn} line {number}" for number in range(40)]
        data = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(data)
        os.utime(path, (turn, turn))
        if turn:
            ingestor.on_rotation(Rotation.ROTATED)
        ingestor.take(0, data)
        written_lines += lines
    ends = buffer.ends()
    file_map = LogFileMap(earlier=earlier_files(ends, buffer.earlier))
    assert file_map.chains(ends) == [[f"log:{path}", f"log:{path}.1"]]
    assert list(file_map.earlier[f"log:{path}"]) == [f"log:{path}.1", f"log:{path}.2"]
    assert [line.text for line in buffer.tail(50)] == written_lines[-50:]
    tail = buffer.tail(30)
    before = {f"log:{path}": tail[0].offset}
    assert [
        line.text for page in reversed(all_pages_before(ends, before, file_map)) for line in page.lines
    ] == written_lines[:-30]
    assert [line.text for line in newer(ends, {}, 999, None, never_late, file_map).lines] == written_lines
    assert {line.source for line in tail} == {f"log:{path}"}


def all_pages_before(ends: dict[str, int], at: dict[str, int], file_map: LogFileMap) -> list[LogPage]:
    pages: list[LogPage] = []
    while not (pages and pages[-1].ended):
        pages.append(older(ends, at, 7, None, never_late, file_map))
        at = {**at, **pages[-1].at}
    return pages


def test_a_log_that_is_cut_without_a_copy_keeps_its_last_lines_and_is_not_read_again_while_they_are_shown(
    tmp_path: Path,
) -> None:
    buffer, path = LogBuffer(), tmp_path / "train.log"
    ingestor = LogIngestor(str(path), buffer)
    path.write_bytes(b"old line\n")
    ingestor.take(0, b"old line\n")
    (tmp_path / "train.log.1").write_bytes(b"another's line\n")
    ingestor.on_rotation(Rotation.TRUNCATED)
    ingestor.take(0, b"new line\n")
    assert [line.text for line in buffer.tail(9)] == ["old line", "new line"]
    assert f"log:{path}" not in buffer.ends()


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("train.log.1", True),
        ("train.log.12", True),
        ("train.log-20260301", True),
        ("train.log.2026-03-01", True),
        ("train.log.2026-03-01_10-00-00", True),
        ("train.log.gz", False),
        ("train.log.1.gz", False),
        ("train.log.bak", False),
        ("train.logs.1", False),
        ("other.log.1", False),
    ],
)
def test_earlier_files_of_a_log_are_known_by_their_names(tmp_path: Path, name: str, is_one: bool) -> None:
    (tmp_path / "train.log").touch()
    (tmp_path / name).write_bytes(b"abc")
    assert earlier(str(tmp_path / "train.log")) == ([(str(tmp_path / name), 3)] if is_one else [])


def test_a_rotated_file_that_vanishes_meanwhile_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 4):
        (tmp_path / f"train.log.{number}").write_bytes(b"abc")
    scandir, gone = os.scandir, list[str]()

    @contextmanager
    def vanishing(folder: str) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(folder) as entries:
            listed = list(entries)
        Path(listed[0].path).unlink()
        gone.append(listed[0].path)
        yield listed

    monkeypatch.setattr(os, "scandir", vanishing)
    found = earlier(str(tmp_path / "train.log"))
    monkeypatch.undo()
    assert gone
    assert {path for path, _ in found} == {str(path) for path in tmp_path.iterdir()} - set(gone)


@pytest.mark.parametrize(
    ("prefix", "rank"),
    [
        ("[rank3]: ", 3), ("[1,3]<stdout>:", 3), ("2026-03-04T10:00:00.123456789Z stdout F [rank3]: ", 3),
        ("[pod/train-0/pytorch] [rank3]: ", 3), ("(a note) 3: ", None), ("", None), ("(a note) ", None),
    ],
)  # fmt: skip
def test_a_line_without_events_has_the_rank_of_its_prefix(prefix: str, rank: int | None) -> None:
    assert readable("log:a", 0, f"{prefix}words".encode()).rank == rank


def test_the_rank_that_screens_show_is_the_one_that_a_filter_finds() -> None:
    wanted = (
        "[rank2]: ready",
        "[rank2] ready",
        "2026-02-14 09:30:11 INFO [rank2] ready",
        "(Trainer rank=2 pid=9) ready",
    )
    others = ("[rank12] ready", "[rank1] step 2", "ready of [rank2]", "step 2", "")
    lines = [readable("log:/x", 0, text.encode()) for text in (*wanted, *others)]
    assert [line.text for line in filter(LogQuery("rank:2").keep, lines)] == list(wanted)
