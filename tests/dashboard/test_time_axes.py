"""Axes of time in a real browser: as many words as have room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.tui.feeds import START, StillFeed, full, module

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


DAYS = """() => [...document.querySelectorAll('#compile-rate .xtick text')]
    .filter((one) => one.checkVisibility() && /20\\d\\d/.test(one.textContent)).length"""


def test_the_day_stands_at_the_first_tick_beside_numbers_of_one_digit(browser: Any, tmp_path: Path) -> None:
    at = START - START % 3600 - 90  # so that a tick is right behind the first lookup
    hits = [ev.CacheHit(module=module(n), at=at + 3540 * n) for n in range(2)]
    feed = StillFeed(hits, now=at + 3600)
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}compile")
        seen.page.wait_for_selector("#compile-rate .xtick", state="attached")
        seen.page.wait_for_function("() => document.querySelectorAll('#compile-rate .xtick').length > 2")
        assert seen.page.evaluate(DAYS) == 1
