"""The lines of a parallel compile are read by the parser of the SDK's lines, in both generations."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult
from neuron_top.compile.parallel.log_lines import ParallelLog, report_of, report_text
from neuron_top.compile.wrapper.log_lines import FORMATS
from neuron_top.events import (
    GraphReported,
    GraphsListed,
    LogGeneration,
    QueueCounted,
    SummaryReported,
    WorkerFinished,
    WorkerStarted,
)
from neuron_top.parsers.reader import LogReader

FOLDER = "/var/tmp/neuron-compile-cache/inductor-2.13.0+0a1b2c3d"
PATHS = [f"{FOLDER}/MODULE_{digit * 20}+d7517139/model.fxgraph" for digit in "ab"]
OUTCOMES = {
    CollectedGraph(path=Path(PATHS[0]), module="MODULE_" + "a" * 20 + "+d7517139"): CompileResult(ok=True, seconds=2.5),
    CollectedGraph(path=Path(PATHS[1]), module="MODULE_" + "b" * 20 + "+d7517139"): CompileResult(
        ok=False, seconds=7.0, retries=2
    ),
}


def read(form: LogGeneration, say) -> list:
    stream = io.StringIO()
    say(ParallelLog(form=form, stream=stream))
    reader = LogReader("test")
    return reader.feed(stream.getvalue().encode()) + reader.flush()


def of_kind(events: list, kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("form", FORMATS.values())
def test_workers_counters_and_list_are_read_back(form):
    def say(log: ParallelLog) -> None:
        log.trial_run(["torchrun", "train.py"])
        log.graph_list(PATHS)
        log.worker_started(1, 4)
        log.counters(remaining=1, locked=2, failed=3, done=4, total=10)
        log.worker_finished(1, 3)

    events = read(form, say)
    assert of_kind(events, GraphsListed)[0].paths[-2:] == tuple(PATHS)
    assert [(event.worker.partition("/")[0], event.items) for event in of_kind(events, WorkerStarted)] == [("1", 4)]
    counted = of_kind(events, QueueCounted)[0]
    assert (counted.remaining, counted.locked, counted.failed, counted.done, counted.total) == (1, 2, 3, 4, 10)
    assert [(event.worker, event.tasks) for event in of_kind(events, WorkerFinished)] == [("1", 3)]


@pytest.mark.parametrize("form", FORMATS.values())
def test_the_summary_is_read_back(form):
    events = read(form, lambda log: log.summary(report_of(OUTCOMES, 1000.0, 9.5)))
    (summary,) = of_kind(events, SummaryReported)
    assert (summary.total, summary.success, summary.failed) == (2, 1, 1)
    reported = of_kind(events, GraphReported)
    assert len(reported) == (2 if form is LogGeneration.G2 else 0)
    if form is LogGeneration.G2:
        assert [(entry.ok, entry.retry, entry.seconds) for entry in reported] == [(True, 0, 2.5), (False, 2, 7.0)]
        assert summary.seconds == 9.5


def test_the_results_have_the_keys_of_the_sdk():
    report = json.loads(report_text(report_of(OUTCOMES, 1000.0, 9.5)))
    assert report["compilation_summary"] == {"true": 1, "false": 1}
    assert report["compilation_report"][PATHS[1]] == {"status": False, "retry": 2, "compile_time": 7.0}
    assert (report["start_time"], report["compilation_time"]) == (1000.0, 9.5)
