"""Lines have exactly the width asked for, whatever they hold, and nothing in them reaches the terminal raw."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from neuron_top.tui import drawing
from neuron_top.tui.theme import ASCII, DARK, NO_COLOR, UNICODE, Theme

LOOK = Theme(DARK, UNICODE)
PLAIN = Theme(NO_COLOR, ASCII)
SHARES = st.one_of(st.none(), st.floats(-1, 3, allow_nan=False))


@given(st.lists(st.text(max_size=30), max_size=6), st.integers(0, 60))
def test_a_line_is_as_wide_as_asked(texts: list[str], width: int) -> None:
    line = drawing.Line(LOOK, width)
    for text in texts:
        line.put(text)
    strip = line.strip()
    assert cell_len(strip.text) == width


@given(st.text())
def test_no_control_character_gets_through(text: str) -> None:
    drawn = drawing.Line(LOOK, 200).put(text).strip().text
    assert not [character for character in drawn if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")]


@given(st.text(max_size=40), st.integers(0, 50))
def test_an_ascii_look_draws_ascii_only(text: str, width: int) -> None:
    assert drawing.Line(PLAIN, width).put(text).strip().text.isascii()


@pytest.mark.parametrize("theme", [LOOK, PLAIN])
@given(share=SHARES, width=st.integers(1, 80))
def test_a_bar_fills_its_width(theme: Theme, share: float | None, width: int) -> None:
    assert sum(len(text) for text, _ in drawing.bar(theme, share, width)) == width


@given(st.lists(st.floats(0, 1), max_size=8), st.integers(1, 80), SHARES)
def test_a_stacked_bar_fills_its_width(shares: list[float], width: int, peak: float | None) -> None:
    parts = [drawing.BarPart(share, tuple(LOOK.hues.values())[index]) for index, share in enumerate(shares)]
    assert sum(len(text) for text, _ in drawing.stacked(LOOK, parts, width, peak)) == width


def test_something_small_is_not_shown_as_nothing() -> None:
    assert drawing.bar(LOOK, 0.0001, 10)[0][0] == "■"
    assert drawing.bar(LOOK, 0.0, 10)[0][0] == ""


def test_an_unknown_share_is_a_dash_and_no_empty_bar() -> None:
    assert "—" in drawing.bar(LOOK, None, 10)[0][0]


def test_a_sparkline_leaves_gaps_for_what_is_unknown() -> None:
    assert drawing.spark(LOOK, [0.0, None, 1.0], 5, top=1.0) == "  ▁ █"


def test_a_chart_is_full_where_the_value_is_the_top() -> None:
    assert drawing.chart(LOOK, [0.5, 1.0], 2, 2, 1.0) == [" █", "██"]


def test_a_curve_connects_its_values_over_the_whole_width() -> None:
    assert drawing.curve([0.0, 1.0], 2, 1, 0.0, 1.0) == ["⡠⠊"], "four columns of points, one step up each"
    assert drawing.curve([0.0, 0.0, 1.0, 1.0], 2, 2, 0.0, 1.0) == [" ⡏", "⣀⠇"], "a jump is an upright line"
    assert drawing.curve([2.0, 2.0], 3, 1, 2.0, 2.0) == ["⠒⠒⠒"], "what never changes is in the middle"
    assert drawing.curve([0.0] * 1000, 3, 2, 0.0, 1.0) == ["   ", "⣀⣀⣀"]
    assert drawing.curve([], 3, 2, 0.0, 1.0) == ["   ", "   "]
    assert drawing.curve([0.0, None, None, 0.0], 2, 1, 0.0, 1.0) == ["⡀⢀"], "nothing is drawn over what is not known"


@given(st.lists(st.one_of(st.none(), st.floats(-5, 5)), max_size=60), st.integers(1, 40), st.integers(1, 9))
def test_a_curve_is_as_wide_and_high_as_asked(values: list[float | None], width: int, height: int) -> None:
    drawn = drawing.curve(values, width, height, -1.0, 1.0)
    assert [len(line) for line in drawn] == [width] * height


def test_downsampling_keeps_the_mean() -> None:
    assert drawing.downsample([1.0, 3.0, None, 5.0], 2) == [2.0, 5.0]


@given(st.text("ab cd", max_size=60), st.integers(1, 40))
def test_a_sentence_is_cut_between_two_words(text: str, width: int) -> None:
    kept = drawing.fit(text, width, "…")
    assert len(kept) <= width
    if kept != text and " " in kept and max(map(len, text.split(" "))) < 12:
        assert set(kept[:-1].split()) <= set(text.split())


@pytest.mark.parametrize(("width", "drawn"), [(17, "1 extracted  1 …"), (24, "1 extracted  1 unknown …")])
def test_behind_what_the_end_of_the_line_cuts_nothing_comes(width: int, drawn: str) -> None:
    line = drawing.Line(LOOK, width)
    for text in ("1 extracted", "  ", "1 unknown words", "  ", "select a row"):
        line.put(text)
    assert line.strip().text.rstrip() == drawn


def test_a_name_is_cut_where_the_line_ends() -> None:
    assert drawing.fit("waits for MODULE_1234567890123456789+abcdef12", 30, "…") == "waits for MODULE_123456789012…"
    assert drawing.fit("失敗 設定が正しくないため", 14, "…") == "失敗 設定が正…"
    assert drawing.fit("Ended by a signal, most often the kernel's", 26, "…") == "Ended by a signal, most …"


def test_the_end_of_a_path_is_what_is_kept() -> None:
    assert drawing.fit_start("/a/very/long/path.log", 9, "…") == "…path.log"
    assert drawing.fit_start("/資料/訓練/実験.log", 9, "…") == "…実験.log"
    assert drawing.fit_start("/資料/訓練/実験.log", 8, "…") == "…験.log"


WORDS = st.lists(st.text("abé訓練e\u0301📦-", min_size=1, max_size=40), min_size=1, max_size=12)


@given(WORDS, st.integers(12, 40), st.integers(0, 6))
def test_lines_fit_their_cells_and_lose_no_character(words: list[str], width: int, indent: int) -> None:
    lines = drawing.lines_of(" ".join(words), width, indent)
    assert all(cell_len(line) <= width for line in lines)
    assert all(line.startswith(" " * indent) for line in lines[1:])
    assert "".join("".join(lines).split()) == "".join(words)


def test_a_control_character_is_seen_for_what_it_is_in_ascii_too() -> None:
    assert drawing.Line(PLAIN, 12).put("a\x1b[2J\x7fb").strip().text == "a^[[2J^?b   "
    assert drawing.Line(LOOK, 10).put("a\x1b[2J\x7fb").strip().text == "a␛[2J␡b   "


def test_a_paragraph_loses_no_word_and_begins_every_line_where_it_is_reported() -> None:
    strips = drawing.paragraph(LOOK, "one two three four five six seven", 24, left=4)
    assert [strip.cell_length for strip in strips] == [24] * len(strips)
    assert all(strip.text.startswith("    ") and strip.text[4] != " " for strip in strips)
    assert " ".join(strip.text.strip() for strip in strips) == "one two three four five six seven"


@pytest.mark.parametrize(
    ("command", "short"),
    [
        (
            "/opt/venv/bin/python -u /home/me/train.py --data s3://bucket/x --out relative/path",
            "train.py --data s3://bucket/x --out relative/path",
        ),
        ("/usr/bin/python3.11 -W ignore -u -m torch.distributed.run train.py", "torch.distributed.run train.py"),
        ("python3 -c import time", "python3 -c import time"),
        ("python", "python"),
        ("/usr/bin/neuron-bench -n 4", "neuron-bench -n 4"),
        ("", ""),
    ],
)
def test_a_command_is_short_without_its_folders_and_its_interpreter(command: str, short: str) -> None:
    assert drawing.short_command(command) == short


def test_a_path_is_not_broken_at_its_hyphens() -> None:
    path = "/home/me/.local/state/neuron-top/runs/20261130-a"
    assert drawing.lines_of(f"45 events and the folder {path}", 50) == ["45 events and the folder", path]
    assert drawing.lines_of(f"in {path}: 1 entry", 24) == [
        "in /home/me/.local/state",
        "/neuron-top/runs/2026113",
        "0-a: 1 entry",
    ]
