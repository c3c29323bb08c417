"""Log lines on the web: in columns, equal ones as one with a count, and at the moment of a chart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.dashboard.pages import logs
from neuron_top.events.levels import LineLevel, LogLevel
from neuron_top.ingest.log_line import LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.views.moments import LinePlace, place_at
from tests.dashboard.browser import Watched
from tests.dashboard.served import ACT, serving
from tests.tui.feeds import START, StillFeed, compiles, job, steps

WIDE = 40
RETRY = "2026-09-21 15:00:0{0}.0: WARN ||NRT||: retry {0}"


def line(number: int) -> LogLine:
    """A line a second, from 14:12:00 on."""
    minute, second = divmod(number, 60)
    text = f"2026-09-21 14:{12 + minute:02}:{second:02}.000: INFO ||NEURON_CC||: part {number}"
    return LogLine(source="log:a", offset=number * WIDE, text=text, end=(number + 1) * WIDE)


class File(StillFeed):
    """Lines that can be read from any place."""

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        found = [one for one in self.lines if one.offset >= after["log:a"]][:count]
        end = found[-1].end if found else after["log:a"]
        return LogPage(lines=tuple(found), at={"log:a": end}, ended=not found or found[-1] is self.lines[-1])

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        found = [one for one in self.lines if one.offset < before["log:a"]][-count:]
        return LogPage(lines=tuple(found), at={"log:a": found[0].offset if found else 0}, ended=True)


def test_a_line_comes_with_its_columns_and_equal_ones_share_a_key() -> None:
    texts = ("2026-09-21 14:12:00.000: INFO ||NEURON_CC||: same", "2026-09-21 14:12:09.000: INFO ||NEURON_CC||: same")
    one, other = logs.rows_of([LogLine(source="log:a", offset=at, text=text) for at, text in enumerate(texts)], {})
    assert one[4:8] == ["14:12:00", "", "NEURON_CC", "same"]
    assert one[8] == other[8] != ""
    assert one[10] == "Sep 21"
    (plain,) = logs.rows_of([LogLine(source="log:a", offset=0, text="  at File x")], {})
    assert plain[4:8] == ["", "", "", ""]


def test_counts_of_lines_are_written_alike() -> None:
    every = [line(number) for number in range(5000)]
    assert logs.status_text(every[:1200], every, 0, LogQuery()) == "1,200 of the last 5,000 lines"
    words = logs.status_text(every[:1200], every, 1000, LogQuery("part"))
    assert words.startswith("1,200 of the last 4,000 lines; ")


def test_the_lines_at_a_moment_are_found_from_a_line_whose_time_is_known() -> None:
    feed = File(lines=[line(number) for number in range(3000)])
    place = LinePlace(source="log:a", offset=10 * WIDE, time=START)
    around = logs.lines_around(feed, place, START + 1500)
    assert around is not None
    assert around.focus == f"log:a:{1510 * WIDE}" or around.focus == f"log:a:{1511 * WIDE}"
    assert around.focus in {f"{one.source}:{one.offset}" for one in around.lines}
    assert logs.lines_around(feed, place, START - 5).focus == f"log:a:{10 * WIDE}"  # type: ignore[union-attr]


def test_the_last_line_with_a_time_before_the_moment_is_the_one_to_begin_from() -> None:
    feed = StillFeed(job())
    for number in (1, 2, 3):
        feed.push(
            ev.LineMarked(level=LogLevel.ERROR, text="x", at=START + 10 * number, source="log:a", offset=number * WIDE)
        )
    found = [feed.read(lambda run, now, at=at: place_at(run, now, START + at)) for at in (0, 25, 99)]
    assert [place.offset if place is not None else None for place in found] == [WIDE, 2 * WIDE, 3 * WIDE]


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_equal_lines_are_one_row_and_a_click_in_a_chart_leads_to_its_moment(browser: Any, tmp_path: Path) -> None:
    repeated = [
        LogLine(source="log:a", offset=90_000 + n, text=f"{RETRY.format(n)} of 5", level=LineLevel.WARNING)
        for n in range(5)
    ]
    mark = ev.LineMarked(level=LogLevel.ERROR, text="x", at=START, source="log:a", offset=0)
    feed = File([*job(), *compiles(), *steps(60), mark], now=START + 90, lines=[*map(line, range(200)), *repeated])
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}logs")
        seen.until("#logs-lines", "× 5")
        shown = seen.page.locator("#logs-lines li:visible")
        assert shown.count() == 201
        seen.page.uncheck("#logs-alike input")
        seen.page.wait_for_function("() => document.querySelectorAll('#logs-lines li.dup').length === 4")
        assert shown.count() == 205
        block = ["10:00:0{} ran out of memory", "    tensors 8 GiB", "", "    other 1 GiB"]
        rows = seen.page.evaluate(
            """texts => {
              const row = text => ["", text, text, "", "", "", "", "", text.replace(/^10:00:0./, ""), text[0] === "1"];
              dash_clientside.neurontop.appendLines({reset: true, lines: texts.map(row)}, []);
              const items = [...document.querySelectorAll("#logs-lines li")];
              return items.map(one => one.querySelector(".times")?.textContent || "");
            }""",
            [text.format(n) for n in range(3) for text in block],
        )
        assert rows == [" × 3"] * 4 + [""] * 8
        seen.page.goto(f"{served.address}?run=")
        seen.page.wait_for_function("() => document.querySelector('#live-losses .js-plotly-plot')?.data?.length === 1")
        seen.page.wait_for_function(
            """() => { const chart = document.querySelector('#live-losses .js-plotly-plot');
               if (!chart || !chart.data.length) { return false; }
               chart.emit('plotly_click', {points: [{x: 30, customdata: chart.data[0].customdata[29]}]});
               return location.pathname.endsWith('/logs'); }"""
        )
        assert "around 2026-09-21 14:" in seen.until("#logs-count", "around")
        seen.page.wait_for_selector("#logs-lines li.at")
        seen.page.click("text=show the newest")
        seen.until("#logs-count", "the last")
        assert (seen.complaints, seen.alerts) == ([], [])


_DAYS = """() => [...document.querySelectorAll('#logs-lines li')]
    .map((one) => getComputedStyle(one, '::before').content)"""
_BELOW_THE_DAY = """() => {
    const one = document.querySelectorAll('#logs-lines li')[3], {top} = one.getBoundingClientRect();
    return [...one.querySelectorAll('.time, .message')].map((each) => each.getBoundingClientRect().top - top);
}"""


@pytest.mark.e2e
@pytest.mark.timeout(600)
@pytest.mark.parametrize("width", [1440, 390])
def test_each_day_stands_above_the_lines_with_which_it_begins(browser: Any, tmp_path: Path, width: int) -> None:
    texts = [
        f"2026-09-2{day} 14:12:0{second}.000: INFO ||NEURON_CC||: part {day}{second}"
        for day in (1, 2)
        for second in range(3)
    ]
    lines = [LogLine(source="log:a", offset=number * WIDE, text=text) for number, text in enumerate(texts)]
    with serving(StillFeed(job(), lines=lines), tmp_path) as served:
        seen = Watched(browser, viewport={"width": width, "height": 900})
        seen.page.goto(f"{served.address}logs")
        seen.until("#logs-lines", "part 22")
        days = seen.page.evaluate(_DAYS)
        assert days == ['"Sep 21"', "none", "none", '"Sep 22"', "none", "none"]
        assert min(seen.page.evaluate(_BELOW_THE_DAY)) > 10, "the day has a row of its own"
        assert seen.complaints == []


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_columns_that_no_line_fills_take_no_room(browser: Any, tmp_path: Path) -> None:
    texts = [f"2026-09-21 14:12:0{number}.000 step {number}" for number in range(5)]
    bare = [LogLine(source="log:a", offset=number * WIDE, text=text) for number, text in enumerate(texts)]
    for lines, least, most in ((bare, 0, 130), ([line(number) for number in range(5)], 200, 400)):
        with serving(StillFeed(job(), lines=lines), tmp_path / f"state{most}") as served:
            seen = Watched(browser)
            seen.page.goto(f"{served.address}logs")
            seen.page.wait_for_selector(".lines.columns li .message")
            at = seen.page.evaluate(
                """() => { const one = document.querySelector(".lines.columns li"),
                    message = one.querySelector(".message");
                    return message.getBoundingClientRect().left - one.getBoundingClientRect().left; }"""
            )
            assert least <= at <= most, at


def test_an_alert_is_acknowledged_muted_and_counted_again(browser: Any, tmp_path: Path) -> None:
    with serving(StillFeed([*job(), *compiles()], now=START + 90), tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}sign-in")
        seen.page.fill("#token", ACT)
        seen.page.click("button[type=submit]")
        seen.until("#live-alerts", "compile killed")
        seen.page.click("#live-alerts button[aria-label^='Mute: compile killed']")
        seen.until("#live-alerts", "1 muted")
        assert "compile killed" not in seen.text("#live-reason")
        seen.page.click("text=1 muted")
        seen.page.click("#live-alerts button[aria-label^='Count again: compile killed']")
        seen.page.wait_for_selector("#live-alerts button[aria-label^='Mute: compile killed']")
        other = Watched(browser)
        other.page.goto(served.address)
        other.until("#live-alerts", "compile killed")
        assert other.page.locator("#live-alerts button").count() == 0, "who only reads does nothing about alerts"
        assert (seen.complaints, seen.alerts) == ([], [])


def test_a_moment_that_utc_has_no_year_for_is_none() -> None:
    assert logs.moment_of({"at": "9999-12-31T23:59:59-01:00"}) is None
    assert logs.moment_of({"at": "0001-01-01T00:00:00+01:00"}) is None
    assert logs.moment_of({"at": "1970-01-01T01:00:00+01:00"}) == 0.0
    assert logs.moment_of({"at": "1970-01-01T00:01:00"}) == 60.0
