"""Compile the graphs of a training command before it runs, in parallel, so that the run finds them all in the cache.

    neurontop compile -- torchrun --nproc_per_node=4 train.py --steps_this_run 2
    neurontop compile -j 8 --retries 1 -- ./train.sh
    neurontop compile --collect-only -- python train.py      only collect the graphs
    neurontop compile --compile-only                         only compile the collected graphs
    neurontop compile --on slurm --partition cpu -- python train.py
                                                             compile on the nodes of a Slurm cluster
    neurontop compile --on ray --ray ray://head:10001 --compile-only

First the command runs in graph-extraction mode (NEURON_EXTRACT_GRAPHS_ONLY=1): its graphs are stored in the cache and
nothing is computed, so its losses, metrics and checkpoints are INVALID. Run only a few steps, with other output paths
than those of the real run. Then all collected graphs are compiled, as many at a time as cores and memory allow. After
an interruption, call it again: it compiles the graphs that are left. A job that is run instead compiles those of
PyTorch ahead of itself, on idle cores. If the Neuron SDK's neuron_parallel_compile is on the PATH, that tool is run,
with the same progress display.

With --on slurm or --on ray every graph is a job of the site's scheduler, the longest first; graphs and artifacts
travel through the cache root, which all nodes must see. Interrupted, what was submitted is canceled. Nodes need no
accelerator. See docs/compile-on-many-machines.md.

environment (as the SDK's tool reads it):
  NEURON_PARALLEL_COMPILE_MAX_RETRIES=N                  retry a failed graph N times; --retries overrides it
  NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE=1      compile the collected graphs even if the command failed
  NEURON_PARALLEL_COMPILE_DUMP_RESULTS=1                 write neuron_parallel_compile_results_<time>.json here
  NEURON_CC_FLAGS, NEURON_COMPILE_CACHE_URL              flags and cache, as in the run itself

exit status: the number of graphs that failed (at most 125); 1 when the trial run failed; 2 usage, or a scheduler's
package or program is missing; 130 interrupted
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neuron_top.cli.numbers import whole_number
from neuron_top.cli.output import log_stderr
from neuron_top.errors import UsageError
from neuron_top.units import counted

if TYPE_CHECKING:
    from neuron_top.services import precompile

MOST_FAILURES = 125
"""Higher numbers have other meanings for a shell."""
MOST_SUBMITTED = 1000
"""Graphs that wait in a scheduler's queue at a time."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `compile`."""
    parser.usage = (
        "neurontop compile [--on local|slurm|ray] [-j N] [--retries N] [--collect-only | --compile-only] [--] <command>"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=whole_number(1),
        metavar="N",
        help="maximum number of parallel compiles (default: cores; with a scheduler: all are submitted at once)",
    )
    parser.add_argument(
        "--retries", type=whole_number(0), metavar="N", help="retries of a graph that fails (default: 0)"
    )
    step = parser.add_mutually_exclusive_group()
    step.add_argument(
        "--collect-only", action="store_true", help="run the command and store its graphs, compile nothing"
    )
    step.add_argument("--compile-only", action="store_true", help="compile the graphs collected in the cache")
    place = parser.add_argument_group("where the graphs are compiled")
    place.add_argument(
        "--on", choices=("local", "slurm", "ray"), default="local", help="what runs the compiles (default: local)"
    )
    place.add_argument(
        "--cores", type=whole_number(1), metavar="N", help="cores to ask for, for each compile (default: 1)"
    )
    place.add_argument(
        "--logs", metavar="FOLDER", help="folder that all nodes see, for output of tasks (default: beside the cache)"
    )
    place.add_argument("--partition", metavar="NAME", help="Slurm: partition to submit to")
    place.add_argument("--account", metavar="NAME", help="Slurm: account to charge")
    place.add_argument(
        "--sbatch", metavar="KEY=VALUE", action="append", default=[], help="Slurm: any other option of sbatch"
    )
    place.add_argument("--ray", metavar="ADDRESS", help="Ray: ray://host:port, or host:port (default: this machine's)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the training command, after --")


def execute(arguments: argparse.Namespace) -> int:
    """Collect and compile; the exit status is the number of graphs that failed."""
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    workers, retries = _workers(arguments.jobs, arguments.on), _retries(arguments.retries)
    _check_place(arguments)
    if arguments.compile_only and command:
        raise UsageError("--compile-only takes no command: it compiles the graphs collected in the cache")
    if not arguments.compile_only and not command:
        raise UsageError("specify a training command: neurontop compile -- torchrun … train.py")
    for number in (signal.SIGTERM, signal.SIGHUP):  # end as cleanly as after Ctrl-C
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        return _compile(arguments, command, workers, retries)
    except KeyboardInterrupt:
        log_stderr("neurontop: interrupted; run the command again to compile the remaining graphs")
        raise


def _compile(arguments: argparse.Namespace, command: Sequence[str], workers: int, retries: int) -> int:
    from neuron_top import settings
    from neuron_top.cli.compile_screen import CompileOutput, SdkOutput
    from neuron_top.services import precompile

    configured = settings.load()[0]
    ascii_only = configured.ascii
    tool = precompile.sdk_tool()
    place = _place(arguments)
    if not arguments.collect_only:
        precompile.check_executor(place)
    if tool is not None and place.kind is precompile.ExecutorKind.LOCAL:
        step = "collect" if arguments.collect_only else "compile" if arguments.compile_only else ""
        output = SdkOutput(ascii_only=ascii_only)
        return precompile.run_sdk_tool(tool, command, output, step=step, jobs=arguments.jobs, retries=retries)
    job = precompile.PrecompileJob(configured, CompileOutput(ascii_only=ascii_only), place)
    if tool is not None and not arguments.compile_only:  # the SDK's tool collects, the scheduler's nodes compile
        output = SdkOutput(ascii_only=ascii_only)
        status = precompile.run_sdk_tool(tool, command, output, step="collect", jobs=None, retries=retries)
        if status or arguments.collect_only:
            return status
    collects = tool is None and not arguments.compile_only
    trial = job.collect(command) if collects else None
    if arguments.collect_only and trial is not None:
        graphs = counted(len(set(trial.extracted)), "graph")
        log_stderr(f"neurontop: {graphs} collected; to compile: neurontop compile --compile-only")
        return 0
    return min(job.compile(trial, workers=workers, retries=retries), MOST_FAILURES)


def _check_place(arguments: argparse.Namespace) -> None:
    """Raises UsageError for an option of a scheduler that is not the one asked for."""
    given = {
        "slurm": {"--partition": arguments.partition, "--account": arguments.account, "--sbatch": arguments.sbatch},
        "ray": {"--ray": arguments.ray},
    }
    for kind, options in given.items():
        for name, value in options.items():
            if value and arguments.on != kind:
                raise UsageError(f"{name} is for --on {kind}, not for --on {arguments.on}")
    if arguments.on == "local" and (arguments.logs or arguments.cores):
        raise UsageError("--logs and --cores are for --on slurm and --on ray: here compilers write to our own streams")


def _place(arguments: argparse.Namespace) -> precompile.Place:
    from neuron_top.services import precompile

    sbatch = {}
    for text in arguments.sbatch:
        name, _, value = text.removeprefix("--").partition("=")
        if not name:
            raise UsageError(f"--sbatch takes KEY=VALUE, as in --sbatch constraint=cpu, not {text!r}")
        sbatch[name] = value
    slurm = precompile.SlurmOptions(partition=arguments.partition or "", account=arguments.account or "", sbatch=sbatch)
    return precompile.Place(
        kind=precompile.ExecutorKind(arguments.on),
        cores=arguments.cores or 1,
        logs=arguments.logs or "",
        slurm=slurm,
        ray=arguments.ray or "",
    )


def _workers(given: int | None, executor: str) -> int:
    """Compiles side by side: as asked, else one per core this process may use, or all that a scheduler takes."""
    if given is None and executor != "local":
        return MOST_SUBMITTED
    if given is None:
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return given


def _retries(given: int | None) -> int:
    if given is not None:
        return given
    from neuron_top.services.precompile import RETRIES_VARIABLE

    text = os.environ.get(RETRIES_VARIABLE, "")
    try:
        return whole_number(0)(text) if text else 0
    except argparse.ArgumentTypeError as problem:
        raise UsageError(f"{RETRIES_VARIABLE} {problem}") from None
