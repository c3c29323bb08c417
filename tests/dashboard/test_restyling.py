"""What a chart that is drawn again costs the rest of its page: the browser looks at few elements' styles again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neuron_top.dashboard.pages import compile as compile_page
from neuron_top.dashboard.pages import cores, live
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.tui.feeds import StillFeed

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
RETITLE = """async (title) => {
    const chart = [...document.querySelectorAll('.js-plotly-plot')].find((one) => one.offsetParent);
    await Plotly.relayout(chart, { 'xaxis.title.text': title });
    document.body.offsetWidth;
}"""
"""Draws a chart with a longer text, which the library measures in an element of its own."""


def restyled(browser: Any, seen: Watched, title: str) -> int:
    """How many elements' styles the browser computes while a chart gets a title, by its own trace."""
    session = browser.new_browser_cdp_session()
    events: list[dict[str, Any]] = []
    ends: list[Any] = []
    session.on("Tracing.dataCollected", lambda news: events.extend(news["value"]))
    session.on("Tracing.tracingComplete", lambda end: ends.append(end))
    session.send(
        "Tracing.start",
        {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": ["devtools.timeline"]}},
    )
    seen.page.evaluate(RETITLE, title)
    session.send("Tracing.end")
    while not ends:
        seen.page.wait_for_timeout(20)
    session.detach()
    return sum(event["args"].get("elementCount", 0) for event in events if event["name"] == "UpdateLayoutTree")


def test_a_chart_that_measures_a_text_leaves_the_styles_of_the_page_alone(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    """A selector with `:has()` that ends in `*` or in any class makes the browser look at every element."""
    with serving(feed, tmp_path) as served:
        for page in (live, cores, compile_page):
            seen = Watched(browser)
            seen.page.goto(f"{served.address}{page.PATH}")
            seen.drawn("main", "")
            seen.page.wait_for_timeout(1000)  # what a library still draws
            restyled(browser, seen, "short")
            elements = seen.page.evaluate("document.querySelectorAll('*').length")
            assert 0 < restyled(browser, seen, "a title that is longer") < elements / 2, page.NAME
            assert seen.complaints == []
            seen.page.close()
