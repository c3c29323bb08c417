"""The loop that hands graphs to an executor and takes what ended."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from neuron_top.compile.parallel.collect import Counts
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult
from neuron_top.compile.parallel.executor import EntryTask, Memory, Placement
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.compile.parallel.run import ParallelCompile


class AtOnce:
    """A scheduler that gets through everything that it has each time somebody looks where a task is."""

    def __init__(self) -> None:
        self._gathered: list[Future[CompileResult]] = []
        self._going: list[Future[CompileResult]] = []
        self.submissions: list[int] = []

    def submit(self, task: EntryTask) -> Future[CompileResult]:
        self._gathered.append(Future())
        return self._gathered[-1]

    def flush(self) -> None:
        if self._gathered:
            self.submissions.append(len(self._gathered))
        self._going, self._gathered = [*self._going, *self._gathered], []

    def memory(self) -> Memory:
        return Memory(None)

    def placement(self, task: EntryTask) -> Placement:
        going, self._going = self._going, []
        for future in going:
            future.set_result(CompileResult(ok=True, seconds=1.0))
        return Placement()

    def leave_out(self, node: str) -> None: ...

    def logs(self) -> Path | None:
        return None

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def test_graphs_that_follow_several_that_ended_are_submitted_together() -> None:
    """Each submission to a scheduler is a call of its programs, and each look at the tasks looks at all of them."""
    executor = AtOnce()
    job = ParallelCompile(executor, workers=100, retries=0, log=ParallelLog(), show=lambda _: None)
    names = [f"MODULE_{number}" for number in range(250)]
    graphs = [CollectedGraph(path=Path(f"/cache/{name}/model.fxgraph"), module=name) for name in names]
    assert all(result.ok for result in job.run(graphs, Counts(), None).values())
    assert executor.submissions == [100, 100, 50]
