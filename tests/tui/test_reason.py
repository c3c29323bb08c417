"""The first lines of the overview: why the job failed."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.events.diagnosis import Cause, Evidence
from neuron_top.events.runtime import MemoryRow, MemoryScope
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.panels import alerts, missing
from neuron_top.tui.panels.reason import reason_panel, size_request
from neuron_top.tui.theme import DARK, Theme, choose
from neuron_top.views.main_panel import details
from neuron_top.views.overview import Overview, overview

from . import feeds

LONG = "a statement of the compiler that takes more than a line " * 6


def view_of(feed: feeds.StillFeed) -> Overview:
    return feed.read(overview)


@pytest.fixture
def theme() -> Theme:
    return choose(DARK.name, False, "utf-8", False)


def test_a_job_without_a_failure_takes_no_line(theme: Theme) -> None:
    view = view_of(feeds.full())
    assert size_request(view, 80) == (0, 0, 0, 1)
    assert reason_panel(theme, view, 80, 3) == []


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("height", [1, 2, 3, 5, 9])
def test_the_reason_comes_before_the_advice_and_nothing_is_wider_or_higher_than_its_place(
    theme: Theme, width: int, height: int
) -> None:
    view = view_of(feeds.failed_log(text=LONG))
    lines = [strip.text for strip in reason_panel(theme, view, width, height)]
    assert 1 <= len(lines) <= height
    assert all(len(line) == width for line in lines)
    assert lines[0].startswith("✗ failed: ")


def test_with_room_the_whole_reason_is_shown(theme: Theme) -> None:
    view = view_of(feeds.failed_log())
    height = size_request(view, 80).full
    text = " ".join(" ".join(strip.text for strip in reason_panel(theme, view, 80, height)).split())
    assert "the compiler rejected a graph: [NCC_EVRF031] sort is not supported for int64 (line 1,203)" in text
    assert "a retry fails again unless one of them changes" in text


def test_of_a_reason_in_characters_of_two_cells_nothing_is_lost(theme: Theme) -> None:
    words = "設定が正しくないため学習を始められません。"
    view = view_of(feeds.failed_log(text=words * 5))
    height = size_request(view, 80).full
    text = "".join(strip.text.strip() for strip in reason_panel(theme, view, 80, height))
    assert words * 5 in text


async def test_the_overview_begins_with_the_reason_and_the_header_says_failed_not_silent() -> None:
    app = TopApp(feeds.failed_log(), Settings(), services=feeds.StillServices())
    async with app.run_test(size=(120, 40)) as pilot:
        app.draw()
        await pilot.pause()
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
    assert "FAILED" in lines[0]
    assert "silent" not in lines[0]
    assert lines[2].startswith("✗ failed: the compiler rejected a graph: [NCC_EVRF031]")
    assert "▲" not in lines[1], "the only alert is the failure itself"
    assert not any("error: job failed" in line for line in lines), "the failure is told once"


def failed_at(line: int, *others: Cause) -> feeds.StillFeed:
    """A job that failed, with eight lines of the log around the cause."""
    event = feeds.diagnosed()
    evidence = tuple(Evidence(number, f"line {number}") for number in range(1200, 1208) if number != line)
    cause = msgspec.structs.replace(event.diagnosis.causes[0], line=line, evidence=evidence)
    diagnosis = msgspec.structs.replace(event.diagnosis, causes=(cause, *others))
    grown = ev.OutputGrew(path="/jobs/train.log", end=9, written=feeds.START, at=feeds.START, seen=feeds.START + 7200)
    return feeds.StillFeed([grown, msgspec.structs.replace(event, diagnosis=diagnosis)], now=feeds.START + 7200)


@pytest.mark.parametrize("line", [1200, 1203, 1206])
def test_where_lines_are_left_the_failing_one_is_among_them(theme: Theme, line: int) -> None:
    view = view_of(failed_at(line))
    full = size_request(view, 200).full
    for height in range(full - 5, full + 1):
        text = "\n".join(strip.text for strip in reason_panel(theme, view, 200, height))
        assert f"     {line:,}  [NCC_EVRF031]" in text


def test_a_line_of_the_log_is_reported_once(theme: Theme) -> None:
    cause = feeds.diagnosed().diagnosis.causes[0]
    view = view_of(failed_at(1203, msgspec.structs.replace(cause, line=1204, text="returned 70")))
    text = "\n".join(strip.text for strip in reason_panel(theme, view, 200, 20))
    assert text.count("     1,204  ") == 1
    view = view_of(failed_at(1203, msgspec.structs.replace(cause, line=1400, text="returned 70")))
    assert size_request(view, 200).full == len(reason_panel(theme, view, 200, 20))


def test_what_filled_the_memory_stands_below_the_advice(theme: Theme) -> None:
    view = view_of(failed_at(1203))
    filled = {"tensors": 12 * 1024**3, "model_shared_scratchpad": 5 * 1024**3}
    full = size_request(view, 120, filled).full
    assert full == size_request(view, 120).full + 1
    lines = [strip.text for strip in reason_panel(theme, view, 120, full, filled)]
    assert all(len(line) == 120 for line in lines)
    place = next(at for at, line in enumerate(lines) if line.startswith("  filled by"))
    assert "tensors 12.0 GiB" in lines[place]
    assert "a retry fails again" in lines[place - 1]
    assert "line 1200" in lines[place + 1]


def test_a_job_whose_device_ran_out_of_memory_tells_what_filled_it() -> None:
    kinds = {"tensors": 12 * 1024**3}
    row = MemoryRow(scope=MemoryScope.BANK, index=0, total=12 * 1024**3, kinds=kinds)
    failed = ev.DeviceMemoryExhausted(device=0, core=0, requested=1, rows=(row,), at=feeds.START, seen=feeds.START)
    assert feeds.StillFeed([failed]).read(details).filled == kinds
    assert feeds.full().read(details).filled == {}


def test_commands_in_our_sentences_have_no_backticks(theme: Theme) -> None:
    end = ev.RunFinished(run="20260921-101500-bert", exit_code=1, at=feeds.START + 60, node="trn1")
    view = view_of(feeds.StillFeed([*feeds.job(), *feeds.steps(9), end], now=feeds.START + 99))
    strips = [*reason_panel(theme, view, 120, 9), *missing.missing_panel(theme, view, 120, 3)]
    strips += alerts.alerts_panel(theme, view_of(feeds.full()).alerts, feeds.START + 50, 120, 20)
    text = "\n".join(strip.text for strip in strips)
    assert "neurontop diagnose names causes" in text
    assert "neurontop doctor helps" in text
    assert "`" not in text
