"""The page of a fleet in a browser: every panel is drawn from a real database, and leads on to nodes and cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neuron_top.store.fleet_records import HeartbeatSteps
from neuron_top.store.postgres.fleet import FleetStore
from tests.dashboard.browser import Watched
from tests.dashboard.served import Served, serving
from tests.dashboard.test_browser import DASH_OWN, LISTS_ARE_NAMED
from tests.fleet.database import NODES, fill
from tests.fleet.samples import reported
from tests.fleet.test_blame import ship
from tests.tui.feeds import StillFeed

STEPS = list(range(1, 21))


@pytest.fixture
def served(postgres_url: str, tmp_path: Path) -> Iterator[Served]:
    """Four nodes that compiled and train, of which n3 is slow."""
    ship(postgres_url)
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for node in NODES:
            store.beat(reported(node, phase="compiling", job="4711"))
            seconds = 2.0 if node == "n3" else 1.0
            rows = [HeartbeatSteps(rank=int(node[1:]), steps=STEPS, seconds=[seconds] * len(STEPS))]
            cores: dict[str, list[float | None]] = {"utilization": [0.9, 0.4, 0.95]}
            store.beat(reported(node, step_seconds=seconds, steps=rows, cores=cores))
    with serving(StillFeed(), tmp_path, store=postgres_url) as one:
        yield one


def test_every_panel_of_the_fleet_is_drawn(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}fleet")
    seen.until("#fleet-summary", "4 nodes")
    seen.until("#fleet-jobs", "4711")
    seen.until("#fleet-top", "n3")
    seen.until("#fleet-different", "compiler")
    seen.until("#fleet-steps-note", "The slowest: rank 3")
    seen.until("#fleet-steps", "rank 3")
    seen.until("#fleet-phases", "compiling")
    seen.until("#fleet-blame", "lock not seen across nodes")
    seen.page.wait_for_selector("#fleet-cells .js-plotly-plot")
    assert seen.complaints == []


def test_jobs_are_sorted_by_a_click_on_the_head_of_a_column(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}fleet")
    seen.until("#fleet-jobs", "4711")
    seen.page.click("#fleet-jobs th >> text=nodes")
    seen.page.wait_for_selector("#fleet-jobs th[aria-sort=descending] >> text=nodes")
    assert seen.page.url.endswith("?sort=-nodes")
    seen.page.click("#fleet-jobs th >> text=nodes")
    seen.page.wait_for_selector("#fleet-jobs th[aria-sort=ascending] >> text=nodes")
    seen.page.click("#fleet-jobs th >> text=nodes")
    seen.page.wait_for_function("() => location.search === ''")
    assert seen.complaints == []


def test_log_lines_of_a_node_lead_back_to_it_and_name_commands_as_code(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}logs?node=n2")
    seen.until("#logs-count", "neurontop watch PATH")
    assert "`" not in seen.page.inner_text("#logs-count")
    assert seen.page.locator("#logs-count a", has_text="lines of this machine").count() == 1
    seen.page.click("#logs-count a:has-text('node n2')")
    seen.until("#fleet-node", "Node n2")
    assert seen.complaints == []


@pytest.mark.parametrize(("theme", "width"), [("dark", 1440), ("light", 390)])
def test_axe_finds_nothing_on_the_page_of_a_fleet(browser: Any, served: Served, theme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    options = {"color_scheme": theme, "viewport": {"width": width, "height": 900}, "bypass_csp": True}
    seen = Watched(browser, **options)
    seen.page.goto(f"{served.address}fleet?node=n3&core=1")
    seen.until("#fleet-core", "Core 1 of n3")
    seen.page.wait_for_function(LISTS_ARE_NAMED)
    found = [
        f"{one['id']}: {node['html'][:160]}"
        for one in axe.Axe().run(seen.page).response["violations"]
        for node in one["nodes"]
        if not any(part in node["html"] for part in DASH_OWN)
    ]
    assert found == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_panels_are_shown_once_their_numbers_are_there(browser: Any, served: Served) -> None:
    seen, questions = Watched(browser), "**/_dash-update-component*"
    seen.page.route(questions, lambda _question: None)  # no answer comes
    seen.page.goto(f"{served.address}fleet")
    seen.page.wait_for_selector("#fleet-jobs", state="attached")
    assert not seen.page.is_visible(".panel:has(#fleet-steps)")
    words = "() => getComputedStyle(document.querySelector('main'), '::before').content"
    assert seen.page.evaluate(words) == '"Reading …"'
    seen.page.unroute(questions)
    seen.page.reload()
    seen.until("#fleet-jobs", "4711")
    assert seen.page.is_visible(".panel:has(#fleet-steps)")
    assert seen.page.evaluate(words) == "none"


_LAST_BUTTON = """() => {
    const all = document.querySelectorAll('#fleet-phases .modebar-btn'), last = all[all.length - 1];
    if (!last) { return false; }
    const {left, width, top, height} = last.getBoundingClientRect();
    if (!width) { return 'hidden'; }
    return last.contains(document.elementFromPoint(left + width / 2, top + height / 2)) ? 'free' : 'covered';
}"""
_CUT_BELOW = """() => [...document.querySelectorAll('#fleet-blame .table-scroll')]
    .filter((one) => one.scrollHeight > one.clientHeight + 1).length"""


@pytest.mark.parametrize(("width", "button"), [(1440, "free"), (390, "hidden")])
def test_the_buttons_of_a_chart_do_not_lie_under_its_menu_or_over_its_legend(
    browser: Any, served: Served, width: int, button: str
) -> None:
    is_phone = width < 500
    seen = Watched(browser, viewport={"width": width, "height": 900}, has_touch=is_phone, is_mobile=is_phone)
    seen.page.goto(f"{served.address}fleet")
    seen.until("#fleet-phases", "compiling")
    seen.page.evaluate("document.querySelector('#fleet-phases').scrollIntoView({block: 'center'})")
    seen.page.wait_for_selector("#fleet-phases .modebar-btn", state="attached")
    if not is_phone:
        seen.page.hover("#fleet-phases")
    assert seen.page.evaluate(_LAST_BUTTON) == button


def test_controls_and_tables_of_the_fleet_use_the_room_of_a_wide_page(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}fleet")
    seen.until("#fleet-blame", "lock not seen across nodes")
    tops = seen.page.evaluate("""() => ['#fleet-metric', '#fleet-find'].map(
        (one) => Math.round(document.querySelector(one).getBoundingClientRect().top / 20))""")
    assert tops[0] == tops[1], "the field for a search stands beside the other controls"
    assert seen.page.evaluate(_CUT_BELOW) == 0


_IN_SIGHT = """() => {
    const {top} = document.querySelector('#fleet-node h2').getBoundingClientRect();
    return top > 0 && top < innerHeight;
}"""


def test_a_node_that_a_list_names_is_in_sight_and_next_on_the_keyboard(browser: Any, served: Served) -> None:
    seen = Watched(browser, viewport={"width": 390, "height": 844})
    seen.page.goto(f"{served.address}fleet")
    seen.until("#fleet-top", "n2")
    seen.page.focus("#fleet-top a:text-is('n2')")
    seen.page.keyboard.press("Enter")
    seen.until("#fleet-node", "Node n2")
    seen.page.wait_for_function(_IN_SIGHT)
    seen.page.wait_for_function("() => document.activeElement.id === 'fleet-node-panel'")
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.innerText") == "Log lines, from its agent"
    assert seen.complaints == []


def test_nodes_are_selected_to_be_compared_by_keyboard_alone(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}fleet?node=n2")
    seen.until("#fleet-node", "Node n2")
    seen.page.focus("#fleet-node a:text-is('Select it')")
    seen.page.keyboard.press("Enter")
    seen.until("#fleet-selected", "1 node selected: n2")
    seen.page.wait_for_function("() => document.activeElement.innerText === 'Unselect it'")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector("#fleet-selected", state="hidden")
    seen.page.fill("#fleet-find", "!n1 !n2")
    seen.until("#fleet-summary", "2 match")
    seen.page.focus("#fleet-summary a:text-is('select them')")
    seen.page.keyboard.press("Enter")
    seen.until("#fleet-selected", "2 nodes selected: n3, n4")
    seen.until("#fleet-different", "2 selected nodes against 2 others")
    assert seen.page.locator("#fleet-summary a:text-is('select them')").count() == 0
    assert seen.complaints == []


def test_the_palette_finds_nodes_of_a_fleet(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}fleet")
    seen.until("#fleet-top", "n2")
    seen.page.keyboard.press("Control+k")
    seen.page.keyboard.type("node n4")
    seen.until("#palette-list", "n4")
    seen.page.keyboard.press("Enter")
    seen.until("#fleet-node", "Node n4")
    assert seen.complaints == []


def test_a_job_that_is_gone_leaves_no_empty_panels(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}fleet?job=gone")
    seen.until("#problem", "no job 'gone'")
    seen.page.wait_for_selector("#page", state="hidden")
    seen.page.click("#to-fleet")
    seen.until("#fleet-jobs", "4711")
    seen.page.wait_for_selector("#page", state="visible")


_MIDDLE = """([id, column, row]) => {
    const plot = document.querySelector(`#${id} .js-plotly-plot`), {xaxis, yaxis} = plot._fullLayout;
    plot.scrollIntoView({block: 'center'});
    const now = plot.getBoundingClientRect();
    return [now.left + xaxis._offset + xaxis.c2p(column), now.top + yaxis._offset + yaxis.c2p(row)];
}"""
_HOVERS = """([id, column, row]) => {
    const over = document.querySelector(`#${id} .js-plotly-plot`)._hoverdata?.[0]?.pointNumber;
    return Boolean(over) && over[0] === row && over[1] === column;
}"""
"""Plotly reports a click on the cell that it has seen the pointer over, and looks at that twenty times a second."""


def click(seen: Watched, chart: str, column: int, row: int) -> None:
    """Click the middle of a cell of a heat map, which may still move as the page grows."""
    seen.page.wait_for_selector(f"#{chart} .js-plotly-plot .nsewdrag")
    # A chart is filled when it comes into view.
    seen.page.evaluate("id => document.querySelector(`#${id}`).scrollIntoView({block: 'center'})", chart)
    has_cells = "id => (document.querySelector(`#${id} .js-plotly-plot`)._fullData || []).length > 0"
    seen.page.wait_for_function(has_cells, arg=chart)
    for _ in range(50):
        place = seen.page.evaluate(_MIDDLE, [chart, column, row])
        seen.page.mouse.move(*place)
        seen.page.wait_for_timeout(100)
        if seen.page.evaluate(_HOVERS, [chart, column, row]):
            break
    seen.page.mouse.click(*place)


def test_clicks_open_a_node_and_its_core_or_select_nodes_to_compare(browser: Any, served: Served) -> None:
    seen = Watched(browser)
    seen.page.goto(f"{served.address}fleet")
    seen.until("#fleet-different", "1 slow node against 3 others: n3.")
    click(seen, "fleet-cells", 1, 0)
    seen.until("#fleet-node", "Node n2")
    panel = "document.querySelector('#fleet-node-panel').getBoundingClientRect()"
    assert seen.page.evaluate(f"{panel}.top < innerHeight"), "a click shows what it opened"
    seen.page.wait_for_function(
        """() => {
            const chart = document.querySelector('#fleet-cores .js-plotly-plot'), whole = chart && chart._fullLayout;
            return chart && (chart._fullData || []).length && chart.clientHeight >= whole.height;
        }"""
    )  # it was hidden until now, and is not cut off
    click(seen, "fleet-cores", 1, 0)
    seen.until("#fleet-core", "Core 1 of n2")
    seen.until("#fleet-core", "history needs the site's Prometheus")
    seen.page.get_by_text("a click selects").click()
    click(seen, "fleet-cells", 0, 0)
    seen.until("#fleet-different", "1 selected node against 3 others: n1.")
    signs = "n => document.querySelectorAll('#fleet-cells .heatmap-label').length && "
    signs += "[...document.querySelectorAll('#fleet-cells .heatmap-label')].filter(e => e.textContent.includes('✓'))"
    seen.page.wait_for_function(f"{signs}.length === n", arg=1)
    click(seen, "fleet-cells", 3, 0)
    seen.until("#fleet-different", "2 selected nodes against 2 others: n1, n4.")
    seen.until("#fleet-selected", "2 nodes selected: n1, n4")
    seen.page.wait_for_function(f"{signs}.length === n", arg=2)
    assert seen.page.locator("#fleet-cells .shapelayer path").count() == 2
    click(seen, "fleet-cells", 3, 0)
    seen.until("#fleet-different", "1 selected node against 3 others: n1.")
    assert "selected=n1" in seen.page.url
    seen.page.get_by_text("Clear the selection").click()
    seen.until("#fleet-different", "1 slow node against 3 others: n3.")
    seen.page.wait_for_function(f"{signs}.length === n", arg=0)
    seen.page.wait_for_selector("#fleet-selected", state="hidden")
    assert seen.complaints == []
