"""The published samples: every count exact, and the same events however the bytes arrive."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from neuron_top.events import DeviceMemoryExhausted, encode
from neuron_top.parsers.reader import LogReader
from tests.corpus import CORPUS, corpus

LOGS = sorted((CORPUS / "logs").glob("*.log"))
ALL = LOGS + sorted((CORPUS / "telemetry").glob("[or][ot]*_*.log"))


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
    _, tally = _result([path.read_bytes()])
    assert json.loads(tally) == json.loads(path.with_suffix(".expect.json").read_text())


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:30])
def test_counting_in_bulk_gives_the_same_tally(path: Path) -> None:
    reader = LogReader("log:a", count_only=True)
    for portion in _portions(path.read_bytes(), [5000]):
        reader.feed(portion)
    reader.flush()
    assert json.dumps(reader.tally.as_json()) == _result([path.read_bytes()])[1]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:30])
def test_bytes_one_by_one_in_random_portions_and_with_a_tail_give_the_same_events(path: Path) -> None:
    data = path.read_bytes()[:60_000]
    whole = _result([data])
    assert _result(_portions(data, [1])) == whole
    chance = random.Random(path.name)
    assert _result(_portions(data, [chance.randrange(1, 500) for _ in range(97)])) == whole
    tail = b"\nnothing to see here\n"
    assert _result([data + tail])[0] == _result([data, tail])[0]


def test_two_sources_read_in_turns_do_not_touch_each_other() -> None:
    first, second = corpus("logs").glob("3[57]-*.log")
    alone = [_result([path.read_bytes()], f"log:{path.name}") for path in (first, second)]
    readers = [LogReader(f"log:{path.name}") for path in (first, second)]
    events: tuple[list[bytes], list[bytes]] = ([], [])
    portions = [_portions(path.read_bytes(), [777]) for path in (first, second)]
    for index in range(max(map(len, portions))):
        for which in (0, 1):
            for portion in portions[which][index : index + 1]:
                events[which].extend(map(encode, readers[which].feed(portion)))
    for which in (0, 1):
        events[which].extend(map(encode, readers[which].flush()))
        assert events[which] == alone[which][0]


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
