"""The order and the bounds of parallel compiles, and what their progress says."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from neuron_top.compile.parallel.compile_queue import FIRST_GUESS, CollectedGraph, CompileResult, Queue

GIB = 1024**3


def graphs(*sizes: int) -> list[CollectedGraph]:
    return [
        CollectedGraph(path=Path(f"/cache/MODULE_{place}/model.fxgraph"), module=f"MODULE_{place}", bytes=size)
        for place, size in enumerate(sizes)
    ]


def good(seconds: float = 10.0, peak: int | None = None) -> CompileResult:
    return CompileResult(ok=True, seconds=seconds, peak_rss_bytes=peak)


def test_the_largest_graph_starts_first():
    queue = Queue(graphs(5, 50, 20), workers=3, began=0.0)
    started = [queue.start_next(0.0, None) for _ in range(3)]
    assert [given[1].bytes for given in started if given] == [50, 20, 5]


def test_no_more_compiles_run_than_there_are_workers():
    queue = Queue(graphs(1, 2, 3), workers=2, began=0.0)
    assert queue.start_next(0.0, None)
    assert queue.start_next(0.0, None)
    assert queue.start_next(0.0, None) is None
    assert queue.progress(0.0).held_back == ""


def test_memory_holds_a_compile_back_until_another_ends():
    queue = Queue(graphs(1, 2), workers=2, began=0.0, observed_peak=4 * GIB)
    assert queue.start_next(0.0, available=6 * GIB)
    assert queue.start_next(1.0, available=6 * GIB) is None
    assert queue.progress(1.0).held_back == "memory"
    queue.finish(0, good())
    assert queue.start_next(2.0, available=6 * GIB)


def test_what_a_running_compile_holds_already_is_not_kept_for_it_twice():
    queue = Queue(graphs(1, 2), workers=2, began=0.0, observed_peak=4 * GIB)
    queue.start_next(0.0, available=9 * GIB)
    assert queue.start_next(1.0, available=5 * GIB, in_use=4 * GIB)


def test_one_compile_always_runs_however_little_memory_there_is():
    queue = Queue(graphs(1), workers=2, began=0.0, observed_peak=GIB)
    assert queue.start_next(0.0, available=0)


def test_the_expected_peak_follows_the_largest_compile_seen():
    queue = Queue(graphs(1, 2, 3), workers=1, began=0.0)
    (graph,) = graphs(1)
    assert queue.expected_peak(graph) == FIRST_GUESS["model.fxgraph"]
    for peak in (2 * GIB, GIB):
        given_worker, _ = queue.start_next(0.0, None) or (None, None)
        assert given_worker == 0
        queue.finish(0, good(peak=peak))
    assert queue.expected_peak(graph) == 2 * GIB


def test_progress_counts_and_estimates_from_the_finished_compiles():
    queue = Queue(graphs(1, 2, 3, 4), workers=2, began=100.0)
    queue.start_next(100.0, None)
    queue.start_next(100.0, None)
    assert queue.progress(101.0).remaining is None
    queue.finish(0, good(seconds=10.0))
    queue.start_next(110.0, None)
    now = queue.progress(110.0)
    assert (now.total, now.done, now.running_count, now.left, now.failed) == (4, 1, 2, 1, 0)
    assert now.remaining == (0.0 + 10.0 + 10.0) / 2
    assert [running.seconds for running in now.running] == [0.0, 10.0]


@given(
    st.lists(st.integers(0, 10**9), max_size=12),
    st.integers(1, 5),
    st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 8 * GIB)), max_size=60),
)
def test_every_graph_is_started_once_and_the_counts_always_add_up(sizes, workers, moves):
    queue, started, running = Queue(graphs(*sizes), workers, 0.0), [], set()
    for place, (ok, worker, available) in enumerate([*moves, *((True, w % workers, 0) for w in range(40))]):
        if given_work := queue.start_next(float(place), available):
            assert given_work[0] not in running
            running.add(given_work[0])
            started.append(given_work[1])
        if worker in running:
            running.discard(worker)
            queue.finish(worker, CompileResult(ok=ok, seconds=1.0, peak_rss_bytes=available or None))
        now = queue.progress(float(place))
        assert now.done + now.failed + now.running_count + (now.left or 0) == len(sizes)
        assert now.running_count == len(running) <= workers
    assert len(started) == len(set(started))
