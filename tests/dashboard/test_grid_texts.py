"""Numbers in the grids, which the browser writes, read as those of `units.py` on all other pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from neuron_top.dashboard.app import ASSETS
from neuron_top.dashboard.pages.runs import row
from neuron_top.units import bytes_text, duration_text, percent_text
from tests.tui.feeds import recordings

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

DURATIONS = (None, -90.0, -0.0001, 0, 0.0004, 0.35, 0.9996, 3.44964, 59.94, 59.96, 185, 3599.6, 7620, 187_200, 863_999,
             864_000, 5_529_600, 103_420_800)  # fmt: skip
SHARES = (None, 0, 0.004, 0.0321, 0.0994, 0.0996, 0.16, 0.999, 1)
SIZES = (None, 0, 812, 999, 1000, 1023, 15.25 * 2**30, 99.9 * 2**20, 5 * 2**50)


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("secondsText", DURATIONS, duration_text),
        ("shareText", SHARES, percent_text),
        ("bytesText", SIZES, bytes_text),
    ],
)
def test_the_browser_writes_numbers_as_all_pages_do(
    browser: Any, name: str, values: Sequence[float | None], text: Callable[[float | None], str]
) -> None:
    page = browser.new_page()
    page.add_script_tag(path=str(ASSETS.resolve() / "dashAgGridFunctions.js"))
    shown = page.evaluate(f"values => values.map(window.dashAgGridFunctions.{name})", list(values))
    page.close()
    assert dict(zip(values, shown, strict=True)) == {value: text(value) for value in values}


def test_a_recording_is_not_rounded_before_it_is_written() -> None:
    one = msgspec.structs.replace(recordings()[0], seconds=3.44964)
    assert row(one)["seconds"] == one.seconds
