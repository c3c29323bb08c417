"""Real logs: the run counts what was counted in the samples, and measures the durations worked out there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neuron_top.events import CompileFailed, CompileGaveUp
from neuron_top.parsers.reader import LogReader
from neuron_top.parsers.wrapper import STATUS_FAILED
from neuron_top.run.graph import Precision
from neuron_top.run.model import Run
from tests.corpus import CORPUS, corpus

LOGS = sorted(path.name for path in CORPUS.glob("logs/*.log"))
COUNTS = {
    "hits": lambda run: run.compiles.totals.hits,
    "failed_hits": lambda run: run.compiles.totals.failures_met,
    "misses_announced": lambda run: run.compiles.counts.misses_announced,
    "pass": lambda run: run.compiles.counts.passes,
    "errors": lambda run: run.compiles.totals.failures,
    "extracted": lambda run: run.compiles.counts.extractions,
    "lock_waits": lambda run: run.compiles.counts.lock_lines,
    "hub_misses": lambda run: run.compiles.counts.hub_misses,
    "lock_wait_max_minutes": lambda run: run.compiles.counts.longest_wait_minutes,
}


def read(path: Path) -> tuple[Run, dict[str, object]]:
    run, reader = Run(), LogReader("log:sample")
    expected = json.loads(path.with_suffix(".expect.json").read_text())
    for event in [*reader.feed(path.read_bytes()), *reader.flush()]:
        run.apply(event)
        if isinstance(event, CompileFailed) and event.message.startswith(STATUS_FAILED):
            expected["errors"] += 1  # a failure of the run; `errors` counts those that state the command line
        if isinstance(event, CompileGaveUp) and expected["errors"] == 0:
            expected["errors"] = 1  # the graph has failed, though its message was not printed
    native = reader.tally.native  # the samples count the wrapper's words alone
    expected["errors"] += native.errors
    expected["lock_waits"] += native.lock_waits
    return run, expected


def test_what_torchneuron_reports_in_real_logs() -> None:
    waiting, _ = read(corpus("logs", "57-native-stale-lock-ray.log"))
    (graph,) = waiting.compiles.graphs.values()
    waits = [wait for worker in graph.workers.values() for wait in worker.waits]
    assert [(wait.minutes, wait.end is not None) for wait in waits] == [(20.0, True)] * 3
    failing, _ = read(corpus("logs", "58-native-compile-failed-graphcache.log"))
    (graph,) = failing.compiles.graphs.values()
    assert graph.failures == 1
    assert "module.neff" in graph.message


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_counts_of_real_logs(name: str) -> None:
    run, expected = read(corpus("logs", name))
    reported = {key: expected.get(key, 0) for key in COUNTS if key in expected}
    report = expected.get("compile_report") or []
    if report:  # the report's failures are the run's too, though no ERROR line stands for them
        reported.pop("errors", None)
    assert {key: COUNTS[key](run) for key in reported} == reported


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_durations_of_real_logs_are_measured_where_the_log_allows_it(name: str) -> None:
    run, expected = read(corpus("logs", name))
    durations = expected.get("compile_durations_s") or {}
    for module, seconds in durations.items():
        found = run.compiles.graphs[module].duration
        assert found.precision is Precision.MEASURED
        assert found.seconds == pytest.approx(seconds, abs=0.01)


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_distinct_graphs_of_real_logs(name: str) -> None:
    run, expected = read(corpus("logs", name))
    graphs = run.compiles.graphs.values()
    hit = sorted(graph.module for graph in graphs if graph.hits)
    reported = sorted(expected.get("modules_hit", []))
    assert len(hit) == len(reported)
    assert all(found.startswith(cut) for found, cut in zip(hit, reported, strict=True))  # a wrapped line may cut one
    missed = {graph.module for graph in graphs if graph.misses and graph.module}
    assert missed >= set(expected.get("modules_completed", [])) | set(expected.get("modules_started", []))
    if expected.get("compile_starts"):
        assert run.compiles.totals.misses >= expected["compile_starts"]
