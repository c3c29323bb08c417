"""Traces of a job of many short processes: all are read, and few of them are open."""

from __future__ import annotations

import threading
from pathlib import Path

from neuron_top.events import AnyEvent
from neuron_top.ingest.torch_trace import TorchTraces
from tests.adversary.trees import few_open_files
from tests.torch_trace.traces import context, record

PROCESSES = 300


def test_the_traces_of_more_processes_than_files_may_be_open_are_all_read(tmp_path: Path) -> None:
    source = TorchTraces(str(tmp_path))
    for number in range(PROCESSES):
        text = record({"dynamo_start": {"stack": []}, **context()}) * 2
        (tmp_path / f"dedicated_log_torch_trace_{number}_a.log").write_text(text)
    sources: set[str] = set()
    all_read = threading.Event()

    def take(event: AnyEvent) -> None:
        sources.add(event.source)
        if len(sources) == PROCESSES:
            all_read.set()

    thread = threading.Thread(target=source.start, args=(take,))
    with few_open_files():
        thread.start()
        assert all_read.wait(20), len(sources)
    source.stop()
    thread.join()
