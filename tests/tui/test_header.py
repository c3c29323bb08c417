"""The first line of every screen: what is cut last where there is little room."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.tui.widgets.header import Band, header_line
from neuron_top.views.overview import overview
from neuron_top.views.verdict import verdict

from . import feeds

THEME = Theme(DARK, UNICODE)
END = ev.RunFinished(run="20260921-101500-bert", exit_code=1, at=feeds.START + 60, node="trn1")


def drawn(feed: feeds.StillFeed, width: int) -> str:
    view = feed.read(overview)
    return header_line(THEME, Band(view.header, verdict(view)), width).text


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_job_that_ended_has_no_bar_so_that_the_reason_has_room(width: int) -> None:
    text = drawn(feeds.StillFeed([*feeds.job(), *feeds.steps(20), END], now=feeds.START + 300), width)
    assert "exit status 1" in text
    assert "%" not in text
    assert UNICODE.bar not in text


def test_a_bar_has_a_cell_as_soon_as_something_is_done() -> None:
    feed = feeds.StillFeed([*feeds.job(), *feeds.steps(2)], now=feeds.START + 3)
    assert drawn(feed, 120).count(UNICODE.bar) == 1


def test_on_a_narrow_screen_what_is_as_usual_goes_before_the_reason_is_cut() -> None:
    text = drawn(feeds.StillFeed([*feeds.job(), *feeds.compiles()], now=feeds.START + 43), 80)
    assert "live" not in text
    assert "workers" not in text
    assert "1 graph under way for 12 s · 1 done" in text
    assert "live" in drawn(feeds.StillFeed([*feeds.job(), *feeds.compiles()], now=feeds.START + 43), 120)


def test_that_nothing_was_heard_for_long_is_reported_on_a_narrow_screen_too() -> None:
    assert "last heard 1 m ago" in drawn(feeds.StillFeed([*feeds.job(), *feeds.steps(20)], now=feeds.START + 100), 80)


@pytest.mark.parametrize("width", range(40, 130))
def test_no_number_is_cut_however_narrow_the_screen_is(width: int) -> None:
    started = ev.RunStarted(run="r", command=("a",), name="обучение 测试 of a model with a long name", at=feeds.START)
    whole = drawn(feeds.StillFeed([started, *feeds.steps(1234)], now=feeds.START + 1300), 400).split()
    shown = drawn(feeds.StillFeed([started, *feeds.steps(1234)], now=feeds.START + 1300), width).split()
    numbers = [word for word in shown if any(sign.isdigit() for sign in word)]
    assert set(numbers) <= set(whole)
    assert not shown or "step" not in shown or shown[shown.index("step") + 1] != "…"


def test_a_long_name_gives_way_to_why_its_job_failed() -> None:
    started = ev.RunStarted(run="20260921-101500-bert", command=("a",), name="a-name-of-a-job-" * 4, at=feeds.START)
    feed = feeds.StillFeed([started, END], now=feeds.START + 300)
    assert "a-name-of-a-jo" in drawn(feed, 80)
    for width in (80, 100, 120):
        assert "exit status 1" in drawn(feed, width), width
    assert "a-name-of-a-job-" * 4 in drawn(feed, 200)


def test_a_name_has_the_room_that_a_reason_leaves_which_ends_before_a_long_word() -> None:
    started = ev.RunStarted(run="20260921-101500-bert", command=("a",), name="a-name-of-a-job-" * 2, at=feeds.START)
    gone = ev.RunFinished(run="20260921-101500-bert", exit_code=0, at=feeds.START + 60, node="trn1")
    view = feeds.StillFeed([started, gone], now=feeds.START + 300).read(overview)
    one = verdict(feeds.StillFeed([started, gone], now=feeds.START + 300).read(overview))
    failed = msgspec.structs.replace(one, reason=f"something is missing: /{'long/' * 20}library.so")
    text = header_line(THEME, Band(view.header, failed), 120).text
    assert "a-name-of-a-job-" * 2 in text
    assert "something is missing: …" in text
