"""The steps of `neurontop compile`: trial run, collection, compiles, results; or the SDK's tool with our screen."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from neuron_top import settings as configuration
from neuron_top.cli.compile_screen import AboveScreen, ProgressScreen
from neuron_top.cli.output import log_stderr
from neuron_top.compile.compiler import Compiler
from neuron_top.compile.parallel.child_command import run_child
from neuron_top.compile.parallel.collect import Collected, collect, waiting_compilers
from neuron_top.compile.parallel.compile_queue import CollectedGraph, Outcome
from neuron_top.compile.parallel.lines import ParallelLog, report_of, report_text
from neuron_top.compile.parallel.run import CompilePids, ParallelCompile
from neuron_top.compile.parallel.sdk import SdkProgress, sdk_command
from neuron_top.compile.parallel.trial import IGNORE_ERROR_VARIABLE, Trial, run_trial
from neuron_top.compile.wrapper import log_lines
from neuron_top.compile.wrapper.cache_root import check_root
from neuron_top.compile.wrapper.flags import WrapperOptions, parse_environment
from neuron_top.errors import CacheUnusable, CompilerMissing, NeuronTopError, UsageError
from neuron_top.parsers.reader import LogReader

RESULTS_VARIABLE = "NEURON_PARALLEL_COMPILE_DUMP_RESULTS"
_NO = ("", "0", "false", "no")
_INVALID = "graph extraction, nothing is computed: losses, metrics and checkpoints of this run are INVALID"


class TrialRunFailed(NeuronTopError):
    """The command ended badly in graph-extraction mode."""


def with_our_compiler(command: Sequence[str], *, jobs: int, retries: int, collect: bool, compile_: bool) -> int:
    """Trial run and compiles; gives the number of graphs that failed.

    Raises TrialRunFailed, UsageError, CacheUnusable, RefusedForSafety, KeyboardInterrupt.
    """
    options = parse_environment()
    if options.no_cache:
        raise UsageError("NEURON_CC_FLAGS holds --no_cache: there is no cache to compile into")
    try:
        check_root(options.cache_root())
    except CacheUnusable as problem:  # before the trial run, which can take hours
        raise UsageError(str(problem)) from None
    screen = ProgressScreen(ascii_only=configuration.load()[0].ascii)
    log = ParallelLog(form=log_lines.generation(), level=options.log_level, stream=AboveScreen(screen))
    for remark in options.remarks():
        log.remark(remark)
    trial = _trial(command, log) if collect else Trial(exit_code=0)
    if not compile_:
        log_stderr(
            f"neurontop: {len(set(trial.extracted))} graphs collected; neurontop compile --compile-only compiles them"
        )
        return 0
    return _Compiles(options, log, screen, trial).run(jobs, retries)


def _trial(command: Sequence[str], log: ParallelLog) -> Trial:
    log.trial_run(command)
    log_stderr(f"neurontop: {_INVALID}")
    trial = run_trial(command, _echo)
    log_stderr(f"neurontop: end of the trial run; {_INVALID.partition(': ')[2]}")
    if trial.exit_code == 0:
        return trial
    ended = f"the trial run ended with {_exit_text(trial.exit_code)}"
    if os.environ.get(IGNORE_ERROR_VARIABLE, "").lower() in _NO:
        raise TrialRunFailed(
            f"{ended} (its own words stand above); nothing was compiled. What it had collected until then is kept: "
            f"set {IGNORE_ERROR_VARIABLE}=1 to compile it all the same"
        )
    log_stderr(f"neurontop: {ended}; compiling what it had collected ({IGNORE_ERROR_VARIABLE} is set)")
    return trial


def _echo(number: int, data: bytes) -> None:
    stream = sys.stdout.buffer if number == 1 else sys.stderr.buffer
    stream.write(data)
    stream.flush()


def _exit_text(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"


class _Compiles:
    """The second step: everything that waits in the roots concerned."""

    def __init__(self, options: WrapperOptions, log: ParallelLog, screen: ProgressScreen, trial: Trial) -> None:
        self._options, self._log, self._screen, self._trial = options, log, screen, trial
        self._pids = CompilePids()

    def run(self, jobs: int, retries: int) -> int:
        """Compile; gives the number of graphs that failed, now or in the cache."""
        if self._trial.extracted:
            self._log.graph_list(self._trial.extracted, "trial run")
        failed = 0
        for root in self._roots():
            failed += self._root(root, jobs, retries)
        return failed

    def _roots(self) -> list[Path]:
        """The root in force, and where the trial run really stored (a script may have chosen another one)."""
        named = (Path(path).parent.parent.parent for path in self._trial.extracted)
        return list(dict.fromkeys([self._options.cache_root(), *named]))

    def _root(self, root: Path, jobs: int, retries: int) -> int:
        compilers = self._compilers(root)
        found = collect(
            root,
            {compiler.directory() for compiler in compilers.values()},
            met_failures=self._trial.failures,
            retry_failed=self._options.retry_failed,
        )
        for remark in found.remarks:
            log_stderr(f"neurontop: {remark}")
        started, clock = time.time(), time.monotonic()
        outcomes = self._compiled(found, compilers, jobs, retries) if found.graphs else {}
        report = report_of(outcomes, started, time.monotonic() - clock)
        self._log.summary(report)
        if os.environ.get(RESULTS_VARIABLE, "").lower() not in _NO:
            path = Path(f"neuron_parallel_compile_results_{time.strftime('%Y%m%d-%H%M%S')}.json")
            path.write_text(report_text(report), encoding="utf-8")
            log_stderr(f"neurontop: results written to {path}")
        return self._conclude(found, outcomes)

    def _compilers(self, root: Path) -> dict[str, Compiler]:
        """Compilers by graph file, of those graphs that wait in `root`; one that is missing is said, not fatal."""
        from neuron_top.compile.compilers.inductor import Inductor
        from neuron_top.compile.compilers.neuronx_cc import NeuronxCC

        found: dict[str, Compiler] = {}
        for name in sorted(set().union(*waiting_compilers(root).values())):
            compiler: Compiler = Inductor() if name == Inductor.graph_name else NeuronxCC(graph_name=name)
            try:
                if isinstance(compiler, Inductor):
                    compiler.start()  # it imports PyTorch while we do
                compiler.directory()
                found[name] = compiler
            except (CompilerMissing, ImportError) as problem:
                log_stderr(f"neurontop: graphs in {name} are left alone: {problem}")
        return found

    def _compiled(
        self, found: Collected, compilers: Mapping[str, Compiler], jobs: int, retries: int
    ) -> dict[CollectedGraph, Outcome]:
        import msgspec

        from neuron_top.compile.wrapper.get_or_compile import Wrapper

        options = msgspec.structs.replace(self._options, retry_failed=True)  # what is chosen here is to be compiled
        wrappers = {
            name: Wrapper(compiler, options, log=self._log, tell=self._pids.tell)
            for name, compiler in compilers.items()
        }
        work = ParallelCompile(
            wrappers, workers=jobs, retries=retries, log=self._log, show=self._screen.show, pids=self._pids
        )
        try:
            return work.run(found.graphs, found.counts, found.largest_peak)
        finally:
            self._screen.close()
            for compiler in compilers.values():
                compiler.close()

    def _conclude(self, found: Collected, outcomes: Mapping[CollectedGraph, Outcome]) -> int:
        failures = [(graph.module, outcome.message) for graph, outcome in outcomes.items() if not outcome.ok]
        for module, message in failures:
            log_stderr(f"neurontop: {module} failed: {message}")
        for graph in found.failed_before:
            log_stderr(
                f"neurontop: {graph.module} failed in an earlier compile ({graph.path.parent / 'model.log'}); "
                "add --retry_failed_compilation to NEURON_CC_FLAGS to try again"
            )
        if not outcomes and not found.failed_before:
            log_stderr(f"neurontop: nothing to compile: {found.counts.done} graphs of this compiler are in the cache")
        return len(failures) + len(found.failed_before)


def with_the_sdk(tool: str, command: Sequence[str], *, step: str, jobs: int | None, retries: int) -> int:
    """Run the SDK's tool; gives its exit status. Its output passes through, its progress is read from it."""
    from neuron_top.cli.compile import RETRIES_VARIABLE

    screen = ProgressScreen(ascii_only=configuration.load()[0].ascii)
    readers = {number: LogReader("sdk") for number in (1, 2)}
    progress = SdkProgress(time.monotonic())

    def output(number: int, data: bytes) -> None:
        progress.apply(readers[number].feed(data))
        if number == 1 and not sys.stdout.isatty():
            _echo(number, data)
        else:
            screen.above(data.decode(errors="replace"))
        if progress.compiling:
            screen.show(progress.progress(time.monotonic()))

    environ = {**os.environ, RETRIES_VARIABLE: str(retries)} if retries else dict(os.environ)
    try:
        code = run_child(sdk_command(tool, command, step=step, jobs=jobs), environ, output)
        for reader in readers.values():
            progress.apply(reader.flush())
        if progress.compiling:
            screen.show(progress.progress(time.monotonic()))
    finally:
        screen.close()
    return 128 - code if code < 0 else code
