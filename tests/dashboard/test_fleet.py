"""The fleet on the web: the API says what the commands say, and a site's Prometheus finds every agent."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from neuron_top.dashboard import fleet_figures as figures
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.figures import iso
from neuron_top.dashboard.fleet import STEP_COLUMNS, STEP_ROWS, DashboardFleet
from neuron_top.dashboard.page_diff import outputs_of
from neuron_top.dashboard.pages import fleet as fleet_page
from neuron_top.identity import machine_id
from neuron_top.services.fleet import FleetService
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import HeartbeatSteps, NodeRecord, PhaseSpan
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.views.fleet import FleetPage, metric_named
from neuron_top.views.fleet_differences import differences
from neuron_top.views.phases import phase_timeline
from neuron_top.views.rank_steps import RankSeries, step_map
from neuron_top.views.states import JobState
from tests.agent.test_agent_logs import serving_logs
from tests.dashboard.served import READ, Served, serving
from tests.fleet.database import NODES, answer_at, fill
from tests.fleet.samples import page, reported
from tests.fleet.test_blame import ship
from tests.tui.feeds import StillFeed


@pytest.fixture
def served(postgres_url: str, tmp_path: Path) -> Iterator[Served]:
    """A server of a fleet with four nodes."""
    fill(postgres_url)
    with serving(StillFeed(), tmp_path, store=postgres_url) as one:
        yield one


def test_the_api_has_what_the_commands_print(served: Served) -> None:
    assert [(job["job"], job["nodes"]) for job in served.ask("/api/fleet/jobs").json] == [("4711", 4), ("4700", 1)]
    assert [node["node"] for node in served.ask("/api/fleet/nodes?sort=step_seconds").json] == ["n3", "n1", "n2", "n4"]
    assert [row["node"] for row in served.ask("/api/fleet/top?metric=step_seconds&count=1").json] == ["n3"]
    assert served.ask("/api/fleet/different").json["rows"][0]["value"] == "2.20"
    assert served.ask("/api/fleet/different?nodes=n1,n2").json["selected"] == ["n1", "n2"]
    assert served.ask("/api/fleet/nodes?job=4700").json == []
    for wrong, status in (
        ("nodes?sort=heat", 400),
        ("nodes?job=x", 404),
        ("top?count=x", 400),
        ("different?nodes=n9", 404),
    ):
        assert served.ask(f"/api/fleet/{wrong}").status == status


def test_a_job_is_found_however_many_came_after_it(served: Served, postgres_url: str) -> None:
    with FleetStore(postgres_url) as store:
        store.open_job("old", name="of last year", started=1.0)
        for number in range(120):
            store.open_job(f"new-{number}", started=2000.0 + number)
    assert "old" not in {job["job"] for job in served.ask("/api/fleet/jobs").json}
    assert served.ask("/api/fleet/nodes?job=old").json == []
    assert served.ask("/api/fleet/nodes?job=older").status == 404


def test_prometheus_is_reported_every_agent_with_the_labels_of_the_rules(served: Served) -> None:
    groups = served.ask("/api/targets").json
    assert [group["targets"] for group in groups] == [[f"127.0.0.1:{9000 + number}"] for number in range(4)]
    first = {"node": "n1", "cluster": "trn", "neurontop_job": "4711", "__scheme__": "http"}
    assert groups[0]["labels"] == first | {"__metrics_path__": "/metrics"}
    assert {group["labels"]["__metrics_path__"] for group in groups} == {"/metrics"}


def test_agents_on_the_loopback_of_other_machines_are_no_targets(postgres_url: str, tmp_path: Path) -> None:
    """A collector here would ask the agent of this machine, and label its numbers with the name of each of them."""
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for node, address in (("n2", "http://127.0.0.1:9465/metrics"), ("n3", "https://n3.example:9465/metrics")):
            store.register(
                NodeRecord(node=node, machine_id=node, job="4711", attributes={"machine": "another"}, address=address)
            )
    with serving(StillFeed(), tmp_path, store=postgres_url) as served:
        listed = {group["labels"]["node"]: group["targets"] for group in served.ask("/api/targets").json}
    assert (set(listed), listed["n3"]) == ({"n1", "n3", "n4"}, ["n3.example:9465"])


def test_agents_that_ended_with_their_job_are_no_targets(postgres_url: str, tmp_path: Path) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for node in NODES:
            store.end_job(node, f"spool-4711-{node}", "4711", 2000.0, 0)
    with serving(StillFeed(), tmp_path, store=postgres_url) as served:
        assert served.ask("/api/targets").json == []


def test_a_node_of_two_jobs_is_listed_once_and_opened_as_either_job_sees_it(served: Served, postgres_url: str) -> None:
    with FleetStore(postgres_url) as store:
        store.open_job("4800", started=2000.0)
        for job, busy in (("4800", 0.25), ("4711", 0.75)):
            address = f"http://127.0.0.1/{job}"
            store.beat(reported("n1", job=job, cores={"utilization": [busy]}, address=address, version="2"))
    nodes = served.ask("/api/fleet/nodes").json
    assert [node["node"] for node in nodes] == list(NODES)
    assert (nodes[0]["job"], nodes[0]["other_jobs"]) == ("4800", ["4711"])
    assert [node["node"] for node in served.ask("/api/fleet/nodes?job=4800").json] == ["n1"]
    assert len(served.ask("/api/fleet/nodes?job=4711").json) == 4
    for question, busy in (("", 0.25), ("?job=4800", 0.25), ("?job=4711", 0.75)):
        assert served.ask(f"/api/fleet/nodes/n1{question}").json["cores"] == {"utilization": [busy]}
        assert served.ask(f"/api/fleet/nodes/n1/cores/0{question}").json["values"][0]["value"] == busy
    assert served.ask("/api/fleet/nodes/n2?job=4800").status == 404
    targets = [group["labels"] for group in served.ask("/api/targets").json]
    assert [one["neurontop_job"] for one in targets if one["node"] == "n1"] == ["4800", "4711"]


def test_without_a_fleet_the_endpoints_say_how_to_name_one(tmp_path: Path) -> None:
    with serving(StillFeed(), tmp_path) as served:
        answer = served.ask("/api/fleet/nodes")
    assert (answer.status, "--store" in answer.json["error"]) == (404, True)


def test_the_fleet_is_for_readers_only(postgres_url: str, tmp_path: Path) -> None:
    with serving(StillFeed(), tmp_path, store=postgres_url, read=READ) as served:
        assert served.ask("/api/targets").status == 401
        assert served.ask("/api/targets", token=READ).status == 200


def test_many_who_ask_at_once_cost_one_question(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    page = FleetService.page
    monkeypatch.setattr(FleetService, "page", lambda self, job=None: (asked.append(1), page(self, job))[1])
    threads = [threading.Thread(target=served.ask, args=("/api/fleet/nodes",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(asked) < 20


def test_the_blame_of_a_job_is_in_the_api_and_on_the_page(postgres_url: str, tmp_path: Path) -> None:
    ship(postgres_url)
    with serving(StillFeed(), tmp_path, store=postgres_url) as served:
        reported = served.ask("/api/fleet/blame?job=bert").json
        assert [(row["because"], row["nodes"]) for row in reported["repeated"]] == [
            ("lock not seen across nodes", ["n3"])
        ]
        assert served.ask("/api/fleet/blame").status == 400
        assert served.ask("/api/fleet/blame?job=none").status == 404
        with closing(DashboardFleet(served.feeds.settings)) as fleet:
            answer = fleet_page.answer_of(fleet, {})
            while answer is not None and isinstance(answer.blame, str):
                assert answer.blame == "Adding up 4711…"
                time.sleep(0.05)
                answer = fleet_page.answer_of(fleet, {})
    assert answer is not None
    shown = fleet_page.render(answer, DARK)
    assert "lock not seen across nodes" in str(shown["fleet-blame"])
    (drawn,) = shown["fleet-blame-time"].figure["data"]
    assert (sorted(drawn["y"]), {len(row) for row in drawn["z"]}) == (["n1", "n2", "n3"], {80})
    start, end = answer.blame.start, answer.blame.end  # type: ignore[union-attr]
    assert start is not None
    assert end is not None
    assert (len(drawn["x"]), drawn["x"][0], drawn["x"][-1]) == (81, iso(start), iso(end))
    assert shown["fleet-blame-time"].figure["layout"]["xaxis"]["type"] == "date"


def test_a_job_is_summed_up_over_its_nodes(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetService(Settings(store=postgres_url)) as fleet:
        total = fleet.summary("4711")
    assert (total.steps, total.loss, len(NODES)) == (3, 1.5, 4)


def test_a_job_of_a_fleet_has_its_name_where_it_is_compared(postgres_url: str, tmp_path: Path) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        store.open_job("4800")
    runs = RunService(Settings(store=postgres_url, state_dir=str(tmp_path)))
    assert [one.title for one in runs.overlay(["4711", "4800"])] == ["bert", "4800"]


def rendered(shown: FleetPage, metric: str = "utilization", selected: tuple[str, ...] = ()) -> dict[str, Any]:
    found = differences(shown, [shown.nodes[0].node]) if len(shown.nodes) > 1 else "nothing"
    return fleet_page.render(
        fleet_page.FleetAnswer(
            page=shown,
            metric=metric_named(metric),
            nodes=shown.nodes,
            selected=selected,
            different=found,
            blame="No job yet.",
            node=None,
            core=None,
            steps="none",
            phases="none",
        ),
        DARK,
    )


def test_the_page_has_a_value_for_every_slot_also_without_a_fleet_or_a_node(served: Served) -> None:
    wanted = set(fleet_page.OUTPUTS.names)
    assert (
        set(fleet_page.render(None, DARK)) == set(rendered(page([]))) == set(rendered(page([reported("n1")]))) == wanted
    )
    with closing(DashboardFleet(served.feeds.settings)) as fleet:
        with_node = fleet_page.answer_of(fleet, {"node": "n3", "q": "n3", "metric": "memory"})
    assert with_node is not None
    assert [node.node for node in with_node.nodes] == ["n3"]
    assert set(fleet_page.render(with_node, DARK)) == wanted


def test_the_page_stays_where_its_node_is_gone_and_the_node_can_be_closed(served: Served) -> None:
    with closing(DashboardFleet(served.feeds.settings)) as fleet:
        shown = fleet_page.render(fleet_page.answer_of(fleet, {"node": "gone", "core": "1", "q": "n3"}), DARK)
    assert "There is no node 'gone'" in str(shown["fleet-node"])
    assert "href='fleet?q=n3'" in str(shown["fleet-node"])
    assert "4711" in str(shown["fleet-jobs"])


def test_cells_that_are_not_there_say_whether_something_was_searched_for(served: Served) -> None:
    (words,) = rendered(page([]))["fleet-cells"].figure["layout"]["annotations"]
    assert words["text"] == "no node has reported yet"
    with closing(DashboardFleet(served.feeds.settings)) as fleet:
        searched = fleet_page.render(fleet_page.answer_of(fleet, {"q": "zzz"}), DARK)
    (words,) = searched["fleet-cells"].figure["layout"]["annotations"]
    assert words["text"] == "no node matches"


@pytest.mark.parametrize(("length", "offered"), [(8, True), (60, False)])
def test_nodes_that_match_are_offered_as_a_choice_as_far_as_an_address_holds_them(length: int, offered: bool) -> None:
    shown = page([reported(f"{number:0{length}}") for number in range(151)])
    answer = fleet_page.FleetAnswer(
        shown, metric_named("utilization"), shown.nodes[:150], (), "none", "No job yet.", None, None, "none", "none"
    )
    assert bool(fleet_page._matching(answer)) == offered


def test_selected_nodes_are_marked_in_their_cells_and_named_below_them() -> None:
    shown = page([reported("n1"), reported("n2")])
    none = rendered(shown)
    assert none["fleet-selected"] is None
    assert "shapes" not in none["fleet-cells"].figure["layout"]
    two = rendered(shown, selected=("n2", "gone"))
    assert two["fleet-selected"] == "✓ 2 nodes selected: n2, gone"
    figure = two["fleet-cells"].figure
    assert figure["data"][0]["text"] == [["n1", "✓ n2"]]
    (frame,) = figure["layout"]["shapes"]
    assert (frame["x0"], frame["x1"], frame["y0"], frame["y1"]) == (0.5, 1.5, -0.5, 0.5)


def test_the_page_names_the_job_of_its_charts_and_leads_to_the_others(postgres_url: str, tmp_path: Path) -> None:
    fill(postgres_url)
    with (
        serving(StillFeed(), tmp_path, store=postgres_url) as served,
        closing(DashboardFleet(served.feeds.settings)) as fleet,
    ):
        every = fleet_page.render(fleet_page.answer_of(fleet, {"metric": "memory"}), DARK)
        assert all("Job 4711, bert." in str(every[part]) for part in ("fleet-steps-note", "fleet-phases-note"))
        assert "href='fleet?metric=memory&job=4700'" in str(every["fleet-jobs"])
        assert "href='fleet?metric=memory&node=n1'" in str(every["fleet-top"])
        assert "show all jobs" not in str(every["fleet-summary"])
        one = fleet_page.render(fleet_page.answer_of(fleet, {"metric": "memory", "job": "4711", "node": "n1"}), DARK)
        assert "href='fleet?metric=memory&job=4711'" in str(one["fleet-jobs"]), "without the node: it may be another's"
        assert "job 4711, bert only" in str(one["fleet-summary"])
        assert "href='fleet?metric=memory&node=n1'" in str(one["fleet-summary"]), "the way to all jobs"
        assert "href='fleet?metric=memory&job=4711'" in str(one["fleet-node"]), "the node can be closed"


@pytest.mark.parametrize(("ranks", "above"), [(1, "the median step"), (4, "the other ranks at the same step")])
def test_the_note_on_step_times_says_what_stands_out_from_what(ranks: int, above: str) -> None:
    def noted(last: float) -> str:
        times = [{**dict.fromkeys(range(1, 20), 1.0), 20: last if rank == 0 else 1.0} for rank in range(ranks)]
        series = [RankSeries(node="n1", rank=rank, ranks=1, seconds=one) for rank, one in enumerate(times)]
        return str(fleet_page._steps_note(step_map(series, STEP_ROWS, STEP_COLUMNS), None))

    assert f"▲ is far above {above}: 1 step." in noted(9.0)
    assert "None stands out." in noted(1.0)
    assert "▲" not in noted(1.0)


def test_numbers_of_steps_have_thousands_apart_as_on_all_other_pages() -> None:
    times = dict.fromkeys(range(12_340, 12_361), 1.0) | {12_350: 9.0}
    found = step_map([RankSeries(node="n1", rank=0, ranks=1, seconds=times)], STEP_ROWS, 20)
    words = str(fleet_page._steps_note(found, None))
    assert "step 12,350, " in words
    assert "step 12,340 is further left" in words
    heat, signs = figures.steps_figure(found, DARK).figure["data"]
    assert (heat["x"][0], signs["x"]) == ("12,341", ["12,350"])


def test_each_node_is_a_cell_with_its_name_and_a_sign_where_something_is_wrong() -> None:
    shown = page(
        [reported(f"n{number}", step_seconds=9.0 if number == 2 else 1.0) for number in range(5)], silent=["n4"]
    )
    cells, _unknown = rendered(shown)["fleet-cells"].figure["data"]  # type: ignore[attr-defined]
    assert (cells["customdata"], cells["text"]) == (
        [["n0", "n1", "n2", "n3", "n4"]],
        [["n0", "n1", "▲ n2", "n3", "✗ n4"]],
    )
    assert cells["z"] == [[40] * 5]
    many = page([reported(f"n{number:02}") for number in range(17)], silent=["n04"])
    cells, unknown = rendered(many)["fleet-cells"].figure["data"]  # type: ignore[attr-defined]
    assert [text for row in cells["text"] for text in row if text] == ["✗"], "no room for names"
    assert not any(text for row in unknown["text"] for text in row)


def test_a_long_name_beside_a_chart_is_shortened_and_whole_where_a_hand_points() -> None:
    names = ["ip-10-0-12-101", "rack-" * 12 + "7"]
    assert figures._names_beside(names[:1]) == {}
    beside = figures._names_beside(names)
    assert (beside["tickvals"], beside["ticktext"]) == (names, ["ip-10-0-12-101", "rack-rack…ck-rack-7"])


def test_names_of_nodes_do_not_lie_over_each_other_on_a_phone_and_keep_their_ends() -> None:
    names = [f"ip-10-0-12-{number}" for number in (101, 102, 103)] + ["rack-" * 12 + "7"]
    cells, _unknown = rendered(page([reported(name) for name in names]))["fleet-cells"].figure["data"]  # type: ignore[attr-defined]
    assert [name for row in cells["customdata"] for name in row] == names
    assert [name for row in cells["text"] for name in row] == [*names[:3], "rack-rack-rack-…ack-rack-rack-7"]
    assert max(sum(len(name) + 3 for name in row) for row in cells["text"]) <= 36


@pytest.mark.parametrize("metric", ["utilization", "step_seconds", "memory"])
def test_a_push_for_a_thousand_nodes_that_all_changed_stays_below_ten_kilobytes(metric: str) -> None:
    first, second = (
        page([reported(f"trn-{number:04}", step_seconds=1.0 + (number * by) % 7 / 100) for number in range(1000)])
        for by in (1, 3)
    )
    _values, marks = outputs_of(rendered(first, metric), {})
    values, _marks = outputs_of(rendered(second, metric), marks)
    changed = [value for value in values if type(value).__name__ != "NoUpdate"]
    sent = json.dumps(changed, default=lambda one: one.to_plotly_json(), separators=(",", ":"))  # as Dash writes it
    assert len(sent) <= 10_000


def test_ranks_and_steps_of_a_thousand_ranks_are_a_push_of_ten_kilobytes_with_signs_on_outliers() -> None:
    series = [
        RankSeries(
            node=f"n{rank}", rank=rank, ranks=1,
            seconds={step: 9.0 if (rank, step) == (500, 20) else 1 + (rank * step) % 7 / 100 for step in range(1, 60)},
        )
        for rank in range(1000)
    ]  # fmt: skip
    found = step_map(series, STEP_ROWS, STEP_COLUMNS)
    figure = figures.steps_figure(found, DARK).figure
    heat, signs = figure["data"]
    assert (len(heat["z"]), len(heat["z"][0])) == (STEP_ROWS, STEP_COLUMNS)
    assert (signs["x"], signs["y"]) == (["20"], ["rank 500"])
    assert len(json.dumps(figure, separators=(",", ":"))) <= 10_000


def test_phases_are_bars_by_node_with_a_pattern_beside_the_color() -> None:
    reported = [("n1", "compiling", 0, 100), ("n1", "training", 100, 900), ("n2", "lock wait", 0, 100),
            ("n2", "training", 100, 900)]  # fmt: skip
    spans = [PhaseSpan(node=node, phase=phase, since=since, until=until) for node, phase, since, until in reported]
    figure = figures.phases_figure(phase_timeline(1000.0, "j", spans, []), DARK).figure
    by_name = {trace["name"]: trace for trace in figure["data"]}
    assert by_name["waiting"]["y"] == ["n2"]
    assert by_name["waiting"]["marker"]["pattern"]["shape"] == "/"
    assert by_name["training"]["base"] == pytest.approx([100 / 60, 100 / 60], abs=1e-3)
    assert by_name["training"]["customdata"] == ["13 m 20 s", "13 m 20 s"]
    assert figure["layout"]["xaxis"]["ticksuffix"] == " min"


def test_no_two_phases_look_alike() -> None:
    reported = [(f"n{number}", str(state), 0, 100 + number) for number, state in enumerate(JobState)]
    spans = [PhaseSpan(node=node, phase=phase, since=since, until=until) for node, phase, since, until in reported]
    figure = figures.phases_figure(phase_timeline(100.0 + len(spans), "j", spans, []), DARK).figure
    signs = {trace["name"]: (trace["marker"]["color"], trace["marker"]["pattern"]["shape"]) for trace in figure["data"]}
    assert len(signs) >= len(JobState)
    assert signs.pop("killed") == signs["failed"]
    assert len(set(signs.values())) == len(signs), signs


def test_the_api_has_steps_phases_and_the_log_lines_of_a_node(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(postgres_url)
    monkeypatch.setenv("NEURONTOP_AGENT_TOKEN", "a-token-of-agents-1234")
    log = tmp_path / "rank0.log"
    lines = [f"line {number}" for number in range(50)]
    lines[17] = "the one that is looked for"  # no number: the folder's name, which is searched too, may hold it
    log.write_text("\n".join([*lines, "\x1b[2J\n"]))
    with serving_logs(log) as address:
        answer_at(postgres_url, "n1", address, machine_id())
        with FleetStore(postgres_url) as store:
            rows = [HeartbeatSteps(rank=0, steps=[1, 2], seconds=[1.0, 2.0])]
            store.beat(reported("n1", steps=rows))
        with serving(StillFeed(), tmp_path, store=postgres_url, read=READ) as served:
            assert served.ask("/api/fleet/nodes/n1/logs").status == 401
            page = served.ask("/api/fleet/nodes/n1/logs?count=3", token=READ).json
            assert [line["text"] for line in page["lines"]] == ["line 48", "line 49", ""]
            found = served.ask(
                f"/api/fleet/nodes/n1/logs?count=3&before={quote(json.dumps({f'log:{log}': 14}))}", token=READ
            )
            assert [line["text"] for line in found.json["lines"]] == ["line 0", "line 1"]
            found = served.ask("/api/fleet/nodes/n1/logs?q=looked%20for", token=READ)
            assert [line["text"] for line in found.json["lines"]] == [lines[17]]
            away = served.ask("/api/fleet/nodes/n2/logs", token=READ)
            assert (away.status, "answers on n2 alone" in away.json["error"]) == (503, True)
            assert served.ask("/api/fleet/nodes/n1/logs?before=x", token=READ).status == 400
            assert served.ask("/api/fleet/nodes/n1", token=READ).json["row"]["node"] == "n1"
            assert served.ask("/api/fleet/steps", token=READ).json["worst"] == 2.0
            assert served.ask("/api/fleet/phases", token=READ).json["nodes"] == 4


def test_the_way_to_the_page_is_shown_where_there_is_a_fleet(served: Served, tmp_path: Path) -> None:
    assert "to-fleet" in served.ask("/_dash-layout").body.decode()
    with serving(StillFeed(), tmp_path / "other") as other:
        assert "to-fleet" not in other.ask("/_dash-layout").body.decode()


def test_a_core_of_a_node_has_its_place_among_the_others_and_what_history_needs(
    served: Served, postgres_url: str
) -> None:
    with FleetStore(postgres_url) as store:
        store.beat(reported("n1", cores={"utilization": [0.9, 0.2, 0.8], "memory": [3.0, 2.0, None]}))
    core = served.ask("/api/fleet/nodes/n1/cores/1").json
    values = {one["metric"]: (one["text"], one["median"], one["place"]) for one in core["values"]}
    assert values == {"memory": ("2 B", "2 B", 2), "utilization": ("20 %", "80 %", 3)}
    assert "--prometheus" in core["history"]["missing"]
    assert "cores 0 to 2" in served.ask("/api/fleet/nodes/n1/cores/3").json["error"]
    assert [served.ask(f"/api/fleet/nodes/n1/cores/{name}").status for name in ("3", "x", "-1", "99999999")] == [
        404, 400, 400, 400,
    ]  # fmt: skip
    assert served.ask("/api/fleet/nodes/n9/cores/0").status == 404


def test_cells_show_the_compile_phase_in_words_where_a_hand_points() -> None:
    shown = page(
        [reported("n1", phase="compiling"), reported("n2", phase="lock wait"), reported("n3"), reported("n4", phase="")]
    )
    cells, unknown = rendered(shown, "compile_phase")["fleet-cells"].figure["data"]  # type: ignore[attr-defined]
    assert cells["z"] == [[67, 100, 0, None]]
    assert (unknown["z"], unknown["text"]) == ([[None, None, None, 1]], [["", "", "", "? n4"]])
    assert unknown["customdata"] == cells["customdata"], "a click on it opens the node too"
    assert "33: extracting, 66: compiling, 100: waiting" in cells["hovertemplate"]
    ranked = rendered(shown, "compile_phase")["fleet-top"]
    assert "waiting" in str(ranked)


FEW = page([reported("n1")])


class SlowService:
    """A fleet whose database and Prometheus answer when the test says so, and whose blame meets an unexpected error."""

    def __init__(self) -> None:
        self.pages, self.nodes = threading.Event(), threading.Event()

    def page(self) -> FleetPage:
        assert self.pages.wait(60)
        return FEW

    def node(self, name: str, _job: str | None = None) -> str:
        assert self.nodes.wait(60)
        return name

    def logs(self, node: str) -> str:
        return f"logs of {node}"

    def blame(self, job: str) -> None:
        raise ZeroDivisionError(job)


@pytest.fixture
def slow() -> Iterator[tuple[DashboardFleet, SlowService]]:
    fleet, service = DashboardFleet(Settings(store="postgresql://nowhere.example/fleet")), SlowService()
    fleet.__dict__["service"] = service
    yield fleet, service
    service.pages.set()
    service.nodes.set()


def test_a_log_is_had_while_the_database_does_not_answer(slow: tuple[DashboardFleet, SlowService]) -> None:
    fleet, service = slow
    with ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(fleet.page), threads.submit(fleet.node, "n1")]
        try:
            assert str(threads.submit(fleet.logs, "n1").result(30)) == "logs of n1"
            assert not any(one.done() for one in waiting)
        finally:
            service.pages.set()
            service.nodes.set()


def test_a_node_that_is_slow_does_not_hold_up_the_page(slow: tuple[DashboardFleet, SlowService]) -> None:
    fleet, service = slow
    service.pages.set()
    with ThreadPoolExecutor(2) as threads:
        node = threads.submit(fleet.node, "n1")
        try:
            assert threads.submit(fleet.page).result(30) == FEW
            assert not node.done()
        finally:
            service.nodes.set()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_blame_that_ends_in_an_error_says_so(slow: tuple[DashboardFleet, SlowService]) -> None:
    fleet, _service = slow
    deadline = time.monotonic() + 30
    while str(text := fleet.blame_so_far("4711")).startswith("Adding up"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert "cannot be added up" in str(text)
