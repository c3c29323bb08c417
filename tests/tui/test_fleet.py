"""The screen of the fleet, on a real database: jobs, a cell for each node, the worst node first, what is different."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from neuron_top.errors import NothingToShow
from neuron_top.events import StepReported
from neuron_top.identity import machine_id
from neuron_top.ingest.fleet_job_feed import job_feed
from neuron_top.ingest.job_source import find_job
from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from neuron_top.store.batches import pack
from neuron_top.store.errors import StoreUnreachable
from neuron_top.store.fleet_records import Batch, HeartbeatSteps, Spread
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import keys_for
from neuron_top.tui.panels import fleet as panel
from neuron_top.tui.panels.blame import blame_lines
from neuron_top.tui.panels.phases import phase_lines
from neuron_top.tui.panels.rank_steps import rank_steps_lines
from neuron_top.tui.screens.fleet import FleetScreen
from neuron_top.tui.screens.fleet_node import node_page
from neuron_top.tui.services import Services
from neuron_top.tui.theme import choose
from neuron_top.tui.widgets.table import column_widths
from neuron_top.views.fleet import METRICS, metric_named, sorted_nodes
from neuron_top.views.fleet_cells import fleet_cells
from neuron_top.views.fleet_differences import differences
from neuron_top.views.fleet_node import NodeHistory, NodePage
from neuron_top.views.phases import NodePhases, Phase, PhaseTimeline
from tests.agent.test_agent_logs import serving_logs
from tests.fleet.database import NODES, answer_at, fill
from tests.fleet.samples import job as fleet_job
from tests.fleet.samples import page, reported
from tests.fleet.test_blame import ship
from tests.tui.feeds import StillFeed, job, steps

DARK = choose("dark", False, "utf-8", False)


@asynccontextmanager
async def shown(url: str, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[TopApp, Pilot[int]]]:
    """The program on the screen of the fleet."""
    app = TopApp(StillFeed(), Settings(store=url))
    async with app.run_test(size=size) as pilot:
        await pilot.press("7")
        await until(app, pilot, lambda text: "n4" in text)
        yield app, pilot


def text_of(app: TopApp) -> str:
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())


async def until(app: TopApp, pilot: Pilot[int], done: Callable[[str], bool]) -> str:
    """What is on the screen, as soon as that is so."""
    for _ in range(600):
        await pilot.pause(0.05)
        if done(text := text_of(app)):
            return text
    raise AssertionError(text_of(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_jobs_and_nodes_are_shown_the_slow_one_marked(postgres_url: str, size: tuple[int, int]) -> None:
    fill(postgres_url)
    async with shown(postgres_url, size) as (app, pilot):
        text = await until(app, pilot, lambda text: "4711" in text)
        assert "4 nodes · 1 job running · 1 slow" in text
        assert "▲ n3" in text
        await pilot.press("m", "m")
        text = await until(app, pilot, lambda text: "seconds a step: worst" in text)
        rows = [line.split()[0:2] for line in text.splitlines() if " training " in line and "4711" not in line[:20]]
        assert rows[0] == ["▲", "n3"], "the worst is not the first"


async def test_another_metric_sorts_the_nodes_also_while_one_is_chosen(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for node, low, high in (("n1", 0.9, 12.0), ("n2", 0.2, 1.0)):
            spreads = {
                "utilization": Spread(low=low, median=0.9, high=0.95, worst_core=0),
                "memory": Spread(low=0.5, median=0.5, high=high, worst_core=0),
            }
            store.beat(reported(node, metrics=spreads))
    async with shown(postgres_url) as (app, pilot):
        fleet = app.screen
        assert isinstance(fleet, FleetScreen)
        await pilot.press("down")
        orders = set()
        for _metric in METRICS:
            await pilot.press("m")
            assert fleet._page is not None
            names = [row.node for row in fleet.table.order.rows]
            assert names == [row.node for row in sorted_nodes(fleet._page.nodes, fleet._metric)]
            orders.add(tuple(names))
        assert len(orders) > 1
        assert fleet.table.order.current is not None


async def test_the_first_line_tells_the_fleet_where_no_job_of_this_machine_runs(postgres_url: str) -> None:
    fill(postgres_url)
    async with shown(postgres_url) as (app, pilot):
        text = await until(app, pilot, lambda text: "FLEET" in text.splitlines()[0])
        assert "FLEET 4 nodes · 1 job running · 1 slow" in text.splitlines()[0]
        assert "IDLE" not in text
        await pilot.press("C")  # and on the pages that are opened there
        text = await until(app, pilot, lambda text: "Changes on nodes" in text)
        assert "FLEET 4 nodes" in text.splitlines()[0]
        await pilot.press("escape", "1")
        text = await until(app, pilot, lambda text: "FLEET" not in text)
        assert "IDLE" in text.splitlines()[0]


async def test_the_first_line_tells_the_job_of_this_machine_where_one_runs(postgres_url: str) -> None:
    fill(postgres_url)
    app = TopApp(StillFeed([*job(), *steps(3)]), Settings(store=postgres_url))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("7")
        text = await until(app, pilot, lambda text: "4 nodes" in text)
        assert "FLEET" not in text.splitlines()[0]
        assert "TRAINING" in text.splitlines()[0]


async def test_a_filter_keeps_rows_and_cells_and_marks_are_compared_with_the_rest(postgres_url: str) -> None:
    fill(postgres_url)
    async with shown(postgres_url) as (app, pilot):
        await pilot.press("D")
        text = await until(app, pilot, lambda text: "compiler" in text)
        assert "2.20" in text
        await pilot.press("escape", "/", *"n2")
        text = await until(app, pilot, lambda text: "n3 " not in text)
        assert "n2" in text


async def test_a_row_opens_its_node_with_what_history_needs(postgres_url: str) -> None:
    fill(postgres_url)
    async with shown(postgres_url) as (app, pilot):
        await pilot.press("down", "enter")
        text = await until(app, pilot, lambda text: "Attributes" in text)
        assert "history needs the site's Prometheus" in text
        assert "compiler" in text


async def test_a_node_of_two_jobs_is_one_row_with_both_and_no_job_misses_it(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        store.open_job("4800", name="second", started=2000.0)
        store.beat(reported("n1", job="4800", cores={"utilization": [0.25, 0.5]}))
    async with shown(postgres_url) as (app, pilot):
        text = await until(app, pilot, lambda text: "4800, 4711" in text)
        assert [line.split()[0] for line in text.splitlines() if "4800, 4711" in line] == ["n1"]
        assert "4711 bert  4 nodes  training" in text
        assert "silent" not in text.splitlines()[2]
        await pilot.press("down", "down", "enter")  # n3 is slow, and therefore first
        text = await until(app, pilot, lambda text: "Cores: utilization" in text)
        assert "4800, 4711" in text


def test_a_thread_that_asks_after_the_end_makes_no_connection(postgres_url: str) -> None:
    fill(postgres_url)
    used, late = Services(Settings(store=postgres_url)), Services(Settings(store=postgres_url))
    assert used.fleet.page().nodes
    for services in (used, late):
        services.close()
        with pytest.raises(StoreUnreachable, match="this program is ending"):
            services.fleet.page()
        with pytest.raises(StoreUnreachable, match="this program is ending"):
            services.fleet_actions.newest()


def test_a_feed_of_a_job_that_is_not_there_leaves_no_connection(postgres_url: str) -> None:
    fill(postgres_url)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(NothingToShow):
            job_feed(Settings(store=postgres_url), "no such job")
        gc.collect()
    assert [one for one in told if one.category is ResourceWarning and "connection" in str(one.message)] == []


def test_the_machine_on_which_a_job_is_looked_at_is_none_of_its_nodes(postgres_url: str) -> None:
    fill(postgres_url)
    feed, began = job_feed(Settings(store=postgres_url), "4711"), time.monotonic()
    feed.start(lambda: None)
    try:
        while not feed.read(lambda run, _now: run.cores.sources) and time.monotonic() - began < 60:
            time.sleep(0.05)
        assert feed.read(lambda run, _now: sorted(run.nodes.nodes)) == [*NODES], (
            "it would go silent, as no agent is here"
        )
    finally:
        feed.stop()


def report_step(url: str, step: int) -> None:
    """A step of job 4711, printed on n1 now."""
    packed = pack([StepReported(at=time.time(), node="n1", step=step, loss=1.5)])
    batch = Batch(sequence=step, run="4711", first=packed.first, last=packed.last, count=1, data=packed.data)
    with FleetStore(url) as store:
        store.ship("n1", "spool-4711-n1", [batch])


async def test_a_running_job_that_is_chosen_in_the_list_of_jobs_is_shown_live(postgres_url: str) -> None:
    fill(postgres_url)
    report_step(postgres_url, 3)
    async with shown(postgres_url) as (app, pilot):
        await pilot.press("J")
        await until(app, pilot, lambda text: "bert" in text)
        await pilot.press("enter")
        await until(app, pilot, lambda text: "step 3" in text)
        report_step(postgres_url, 4)
        text = await until(app, pilot, lambda text: "step 4" in text)
        assert "replay" not in text
        assert "TRAINING 4711 " in text.splitlines()[0]


def test_a_job_is_found_by_the_beginning_of_its_id_if_only_one_begins_so(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        assert find_job(store, "471") == "4711"
        with pytest.raises(NothingToShow, match="2 jobs begin with '47': 4711, 4700"):
            find_job(store, "47")


async def test_a_key_opens_the_blame_of_the_job(postgres_url: str) -> None:
    ship(postgres_url)
    app = TopApp(StillFeed(), Settings(store=postgres_url))
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.press("7")
        await until(app, pilot, lambda text: "4711" in text)
        await pilot.press("b")
        text = await until(app, pilot, lambda text: "core-hours" in text)
    assert "Compiled again: lock not seen across nodes" in text
    assert "4 ranks on 1 node" in text
    assert "…" not in "".join(text.splitlines()[3:9]), "a sum is cut"
    assert "CCCC" in text


async def test_log_lines_of_a_node_come_from_its_agent_or_the_reason_why_not_is_reported(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(postgres_url)
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", "a-token-of-agents-1234")
    log = tmp_path / "rank0.log"
    log.write_text("".join(f"line {number} of n1\n" for number in range(400)))
    with serving_logs(log) as address:
        answer_at(postgres_url, "n1", address, machine_id())
        async with shown(postgres_url) as (app, pilot):
            await pilot.press("/", *"n1", "enter", "down", "L")
            text = await until(app, pilot, lambda text: "line 399 of n1" in text)
            assert "Log of n1 ─" in text
            assert "line 380 of n1" in text
            for _ in range(50):  # an answer that takes long is asked for again
                await pilot.press("g")
                if "line 0 of n1" in text_of(app):
                    break
            assert "line 0 of n1" in text_of(app)
            await pilot.press("escape", "escape", "escape", "/", *"n2", "enter", "down", "L")
            text = await until(app, pilot, lambda text: "answers on n2 alone" in text)


async def test_ranks_and_phases_are_pages_of_the_fleet(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for rank, node in enumerate(("n1", "n2", "n3", "n4")):
            rows = [HeartbeatSteps(rank=rank, steps=[1, 2, 3], seconds=[1.0, 1.0, 5.0 if rank == 2 else 1.0])]
            store.beat(reported(node, steps=rows))
    async with shown(postgres_url, (80, 24)) as (app, pilot):
        await pilot.press("r")
        text = await until(app, pilot, lambda text: "the slowest: rank 2, step 3" in text)
        assert "Step times, ranks × steps: job 4711 ─" in text
        await pilot.press("escape", "p")
        await until(app, pilot, lambda text: "+3 alike" in text)


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40)])
async def test_the_bottom_line_of_each_page_of_the_fleet_says_how_to_leave_it(
    postgres_url: str, size: tuple[int, int]
) -> None:
    fill(postgres_url)
    opened = {"D": "compiler", "C": "Changes on nodes", "A": "Ask nodes", "b": "Who compiled", "r": "Step times",
              "p": "Phases by node", "L": "Log ", "enter": "Attributes"}  # fmt: skip
    async with shown(postgres_url, size) as (app, pilot):
        await pilot.press("down")
        assert "esc back" not in text_of(app).splitlines()[-1]
        for key, title in opened.items():
            await pilot.press(key)
            last = (await until(app, pilot, lambda text, title=title: title in text)).splitlines()[-1]
            assert "esc back" in last, key
            leads_on = ("enter open" in last, "L log" in last)
            assert leads_on == (key == "enter", key == "enter"), last
            await pilot.press("escape")
            await until(app, pilot, lambda text: "esc back" not in text)


async def test_log_lines_of_a_node_open_from_its_page_and_escape_returns_there(postgres_url: str) -> None:
    fill(postgres_url)
    async with shown(postgres_url) as (app, pilot):
        await pilot.press("down", "enter")
        await until(app, pilot, lambda text: "Attributes" in text)
        await pilot.press("L")
        await until(app, pilot, lambda text: "Attributes" not in text and "Log " in text)
        await pilot.press("escape")
        await until(app, pilot, lambda text: "Attributes" in text)


async def test_the_form_of_a_change_names_the_keys_of_the_field_that_is_typed_into(postgres_url: str) -> None:
    fill(postgres_url)
    async with shown(postgres_url) as (app, pilot):
        await pilot.press("down", "A")
        await until(app, pilot, lambda text: "Ask nodes" in text)
        assert "q quit" in text_of(app).splitlines()[-1]
        await pilot.press("down")
        last = (await until(app, pilot, lambda text: "esc cancel" in text)).splitlines()[-1]
        assert "enter accept" in last
        assert "q quit" not in last


async def test_the_form_of_a_change_is_whole_on_a_narrow_screen(postgres_url: str) -> None:
    fill(postgres_url)
    async with shown(postgres_url, (60, 18)) as (app, pilot):
        await pilot.press("down", "A")
        text = await until(app, pilot, lambda text: "Ask nodes" in text)
        assert "esc closes" in text
        assert not any("…" in line for line in text.splitlines()[2:]), text


async def test_every_key_of_the_screen_does_something(postgres_url: str) -> None:
    async with shown_or_empty(postgres_url) as app:
        for key in keys_for("fleet"):
            owner = app if key.action.startswith("app.") else app.front
            assert hasattr(owner, "action_" + key.action.removeprefix("app.").partition("(")[0]), key.action


@asynccontextmanager
async def shown_or_empty(url: str) -> AsyncIterator[TopApp]:
    app = TopApp(StillFeed(), Settings(store=url))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("7")
        await until(app, pilot, lambda text: "No node has reported yet" in text)
        yield app


async def test_without_a_fleet_there_is_no_such_screen() -> None:
    app = TopApp(StillFeed())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("7")
        await pilot.pause()
        assert app.current_mode == "overview"
        assert "Fleet" not in text_of(app)


async def test_a_database_that_is_away_is_reported(postgres_url: str) -> None:
    app = TopApp(StillFeed(), Settings(store="postgresql://nobody@127.0.0.1:1/none"))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("7")
        await until(app, pilot, lambda text: "The fleet cannot be read" in text)


def cells(count: int, width: int, height: int = 15) -> list[Strip]:
    view = page(
        [reported(f"n{number}", step_seconds=9.0 if number == 7 else 1.0) for number in range(count)], silent=["n3"]
    )
    drawn = panel.FleetView(view, fleet_cells(view.nodes, metric_named("utilization")), width)
    strips = panel.cells_panel(DARK, drawn, width, min(height, panel.cells_lines(drawn)))
    assert all(strip.cell_length == width for strip in strips)
    return strips


@pytest.mark.parametrize(
    ("count", "width"), [(4, 80), (64, 80), (64, 120), (1000, 80), (1000, 120), (1000, 200), (1, 20)]
)
def test_each_node_has_a_cell_whose_shape_says_what_its_color_says(count: int, width: int) -> None:
    text = "".join(strip.text for strip in cells(count, width)[1:])
    drawn = len(text.replace(" ", ""))
    assert drawn in (count, 3 * count)
    assert (text.count("✗"), text.count("▲")) == (int(count > 3), int(count > 7))


def test_more_nodes_than_there_is_room_for_are_counted() -> None:
    assert "more nodes" in cells(5000, 80)[-1].text


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_enter_opens_the_worst_core_of_a_node_and_arrows_go_from_core_to_core(
    postgres_url: str, size: tuple[int, int]
) -> None:
    fill(postgres_url)
    metrics = {"utilization": Spread(low=0.2, median=0.8, high=0.9, worst_core=1)}
    with FleetStore(postgres_url) as store:
        store.beat(reported("n1", metrics=metrics, cores={"utilization": [0.9, 0.2, 0.8]}))
    async with shown(postgres_url, size) as (app, pilot):
        await pilot.press("/", *"n1", "enter", "down", "enter")
        await until(app, pilot, lambda text: "Node n1" in text)
        await pilot.press("enter")
        text = await until(app, pilot, lambda text: "3 of 3" in text)
        assert "Core 1 of n1" in text
        assert "history needs the site's Prometheus" in text
        await pilot.press("right")
        await until(app, pilot, lambda text: "Core 2 of n1" in text and "2 of 3" in text)
        await pilot.press("right")
        await until(app, pilot, lambda text: "Core 0 of n1" in text and "1 of 3" in text)


@pytest.mark.parametrize("width", range(50, 130, 7))
def test_what_a_job_is_said_to_do_is_never_cut_within_a_clause(width: int) -> None:
    found = page([reported("trn-0003", phase="compiling", graphs_left=1, worst_wait=60.0), reported("trn-0004")])
    line = panel.jobs_panel(DARK, found, width, 2)[1].text.rstrip()
    assert "…" not in line
    whole = panel.jobs_panel(DARK, found, 200, 2)[1].text.rstrip()
    clauses = whole.split("  ")
    assert clauses[2:] == ["compiling 1 · training 1", "step 120", "1 graph left", "trn-0003 waited 1 m 00 s"]
    shown = line.split("  ")
    assert shown == [clause for clause in clauses if clause in shown], "another order, or half of a clause"
    by_importance = [clauses[index] for index in (1, 5, 4, 2, 3)]
    assert [clause for clause in by_importance if clause in shown][:1] in ([], by_importance[:1])
    if width >= 75:
        assert {"1 graph left", "trn-0003 waited 1 m 00 s"} <= set(shown), "what waits goes last"


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_long_name_of_a_job_gives_way_to_the_number_of_its_nodes(width: int) -> None:
    jobs = [fleet_job("pretraining-of-a-model-with-a-very-long-name-on-many-nodes-2026-11-29", nodes=1)]
    line = panel.jobs_panel(DARK, page([reported("n1", job=jobs[0].run)], jobs=jobs), width, 2)[1].text
    assert "running pretraining-" in line
    assert "1 node" in line


@pytest.mark.parametrize("width", [60, 66, 70, 80, 100, 120])
def test_names_of_nodes_that_end_differently_are_told_apart(width: int) -> None:
    names = [f"ip-10-0-12-{number}" for number in (101, 102)]
    nodes = page([reported(name, step_seconds=1.0) for name in names], silent=names[:1]).nodes
    shown = panel.node_columns(METRICS[0], frozenset(), nodes, width)
    sizes = dict(zip([column.title for column in shown], column_widths(shown, width), strict=True))
    assert sizes["Node"] >= 2 + len("ip-10-0-12-101") or width < 80
    assert sizes["Trouble"] >= len("silent for 8 m 20 s")
    assert sum(size + 1 for size in sizes.values() if size) < width


def test_names_of_nodes_beside_their_phases_are_whole_where_there_is_room() -> None:
    name = "ip-10-0-123-45.eu-1.compute.internal"
    bar = Phase(phase="training", start=0.0, end=9.0)
    row = NodePhases(node=name, alike=("n1", "n2"), bars=(bar,), seconds={"training": 9.0})
    view = PhaseTimeline(job="4711", start=0.0, end=9.0, rows=(row,), nodes=3)
    assert f"{name} +2 alike" in phase_lines(DARK, view, 150)[1].text
    narrow = phase_lines(DARK, view, 60)[1].text
    assert narrow.startswith("ip-10-0-1")
    assert "… +2 alike" in narrow


def test_a_node_without_cores_offers_none_to_open() -> None:
    row = page([reported("n1", metrics={})]).nodes[0]
    assert not node_page(FleetService(Settings(store="postgresql://nowhere/fleet")), row).has_below
    drawn = panel.node_page_lines(DARK, NodePage(now=0.0, row=row, cores={}, history=NodeHistory()), 80)
    assert "enter opens" not in drawn[0].text


def test_what_differs_on_every_node_is_not_called_alike() -> None:
    attributes = {f"n{number}": {"cache_root": f"/cache/{number}"} for number in range(5)}
    found = differences(page([reported(node) for node in attributes], attributes=attributes), ["n3"])
    text = "\n".join(strip.text.rstrip() for strip in panel.differences_lines(DARK, found, 80))
    assert "1 node against 4" in text
    assert "No attribute sets them apart." in text
    assert "No clear difference in agent_version, cache_root, cluster." in text
    assert "these  others" not in text, "the head of a table without rows"


async def test_nothing_to_compare_has_a_title_and_says_how_to_compare(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for node in ("n1", "n2", "n3", "n4"):
            store.beat(reported(node))
    async with shown(postgres_url, (80, 24)) as (app, pilot):
        await pilot.press("D")
        text = await until(app, pilot, lambda text: "Nothing to compare" in text)
        assert "What is different ─" in text
        assert "Mark nodes with space" in text


def test_pages_that_have_only_a_text_yet_have_their_title() -> None:
    for draw, title in (
        (panel.node_page_lines, "Node"), (panel.core_page_lines, "Core"),
        (panel.differences_lines, "What is different"), (blame_lines, "Who compiled, who waited"),
        (phase_lines, "Phases by node"), (rank_steps_lines, "Step times, ranks × steps"),
    ):  # fmt: skip
        first, second, *_ = (strip.text.strip() for strip in draw(DARK, "asking the database…", 80))
        assert (first.rstrip("─ "), second) == (title, "asking the database…")


@pytest.mark.parametrize("size", [(60, 24), (80, 24)])
async def test_a_narrow_table_of_nodes_still_says_what_is_wrong_and_cuts_no_number(
    postgres_url: str, size: tuple[int, int]
) -> None:
    fill(postgres_url)
    async with shown(postgres_url, size) as (app, pilot):
        text = await until(app, pilot, lambda text: "▲ n3" in text)
        rows = [line.rstrip() for line in text.splitlines() if " training " in line and "n" in line[4:10]]
        assert rows
        assert not any("…" in row for row in rows), rows
        assert any(row.endswith(" slow") for row in rows), rows
        await pilot.press("D")
        text = await until(app, pilot, lambda text: "compiler" in text)
        assert not any("…" in line for line in text.splitlines()[3:] if "compiler" in line)
