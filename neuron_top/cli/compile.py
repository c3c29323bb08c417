"""Compile the graphs of a training command before it runs, in parallel, so that the run finds them all in the cache.

    neurontop compile -- torchrun --nproc_per_node=4 train.py --steps_this_run 2
    neurontop compile -j 8 --retries 1 -- ./train.sh
    neurontop compile --collect-only -- python train.py      only collect the graphs
    neurontop compile --compile-only                         only compile the collected graphs

First the command runs in graph-extraction mode (NEURON_EXTRACT_GRAPHS_ONLY=1): its graphs are stored in the cache and
nothing is computed, so its losses, metrics and checkpoints are INVALID. Run only a few steps, with other output paths
than those of the real run. Then all collected graphs are compiled, as many at a time as cores and memory allow. After
an interruption, call it again: it compiles the graphs that are left. If the Neuron SDK's neuron_parallel_compile is on
the PATH, that tool is run, with the same progress display.

environment (as the SDK's tool reads it):
  NEURON_PARALLEL_COMPILE_MAX_RETRIES=N                  retry a failed graph N times; --retries overrides it
  NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE=1      compile the collected graphs even if the command failed
  NEURON_PARALLEL_COMPILE_DUMP_RESULTS=1                 write neuron_parallel_compile_results_<time>.json here
  NEURON_CC_FLAGS, NEURON_COMPILE_CACHE_URL              flags and cache, as in the run itself

exit status: the number of graphs that failed (at most 125); 1 when the trial run failed; 130 interrupted
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError

RETRIES_VARIABLE = "NEURON_PARALLEL_COMPILE_MAX_RETRIES"
MOST_FAILURES = 125
"""Higher numbers have other meanings for a shell."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `compile`."""
    parser.usage = "neurontop compile [-j N] [--retries N] [--collect-only | --compile-only] [--] <command>"
    parser.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="maximum number of parallel compiles (default: cores)"
    )
    parser.add_argument("--retries", type=int, metavar="N", help="retries of a graph that fails (default: 0)")
    step = parser.add_mutually_exclusive_group()
    step.add_argument(
        "--collect-only", action="store_true", help="run the command and store its graphs, compile nothing"
    )
    step.add_argument("--compile-only", action="store_true", help="compile the graphs collected in the cache")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the training command, after --")


def execute(arguments: argparse.Namespace) -> int:
    """Collect and compile; the exit status is the number of graphs that failed."""
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    workers, retries = _workers(arguments.jobs), _retries(arguments.retries)
    if arguments.compile_only and command:
        raise UsageError("--compile-only takes no command: it compiles the graphs collected in the cache")
    if not arguments.compile_only and not command:
        raise UsageError("specify a training command: neurontop compile -- torchrun … train.py")
    for number in (signal.SIGTERM, signal.SIGHUP):  # end as cleanly as after Ctrl-C
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        return _compile(arguments, command, workers, retries)
    except KeyboardInterrupt:
        log_stderr("neurontop: interrupted; call again to compile the collected graphs that are left")
        raise


def _compile(arguments: argparse.Namespace, command: Sequence[str], workers: int, retries: int) -> int:
    from neuron_top import settings
    from neuron_top.cli.compile_screen import CompileOutput, SdkOutput
    from neuron_top.services import precompile

    ascii_only = settings.load()[0].ascii
    tool = precompile.sdk_tool()
    if tool is not None:
        step = "collect" if arguments.collect_only else "compile" if arguments.compile_only else ""
        output = SdkOutput(ascii_only=ascii_only)
        return precompile.run_sdk_tool(tool, command, output, step=step, jobs=arguments.jobs, retries=retries)
    job = precompile.PrecompileJob(CompileOutput(ascii_only=ascii_only))
    trial = None if arguments.compile_only else job.collect(command)
    if arguments.collect_only and trial is not None:
        count = len(set(trial.extracted))
        log_stderr(f"neurontop: {count} graphs collected; compile them with neurontop compile --compile-only")
        return 0
    return min(job.compile(trial, workers=workers, retries=retries), MOST_FAILURES)


def _workers(given: int | None) -> int:
    """Compiles side by side: as asked, else one per core this process may use."""
    if given is None:
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    if given < 1:
        raise UsageError(f"--jobs must be at least 1, is {given}")
    return given


def _retries(given: int | None) -> int:
    text = os.environ.get(RETRIES_VARIABLE, "") if given is None else str(given)
    if not text:
        return 0
    if not text.isdecimal():
        name = RETRIES_VARIABLE if given is None else "--retries"
        raise UsageError(f"{name} must be a whole number, is {text!r}")
    return int(text)
