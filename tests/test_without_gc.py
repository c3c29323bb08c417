"""Looking less for garbage: what is set is as it was afterwards, and objects that were made meanwhile are old."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from neuron_top.without_gc import seldom_gc, without_gc


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    enabled, thresholds = gc.isenabled(), gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()


def fail(note: Callable[[object], None], look: Callable[[], object]) -> NoReturn:
    note(look())
    raise ZeroDivisionError


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_off_within_and_as_before_behind(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    within: list[object] = []
    with pytest.raises(ZeroDivisionError), without_gc():
        fail(within.append, gc.isenabled)
    assert within == [False]
    assert gc.isenabled() == enabled


def test_what_was_made_is_old_and_garbage_among_it_is_still_found() -> None:
    gc.collect()
    with without_gc(for_good=True):
        kept = [[number] for number in range(5_000)]
        ring: list[object] = []
        ring.append(ring)
        del ring
    assert gc.get_count()[0] < 1_000
    assert gc.get_freeze_count() == 0
    assert gc.collect() > 0
    assert len(kept) == 5_000


def test_what_somebody_froze_stays_so() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with without_gc(for_good=True):
            pass
        assert gc.get_freeze_count() > frozen / 2 > 0  # a few may be freed meanwhile, by threads of other tests
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("found", [(700, 10, 10), (50_000, 5, 2_000), (0, 10, 10)])
def test_thresholds_are_raised_never_lowered_and_an_end_of_collecting_is_kept(found: tuple[int, int, int]) -> None:
    gc.set_threshold(*found)
    within: list[object] = []
    with pytest.raises(ZeroDivisionError), seldom_gc():
        fail(within.append, gc.get_threshold)
    assert within == [tuple(map(max, found, (20_000, 10, 1_000))) if found[0] else found]
    assert gc.get_threshold() == found
