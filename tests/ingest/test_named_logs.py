"""Logs that a person names: read as they are before a state is printed, given up when nobody waits; their clocks."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from neuron_top.events import AnyEvent, StepReported
from neuron_top.ingest.assembly import paths_feed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.sources import LogFiles
from neuron_top.settings import Settings
from neuron_top.views.overview import overview


def test_all_of_a_long_log_is_read_before_its_state_is_told(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {step} of 60000: loss 2.5\n" for step in range(60_001)))
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(path)])
    feed.start(lambda: None)
    feed.settle(0.0)
    feed.stop()
    assert feed.read(overview).training.step == 60_000


def test_a_log_that_is_still_read_is_given_up_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {step} of 200000: loss 2.5\n" for step in range(200_000)))
    source = LogFiles(lambda: [path], LogBuffer())
    events: list[AnyEvent] = []

    def stop_at_the_first(event: AnyEvent) -> None:
        events.append(event)
        source.stop()

    source.start(stop_at_the_first)
    steps = [event.step for event in events if isinstance(event, StepReported)]
    assert source.is_behind
    assert 0 < len(steps) < 100_000


def test_what_came_since_the_last_look_is_read_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("step 1 of 2: loss 2.5\n")
    source = LogFiles(lambda: [path], LogBuffer())
    events: list[AnyEvent] = []
    reading = threading.Thread(target=source.start, args=(events.append,))
    reading.start()
    while source.is_behind:
        time.sleep(0.01)
    with path.open("a") as file:
        file.write("step 2 of 2: loss 2.5\n")
    source.stop()
    reading.join()
    assert [event.step for event in events if isinstance(event, StepReported)] == [1, 2]
