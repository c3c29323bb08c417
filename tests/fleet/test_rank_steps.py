"""Ranks × steps: the robust scale, who stands out, what is folded where there is little room, and the times."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.strip import Strip

from neuron_top.agent.node import node_now
from neuron_top.events import AnyEvent, StepReported
from neuron_top.run.fold import Fold
from neuron_top.run.model import Run
from neuron_top.run.step_times import STEPS_KEPT
from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from neuron_top.store.batches import pack
from neuron_top.store.fleet_records import Batch, NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.tui.panels import rank_steps as panel
from neuron_top.tui.theme import choose
from neuron_top.views.rank_steps import RankSeries, StepMap, folded_words, series_of_nodes, series_of_run, step_map

DARK = choose("dark", False, "utf-8", False)


def series(times: dict[int, dict[int, float]]) -> list[RankSeries]:
    return [RankSeries(node=f"n{rank}", rank=rank, ranks=1, seconds=seconds) for rank, seconds in times.items()]


def even(ranks: int, steps: int, seconds: float = 1.0) -> dict[int, dict[int, float]]:
    """Ranks whose steps differ by a few percent."""
    return {
        rank: {step: seconds * (1 + (rank * 7 + step * 3) % 5 / 100) for step in range(1, steps + 1)}
        for rank in range(ranks)
    }


def test_a_slow_rank_and_a_slow_step_of_one_rank_stand_out_and_a_step_that_is_slow_for_all_does_not() -> None:
    times = even(8, 20)
    times[3] = dict.fromkeys(times[3], 1.8)
    times[5][7] = 9.0
    for rank in times:
        times[rank][11] += 30.0  # a checkpoint: everybody waits for it
    found = step_map(series(times))
    marked = {
        (row.name, step) for row in found.rows for step, out in zip(found.steps, row.outliers, strict=True) if out
    }
    assert {name for name, _ in marked} == {"rank 3", "rank 5"}
    assert ("rank 5", 7) in marked
    assert not {name for name, step in marked if step == 11}, "0.8 of 31 s is no tenth"
    assert (found.worst_name, found.worst_step, found.worst) == ("rank 3", 11, 31.8)
    assert found.outliers == len(marked)


def test_one_step_of_a_minute_leaves_the_scale_to_the_others() -> None:
    times = even(4, 30)
    times[0][9] = 60.0
    found = step_map(series(times))
    assert 0.5 < found.high < 2.0
    assert found.rows[0].levels[8] == 1.0
    assert all(0.0 < level < 1.0 for row in found.rows[1:] for level in row.levels if level is not None)


times_of_ranks = st.dictionaries(
    st.integers(0, 1500),
    st.dictionaries(st.integers(0, 40), st.floats(0.001, 1000), min_size=1, max_size=12),
    max_size=40,
)


@given(times_of_ranks, st.integers(1, 30), st.integers(1, 30))
@settings(max_examples=150, deadline=None)
def test_folding_keeps_every_rank_in_a_row_and_the_slowest_of_each_step(
    times: dict[int, dict[int, float]], rows: int, columns: int
) -> None:
    whole, folded = step_map(series(times), 0, columns), step_map(series(times), rows, columns)
    assert len(folded.rows) <= max(rows, 2)
    assert sum(row.ranks for row in folded.rows) == folded.ranks == whole.ranks
    assert (folded.outliers, folded.worst, folded.median) == (whole.outliers, whole.worst, whole.median)
    assert folded.steps == whole.steps == tuple(sorted({step for one in times.values() for step in one})[-columns:])
    for column in range(len(folded.steps)):
        tops = [
            max((row.seconds[column] for row in one.rows if row.seconds[column] is not None), default=None)
            for one in (whole, folded)
        ]
        assert tops[0] == tops[1]
    for row in whole.rows:
        assert all(level is None or 0.0 <= level <= 1.0 for level in row.levels)


@pytest.mark.parametrize(
    ("ranks", "rows", "steps", "left_out", "says"),
    [
        (2, 1, 3, 0, "2 ranks in 1 row: where several share one, each step is the slowest's; step 1 is further left"),
        (1, 0, 2, 1, "steps 1 to 2 are further left; 1 more rank is not kept"),
        (1, 0, 4, 2000, "2,000 more ranks are not kept"),
    ],
)
def test_what_is_folded_is_said_of_one_and_of_several(
    ranks: int, rows: int, steps: int, left_out: int, says: str
) -> None:
    assert folded_words(step_map(series(even(ranks, 4)), rows, steps, left_out)) == [says]


def reports(ranks: int, steps: int, node: str = "n1") -> list[AnyEvent]:
    """What ranks print, one after the other: a step of rank r takes 1 + r/10 seconds."""
    reported = [
        (
            100.0 + step * (1 + rank / 10),
            StepReported(at=100.0 + step * (1 + rank / 10), node=node, rank=rank, step=step),
        )
        for step in range(1, steps + 1)
        for rank in range(ranks)
    ]
    return [event for _, event in sorted(reported, key=lambda one: one[0])]


def applied(events: list[AnyEvent]) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


def test_times_come_from_the_clocks_of_the_lines_or_from_what_they_print() -> None:
    run = applied(reports(3, 10))
    by_rank = {one.rank: one.seconds for one in series_of_run(run)}
    assert by_rank[2] == pytest.approx(dict.fromkeys(range(2, 11), 1.2))
    printed = applied([StepReported(seen=5.0, node="n1", step=step, step_seconds=0.25) for step in (1, 2, 3)])
    assert [one.seconds for one in series_of_run(printed)] == [{1: 0.25, 2: 0.25, 3: 0.25}]


def test_a_counter_that_begins_again_and_a_clock_that_goes_back_give_no_times_that_never_were() -> None:
    steps = [(1, 10.0), (2, 11.0), (3, 12.0), (1, 20.0), (2, 21.5), (3, 5.0), (4, 6.0)]
    run = applied([StepReported(at=at, node="n1", rank=0, step=step) for step, at in steps])
    (one,) = series_of_run(run)
    assert one.seconds == {2: 1.5, 4: 1.0}


def test_memory_is_bounded_however_long_a_job_runs() -> None:
    run = applied([StepReported(at=float(step), node="n1", rank=0, step=step) for step in range(5 * STEPS_KEPT)])
    (one,) = run.steps.ranks.values()
    assert STEPS_KEPT <= len(one.steps) <= 2 * STEPS_KEPT
    assert list(one.newest())[-1] == (5 * STEPS_KEPT - 1, 1.0)


def test_folded_reports_give_the_same_picture() -> None:
    events = reports(4, 60)
    fold, reported = Fold(), []
    for event in events:
        reported += fold.add(event, event.time or 0.0)
        reported += fold.flush(event.time or 0.0)
    reported += fold.flush(1000.0, everything=True)
    assert len(reported) < len(events) / 3
    before, after = ({one.rank: one.seconds for one in series_of_run(applied(some))} for some in (events, reported))
    assert before.keys() == after.keys()
    for rank, seconds in before.items():
        assert after[rank] == pytest.approx(seconds)


@pytest.mark.parametrize(("ranks", "rows"), [(4, 4), (16, 16), (128, 1)])
def test_a_heartbeat_reports_a_few_ranks_one_by_one_and_many_as_one(ranks: int, rows: int) -> None:
    now = node_now(applied(reports(ranks, 80)), 300.0, "n1", "4711", {}, None)
    assert len(now.steps) == rows
    assert sum(row.ranks for row in now.steps) == ranks
    (first, *_) = series_of_nodes([now])
    assert len(first.seconds) == 64
    slowest = max(max(row.seconds) for row in now.steps)
    assert slowest == pytest.approx(1 + (ranks - 1) / 10, rel=1e-3)


def lines(found: StepMap | str, width: int) -> list[Strip]:
    strips = panel.rank_steps_lines(DARK, found, width)
    assert all(strip.cell_length == width for strip in strips)
    return strips


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("ranks", [1, 4, 64, 1000])
def test_the_picture_fits_the_screen_and_says_what_was_folded(ranks: int, width: int, height: int) -> None:
    times = even(ranks, 30)
    if ranks > 1:
        times[ranks // 2][20] = 5.0
    found = step_map(series(times), panel.rows_that_fit(height), panel.steps_that_fit(width))
    strips = lines(found, width)
    text = "\n".join(strip.text for strip in strips)
    assert len(strips) <= height
    assert ("▲" in text.partition("\n")[2].rpartition("step 1")[0]) == (ranks > 1)
    assert ("share one" in text) == (ranks > panel.rows_that_fit(height))
    if ranks > 1:
        assert f"the slowest: rank {ranks // 2}, step 20, 5.0 s" in text


def test_nothing_yet_and_a_text_are_reported() -> None:
    assert "No rank has reported" in lines(step_map([]), 80)[1].text
    assert "asking" in lines("asking", 80)[1].text


def test_the_words_tell_ranks_from_steps() -> None:
    times = even(21, 20)
    times[19] = dict.fromkeys(times[19], 2.2)
    text = "\n".join(strip.text for strip in lines(step_map(series(times)), 120))
    assert "▲ 1 of 21 ranks stands out, at 20 steps" in text
    assert "far above the others at the same step" in text
    assert "none stands out" in lines(step_map(series(even(4, 20))), 120)[0].text
    times = even(1, 30)
    times[0][9] = 60.0
    text = "\n".join(strip.text for strip in lines(step_map(series(times)), 120))
    assert "1 rank · ▲ 1 step stands out" in text
    assert "far above the median step" in text


@pytest.mark.parametrize("width", range(50, 140, 9))
@pytest.mark.parametrize("ranks", [1, 21])
def test_no_sign_of_the_legend_is_on_another_line_than_its_meaning(ranks: int, width: int) -> None:
    drawn = [strip.text for strip in lines(step_map(series(even(ranks, 20)), 30, panel.steps_that_fit(width)), width)]
    legend = drawn[next(index for index, text in enumerate(drawn) if " or less" in text) :]
    for sign, meaning in (
        (DARK.glyphs.warn, "far above the others at the same step" if ranks > 1 else "far above the median step"),
        (DARK.glyphs.spark[-1], "or more"),
        (DARK.glyphs.spark[len(DARK.glyphs.spark) // 2], "the median  "),
    ):
        assert any(sign in text and meaning in f"{text}  "[text.index(sign) :] for text in legend), (sign, legend)


def test_few_steps_fill_the_width_and_ordinary_cells_have_one_color() -> None:
    found = step_map(series(even(4, 20)))
    row = panel.rank_steps_lines(DARK, found, 120)[1]
    styles = {segment.style for segment in row if set(segment.text.strip()) & set(DARK.glyphs.spark)}
    assert styles == {DARK.accent}
    cells = sum(character in DARK.glyphs.spark for character in row.text)
    assert cells > 0.8 * panel.steps_that_fit(120)


def test_of_a_job_that_ended_no_rank_is_missing_because_its_node_has_another_job_by_now(postgres_url: str) -> None:
    with FleetStore(postgres_url) as store, FleetService(Settings(store=postgres_url)) as fleet:
        store.open_job("4711", started=1.0)
        for number, node in enumerate(("n1", "n2")):
            events = [one for one in reports(2, 30) if isinstance(one, StepReported) and one.rank == number]
            packed = pack([msgspec.structs.replace(one, node=node) for one in events])
            batch = Batch(sequence=1, run="4711", first=None, last=None, count=len(events), data=packed.data)
            store.ship(node, "s", [batch])
            store.register(NodeRecord(node=node, job="4711", machine_id=node))
            store.beat(node_now(applied(events), 300.0, node, "4711", {}, None))
        assert fleet.steps("4711").ranks == 2
        for node in ("n1", "n2"):
            store.end_job(node, "s", "4711", 9.0, 0)
        assert fleet.steps("4711").ranks == 2
        store.forget_left_jobs("n1", "4712")
        assert fleet.steps("4711").ranks == 2
