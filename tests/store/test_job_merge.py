"""Sources of several nodes of a job, which have the same names."""

from __future__ import annotations

from neuron_top.events import AnyEvent, SourceAvailable, SourceUnavailable
from neuron_top.run.model import Run
from neuron_top.store.job_merge import JobMerge
from neuron_top.views.missing import missing_text
from neuron_top.views.overview import overview

AT = 1_767_225_600.0


def merged(**reported: AnyEvent) -> Run:
    """The run of what each node reported."""
    run, merge = Run(), JobMerge("4711")
    for node, event in reported.items():
        for one in merge.merged(node, "spool", [event]):
            run.apply(one)
    return run


def test_a_source_that_fails_on_one_node_and_works_on_another_is_shown_of_each() -> None:
    works = SourceAvailable(name="neuron-monitor", detail="every 1 s", at=AT)
    fails = SourceUnavailable(name="neuron-monitor", reason="not installed", at=AT)
    for run in (merged(n1=works, n2=fails), merged(n2=fails, n1=works)):
        view = overview(run, AT + 1)
        shown = {source.name: (source.available, source.text) for source in view.sources}
        assert shown == {"n1: neuron-monitor": (True, "every 1 s"), "n2: neuron-monitor": (False, "not installed")}
        assert "device telemetry (n2: neuron-monitor: not installed)" in missing_text(view)


def test_a_nodes_log_that_cannot_be_read_is_no_reason_for_missing_telemetry() -> None:
    run = merged(n1=SourceUnavailable(name="log:/logs/a", reason="the file is empty: /logs/a", at=AT))
    view = overview(run, AT + 1)
    assert [source.name for source in view.sources] == ["log:n1:/logs/a"]
    assert "device telemetry (`neurontop doctor` helps)" in missing_text(view)


def test_that_a_nodes_agent_found_no_job_by_itself_is_no_reason_for_missing_telemetry() -> None:
    run = merged(n1=SourceUnavailable(name="jobs", reason="no job found: start one", at=AT))
    assert missing_text(overview(run, AT + 1)).startswith("Not available: device telemetry (`neurontop doctor` helps)")
