"""Compile the graphs of a training command before it runs, several at a time, so that the real run finds them all in
the cache.

    neurontop compile -- torchrun --nproc_per_node=4 train.py --steps_this_run 2
    neurontop compile -j 8 --retries 1 -- ./train.sh
    neurontop compile --collect-only -- python train.py      only the trial run: store the graphs
    neurontop compile --compile-only                         only the compiles: what lies collected in the cache

First the command runs in graph-extraction mode (NEURON_EXTRACT_GRAPHS_ONLY=1): each graph it meets is stored in the
cache and nothing is computed, so its losses, metrics and checkpoints are INVALID; let it take a few steps only, with
other outputs than the real run's. Then all collected graphs are compiled, bounded by cores and by memory. An
interrupted call goes on where it stopped. Where the Neuron SDK's neuron_parallel_compile is on the PATH, it does the
work, with the same screen around it.

environment (as the SDK's tool reads it):
  NEURON_PARALLEL_COMPILE_MAX_RETRIES=N                  try a failed graph N more times; --retries goes before
  NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE=1      compile what was collected although the command failed
  NEURON_PARALLEL_COMPILE_DUMP_RESULTS=1                 write neuron_parallel_compile_results_<time>.json here
  NEURON_CC_FLAGS, NEURON_COMPILE_CACHE_URL              flags and cache, as in the run itself

exit status: the number of graphs that failed (at most 125); 1 when the trial run failed; 130 interrupted
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

from neuron_top import programs
from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError

RETRIES_VARIABLE = "NEURON_PARALLEL_COMPILE_MAX_RETRIES"
MOST_FAILURES = 125


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `compile`."""
    parser.usage = "neurontop compile [-j N] [--retries N] [--collect-only | --compile-only] [--] <command>"
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="compiles side by side, at most (default: cores)")
    parser.add_argument("--retries", type=int, metavar="N", help="further attempts at a graph that fails (default: 0)")
    step = parser.add_mutually_exclusive_group()
    step.add_argument("--collect-only", action="store_true", help="run the command and store its graphs, no compile")
    step.add_argument("--compile-only", action="store_true", help="compile what lies collected in the cache")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the training command, after --")


def execute(arguments: argparse.Namespace) -> int:
    """Collect and compile; the exit status is the number of graphs that failed."""
    from neuron_top.cli import compile_steps

    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    jobs, retries = _jobs(arguments.jobs), _retries(arguments.retries)
    if arguments.compile_only and command:
        raise UsageError("--compile-only takes no command: it compiles what lies collected in the cache")
    if not arguments.compile_only and not command:
        raise UsageError("compile needs a training command: neurontop compile -- torchrun … train.py")
    tool = programs.find("neuron_parallel_compile")
    for number in (signal.SIGTERM, signal.SIGHUP):  # end as cleanly as after Ctrl-C
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        if tool is not None:
            step = "collect" if arguments.collect_only else "compile" if arguments.compile_only else ""
            return compile_steps.with_the_sdk(tool, command, step=step, jobs=arguments.jobs, retries=retries)
        failed = compile_steps.with_our_compiler(
            command, jobs=jobs, retries=retries, collect=not arguments.compile_only, compile_=not arguments.collect_only
        )
    except KeyboardInterrupt:
        log_stderr("neurontop: interrupted; what is collected and not compiled yet waits for the next call")
        raise
    return min(failed, MOST_FAILURES)


def _jobs(given: int | None) -> int:
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
