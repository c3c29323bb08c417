"""axe on what opens over a page: the palette, the list of keys, the drawer, the place for a log. Of every impact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote_plus

import pytest

from tests.dashboard.browser import Watched
from tests.dashboard.served import Served, serving
from tests.dashboard.test_browser import DASH_OWN, LISTS_ARE_NAMED
from tests.tui.feeds import StillFeed, full, module

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """A server with a job, and one where nothing runs."""
    state = tmp_path_factory.mktemp("state")
    with serving(full(4), state) as busy, serving(StillFeed(), state / "idle") as idle:
        yield busy, idle


def palette(seen: Watched) -> None:
    seen.page.keyboard.press("Control+k")
    seen.page.keyboard.type("MODULE_")
    seen.until("#palette-list", "MODULE_")


def keys(seen: Watched) -> None:
    seen.page.keyboard.press("?")
    seen.until("#keys", "ctrl K")


def graph(seen: Watched) -> None:
    seen.until("#drawer-now", "[F137]")


def drop_place(seen: Watched) -> None:
    seen.page.wait_for_selector("#drop-zone", state="visible")


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize(
    ("which", "path", "act"),
    [
        (0, "", palette),
        (0, "", keys),
        (0, f"?graph={quote_plus(module(4))}", graph),
        (1, "", drop_place),
    ],
    ids=["palette", "keys", "drawer", "place for a log"],
)
def test_axe_finds_nothing_where_something_is_open(
    browser: Any, places: tuple[Served, Served], which: int, path: str, act: Callable[[Watched], None], theme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    seen = Watched(browser, color_scheme=theme, bypass_csp=True)
    seen.page.goto(places[which].address + path)
    seen.page.wait_for_selector("#connection.up")
    seen.page.wait_for_function(LISTS_ARE_NAMED)
    act(seen)
    found = [
        f"{one['id']} ({one['impact']}): {node['html'][:200]}"
        for one in axe.Axe().run(seen.page).response["violations"]
        for node in one["nodes"]
        if not any(part in node["html"] for part in DASH_OWN)
    ]
    seen.page.close()
    assert found == []
