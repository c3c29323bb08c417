"""Axes of time in a real browser: as many words as have room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.tui.feeds import StillFeed, full

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
MORE = "(few) => document.querySelectorAll('#live-core .xtick').length > few"
FITS = """() => { const one = document.querySelector("#live-core .js-plotly-plot");
    return one.clientWidth === Math.round(one._fullLayout.width); }"""
APART = """() => [...document.querySelectorAll('#live-core .xtick text')].map((one) => one.getBoundingClientRect())
    .every((box, place, all) => place === 0 || box.left > all[place - 1].right)"""


def test_words_of_an_axis_of_time_stand_apart_on_a_phone_and_are_more_on_a_wide_screen(
    browser: Any, tmp_path: Path
) -> None:
    feed: StillFeed = full(4)
    with serving(feed, tmp_path) as served:
        seen = Watched(browser, viewport={"width": 390, "height": 2400})
        seen.page.goto(served.address)
        seen.page.wait_for_selector(".panel[data-folded]:has(#live-core)")
        seen.page.click(".panel:has(#live-core) h2")
        seen.page.wait_for_selector("#live-core .xtick", state="visible")
        seen.page.wait_for_function(FITS)
        narrow = seen.page.locator("#live-core .xtick").count()
        assert 2 <= narrow <= 4
        assert seen.page.evaluate(APART)
        seen.page.set_viewport_size({"width": 1250, "height": 2400})
        seen.page.wait_for_function(MORE, arg=narrow)
        assert seen.page.evaluate(APART)
        assert seen.complaints == []
