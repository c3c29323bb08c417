"""Lines in columns, and equal ones as one row."""

from __future__ import annotations

import pytest

from neuron_top.events.levels import LineLevel
from neuron_top.ingest.log_line import LogLine, readable
from neuron_top.views.log_rows import columns, grouped, single, split_line


def line(text: str, level: LineLevel = LineLevel.PLAIN, rank: int | None = None, offset: int = 0) -> LogLine:
    return LogLine(source="log:/x", offset=offset, text=text, level=level, rank=rank)


CASES = {
    "2026-02-14 09:30:11.000123:  4711  INFO ||NEURON_CACHE||: Compile cache path: /c": (
        "09:30:11", "", "NEURON_CACHE", "Compile cache path: /c",
    ),
    "[rank3]: 2026-02-14T09:30:11.5Z INFO 10200 [job.Frontend.0]: begins": (
        "09:30:11", "r3", "job.Frontend.0", "begins",
    ),
    "2026-May-26 18:09:54.681697 22017:22277  INFO  TDRV:some_function                 a table | of    two": (
        "18:09:54", "", "TDRV:some_function", "a table | of    two",
    ),
    "(EngineCore_DP0 pid=7) [2026-07-31 09:35:02] INFO builder.py:901: generating": (
        "09:35:02", "EngineCore_DP0", "builder.py:901", "generating",
    ),
    "[2026-05-01 16:43:30.090: I some/folder/checkpointing.py:148] `load` is old": (
        "16:43:30", "", "checkpointing.py:148", "`load` is old",
    ),
    "INFO:Neuron:Generating HLOs": ("", "", "Neuron", "Generating HLOs"),
    "2026-01-02 10:00:00,123 - trainer - INFO - ready": ("10:00:00", "", "trainer", "ready"),
    "[trainer_loop 10:04:10] device: neuron": ("10:04:10", "", "trainer_loop", "device: neuron"),
    "2026-Aug-06 06:16:11.0548 37855:37907 [0] init.cc:97 CCOM INFO plugin  ready": (
        "06:16:11", "", "CCOM", "plugin  ready",
    ),
    "LOG Thu Nov 26 08:09:22 2026 - (0, 9) step_loss : 4.88": ("08:09:22", "", "", "(0, 9) step_loss : 4.88"),
    "Thu Nov 26 08:09:22 2026": ("08:09:22", "", "", ""),
    "[1]: resumed": ("", "r1", "", "resumed"),
    "[rank2] resumed": ("", "r2", "", "resumed"),
    "2026-02-14 09:30:11 INFO [rank2] resumed": ("09:30:11", "r2", "", "resumed"),
    "2026-02-14 09:30:11,123 - loop - INFO - [rank12] resumed": ("09:30:11", "r12", "loop", "resumed"),
    "resumed from [rank2] of before": ("", "", "", "resumed from [rank2] of before"),
    "worker-2  | 2026/03/29 09:31:51 No devices": ("09:31:51", "worker-2", "", "No devices"),
    "INFO 02-04 19:28:37 [registry.py:48] loaded": ("19:28:37", "", "registry.py:48", "loaded"),
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_what_stands_in_front_of_a_message_has_columns(text: str) -> None:
    assert tuple(columns(line(text))) == CASES[text]


@pytest.mark.parametrize(
    ("stamp", "day"),
    [
        ("2026-01-02 10:00:00,123 - ", "Jan 2"),
        ("2026-Aug-06 06:16:11.0548 ", "Aug 6"),
        ("2026/03/29 09:31:51 ", "Mar 29"),
        ("LOG Thu Nov 26 08:09:22 2026 - ", "Nov 26"),
        ("Nov  6 08:09:22 ", "Nov 6"),
        ("INFO 02-04 19:28:37 ", "Feb 4"),
        ("05/11/2026 10:00:00 ", ""),  # of May or of November
        ("2026-13-01 10:00:00 ", ""),
        ("10:00:00 ", ""),
        ("", ""),
    ],
)
def test_the_day_of_a_line_is_read_in_every_form_that_is_no_guess(stamp: str, day: str) -> None:
    assert split_line(line(f"{stamp}ready")).day == day


@pytest.mark.parametrize(
    "text",
    [
        "",
        "    return self.call(*args)",
        "step 7 loss 4.5",
        "1000 samples done",
        "ERROR nothing works",
        "a: b",
        "[1, 2]",
        "[1]:",  # torchrun numbers the failures that it lists
    ],
)
def test_a_text_without_anything_in_front_stays_as_it_is(text: str) -> None:
    assert tuple(columns(line(text))) == ("", "", "", text)


def test_a_level_is_left_out_only_where_a_sign_reports_it() -> None:
    text = "2026-02-14 09:30:11 ERROR ||X||: bad"
    assert columns(line(text))[2:] == ("X", "ERROR bad")
    assert columns(line(text, LineLevel.ERROR))[2:] == ("X", "bad")


def test_the_rank_that_an_event_reported_counts() -> None:
    assert columns(line("hello", rank=7)).who == "r7"


def test_padding_between_words_is_collapsed_behind_a_stamp_and_kept_in_tables() -> None:
    assert columns(line("10:00:00 a      b")).message == "a  b"
    assert columns(line("a      b")).message == "a      b"
    assert columns(line("10:00:00 | a      | b")).message == "| a      | b"


def stamped(second: int, text: str, level: LineLevel = LineLevel.PLAIN, rank: int | None = None) -> LogLine:
    return line(f"2026-01-02 10:00:{second:02d} {text}", level, rank, offset=second)


def test_equal_lines_of_several_ranks_are_one_row_though_others_stand_between() -> None:
    lines = [stamped(second, text, rank=second) for second in range(4) for text in ("ready", "loads weights")]
    rows = grouped(lines).rows
    assert [(row.columns.message, row.times, row.who_text, row.count_text) for row in rows] == [
        ("ready", 4, "4 ×", "× 4"),
        ("loads weights", 4, "4 ×", "× 4"),
    ]
    assert rows[0].line is lines[0]
    assert rows[0].last is lines[6]


def test_every_line_is_found_in_its_row() -> None:
    lines = [stamped(0, "a"), stamped(1, "b"), stamped(2, "a"), stamped(3, "c")]
    arranged = grouped(lines)
    assert arranged.of_line == [0, 1, 0, 2]
    assert sum(row.times for row in arranged.rows) == len(lines)
    assert single(lines).of_line == [0, 1, 2, 3]


def test_errors_that_differ_in_numbers_are_alike_and_steps_are_not() -> None:
    errors = [stamped(0, f"ERROR duplicate key: {number}", LineLevel.ERROR) for number in range(5)]
    (row,) = grouped(errors).rows
    assert (row.times, row.varies, row.count_text) == (5, True, "× 5 alike")
    assert len(grouped([stamped(0, f"step {number}") for number in range(5)]).rows) == 5


def test_errors_that_no_event_reported_are_alike_too() -> None:
    lines = [line(f"2026-Feb-04 21:48:02.40898{n} 3046:34 ERROR  TDRV:insert     Duplicate key: {n}") for n in range(9)]
    (row,) = grouped(lines).rows
    assert (row.columns.component, row.columns.message, row.times) == ("TDRV:insert", "ERROR Duplicate key: 0", 9)


LEVELS = (LineLevel.WARNING, LineLevel.PLAIN)


def test_warnings_with_their_source_line_are_two_rows() -> None:
    pairs = [(f"(Engine pid=7) /x.py:{n}: UserWarning: old", "(Engine pid=7)   warnings.warn(") for n in range(5)]
    lines = [line(text, level) for pair in pairs for text, level in zip(pair, LEVELS, strict=True)]
    assert [row.times for row in grouped(lines).rows] == [5, 5]


def test_lines_below_a_record_join_those_of_the_record_that_it_joined() -> None:
    block = ("ran out of memory on core {}", "    tensors   8 GiB", "", "    other     1 GiB")
    lines = [
        line(text.format(n) if not at else text, LineLevel.ERROR if not at else LineLevel.PLAIN)
        for n in range(8)
        for at, text in enumerate(block)
    ]
    assert [row.times for row in grouped(lines).rows] == [8, 8, 8, 8]


def test_lines_below_a_record_that_differ_are_kept_in_their_order() -> None:
    texts = ("10:00:00 worker died", "  at a", "  at b", "10:00:01 worker died", "  at a", "  at c", "  at b")
    arranged = grouped([line(text) for text in texts])
    assert [row.columns.message.strip() for row in arranged.rows] == ["worker died", "at a", "at b", "at c", "at b"]
    assert [row.times for row in arranged.rows] == [2, 2, 1, 1, 1]


def test_an_error_never_joins_a_line_of_another_level() -> None:
    assert len(grouped([stamped(0, "same"), stamped(1, "same", LineLevel.ERROR)]).rows) == 2


def test_lines_of_a_traceback_keep_their_order() -> None:
    frames = ["Traceback:", "  call()", "  other()", "  call()", "  call()"]
    assert [(row.columns.message, row.times) for row in grouped(map(line, frames)).rows] == [
        ("Traceback:", 1), ("  call()", 1), ("  other()", 1), ("  call()", 2),
    ]  # fmt: skip


def test_a_line_far_away_is_another_moment() -> None:
    between = [stamped(1, f"step {number}") for number in range(40)]
    assert grouped([stamped(0, "again"), *between, stamped(2, "again")]).rows[-1].times == 1


def test_terminal_sequences_are_dropped() -> None:
    shown = readable("log:/x", 0, b"\x1b[1;36m(EngineCore_DP0 pid=7)\x1b[0;0m INFO:Neuron:Sharding\x1b]0;evil\x07")
    assert not {"\x1b", "␛"} & {*shown.text}
    assert tuple(columns(shown)) == ("", "EngineCore_DP0", "Neuron", "Sharding")
    assert readable("log:/x", 0, b"\x1b[34m[rank5]: hello\x1b[0m").rank == 5
