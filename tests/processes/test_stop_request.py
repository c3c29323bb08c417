"""A request to stop: it wakes who waits for it, whenever it comes, and its descriptor is closed with it."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.standard_input import StandardInput
from neuron_top.processes.stop_request import StopRequest
from neuron_top.telemetry.monitor import MonitorSource


def test_it_stays_readable_however_often_it_is_made() -> None:
    request = StopRequest()
    request.wait(0.01)
    assert not request.is_made()
    assert not select.select([request], [], [], 0)[0]
    for _ in range(3):
        request.make()
        assert request.is_made()
        assert select.select([request], [], [], 0)[0] == [request]
    began = time.monotonic()
    request.wait(60)
    assert time.monotonic() - began < 30


def test_it_wakes_a_thread_that_waits() -> None:
    request = StopRequest()
    thread = threading.Thread(target=request.wait, args=(60,), daemon=True)
    thread.start()
    request.make()
    thread.join(30)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    "made",
    [StopRequest, lambda: StandardInput(LogBuffer()), MonitorSource],
    ids=["request", "standard input", "neuron-monitor"],
)
def test_a_source_that_is_gone_holds_no_descriptor(made: Callable[[], object]) -> None:
    made()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(10):
        made()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_source_may_be_stopped_after_its_end() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    source = StandardInput(LogBuffer(), reading)
    source.start(lambda _: None)
    os.close(reading)
    for _ in range(2):
        source.stop()
