"""The log lines of a parallel compile, worded as the SDK's, so that one parser reads its tool's and ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.events import LogGeneration
from neuron_top.events.levels import LogLevel

TAG = "NEURON_PARALLEL_COMPILE"
_CACHE = "NEURON_CACHE"


class ParallelLog(WrapperLog):
    """The wrapper's lines and those of `neuron_parallel_compile`."""

    def trial_run(self, command: Sequence[str]) -> None:
        """Log that the command is about to run, only to collect its graphs."""
        self._say(
            LogLevel.INFO,
            TAG,
            "Running trial run (add option to terminate trial run early; "
            "also ignore trial run's generated outputs, i.e. loss, checkpoints)",
        )
        words = "Running cmd" if self._form is LogGeneration.G2 else "run_train_script: executing trial run cmd"
        self._say(LogLevel.INFO, TAG, f"{words}: {list(command)}")

    def graph_list(self, paths: Iterable[str]) -> None:
        """Log the graphs that the trial run met, one line per rank and graph."""
        self._say(LogLevel.INFO, TAG, "New graph list from script: trial run")
        self._write("".join(f"\t{path}\n" for path in paths))

    def worker_started(self, worker: int, graphs: int) -> None:
        """Log that a worker takes part in compiling so many graphs."""
        if self._form is LogGeneration.G2:
            self._say(LogLevel.INFO, TAG, f"worker {worker} starts dynamic scheduleing on {graphs}....")
        else:
            self._say(LogLevel.INFO, TAG, f"Worker {worker}/None starting dynamic scheduling for {graphs} HLOs")

    def counters(self, *, remaining: int, locked: int, failed: int, done: int, total: int) -> None:
        """Log the counts of this compiler version's whole cache directory."""
        self._say(
            LogLevel.INFO,
            _CACHE,
            f"Current remaining items are {remaining}, locked are {locked}, failed are {failed}, "
            f"done are {done}, total is {total}",
        )

    def worker_finished(self, worker: int, tasks: int) -> None:
        """Log that a worker has nothing left to do."""
        if self._form is LogGeneration.G2:
            self._say(LogLevel.INFO, TAG, f"worker {worker} finished with num of tasks {tasks}....")
        else:
            self._say(LogLevel.INFO, TAG, f"Worker {worker} completed: {tasks} tasks compiled")

    def gave_up(self, graph: Path, retries: int) -> None:
        """Log that a graph failed in every attempt."""
        self._say(LogLevel.ERROR, TAG, f"Compilation failed for {graph} after {retries} retries.")

    def summary(self, report: Mapping[str, Any]) -> None:
        """Log the totals of this run; with the older format also its report."""
        total = len(report["compilation_report"])
        failed = sum(not entry["status"] for entry in report["compilation_report"].values())
        if self._form is LogGeneration.G2:
            self._say(LogLevel.INFO, TAG, report_text(report))
            self._say(LogLevel.INFO, TAG, f"Total graphs: {total}")
            self._say(LogLevel.INFO, TAG, f"Total successful compilations: {total - failed}")
            self._say(LogLevel.INFO, TAG, f"Total failed compilations: {failed}")
            return
        good = total - failed
        self._say(LogLevel.INFO, TAG, f"Compilation summary - Total graphs: {total}, Success: {good}, Failed: {failed}")
        self._say(LogLevel.INFO, TAG, f"Total successful compilations: {good}")
        self._say(LogLevel.INFO, TAG, f"Compilation summary: {failed}/{total} failed, {good} succeeded")


def report_of(outcomes: Mapping[CollectedGraph, CompileResult], started: float, seconds: float) -> dict[str, Any]:
    """The SDK's results: status counted, then status, retries and compile time by graph file."""
    statuses = [outcome.ok for outcome in outcomes.values()]
    summary = {word: statuses.count(ok) for word, ok in (("true", True), ("false", False)) if ok in statuses}
    return {
        "compilation_summary": summary,
        "compilation_report": {
            str(graph.path): {"status": outcome.ok, "retry": outcome.retries, "compile_time": outcome.seconds}
            for graph, outcome in outcomes.items()
        },
        "start_time": started,
        "compilation_time": seconds,
    }


def report_text(report: Mapping[str, Any]) -> str:
    """The report as the SDK writes it: JSON, indented by four spaces."""
    import json

    return json.dumps(report, indent=4)
