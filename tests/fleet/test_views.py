"""Many nodes arranged for eyes: states, the worst named, slow nodes, rankings, and what is different about some."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from neuron_top.errors import NothingToShow, UsageError
from neuron_top.natural_order import natural_key
from neuron_top.store.fleet_records import JobRecord, NodeRecord, Spread
from neuron_top.units import UNKNOWN
from neuron_top.views.fleet import (
    METRICS,
    NodeReporting,
    fleet_page,
    metric_named,
    of_job,
    only_nodes,
    slow_of,
    sorted_nodes,
    top,
)
from neuron_top.views.fleet_differences import differences, slow_selection
from neuron_top.views.fleet_targets import scrape_targets
from neuron_top.views.fleet_text import (
    attribute_text,
    fleet_text,
    jobs_text,
    nodes_text,
    phases_text,
    steps_text,
    trouble_text,
    wait_text,
)
from neuron_top.views.states import JobState
from tests.fleet.samples import GIB, NOW, job, page, reported


def test_nodes_are_in_the_order_of_their_numbers() -> None:
    found = page([reported("n10"), reported("n9"), reported("n1"), reported("b"), reported("10")])
    assert [node.node for node in found.nodes] == ["10", "b", "n1", "n9", "n10"]
    assert sorted(["a2b10", "a2b9", "a10"], key=natural_key) == ["a2b9", "a2b10", "a10"]


def test_a_node_shows_its_worst_core_by_name_whether_worst_is_low_or_high() -> None:
    (node,) = page([reported("n1")]).nodes
    busy, memory = node.metrics["utilization"], node.metrics["memory"]
    assert (busy.worst, busy.median, busy.worst_core) == (0.4, 0.9, "7")
    assert (memory.worst, memory.worst_core) == (12 * GIB, "3")
    assert (node.metrics["step_seconds"].worst, node.metrics["step_seconds"].worst_core) == (1.0, "")


def test_what_a_node_does_not_report_is_unknown_and_never_zero() -> None:
    (node,) = page([reported("n1", metrics={}, step=None, step_seconds=None, graphs_left=None, worst_wait=None)]).nodes
    assert (node.step, node.graphs_left, node.worst("utilization")) == (None, None, None)
    assert set(node.metrics) == {"clock_offset", "compile_phase"}


def test_a_node_cannot_report_for_its_cores_what_only_it_itself_has() -> None:
    """One that named a phase of compiles which there is not ended the ranking of all nodes."""
    spread = Spread(low=9.0, median=9.0, high=9.0)
    found = page(
        [reported("n1", phase="", step_seconds=None, metrics={"compile_phase": spread, "step_seconds": spread})]
    )
    assert (top(found, metric_named("compile_phase")), top(found, metric_named("step_seconds"))) == ((), ())


def test_a_job_adds_up_its_nodes_and_names_the_worst() -> None:
    nodes = [
        reported("n1", step=120), reported("n2", step=118, worst_wait=90.0),
        reported("n3", phase="compiling", graphs_left=5),
        reported("n4", phase="compiling", graphs_left=3), reported("n5", step=119),
    ]  # fmt: skip
    found = page(nodes, silent=["n5"])
    (one,) = found.jobs
    assert (one.state, one.nodes, one.reporting) == (JobState.RUNNING, 5, 4)
    assert (one.phases, one.phase) == ({"training": 3, "compiling": 2}, "training")
    assert (one.step, one.last_step, one.graphs_left) == (118, 120, 5)
    assert (one.worst_wait, one.worst_wait_node) == (90.0, "n2")
    assert phases_text(one) == "training 3 · compiling 2"
    assert steps_text(one) == "118–120"
    assert wait_text(one) == "1 m 30 s n2"
    assert [node.node for node in found.silent] == ["n5"]
    assert fleet_text(found) == "5 nodes · 1 job running · 1 silent"


@pytest.mark.parametrize(
    ("record", "state"),
    [
        (job(finished=NOW - 5), JobState.FINISHED),
        (job(finished=NOW - 5, exit_code=1), JobState.FAILED),
        (job(finished=NOW - 5, exit_code=-9), JobState.KILLED),
        (job(finished=NOW - 5, exit_code=None), JobState.FINISHED),
        (job(finished=NOW - 5, exit_code=None, last_phases=["training", "failed", "finished"]), JobState.FAILED),
        (job(finished=NOW - 5, exit_code=None, last_phases=["cut off", "finished"]), JobState.FINISHED),
        (job(finished=NOW - 5, exit_code=None, last_phases=["cut off"]), JobState.CUT_OFF),
        (job(finished=NOW - 5, exit_code=0, last_phases=["failed"]), JobState.FINISHED),
        (job(touched=NOW - 500), JobState.CUT_OFF),
        (job(touched=NOW - 5), JobState.RUNNING),
    ],
)
def test_a_job_without_a_living_node_has_ended_or_is_cut_off(record: JobRecord, state: JobState) -> None:
    found = page([reported("n1")], silent=["n1"], jobs=[record])
    assert found.jobs[0].state is state
    assert found.jobs[0].goes_on is (state is JobState.RUNNING)
    assert found.nodes[0].state is (NodeReporting.ENDED if record.finished is not None else NodeReporting.SILENT)


@pytest.mark.parametrize(
    ("phases", "state"),
    [
        (("failed", "failed"), JobState.FAILED),
        (("failed", "cut off", "finished"), JobState.FAILED),
        (("finished", "cut off"), JobState.FINISHED),
        (("failed", "training"), JobState.RUNNING),
        (("idle", "idle"), JobState.RUNNING),
        ((), JobState.RUNNING),
    ],
)
def test_a_job_whose_logs_all_tell_an_end_has_ended_though_its_agents_go_on(
    phases: tuple[str, ...], state: JobState
) -> None:
    found = page([reported(f"n{number}", phase=phase) for number, phase in enumerate(phases)])
    assert found.jobs[0].state is state


@pytest.mark.parametrize(("told", "phases"), [("finished", {"finished": 3}), ("failed", {"cut off": 2, "failed": 1})])
def test_where_one_log_tells_that_the_job_finished_no_node_of_it_is_cut_off(told: str, phases: dict[str, int]) -> None:
    nodes = [reported("n1", phase=told), reported("n2", phase="cut off"), reported("n3", phase="cut off")]
    found = page(nodes, jobs=[job(finished=NOW - 5, exit_code=None, last_phases=[told, "cut off"])])
    assert found.jobs[0].phases == phases
    assert Counter(node.phase for node in found.nodes) == phases


def test_a_node_of_two_jobs_is_shown_once_and_is_alive_in_both_while_both_agents_are() -> None:
    jobs = [job("new", nodes=2), job("old", nodes=3)]
    old = [reported(f"n{number}", job="old", step_seconds=1.0) for number in (2, 3)]
    new = [reported("n0", job="new"), reported("n1", job="new", notes={"dropped_events": 2})]
    slow = reported("n1", job="old", step_seconds=9.0, notes={"dropped_events": 3})
    found = page([*new, slow, *old], jobs=jobs)
    assert [(node.node, jobs_text(node)) for node in found.nodes] == [
        ("n0", "new"), ("n1", "new, old"), ("n2", "old"), ("n3", "old"),
    ]  # fmt: skip
    assert [(one.job, one.reporting, nodes_text(one)) for one in found.jobs] == [("new", 2, "2"), ("old", 3, "3")]
    assert [node.node for node in of_job(found, "old").nodes] == ["n1", "n2", "n3"]
    assert jobs_text(of_job(found, "old").nodes[0]) == "old, new"
    assert fleet_text(found) == "4 nodes · 2 jobs running · 1 slow"
    assert trouble_text(found.nodes[1]) == "slow · dropped 5 rows"
    assert [(row.node, row.job, row.value) for row in top(found, metric_named("step_seconds"), 2)] == [
        ("n1", "old", 9.0), ("n0", "new", 1.0),
    ]  # fmt: skip
    assert [row.node for row in top(only_nodes(found, ["n3"]), metric_named("utilization"))] == ["n3"]


def test_no_job_is_found_by_an_empty_name() -> None:
    found = page([reported("n1", job="unnamed")], jobs=[job("unnamed", nodes=1, name="")])
    with pytest.raises(NothingToShow, match="no job ''"):
        of_job(found, "")


def test_a_node_whose_agent_of_one_job_is_gone_is_silent_in_that_job_alone() -> None:
    jobs = [job("new", nodes=1), job("old", nodes=2)]
    address = "http://10.0.0.1:9464/metrics"
    nodes = [
        reported("n1", job="new", address=address), reported("n1", job="old", at=NOW - 300, address=address),
        reported("n2", job="old"),
    ]  # fmt: skip
    found = page(nodes, jobs=jobs)
    assert [(node.node, node.job, node.state) for node in found.nodes] == [
        ("n1", "new", NodeReporting.REPORTING), ("n2", "old", NodeReporting.REPORTING),
    ]  # fmt: skip
    assert [nodes_text(one) for one in found.jobs] == ["1", "2, 1 silent"]
    lost = of_job(found, "old").nodes[0]
    assert (lost.state, trouble_text(lost), jobs_text(lost)) == (
        NodeReporting.SILENT, "silent for 5 m 00 s", "old, new",
    )  # fmt: skip
    assert lost.address == "", "the next agent answers there"
    assert [group.labels["neurontop_job"] for group in scrape_targets(found, "here")] == ["new"]


def test_an_address_that_is_none_keeps_no_other_node_from_being_scraped() -> None:
    nodes = [reported("n1", address="http://[bad/metrics"), reported("n2", address="/metrics")]
    found = page([*nodes, reported("n3", address="https://n3:9464/metrics")])
    assert [group.targets for group in scrape_targets(found, "here")] == [("n3:9464",)]


def test_a_node_whose_agent_was_stopped_has_ended_and_is_not_silent() -> None:
    nodes = [reported("n1", at=NOW - 300, ended=True), reported("n2", at=NOW - 3, ended=True), reported("n3")]
    found = page(nodes, jobs=[job(nodes=3, ended=2)])
    assert [node.state for node in found.nodes] == [
        NodeReporting.ENDED, NodeReporting.ENDED, NodeReporting.REPORTING,
    ]  # fmt: skip
    assert (nodes_text(found.jobs[0]), fleet_text(found)) == ("3", "3 nodes · 1 job running")


def test_a_node_that_has_just_begun_another_job_is_shown_with_it() -> None:
    told = [reported("n1", job="old", at=NOW - 90, ended=True)]
    record = NodeRecord(node="n1", job="new", seen=NOW - 1)
    found = fleet_page(NOW, [job("new", nodes=0), job("old", nodes=1, ended=1, finished=NOW - 90)], [record], told)
    assert [(node.job, node.state, node.phase) for node in found.nodes] == [("new", NodeReporting.REPORTING, "")]
    assert [one.reporting for one in found.jobs] == [1, 0]


def test_slow_nodes_stand_far_above_the_median_of_their_job_and_outliers_hide_nobody() -> None:
    times = {f"n{number}": 1.0 + number % 5 / 100 for number in range(100)} | {"a": 1.5, "b": 60.0}
    assert slow_of(times) == ["a", "b"]
    assert slow_of({"a": 1.0, "b": 9.0}) == []
    assert slow_of(dict.fromkeys("abcdef", 1.0) | {"g": 1.05}) == []
    nodes = [reported(f"n{number}", step_seconds=1.0) for number in range(4)] + [reported("n9", step_seconds=2.0)]
    other = [reported(f"m{number}", job="other", step_seconds=30.0) for number in range(4)]
    found = page([*nodes, *other])
    assert slow_selection(found) == ("n9",)
    assert trouble_text(found.nodes[-1]) == "slow"
    with pytest.raises(NothingToShow):
        slow_selection(page(other))


def test_a_ranking_begins_with_the_worst_and_leaves_out_who_reports_nothing() -> None:
    found = page(
        [reported("n1", step_seconds=1.0), reported("n2", step_seconds=3.0), reported("n3", step_seconds=None)]
    )
    slowest = metric_named("step_seconds")
    assert [(row.node, row.text) for row in top(found, slowest)] == [("n2", "3.0 s"), ("n1", "1.0 s")]
    assert [row.node for row in top(found, slowest, 1)] == ["n2"]
    assert [node.node for node in sorted_nodes(found.nodes, slowest)] == ["n2", "n1", "n3"]
    assert [row.core for row in top(found, metric_named("utilization"), 1)] == ["7"]
    with pytest.raises(UsageError, match="known: utilization, memory"):
        metric_named("heat")


def test_of_nodes_that_are_as_bad_the_slow_one_is_first() -> None:
    times = {"n1": 1.0, "n2": 1.0, "n3": 4.0, "n4": 1.0}
    nodes = page([reported(node, step_seconds=seconds, metrics={}) for node, seconds in times.items()]).nodes
    assert [row.node for row in sorted_nodes(nodes, METRICS[0])] == ["n3", "n1", "n2", "n4"]


def test_silent_nodes_stand_first_and_have_no_place_of_their_own_in_a_ranking() -> None:
    found = page([reported(f"n{number}", step_seconds=float(number)) for number in (1, 2, 3)], silent=["n1"])
    slowest = metric_named("step_seconds")
    assert [node.node for node in sorted_nodes(found.nodes, slowest)] == ["n1", "n3", "n2"]
    assert [row.node for row in top(found, slowest)] == ["n3", "n2", "n1"]


def fleet_of(count: int, slow: int, seed: int) -> tuple[object, dict[str, dict[str, object]]]:
    rng = random.Random(seed)
    attributes: dict[str, dict[str, object]] = {}
    for number in range(count):
        bad = number < slow
        attributes[f"n{number}"] = {
            "ami": "ami-new" if bad or rng.random() < 0.05 else "ami-old",
            "zone": rng.choice("abc"),
            "instance_id": f"i-{number:08x}",
            "cache_free": rng.uniform(1e9, 2e9) if bad else rng.uniform(50e9, 900e9),
            "device_count": 16,
            "kernel": rng.choice(["6.1", "6.8"]),
            "efa": not bad,
        }
    nodes = [reported(f"n{number}", step_seconds=2.0 if number < slow else 1.0) for number in range(count)]
    return page(nodes, attributes=attributes), attributes  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_what_sets_the_slow_nodes_apart_comes_first_and_what_they_share_with_others_does_not(seed: int) -> None:
    found, _attributes = fleet_of(200, 6, seed)
    answer = differences(found, slow_selection(found))  # type: ignore[arg-type]
    assert answer.selected == tuple(f"n{number}" for number in range(6))
    first = {row.attribute: row for row in answer.rows[:3]}
    assert set(first) == {"ami", "cache_free", "efa"}
    assert (first["ami"].value, first["ami"].selected_share) == ("ami-new", 1.0)
    assert first["efa"].value == "no"
    assert first["cache_free"].value.startswith("below")
    assert {"instance_id", "device_count"} <= set(answer.alike)


def test_values_of_several_types_are_compared() -> None:
    """Agents of several versions report an attribute in several ways."""
    values: list[str | int | float] = [4, 4, 4, 4, 4, 4, "4", "4", 4.5, 4.5]
    attributes = {f"n{number}": {"lnc": value} for number, value in enumerate(values)}
    found = page([reported(name) for name in attributes], attributes=attributes)
    (row,) = differences(found, ["n6", "n7"]).rows
    assert (row.value, row.selected, row.rest) == ("4", 2, 0)
    (row,) = differences(found, ["n8", "n9"]).rows
    assert (row.value, row.selected, row.rest) == ("4.5", 2, 0)


def test_one_node_of_four_can_be_compared_and_nobody_is_distinguished_by_its_name() -> None:
    attributes = {f"n{number}": {"host": f"h{number}", "ami": "new" if number == 3 else "old"} for number in range(4)}
    found = page([reported(f"n{number}") for number in range(4)], attributes=attributes)
    assert "host" in differences(found, ["n3"]).alike
    assert differences(found, ["n0"]).rows == ()
    assert [(row.attribute, row.value) for row in differences(found, ["n3"]).rows] == [("ami", "new")]
    with pytest.raises(NothingToShow, match="no node n7"):
        differences(found, ["n7"])
    with pytest.raises(NothingToShow, match="not all of them"):
        differences(found, [node.node for node in found.nodes])


def test_sizes_among_the_attributes_of_a_node_have_a_unit() -> None:
    for name in ("memory", "device_memory", "cache_disk", "cache_free"):
        assert attribute_text(name, 24 << 30) == "24.0 GiB", name
    assert attribute_text("hugepages", 24 << 30) == str(24 << 30), "a number of pages"
    assert [attribute_text("cache_shared", value) for value in (1, 0)] == ["yes", "no"]


def test_when_a_node_was_started_is_a_date() -> None:
    assert attribute_text("booted", 1_795_508_698) == "2026-11-24 08:24:58 UTC"
    assert attribute_text("kernel", "6.1") == "6.1"
    for impossible in (10**20, -(10**12)):
        assert attribute_text("booted", impossible) == UNKNOWN, "anybody who ships may write it"
