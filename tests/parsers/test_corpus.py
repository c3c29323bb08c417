"""The published samples: every count exact, and the same events however the bytes arrive."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from neuron_top.events import DeviceMemoryExhausted, encode
from neuron_top.parsers import runtime_status
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from tests.corpus import CORPUS, corpus

LOGS = sorted((CORPUS / "logs").glob("*.log"))
ALL = [
    *LOGS,
    *sorted((CORPUS / "telemetry").glob("*.log")),
    CORPUS / "telemetry" / "kernel_dmesg_neuron.txt",
    CORPUS / "telemetry" / "neuron_ls_tables.txt",
]
ALL = [path for path in ALL if path.exists()]


def _portions(data: bytes, sizes: list[int]) -> list[bytes]:
    portions, position = [], 0
    while position < len(data):
        size = sizes[len(portions) % len(sizes)]
        portions.append(data[position : position + size])
        position += size
    return portions


def _result(portions: list[bytes], source: str = "log:a") -> tuple[list[bytes], str]:
    reader = LogReader(source)
    events = [event for portion in portions for event in reader.feed(portion)] + reader.flush()
    return [encode(event) for event in events], json.dumps(reader.tally.as_json())


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem[:30])
def test_every_count_of_the_index_is_matched_exactly(path: Path) -> None:
    counts = json.loads(_result([path.read_bytes()])[1])
    expected = json.loads(path.with_suffix(".expect.json").read_text())
    if "summaries" in expected:  # a sidecar that states every key; those counted by hand state what was looked for
        assert counts == expected
    assert {key: counts[key] for key in expected} == expected


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:30])
def test_counting_in_bulk_gives_the_same_tally(path: Path) -> None:
    reader = CountingReader("log:a", long=0)
    for portion in _portions(path.read_bytes(), [5000]):
        reader.feed(portion)
    reader.flush()
    assert json.dumps(reader.tally.as_json()) == _result([path.read_bytes()])[1]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:30])
def test_bytes_one_by_one_in_random_portions_and_with_a_tail_give_the_same_events(path: Path) -> None:
    data = path.read_bytes()
    whole = _result([data])
    assert _result(_portions(data, [1])) == whole
    chance = random.Random(path.name)
    assert _result(_portions(data, [chance.randrange(1, 500) for _ in range(97)])) == whole
    tail = b"\nnothing to see here\n"
    assert _result([data + tail])[0] == _result([data, tail])[0]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:30])
def test_two_sources_read_in_turns_do_not_touch_each_other(path: Path) -> None:
    pair = (path, ALL[ALL.index(path) - 1])
    data = [one.read_bytes() for one in pair]
    alone = [_result([data[which]], f"log:{which}")[0] for which in (0, 1)]
    readers = [LogReader(f"log:{which}") for which in (0, 1)]
    events: tuple[list[bytes], list[bytes]] = ([], [])
    chance = random.Random(path.name)
    waiting = [_portions(data[which], [chance.randrange(1, 999) for _ in range(97)])[::-1] for which in (0, 1)]
    while any(waiting):
        which = chance.choice([which for which in (0, 1) if waiting[which]])
        events[which].extend(map(encode, readers[which].feed(waiting[which].pop())))
    for which in (0, 1):
        events[which].extend(map(encode, readers[which].flush()))
        assert events[which] == alone[which]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:30])
def test_no_event_of_a_real_log_holds_a_control_character(path: Path) -> None:
    for line in _result([path.read_bytes()])[0]:
        assert all(character.isprintable() for character in json.dumps(json.loads(line), ensure_ascii=False))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("oom_docs_2025-05_table.log", 1),
        ("oom_inf2.24xlarge_2024-07_list.log", 3),
        ("oom_inf2.8xlarge_2025-06_no_pid.log", 1),
        ("oom_trn2.3xlarge_2026-05_aligned.log", 3),
        ("oom_inf1_2021.log", 1),
        ("oom_inf1_2021_rtd_wrapped.log", 1),
        ("oom_inf2_2024-07_load_infodump.log", 1),
    ],
)
def test_each_failed_allocation_of_every_era_is_one_event(name: str, count: int) -> None:
    reader = LogReader("log:x")
    events = reader.feed(corpus("telemetry", name).read_bytes()) + reader.flush()
    assert sum(isinstance(event, DeviceMemoryExhausted) for event in events) == count


def test_a_device_total_of_the_table_is_the_sum_of_its_cores() -> None:
    reader = LogReader("log:x")
    events = reader.feed(corpus("telemetry", "oom_docs_2025-05_table.log").read_bytes()) + reader.flush()
    rows = next(event for event in events if isinstance(event, DeviceMemoryExhausted)).rows
    device = next(row for row in rows if row.scope == "device")
    cores = [row for row in rows if row.scope == "core"]
    assert len(cores) == 2
    assert sum(core.total or 0 for core in cores) == pytest.approx(device.total, rel=1e-3)
    assert sum(device.kinds.values()) == pytest.approx(device.total, rel=1e-3)


LISTED_EVENTS = {
    "08-parallel-compile-report.txt": {"extracted": 1, "progress_lines": 3, "cache_path_lines": 2},
    "10-cached-failure-and-lock-wait.txt": {"failed_hits": 1, "retries": 1, "lock_waits": 22, "hub_misses": 2},
    "11-hub-lookup-misses.txt": {"hub_misses": 13},
    "15-extract-graphs.txt": {"extracted": 7, "cache_paths": ["./compiler_cache"]},
}
"""Listings of caches that quote console lines, with their counts by eye."""


@pytest.mark.parametrize("name", LISTED_EVENTS)
def test_console_lines_quoted_in_a_listing_are_read(name: str) -> None:
    _, tally = _result([corpus("cache-listings", name).read_bytes()])
    counts = json.loads(tally)
    assert {key: counts[key] for key in LISTED_EVENTS[name]} == LISTED_EVENTS[name]


def test_a_report_whose_every_line_wears_the_prefix_of_the_vendors_pages_is_read() -> None:
    _, tally = _result([corpus("cache-listings", "08-parallel-compile-report.txt").read_bytes()])
    report = json.loads(tally)["compile_report"]
    # The third entry of that page is an excerpt without the report around it.
    assert [(entry["status"], entry["retry"]) for entry in report] == [("true", 0)] * 3
    assert [entry["compile_time"] for entry in report] == [None, None, 9.77]


def test_status_codes_have_the_names_of_the_reference() -> None:
    rows = json.loads(corpus("telemetry", "ref_nrt_status.json").read_text())["codes"]
    assert {row["code"]: row["name"] for row in rows} == runtime_status.NAMES
