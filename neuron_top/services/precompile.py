"""Compiles the graphs of a command before it runs: trial run, collection, compiles, results; or the SDK's own tool.

What a job has to say goes to an `Output`, so that a command line and a screen can show the same job.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO, TypeAlias

import msgspec

from neuron_top import programs
from neuron_top.cache.location import is_bucket
from neuron_top.compile.claims.choice import LOCK_FILES_ONLY, claims_for
from neuron_top.compile.compiler import Compiler
from neuron_top.compile.parallel.child_command import run_child
from neuron_top.compile.parallel.collect import Collected, collect, waiting_compilers
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, QueueProgress, Running
from neuron_top.compile.parallel.history import memory_history, operators_of
from neuron_top.compile.parallel.local import CompilePids, LocalExecutor
from neuron_top.compile.parallel.log_lines import ParallelLog, report_of, report_text
from neuron_top.compile.parallel.places import ExecutorKind, Place
from neuron_top.compile.parallel.run import ParallelCompile
from neuron_top.compile.parallel.sdk import TOOL, SdkProgress, sdk_command
from neuron_top.compile.parallel.slurm_options import SlurmOptions
from neuron_top.compile.parallel.trial import IGNORE_ERROR_VARIABLE, Trial, run_trial
from neuron_top.compile.wrapper import log_lines
from neuron_top.compile.wrapper.cache_root import check_root
from neuron_top.compile.wrapper.flags import ROOT_VARIABLE, parse_environment
from neuron_top.errors import CacheUnusable, CompilerMissing, NeuronTopError, UsageError
from neuron_top.parsers.reader import LogReader
from neuron_top.settings import Settings
from neuron_top.units import counted, exit_text

if TYPE_CHECKING:
    from neuron_top.compile.parallel.staging import Staging

__all__ = [
    "ExecutorKind",
    "Output",
    "Place",
    "PrecompileJob",
    "QueueProgress",
    "Running",
    "SlurmOptions",
    "TrialRunFailed",
    "check_executor",
    "run_sdk_tool",
    "sdk_tool",
]

RETRIES_VARIABLE = "NEURON_PARALLEL_COMPILE_MAX_RETRIES"
RESULTS_VARIABLE = "NEURON_PARALLEL_COMPILE_DUMP_RESULTS"
_NO = ("", "0", "false", "no")
_INVALID = "losses, metrics and checkpoints of this run are INVALID"

_Outcomes: TypeAlias = dict[CollectedGraph, CompileResult]
"""How each graph ended."""
_Queue: TypeAlias = Callable[..., ParallelCompile]
"""Makes the parallel compile of an executor, with the workers and retries that were asked for."""
_Compile: TypeAlias = Callable[[_Queue], _Outcomes]
"""Compiles the graphs of one root."""


class TrialRunFailed(NeuronTopError):
    """The command ended with an error in graph-extraction mode."""


class Output(Protocol):
    """Receives a job's remarks, log lines and progress. Called from several threads."""

    @property
    def log(self) -> TextIO:
        """The log for the lines of compiler and wrapper."""

    def notify(self, remark: str) -> None:
        """Show a remark to the person."""

    def echo(self, descriptor: int, data: bytes) -> None:
        """Pass on what the command wrote to its standard output (1) or error (2)."""

    def show(self, progress: QueueProgress) -> None:
        """Show the progress of the compiles."""

    def close(self) -> None:
        """Stop showing progress."""


class PrecompileJob:
    """Trial run and compiles of one command, on this machine or through a scheduler."""

    def __init__(self, settings: Settings, output: Output, place: Place) -> None:
        """Raises UsageError if the environment allows no cache to compile into."""
        self._settings, self._output, self._place = settings, output, place
        self._options = parse_environment()
        if self._options.no_cache:
            raise UsageError("NEURON_CC_FLAGS holds --no_cache: remove it, the graphs are compiled into the cache")
        self._staging = self._staged()
        try:
            check_root(self._root)
        except CacheUnusable as problem:  # before the trial run, which can take hours
            raise UsageError(str(problem)) from None
        self._log = ParallelLog(form=log_lines.log_format(), level=self._options.log_level, stream=output.log)
        for remark in self._options.remarks():
            self._log.remark(remark)

    @property
    def _root(self) -> Path:
        return self._options.cache_root() if self._staging is None else self._staging.root

    def _staged(self) -> Staging | None:
        """The staging folder for graphs of a bucket; None if the cache root is a folder. Raises UsageError."""
        if self._place.kind is ExecutorKind.LOCAL or not is_bucket(self._options.cache_url):
            return None
        if self._options.cache_origin != ROOT_VARIABLE:
            raise UsageError(f"name the bucket in {ROOT_VARIABLE}, not with {self._options.cache_origin}")
        from neuron_top.compile.parallel.staging import Staging  # boto3: only where a bucket is named

        return Staging(self._options.cache_url, self._settings.state_path)

    def collect(self, command: Sequence[str]) -> Trial:
        """Run `command` in graph-extraction mode. Raises TrialRunFailed, UsageError, KeyboardInterrupt."""
        self._log.trial_run(command)
        self._output.notify(f"graph extraction, nothing is computed: {_INVALID}")
        own = {} if self._staging is None else {ROOT_VARIABLE: str(self._root)}
        trial = run_trial(command, self._output.echo, {**os.environ, **own})
        self._output.notify(f"end of the trial run; {_INVALID}")
        if trial.exit_code == 0:
            return trial
        ended = f"the trial run ended with {exit_text(trial.exit_code)}"
        if os.environ.get(IGNORE_ERROR_VARIABLE, "").lower() in _NO:
            raise TrialRunFailed(
                f"{ended} (its own messages are above); nothing was compiled. The graphs collected so far are kept: "
                f"set {IGNORE_ERROR_VARIABLE}=1 to compile them anyway"
            )
        self._output.notify(f"{ended}; compiling the graphs collected so far ({IGNORE_ERROR_VARIABLE} is set)")
        return trial

    def compile(self, trial: Trial | None, *, workers: int, retries: int) -> int:
        """Compile the graphs collected now or earlier; returns how many failed.

        Raises CacheUnusable, RefusedForSafety, KeyboardInterrupt.
        """
        trial = trial or Trial(exit_code=0)
        if trial.extracted:
            self._log.graph_list(trial.extracted)
        # Use the root where the trial run stored the graphs: a script may have chosen another one.
        stored_in = (Path(path).parent.parent.parent for path in trial.extracted)
        roots = list(dict.fromkeys([self._root, *stored_in]))
        queue = functools.partial(
            ParallelCompile, workers=workers, retries=retries, log=self._log, show=self._output.show
        )
        return sum(self._compile_root(root, trial, queue) for root in roots)

    def _compile_root(self, root: Path, trial: Trial, queue: _Queue) -> int:
        """Compile everything that waits in a root; returns how many graphs failed, now or in an earlier compile."""
        collect_from = self._collect_here if self._place.kind is ExecutorKind.LOCAL else self._collect_for_nodes
        collected, compile_ = collect_from(root, trial)
        for remark in collected.remarks:
            self._output.notify(remark)
        started, clock = time.time(), time.monotonic()
        outcomes = compile_(queue) if collected.graphs else {}
        report = report_of(outcomes, started, time.monotonic() - clock)
        self._log.summary(report)
        if os.environ.get(RESULTS_VARIABLE, "").lower() not in _NO:
            self._write_results(report_text(report))
        return self._conclude(collected, outcomes)

    def _collect_here(self, root: Path, trial: Trial) -> tuple[Collected, _Compile]:
        """(the graphs in a root that compilers of this machine can compile, what compiles them)."""
        compilers = self._compilers(root, start=True)
        collected = self._collected(root, {compiler.directory() for compiler in compilers.values()}, trial)
        return collected, functools.partial(self._compile_here, collected, compilers)

    def _collect_for_nodes(self, root: Path, trial: Trial) -> tuple[Collected, _Compile]:
        """(the graphs in a root that a scheduler's nodes may compile, what has them compiled there)."""
        staging = self._staging if self._staging is not None and self._staging.root == root else None
        if staging is not None:
            staging.take_in(retry_failed=self._options.retry_failed)
        met = [Path(path).parent for path in trial.extracted]
        folders = {entry.parent.name for entry in met}
        if not folders:
            folders = {compiler.directory() for compiler in self._compilers(root, start=False).values()}
        if not folders:  # without a compiler here, the nodes decide which graphs they can compile
            folders = set(waiting_compilers(root))
        bucket = staging.bucket.url if staging is not None else ""
        claimed = claims_for(self._settings, root, many_nodes=True, bucket=bucket) is not None
        collected = self._collected(root, folders, trial, claimed=claimed)
        if staging is not None:
            modules = {entry.name for entry in met}
            collected = staging.left(collected, modules, retry_failed=self._options.retry_failed)
            staging.put_out(collected.graphs)
        if collected.graphs and not claimed:
            collected = msgspec.structs.replace(collected, remarks=(*collected.remarks, LOCK_FILES_ONLY))
        return collected, functools.partial(self._compile_on_nodes, collected, root, folders, staging)

    def _collected(self, root: Path, folders: set[str], trial: Trial, *, claimed: bool = False) -> Collected:
        return collect(
            root, folders, met_failures=trial.failures, retry_failed=self._options.retry_failed, claimed=claimed
        )

    def _write_results(self, text: str) -> None:
        """Write the results file; if that fails, go on, as compiled and failed graphs must still be reported."""
        path = Path(f"neuron_parallel_compile_results_{time.strftime('%Y%m%d-%H%M%S')}.json")
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as problem:
            self._output.notify(f"the results cannot be written to {path} in the working folder: {problem.strerror}")
        else:
            self._output.notify(f"results written to {path}")

    def _compile_on_nodes(
        self, collected: Collected, root: Path, folders: set[str], staging: Staging | None, queue: _Queue
    ) -> _Outcomes:
        from neuron_top.compile.parallel.places import scheduler

        executor = scheduler(self._place, root, staging)
        if (logs := executor.logs()) is not None:
            goes = counted(len(collected.graphs), "graph goes", "graphs go")
            self._output.notify(f"{goes} to {self._place.kind}; logs of tasks are in {logs}")
        job = queue(executor, cores=self._place.cores, needs=memory_history(root, folders))
        try:
            return job.run(self._with_needs(collected.graphs), collected.counts, collected.largest_peak)
        finally:
            self._output.close()
            executor.close()

    def _with_needs(self, graphs: Sequence[CollectedGraph]) -> list[CollectedGraph]:
        """The graphs with their sizes and expected compile times, as far as known."""
        from neuron_top.ingest import run_loader

        estimator, found = run_loader.estimator(self._settings), []
        for graph in graphs:
            operators = operators_of(graph.path.parent)
            expected = estimator.total(graph.module, graph.bytes or None, operators)
            seconds = (expected.low + expected.high) / 2 if expected else None
            found.append(msgspec.structs.replace(graph, operators=operators, seconds=seconds))
        return found

    def _compilers(self, root: Path, *, start: bool) -> dict[str, Compiler]:
        """The compilers by graph file, for graphs that wait in `root`; a missing one is reported and not fatal.

        `start`: they are to compile here. Else, if none is here, nothing is reported: nodes may have them.
        """
        from neuron_top.compile.compilers.by_graph import compiler_for

        compilers: dict[str, Compiler] = {}
        skipped: list[str] = []
        for name in sorted(set().union(*waiting_compilers(root).values())):
            compiler = compiler_for(name)
            try:
                if start:
                    compiler.start()  # Inductor imports PyTorch while we go on
                compiler.directory()
                compilers[name] = compiler
            except (CompilerMissing, ImportError) as problem:
                skipped.append(f"skipped the graphs in {name}: {problem}")
        for remark in skipped if start or compilers else ():
            self._output.notify(remark)
        return compilers

    def _compile_here(self, collected: Collected, compilers: Mapping[str, Compiler], queue: _Queue) -> _Outcomes:
        from neuron_top.compile.wrapper.get_or_compile import Wrapper

        options = msgspec.structs.replace(self._options, retry_failed=True)  # graphs chosen here are to be compiled
        pids = CompilePids()
        wrappers = {
            name: Wrapper(compiler, options, log=self._log, emit=pids.emit) for name, compiler in compilers.items()
        }
        job = queue(LocalExecutor(wrappers, log=self._log, pids=pids))
        try:
            return job.run(collected.graphs, collected.counts, collected.largest_peak)
        finally:
            self._output.close()
            for compiler in compilers.values():
                compiler.close()

    def _conclude(self, collected: Collected, outcomes: _Outcomes) -> int:
        failures = [(graph.module, outcome.message) for graph, outcome in outcomes.items() if not outcome.ok]
        for module, message in failures:
            self._output.notify(f"{module} failed: {message}")
        for graph in collected.failed_before:
            self._output.notify(
                f"{graph.module} failed in an earlier compile ({graph.path.parent / 'model.log'}); "
                "add --retry_failed_compilation to NEURON_CC_FLAGS to try again"
            )
        if not outcomes and not collected.failed_before:
            done = collected.counts.done
            there = counted(done, "graph of this compiler is", "graphs of this compiler are")
            none = (
                "all graphs that wait are left for other compilers"
                if collected.others
                else "no graph waits in the cache"
            )
            found = f"{there} in the cache" if done else none
            self._output.notify(f"nothing to compile: {found}")
        return len(failures) + len(collected.failed_before)


def check_executor(place: Place) -> None:
    """Raise UsageError if what submits to the scheduler is missing; to call before the trial run, which takes long."""
    if place.kind is ExecutorKind.SLURM:
        from neuron_top.compile.parallel.slurm import check_programs

        check_programs()
    elif place.kind is ExecutorKind.RAY:
        import neuron_top.compile.parallel.ray_cluster  # noqa: F401


def sdk_tool() -> str | None:
    """The path of the SDK's neuron_parallel_compile, if it is on the PATH."""
    return programs.find(TOOL)


def run_sdk_tool(
    tool: str, command: Sequence[str], output: Output, *, step: str, jobs: int | None, retries: int
) -> int:
    """Run the SDK's tool; returns its exit status, as a shell does. Its output is passed on, and progress read from it.

    `step` is `collect`, `compile` or "" for both. Raises UsageError, KeyboardInterrupt.
    """
    readers = {descriptor: LogReader("sdk") for descriptor in (1, 2)}
    progress = SdkProgress(time.monotonic())

    def show() -> None:
        if progress.compiling:
            output.show(progress.progress(time.monotonic()))

    def read(descriptor: int, data: bytes) -> None:
        progress.apply(readers[descriptor].feed(data))
        output.echo(descriptor, data)
        show()

    environ = {**os.environ, RETRIES_VARIABLE: str(retries)} if retries else dict(os.environ)
    try:
        code = run_child(sdk_command(tool, command, step=step, jobs=jobs), environ, read)
        for reader in readers.values():
            progress.apply(reader.flush())
        show()
    finally:
        output.close()
    return 128 - code if code < 0 else code
