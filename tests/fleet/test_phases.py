"""Phases by node: bars that touch, silences, the worst first, equal nodes in one row; and what the database keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import HeartbeatSteps, PhaseSpan
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.tui.panels.phases import phase_lines, phase_sign
from neuron_top.tui.theme import Theme, choose
from neuron_top.views.phases import SILENT, WAITING, phase_timeline
from neuron_top.views.states import JobState
from tests.fleet.database import fill
from tests.fleet.samples import page, reported

NOW = 10_000.0
THEMES = [choose("dark", False, "utf-8", False), choose("dark", True, "utf-8", True)]


def spans(node: str, *reported: tuple[str, float, float]) -> list[PhaseSpan]:
    return [PhaseSpan(node=node, since=since, until=until, phase=phase) for phase, since, until in reported]


def fleet(count: int) -> list[PhaseSpan]:
    """Nodes that extract, wait (every tenth compiles), and train; heartbeats differ by some seconds."""
    return [
        span
        for number in range(count)
        for span in spans(
            f"trn-{number:04}",
            ("extracting", number % 5, 300 + number % 4),
            ("compiling" if number % 10 == 0 else "lock wait", 305 + number % 3, 900),
            ("training", 904, 2000),
        )
    ]


def test_nodes_that_did_the_same_are_one_row_and_the_worst_comes_first() -> None:
    every = [*fleet(128), *spans("trn-0200", ("extracting", 0, 300), ("lock wait", 304, 500), ("training", 900, 2000))]
    found = phase_timeline(NOW, "4711", every, [])
    assert [(row.node, len(row.alike)) for row in found.rows] == [("trn-0200", 0), ("trn-0015", 114), ("trn-0000", 12)]
    assert [bar.phase for bar in found.rows[0].bars] == ["extracting", WAITING, SILENT, "training"]
    assert found.rows[0].seconds[SILENT] == 400
    assert found.rows[1].seconds[WAITING] == pytest.approx(598, abs=3)
    assert found.nodes == 129


def test_a_node_that_is_not_heard_of_is_silent_until_now_and_one_that_ended_is_not() -> None:
    nodes = page([reported("n1"), reported("n2")], silent=["n1", "n2"]).nodes
    every = [*spans("n1", ("training", 0, 900)), *spans("n2", ("training", 0, 890), ("finished", 895, 900))]
    found = phase_timeline(1000.0, "4711", every, nodes)
    assert [(row.node, row.bars[-1].phase, row.bars[-1].end) for row in found.rows] == [
        ("n1", SILENT, 1000.0),
        ("n2", "finished", 900),
    ]


told_spans = st.lists(
    st.builds(
        lambda node, since, length, phase: PhaseSpan(
            node=f"n{node}", since=float(since), until=float(since + length), phase=phase
        ),
        st.integers(0, 6),
        st.integers(0, 5000),
        st.integers(0, 900),
        st.sampled_from(["extracting", "compiling", "lock wait", "training", "finished", "what is this"]),
    ),
    max_size=40,
)


@given(told_spans)
@settings(max_examples=200, deadline=None)
def test_bars_touch_and_every_node_is_in_exactly_one_row(every: list[PhaseSpan]) -> None:
    found = phase_timeline(NOW, "j", every, [])
    named = [name for row in found.rows for name in (row.node, *row.alike)]
    assert sorted(named) == sorted({span.node for span in every})
    for row in found.rows:
        assert all(before.end == after.start for before, after in zip(row.bars, row.bars[1:], strict=False)) or any(
            bar.phase == "finished" for bar in row.bars
        )
        assert all(bar.end >= bar.start for bar in row.bars)
        assert sum(row.seconds.values()) == pytest.approx(sum(bar.end - bar.start for bar in row.bars))
    for theme in THEMES:
        for width in (40, 80, 200):
            assert all(strip.cell_length == width for strip in phase_lines(theme, found, width))


@pytest.mark.parametrize("width", [70, 80, 120])
def test_what_a_node_did_longest_is_never_cut_beside_its_bar(width: int) -> None:
    spans_of_two = [*spans("n1", ("extracting", 0.0, 43_200.0)), *spans("n2", ("compiling", 0.0, 801.0))]
    texts = [strip.text for strip in phase_lines(THEMES[0], phase_timeline(NOW, "4711", spans_of_two, []), width)]
    assert not any("…" in text for text in texts)
    assert any(text.rstrip().endswith("compiling 13 m 21 s") for text in texts), texts


@pytest.mark.parametrize("theme", THEMES, ids=["colors", "ascii"])
def test_no_two_phases_of_a_timeline_have_the_same_shape(theme: Theme) -> None:
    phases = [*(state for state in JobState if state is not JobState.LOCK_WAIT), WAITING, SILENT]
    shapes = {phase: phase_sign(theme, phase)[0] for phase in phases if phase != JobState.KILLED}
    assert len(set(shapes.values())) == len(shapes), shapes
    assert phase_sign(theme, JobState.KILLED) == phase_sign(theme, JobState.FAILED)


def test_the_axis_has_moments_and_their_dates_where_they_are_of_two_days() -> None:
    def axis(since: float, until: float) -> list[str]:
        every = spans("n1", ("training", since, until))
        return phase_lines(THEMES[0], phase_timeline(until, "4711", every, []), 80)[-2].text.split(maxsplit=1)

    morning = 1_771_061_400.0  # 2026-02-14 09:30:00 UTC
    assert [part.strip() for part in axis(morning, morning + 90)] == ["09:30:00", "09:31:30 UTC"]
    assert " ".join(axis(morning, morning + 86_400)).split() == ["02-14", "09:30", "02-15", "09:30", "UTC"]


@pytest.mark.parametrize("count", [4, 64, 1000])
def test_a_thousand_equal_nodes_take_as_many_lines_as_four(count: int) -> None:
    drawn = phase_lines(THEMES[0], phase_timeline(NOW, "4711", fleet(count), []), 80)
    assert len(drawn) == 5
    assert f"+{count - 1 - len(range(0, count, 10))} alike" in drawn[1].text
    assert "□□□" in drawn[1].text
    assert "▓▓▓" in drawn[2].text


def test_heartbeats_make_a_phase_longer_and_a_silence_begins_a_new_one(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for phase in ("training", "training", "lock wait", "lock wait", "training"):
            store.beat(reported("n1", phase=phase))
        kept = [(span.node, span.phase) for span in store.phases("4711") if span.node == "n1"]
        assert kept == [("n1", "training"), ("n1", "lock wait"), ("n1", "training")]
        with store._database.connection() as connection:
            connection.execute("UPDATE neurontop.phases SET since = since - 500, until = until - 500 WHERE node = 'n1'")
        store.beat(reported("n1", phase="training"))
        assert len([span for span in store.phases("4711") if span.node == "n1"]) == 4
        assert store.phases("4700") == []
    with FleetService(Settings(store=postgres_url)) as service:
        found = service.phases()
    row = next(row for row in found.rows if row.node == "n1")
    assert SILENT in row.seconds
    assert (found.job, found.nodes, found.rows[0].node) == ("4711", 4, "n1")


def test_steps_of_the_job_that_runs_come_from_its_heartbeats_and_of_another_from_its_events(postgres_url: str) -> None:
    fill(postgres_url)
    with FleetStore(postgres_url) as store:
        for rank, node in enumerate(("n1", "n2", "n3", "n4")):
            rows = [HeartbeatSteps(rank=rank, steps=[1, 2, 3], seconds=[1.0, 1.0, 5.0 if rank == 2 else 1.0])]
            store.beat(reported(node, steps=rows))
    with FleetService(Settings(store=postgres_url)) as service:
        found = service.steps()
        assert (found.ranks, found.worst_name, found.worst_step, found.outliers) == (4, "rank 2", 3, 1)
        assert service.steps("4700").rows == ()
