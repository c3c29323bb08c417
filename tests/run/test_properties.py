"""Whatever events come: nothing raises, the same events give the same run, and counts keep their promises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import AnyEvent, decode, encode
from neuron_top.run.model import Run
from neuron_top.views.alerts import alerts
from neuron_top.views.cores import core_page, core_table
from neuron_top.views.graphs import graph_page, graph_table
from neuron_top.views.overview import overview
from neuron_top.views.summary import summary
from neuron_top.views.timeline import timeline
from tests.run.samples import event_lists

NOW = 1_700_000_500.0


def run_of(events: list[AnyEvent]) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


@given(event_lists)
def test_events_that_went_through_json_give_the_same_run(events: list[AnyEvent]) -> None:
    assert run_of(events).canonical() == run_of([decode(encode(event)) for event in events]).canonical()


@given(event_lists, event_lists)
def test_a_copy_is_the_same_run_and_stays_so_whatever_happens_later(
    events: list[AnyEvent], later: list[AnyEvent]
) -> None:
    run = run_of(events)
    copied, before = run.copy(), run.canonical()
    assert copied.canonical() == before
    for event in later:
        run.apply(event)
    assert copied.canonical() == before


@given(event_lists)
def test_every_view_can_be_drawn_of_every_run_and_changes_nothing(events: list[AnyEvent]) -> None:
    run = run_of(events)
    before = run.canonical()
    overview(run, NOW), summary(run, NOW), graph_table(run, NOW), timeline(run, NOW), core_table(run, NOW)
    for key in run.compiles.graphs:
        assert graph_page(run, NOW, key) is not None
    for key in run.cores.cores:
        assert core_page(run, NOW, key) is not None
    assert run.canonical() == before


@given(event_lists)
def test_counts_agree_with_each_other(events: list[AnyEvent]) -> None:
    run = run_of(events)
    card, compiles = overview(run, NOW).compile, run.compiles
    states = (
        card.done,
        card.hit,
        card.failed,
        card.cached_failures,
        len(card.running),
        len(card.waiting),
        card.extracted,
        card.interrupted,
    )
    assert sum(states) <= card.total == len(compiles.graphs)
    assert compiles.totals.failures <= compiles.totals.misses
    assert compiles.totals.graphs_hit + compiles.totals.graphs_missed <= len(compiles.graphs)
    assert compiles.totals.hit_rate is None or 0 <= compiles.totals.hit_rate <= 1
    assert card.wait_seconds >= 0
    assert card.seconds is None or card.seconds >= card.wait_seconds
    assert card.share is None or 0 <= card.share <= 1


@given(event_lists)
def test_what_runs_in_the_ledger_runs_in_a_graph(events: list[AnyEvent]) -> None:
    run = run_of(events)
    opened = [one for graph in run.compiles.graphs.values() for one in graph.attempts if not one.outcome]
    assert run.compiles.compiling <= len(opened)


@given(event_lists)
def test_totals_asked_for_after_every_event_are_those_asked_for_once(events: list[AnyEvent]) -> None:
    asked = Run()
    for event in events:
        asked.apply(event)
        asked.compiles.totals.summaries()
    assert asked.compiles.totals.summaries() == run_of(events).compiles.totals.summaries()


@given(event_lists)
def test_alerts_have_unique_keys_and_say_what_to_do(events: list[AnyEvent]) -> None:
    found = alerts(run_of(events), NOW)
    assert len({alert.key for alert in found}) == len(found)
    assert all(alert.title and alert.evidence and alert.next_step for alert in found)


@given(event_lists, st.integers(2, 4))
@settings(max_examples=30)
def test_reported_again_by_a_second_reader_of_the_side_channel_the_run_is_another_but_never_breaks(
    events: list[AnyEvent], times: int
) -> None:
    run_of(events * times).canonical()
