"""Pages by width: on a wall screen the log stands beside the overview, on a phone panels fold, tables fit a laptop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neuron_top.dashboard import pinned_log
from neuron_top.dashboard.cache_figures import TREEMAP_HEIGHT
from neuron_top.events import CompilePhaseEnded, FrameCompileBegan, RunStarted
from neuron_top.events.levels import LineLevel
from neuron_top.ingest.log_line import LogLine
from neuron_top.services.feeds import live_feed
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from tests.actions.caches import entry
from tests.dashboard.browser import Watched
from tests.dashboard.picture_inputs import telemetry, training
from tests.dashboard.served import serving
from tests.dashboard.test_overview_compiles import compiling_events
from tests.dashboard.test_pages import words_of
from tests.tui.feeds import START, StillFeed, full, job, module, steps

RETRY = "2026-09-21 15:00:0{0}.0: WARN ||NRT||: retry {0} of 5"


def lines(count: int) -> list[LogLine]:
    """Plain lines, the last five of them alike."""
    plain = [LogLine(source="log:a", offset=80 * n, text=f"epoch 1 batch {n}") for n in range(count)]
    alike = [
        LogLine(source="log:a", offset=80 * (count + n), text=RETRY.format(n), level=LineLevel.WARNING)
        for n in range(5)
    ]
    return [*plain, *alike]


def test_equal_lines_are_one_row_and_only_the_newest_rows_are_sent() -> None:
    assert pinned_log.rows_of([]) is None
    rows = pinned_log.rows_of(lines(300)).children
    assert len(rows) == pinned_log.ROWS_SHOWN
    assert rows[-1].className == "warning"
    assert "× 5" in words_of(rows[-1])
    assert "epoch 1 batch 299" in words_of(rows[-2])
    assert rows[-2].className == "plain"


_ZONE_IS_FREE = """() => {
    const zone = document.querySelector('.zone').getBoundingClientRect();
    return zone.width > 0 && zone.right <= innerWidth
        && [...document.querySelectorAll('.top :is(a, button, select), #connection')].every((one) => {
            const box = one.getBoundingClientRect();
            return box.left >= zone.right || box.right <= zone.left || box.top >= zone.bottom || box.bottom <= zone.top;
        });
}"""


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_the_zone_of_all_times_has_room_at_every_width(browser: Any, tmp_path: Path) -> None:
    with serving(full(), tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(served.address)
        seen.page.wait_for_selector("#connection.up")
        for width in (360, 390, 600, 641, 660, 700, 768, 1024, 1199, 1200, 1279, 1280, 1366, 1400, 1440):
            seen.page.set_viewport_size({"width": width, "height": 800})
            assert seen.page.evaluate(_ZONE_IS_FREE), width
            seen.page.evaluate("document.getElementById('connection').textContent = 'disconnected for 3600 s'")
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


_HEIGHTS = """window.heights = new Set();
setInterval(() => {
    const head = document.querySelector('.top:has(.of-run)');
    if (head && getComputedStyle(head).display === 'flex') { window.heights.add(head.offsetHeight); }
}, 5)"""


@pytest.mark.e2e
@pytest.mark.timeout(600)
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_does_not_move_down_when_the_choice_of_a_run_comes(browser: Any, tmp_path: Path, width: int) -> None:
    with serving(full(), tmp_path) as served:
        seen = Watched(browser, viewport={"width": width, "height": 844})
        seen.page.add_init_script(_HEIGHTS)
        seen.page.goto(served.address)
        seen.page.wait_for_selector(".top .dash-dropdown-wrapper")
        seen.page.wait_for_selector("#connection.up")
        assert len(seen.page.evaluate("[...window.heights]")) == 1


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_the_actions_of_the_cache_stand_in_one_line_of_a_laptop(browser: Any, tmp_path: Path) -> None:
    entry(tmp_path / "cache", 1)
    with serving(StillFeed(), tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}cache")
        seen.until("#cache-shown", "1 entry")
        buttons = "[...document.querySelectorAll('.row:has(> #cache-evict) > button')]"
        assert seen.page.evaluate(f"{buttons}.length") > 5
        assert len(set(seen.page.evaluate(f"{buttons}.map(each => each.getBoundingClientRect().top)"))) == 1
        seen.page.close()


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_the_log_is_pinned_beside_the_overview_where_there_is_room(browser: Any, tmp_path: Path) -> None:
    feed = StillFeed([*job(), *steps(5)], now=START + 9, lines=lines(300))
    with serving(feed, tmp_path) as served:
        seen = Watched(browser, viewport={"width": 2560, "height": 1200})
        seen.page.goto(served.address)
        seen.until("#pinned-lines", "batch 299")
        log, training = (seen.page.locator(of).bounding_box() for of in (".pinned", ".about-training"))
        assert log["x"] >= training["x"] + training["width"]
        feed.lines.append(LogLine(source="log:a", offset=90_000, text="epoch 2 batch 0"))
        feed.push(now=START + 10)
        seen.until("#pinned-lines", "epoch 2 batch 0")
        assert seen.complaints == []
        seen.page.close()

        narrow = Watched(browser)
        narrow.page.goto(served.address)
        narrow.until("#live-step", "5")
        assert not narrow.page.locator(".pinned").is_visible()
        assert narrow.page.locator("#pinned-lines").inner_html() == "", "nobody asked for them"
        narrow.page.set_viewport_size({"width": 2560, "height": 1200})
        narrow.until("#pinned-lines", "epoch 2 batch 0")
        narrow.page.close()


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_on_a_phone_the_first_panel_is_open_and_the_others_open_by_their_headings(browser: Any, tmp_path: Path) -> None:
    feed = StillFeed([*job(), *compiling_events()[:2], *steps(5, at=START + 70)], now=START + 90)
    with serving(feed, tmp_path) as served:
        seen = Watched(browser, viewport={"width": 390, "height": 800})
        seen.page.goto(served.address)
        seen.until("#live-step", "5")
        seen.page.wait_for_selector(".about-compiles[data-folded]")
        assert seen.page.locator("#live-losses").is_visible()
        assert not seen.page.locator("#live-compile").is_visible()
        opens = seen.page.locator(".about-compiles .fold")
        assert opens.get_attribute("aria-expanded") == "false"
        opens.press("Enter")
        seen.page.wait_for_selector("#live-compile", state="visible")
        assert opens.get_attribute("aria-expanded") == "true"
        seen.page.click(".about-training h2")
        seen.page.wait_for_selector(".about-training[data-folded]")
        feed.push(now=START + 91)
        seen.until("#live-elapsed", "00:01:31")
        assert not seen.page.locator("#live-losses").is_visible(), "what a reader closed stays closed"
        seen.page.set_viewport_size({"width": 1440, "height": 1000})
        seen.page.wait_for_selector("#live-losses", state="visible")
        assert (seen.complaints, seen.alerts) == ([], [])
        seen.page.close()


SIDEWAYS = """() => [...document.querySelectorAll('.table-scroll')]
    .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText)"""


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_on_a_phone_a_table_of_many_columns_is_a_card_per_row_and_none_scrolls_sideways(
    browser: Any, tmp_path: Path
) -> None:
    log = training(tmp_path)
    (tmp_path / "monitor.jsonl").write_bytes(telemetry(32, 0))
    feed: Any = live_feed(Settings(state_dir=str(tmp_path / "state")), [str(log), str(tmp_path / "monitor.jsonl")])
    with serving(feed, tmp_path / "state") as served:
        seen = Watched(browser, viewport={"width": 360, "height": 800})
        seen.page.goto(f"{served.address}cores")
        seen.until("#cores-rows", "GiB")
        height = "document.querySelector('#cores-rows tbody tr').getBoundingClientRect().height"
        label = "getComputedStyle(document.querySelector('#cores-rows td'), '::before').content"
        assert seen.page.evaluate(label) == '"core"'
        assert seen.page.evaluate(height) > 60, "several lines"
        assert seen.page.evaluate(SIDEWAYS) == []
        seen.page.set_viewport_size({"width": 1440, "height": 1000})
        seen.page.wait_for_function(f"{height} < 60")
        assert seen.page.evaluate(label) == "none"
        assert seen.complaints == []
        seen.page.close()


FITS = """(id) => {
    const head = document.querySelector(id + " .ag-header-viewport");
    return head.firstElementChild.scrollWidth <= head.clientWidth;
}"""


ELSEWHERE = "20260101-000000-other"
"""A recording of another node."""


def record_with_labels(state: Path) -> None:
    """A recording that fills every column of the table."""
    run, at = "20260101-000000-llama3-70b-tp32-pp4-sweep-lr-3e-4", 1_767_225_600.0
    closing = (
        b'{"state":"failed","state_text":"failed (killed by SIGKILL)","compile_share":0.4,"hit_rate":0.9,"graphs":1214}'
    )
    with SqliteStore(Settings(state_dir=str(state)).state_path / "neurontop.db") as store:
        started = RunStarted(run=run, name=run[16:], at=at, seen=at, node="ip-10-0-143-27.us-west-2.compute.internal")
        store.begin(started)
        store.append(run, [started], at)
        store.finish(run, -9, at + 90_000, closing)
        store.begin(RunStarted(run=ELSEWHERE, name="other", at=at, seen=at, node="ip-10-0-143-28"))
        store.finish(ELSEWHERE, 0, at + 60, closing)
    labels = RunService(Settings(state_dir=str(state)))
    labels.label(run, starred=True, add_tags=("sweep", "bf16"), note="the schedule of learning rates was wrong")


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_tables_of_a_small_laptop_do_not_scroll_sideways(browser: Any, tmp_path: Path) -> None:
    record_with_labels(tmp_path)
    entry(tmp_path / "cache", 1)  # its own: a machine may have a cache in the usual place, and an empty one has no rows
    with serving(full(), tmp_path, roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser, viewport={"width": 1280, "height": 900})
        for page, widths in (("runs", (1280, 1024)), ("cache", (1280, 1024)), ("compile", (1280, 1024))):
            seen.page.goto(f"{served.address}{page}")
            seen.page.wait_for_selector(f"#{page}-grid .ag-row")
            for width in widths:
                seen.page.set_viewport_size({"width": width, "height": 900})
                seen.page.wait_for_function(FITS, arg=f"#{page}-grid")
                seen.page.set_viewport_size({"width": 1280, "height": 900})
        seen.page.goto(f"{served.address}runs")
        heads = seen.page.locator("#runs-grid .ag-header-cell-text")
        seen.page.wait_for_selector("#runs-grid .ag-header-cell[col-id=node]")  # left out until there are rows
        assert heads.all_inner_texts()[-1] == "Node"
        assert heads.evaluate_all("heads => heads.filter(head => head.scrollWidth > head.clientWidth).length") == 0
        RunService(Settings(state_dir=str(tmp_path))).delete(ELSEWHERE)
        seen.page.reload()
        seen.page.wait_for_function(
            "() => document.querySelectorAll('#runs-grid .ag-center-cols-container .ag-row').length === 1"
        )
        seen.page.wait_for_function(FITS, arg="#runs-grid")
        assert "Node" not in heads.all_inner_texts(), "with one node its name tells nothing apart"
        seen.page.close()


HEADS = """(id) => [...document.querySelectorAll(id + " .ag-header-cell-text")].map((head) => head.innerText)"""
CUT = """(of) => [...document.querySelectorAll(of)].filter((one) => one.scrollWidth > one.clientWidth).length"""


@pytest.mark.e2e
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("page", "kept", "key"), [("compile", "Graph", "graph"), ("cache", "Module", "module"), ("runs", "Name", "name")]
)
def test_narrow_grids_leave_columns_out_and_cut_none(
    browser: Any, tmp_path: Path, page: str, kept: str, key: str
) -> None:
    record_with_labels(tmp_path)
    entry(tmp_path / "cache", 1)
    with serving(full(), tmp_path, roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser, viewport={"width": 1440, "height": 900})
        seen.page.goto(f"{served.address}{page}")
        seen.page.wait_for_selector(f"#{page}-grid .ag-row")
        seen.page.wait_for_function(FITS, arg=f"#{page}-grid")
        every = seen.page.evaluate(HEADS, f"#{page}-grid")
        for width in (800, 390):
            seen.page.set_viewport_size({"width": width, "height": 900})
            seen.page.wait_for_function(FITS, arg=f"#{page}-grid")
            heads = seen.page.evaluate(HEADS, f"#{page}-grid")
            assert kept in heads
            assert set(heads) < set(every)
            assert seen.page.locator(f"#{page}-grid .ag-header-cell[col-id={key}]").bounding_box()["width"] >= 100
        seen.page.set_viewport_size({"width": 1440, "height": 900})
        seen.page.wait_for_function(
            "([id, count]) => document.querySelectorAll(id + ' .ag-header-cell-text').length === count",
            arg=[f"#{page}-grid", len(every)],
        )
        assert seen.page.evaluate(HEADS, f"#{page}-grid") == every
        assert seen.complaints == []
        seen.page.close()


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_a_narrow_page_shows_what_tells_graphs_apart_and_whole_durations_of_phases(
    browser: Any, tmp_path: Path
) -> None:
    identity: dict[str, Any] = {"pid": 71, "compile_id": "0/0", "source": "torch-trace:71", "at": START}
    entry(tmp_path / "cache", 1)
    feed = full()
    feed.push(
        FrameCompileBegan(function="forward", **identity),
        CompilePhaseEnded(phase="async_compile.wait", seconds=58.7, **identity),
        CompilePhaseEnded(phase="create_aot_dispatcher_function", seconds=0.051, **identity),
    )
    with serving(feed, tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser, viewport={"width": 390, "height": 900})
        seen.page.goto(f"{served.address}compile")
        seen.until("#compile-torch", "58.7 s")
        assert seen.page.evaluate(CUT, ".table-scroll[aria-label^=Phases]") == 0
        seen.page.wait_for_selector("#compile-grid .ag-row")
        seen.page.wait_for_function(FITS, arg="#compile-grid")
        assert seen.page.evaluate(CUT, "#compile-grid .ag-row[row-id*='+'] [col-id=state]") == 0
        graphs = seen.page.locator("#compile-grid .ag-cell[col-id=graph]").all_inner_texts()
        assert module(3).removeprefix("MODULE_") in graphs
        seen.page.set_viewport_size({"width": 800, "height": 900})
        seen.page.wait_for_selector("#compile-grid .ag-header-cell[col-id=message]")
        seen.page.wait_for_function(FITS, arg="#compile-grid")
        assert seen.page.locator("#compile-grid .ag-header-cell[col-id=message]").bounding_box()["width"] >= 150
        assert seen.page.locator("#compile-grid .ag-header-cell[col-id=who]").bounding_box()["width"] >= 112
        seen.page.goto(f"{served.address}cache")
        seen.page.wait_for_selector("#cache-grid .ag-row .ag-cell[col-id=module]")
        assert not seen.text("#cache-grid .ag-row .ag-cell[col-id=module]").startswith("MODULE_")
        seen.page.close()


FILLS = """() => {
    const panel = document.querySelector('.panel:has(#cache-treemap)').getBoundingClientRect();
    const map = document.querySelector('#cache-treemap .main-svg').getBoundingClientRect();
    return panel.bottom - map.bottom >= 0 && panel.bottom - map.bottom < 40 && map.height >= %d; }"""


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_the_map_of_a_cache_fills_its_panel_at_every_width(browser: Any, tmp_path: Path) -> None:
    entry(tmp_path / "cache", 0)
    with serving(full(), tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser, viewport={"width": 1024, "height": 900})
        seen.page.goto(f"{served.address}cache")
        seen.drawn("#cache-shown", "entr")
        for width in (1024, 1440, 1024, 390):  # two columns of panels, three, one
            seen.page.set_viewport_size({"width": width, "height": 900})
            seen.page.locator("#cache-treemap").scroll_into_view_if_needed()
            seen.page.wait_for_function(FILLS % TREEMAP_HEIGHT)
        seen.page.close()


def test_a_table_of_cards_is_sorted_by_a_line_of_its_heads(browser: Any, tmp_path: Path) -> None:
    """On a phone, and where a page is enlarged to twice its size."""
    with serving(full(), tmp_path) as served:
        seen = Watched(browser, viewport={"width": 390, "height": 844})
        seen.page.goto(f"{served.address}cores")
        seen.drawn("#cores-rows", "utilization")
        seen.page.click("#cores-rows th >> text=utilization")
        seen.page.wait_for_selector("#cores-rows th[aria-sort] >> text=utilization")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        for head in seen.page.locator("#cores-rows th").all():
            assert head.bounding_box()["x"] + head.bounding_box()["width"] <= 390
        assert seen.complaints == []


@pytest.mark.parametrize("width", [640, 800])
def test_tiles_fill_their_rows_and_what_folds_a_panel_is_at_its_edge(browser: Any, tmp_path: Path, width: int) -> None:
    with serving(full(), tmp_path) as served:
        seen = Watched(browser, viewport={"width": width, "height": 900})
        seen.page.goto(served.address)
        seen.drawn("#live-step", "")
        rights = """(of) => [...document.querySelectorAll(of)].filter((one) => one.offsetParent)
            .map((one) => Math.round(one.getBoundingClientRect().right))"""
        edge = seen.page.evaluate(rights, "#page > .grid > .tiles")
        assert seen.page.evaluate(rights, "#page .tile")[-1:] == edge
        folds = seen.page.evaluate(rights, "#page .fold")
        assert len(set(folds)) == (1 if width == 640 else 0)
        assert seen.complaints == []
