"""Headers, keys and tables broken over lines, at any width and behind any prefix; keys and devices of any length.

Texts are ours, in the shapes that the runtime and the wrapper print.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import CompileFailed, CompileStarted, DeviceMemoryExhausted, RuntimeLogged
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from tests.parsers.logs import only, read

GIB = 1024**3
ISO = "2025-03-04T05:06:07.123"
PREFIXES = {
    "nothing": "",
    "a rank": "[rank0]: ",
    "kubectl": "[pod/train-0-abc/trainer] ",
    "an engine": "(EngineCore_DP0 pid=304671) ",
    "a container": f"{ISO}456789Z stdout F ",
    "compose": "trainer-1  | ",
}
NARROWEST = 42
"""Columns: narrower than that, a stamp and its level do not fit on one line."""
keys = st.builds(
    lambda graph, flags: f"MODULE_{graph}+{flags}",
    st.one_of(
        st.text("0123456789abcdef", min_size=8, max_size=64),
        st.builds(
            str.__add__, st.text("0123456789", min_size=8, max_size=20), st.text("abcdef", min_size=1, max_size=40)
        ),
        st.text("0123456789", min_size=8, max_size=20),
    ),
    st.text("0123456789abcdef", min_size=8, max_size=8),
)
numbers = st.integers(0, 999)


def _stamped(text: str, function: str, clock: str = "21:48:02.390963", thread: int = 345763) -> str:
    return f"2026-Feb-04 {clock} 304671:{thread} ERROR  TDRV:{function:<40}{text}"


def _header(device: int, core: int, thread: int = 345763) -> str:
    text = f"Failed to allocate 27.348MB (alignment: 32.000KB, usage: model code) on ND{device:2d}:NC {core}"
    return _stamped(text, "log_dev_mem", thread=thread)


def _table(device: int, core: int, key: str, thread: int = 345763) -> list[str]:
    head = "|  Model   |          |DMA Rings |"
    names = "|   Code   | Tensors  |    IO    |"
    return [
        _stamped("Displaying Current Memory Utilization:", "log_dev_mem_usage_table", thread=thread),
        "(NOTE: the lines are LONG, and NEFF id to name mapping is printed after)",
        "",
        f"              |          {head}",
        f"              |  TOTAL   {names}",
        f"ND{device:2d} HBM {core // 2:<3}   | 23.000GB |640.500MB | 12.340GB |448.000KB |",
        f"\\_NC {core:<3}       | 21.000GB |320.500MB | 12.340GB |224.000KB |",
        "  \\_NEFF 3077 |105.236MB | 6.223MB  |   n/a    | 4.000KB  |",
        "",
        "NEFF id to name mapping:",
        f'3077: "/tmp/nxd_model/_tp0_bk0/model.{key}.neff"',
    ]


def _behind(thread: int = 345763) -> str:
    return _stamped("Also logged memory breakdown to /tmp/table.json", "log_dev_mem_usage_table", thread=thread)


def _wrapped(line: str, width: int) -> list[str]:
    return [line[at : at + width] for at in range(0, len(line), width)] or [""]


def _told(lines: list[str]) -> tuple[int, list[Any]]:
    """How many lines of the runtime there were, and what is said of each failure."""
    reader = LogReader("x")
    text = "".join(f"{line}\n" for line in lines)
    events = only(DeviceMemoryExhausted, reader.feed(text.encode()) + reader.flush())
    rows = [[(row.scope, row.index, row.total, row.kinds, row.name) for row in event.rows] for event in events]
    return reader.tally.runtime_lines, [
        (event.at, event.device, event.core, event.requested, event.usage, event.alignment, table)
        for event, table in zip(events, rows, strict=True)
    ]


def _printed(device: int, core: int, key: str) -> list[str]:
    return [_header(device, core), *_table(device, core, key), _behind()]


@settings(deadline=None, max_examples=200)
@given(device=numbers, core=numbers, key=keys)
def test_a_failure_on_any_device_and_core_is_read_in_full(device: int, core: int, key: str) -> None:
    lines, failures = _told(_printed(device, core, key))
    assert lines == 3
    ((_, *place, requested, usage, alignment, rows),) = failures
    assert (*place, requested, usage, alignment) == (device, core, round(27.348 * 1024**2), "model code", 32 * 1024)
    assert [row[:3] for row in rows[:2]] == [("bank", core // 2, 23 * GIB), ("core", core, 21 * GIB)]
    assert rows[2][4].endswith(f"{key}.neff")


@settings(deadline=None, max_examples=200)
@given(
    device=numbers, core=numbers, key=keys, width=st.integers(NARROWEST, 230), prefix=st.sampled_from(sorted(PREFIXES))
)
def test_a_report_of_exhausted_memory_broken_at_any_width_is_the_same_report(
    device: int, core: int, key: str, width: int, prefix: str
) -> None:
    printed = _printed(device, core, key)
    pieces = [PREFIXES[prefix] + piece for line in printed for piece in _wrapped(line, width)]
    assert _told(pieces) == _told(printed)


@settings(deadline=None, max_examples=100)
@given(device=numbers, core=numbers, key=keys, width=st.integers(100, 230), prefix=st.sampled_from(sorted(PREFIXES)))
def test_the_header_of_such_a_report_broken_by_a_terminal_behind_its_prefix_is_read(
    device: int, core: int, key: str, width: int, prefix: str
) -> None:
    printed = _printed(device, core, key)
    pieces = [*_wrapped(PREFIXES[prefix] + printed[0], width), *printed[1:]]
    assert _told(pieces) == _told(printed)


def test_blanks_that_an_editor_took_from_the_end_of_a_broken_line_are_not_missed() -> None:
    printed = _printed(10, 1, "MODULE_04390708a5c55ca3e2e3+3d4a12eb")
    pieces = [piece.rstrip() for line in printed for piece in _wrapped(line, 80)]
    assert _told(pieces)[1][0][:6] == _told(printed)[1][0][:6]


@pytest.mark.parametrize("between", ["ht_insert", "another rank", "another thread"])
@pytest.mark.parametrize("count", [1, 48, 500])
def test_lines_between_a_header_and_its_table_do_not_make_two_failures_of_one(between: str, count: int) -> None:
    other = {
        "ht_insert": _stamped("Duplicate entry key: 3077", "ht_insert"),
        "another rank": "(EngineCore_DP0 pid=304671)   warnings.warn(",
        "another thread": _stamped("failed to setup sequencer instructions", "kbl_model_add", thread=99),
    }[between]
    printed = _printed(10, 1, "MODULE_04390708a5c55ca3e2e3+3d4a12eb")
    assert _told([printed[0], *[other] * count, *printed[1:]])[1] == _told(printed)[1]


def test_a_line_of_another_inside_a_table_does_not_make_two_failures_of_one() -> None:
    printed = _printed(10, 1, "MODULE_04390708a5c55ca3e2e3+3d4a12eb")
    for other in ("epoch 3 begins", _stamped("failed", "kbl_model_add", thread=99), "Compiler status PASS"):
        for at in range(2, len(printed)):
            assert _told([*printed[:at], other, *printed[at:]])[1] == _told(printed)[1], (other, at)


def test_threads_that_fail_at_once_each_keep_their_own_table() -> None:
    key = "MODULE_04390708a5c55ca3e2e3+3d4a12eb"
    lines = [_header(9, 5, 1), _header(12, 7, 2), *_table(9, 5, key, 1), *_table(12, 7, key, 2), _behind(1), _behind(2)]
    failures = _told(lines)[1]
    assert [(device, core, rows[1][1]) for _, device, core, _, _, _, rows in failures] == [(9, 5, 5), (12, 7, 7)]


def test_tables_that_follow_one_another_without_their_headers_are_several() -> None:
    key = "MODULE_04390708a5c55ca3e2e3+3d4a12eb"
    failures = _told([*_table(3, 1, key)[3:], *_table(11, 2, key)[3:]])[1]
    assert [(device, core) for _, device, core, *_ in failures] == [(3, None), (11, None)]


@pytest.mark.parametrize(
    "text", ["on ND10:NC 1", "on ND 3:NC12", "[ND10][NC 1] x", "nd10 nc1", "nd-id=128 nc-id=63", "device: 10, nc 1"]
)
def test_the_place_of_a_line_is_read_however_many_digits_it_has(text: str) -> None:
    digits = [int("".join(part)) for part in __import__("re").findall(r"\d+", text)]
    (event,) = only(RuntimeLogged, read(_stamped(text, "exec_wait") + "\n"))
    assert [event.device, event.core] == digits


HIT = "2026-02-04 19:31:29.000382:  250618  [INFO]: Using a cached neff at /c/neuronxcc-2.22.1.0+b4a00d10/{}/model.neff"
DONE = "2026-02-04 19:31:29.000382:  250618  [INFO]: Compilation Successfully Completed for model.{}.hlo_module.pb"
WAIT = (
    "2026-02-04 19:31:29.000382:  250618  [INFO]: Another process must be compiling "
    "/c/neuronxcc-2.22.1.0+b4a00d10/{}/model.hlo_module.pb, been waiting for: 12.0 minutes"
)
LISTS = {HIT: "modules_hit", DONE: "modules_completed", WAIT: "modules_lock_wait"}


def _counts(text: str) -> dict[str, Any]:
    reader = LogReader("x")
    reader.feed(text.encode())
    reader.flush()
    return reader.tally.as_json()


@settings(deadline=None, max_examples=300)
@given(key=keys, line=st.sampled_from(sorted(LISTS)))
def test_a_key_of_any_length_is_reported_whole(key: str, line: str) -> None:
    counts = _counts(line.format(key) + "\n")
    assert (counts["modules"], counts[LISTS[line]], counts["flag_hashes"]) == ([key], [key], [key.partition("+")[2]])


@settings(deadline=None, max_examples=300)
@given(
    key=keys,
    line=st.sampled_from(sorted(LISTS)),
    width=st.integers(NARROWEST, 230),
    prefix=st.sampled_from(sorted(PREFIXES)),
    form=st.sampled_from(["plain", "colored", "json"]),
)
def test_a_line_of_the_wrapper_broken_at_any_width_behind_any_prefix_counts_the_same(
    key: str, line: str, width: int, prefix: str, form: str
) -> None:
    pieces = [PREFIXES[prefix] + piece for piece in _wrapped(line.format(key), width)]
    counts = _counts("".join(f"{_FORMS[form](piece)}\n" for piece in pieces))
    whole = _counts(line.format(key) + "\n")
    wanted = ("headers", "pids", "ts_min", "modules", LISTS[line], "hits", "completed", "lock_waits", "cache_roots")
    assert {name: counts[name] for name in wanted} == {name: whole[name] for name in wanted}


_FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda piece: piece,
    "colored": lambda piece: f"\x1b[1;36m{piece}\x1b[0m",
    "json": lambda piece: json.dumps({"log": f"{piece}\n", "stream": "stderr"}),
}
ARGV = ["'neuronx-cc', 'compile',", "'--framework=XLA',", "'/tmp/w/model.{}.hlo_module.pb',", "'--output', '...neff',"]


@pytest.mark.parametrize("closed", ["'-O1']:", "'-O1',"], ids=["closed", "cut"])
@pytest.mark.parametrize("indent", ["", "  ", "\t"])
def test_a_failure_whose_command_line_has_an_argument_a_line_names_its_graph(closed: str, indent: str) -> None:
    key = "MODULE_1c428201b5d29e196ecb+511d3580"
    argv = [text.format(key) for text in ARGV]
    log = f"2026-03-30 13:32:48 [ERROR]: Failed compilation with [{argv[0]}\n"
    log += "".join(f"{indent}{text}\n" for text in [*argv[1:], closed])
    log += "[ERROR] [NCC_EOOM002] too large\n" if closed.endswith(":") else ""
    (failure,) = only(CompileFailed, read(log))
    assert failure.module == key
    assert failure.code == ("NCC_EOOM002" if closed.endswith(":") else None)
    assert "framework" not in failure.message
    counts = _counts(log)
    assert (counts["errors"], counts["modules_error"]) == (1, [key])


def test_a_start_whose_command_line_has_an_argument_a_line_names_its_graph() -> None:
    key = "MODULE_1c428201b5d29e196ecb+511d3580"
    argv = "\n  ".join(text.format(key) for text in ARGV)
    log = f"2025-03-04 05:06:07.000089:  4711  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: [{argv} '-O1']\n"
    (start,) = only(CompileStarted, read(log))
    assert start.module == key


@pytest.mark.parametrize("unit", ["it/s", "s/it"])
@pytest.mark.parametrize("cut", [8, 11, 19, 23])
def test_a_stamp_broken_behind_a_progress_bar_is_counted_with_and_without_events(unit: str, cut: int) -> None:
    bar = f" 33%|{'#' * 80} | 5/15 [00:09<00:18,  2.00{unit}]"
    line = "2024-05-06 10:00:00.000534:  77  INFO ||NEURON_CACHE||: "
    text = bar + line[:cut] + "\n" + line[cut:] + "Compile cache path: /scratch/c\n"
    for kind in (LogReader, CountingReader):
        reader = kind("log:x")
        reader.feed(text.encode())
        reader.flush()
        counts = reader.tally.as_json()
        assert (counts["headers"], counts["pids"], counts["cache_paths"]) == (1, [77], ["/scratch/c"]), kind
