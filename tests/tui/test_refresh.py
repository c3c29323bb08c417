"""A burst of changes is few drawings; a lone change is drawn at once."""

from __future__ import annotations

import asyncio
import threading

from neuron_top.tui.refresh import Refresher


async def test_a_lone_change_is_drawn_at_once() -> None:
    drawn = asyncio.Event()
    Refresher(drawn.set, period=10.0).announce()
    await asyncio.wait_for(drawn.wait(), 1.0)


async def test_a_burst_from_another_thread_is_one_drawing_now_and_one_later() -> None:
    loop = asyncio.get_running_loop()
    times: list[float] = []
    second = asyncio.Event()

    def draw() -> None:
        times.append(loop.time())
        if len(times) == 1:
            for _ in range(1000):
                refresher.announce()
        else:
            second.set()

    refresher = Refresher(draw, period=0.05)
    thread = threading.Thread(target=lambda: [refresher.announce() for _ in range(1000)])
    thread.start()
    thread.join()
    await asyncio.wait_for(second.wait(), 2.0)
    assert len(times) == 2
    assert times[1] - times[0] >= 0.045


async def test_a_change_after_the_end_is_no_error() -> None:
    refresher = Refresher(lambda: None)
    closed = asyncio.new_event_loop()
    closed.close()
    refresher._loop = closed  # what a late thread finds when the program leaves
    refresher.announce()
