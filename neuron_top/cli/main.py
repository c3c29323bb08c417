"""The front door: finds the command, imports its module and nothing else.

`neurontop --help` answers from the table alone, and a scripting command never loads textual or dash.
Exit codes: 0 fine, 1 findings or failures (recordings that cannot be read are one), 2 usage or configuration, or a file
that cannot be read or written, 3 nothing to show, 4 refused for safety, 130 interrupted; `run` gives its command's own,
`compile` the number of failed graphs.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from neuron_top import __version__
from neuron_top.cli.output import Parser, log_stderr
from neuron_top.errors import NeuronTopError, UsageError

INTERRUPTED = 130


class Command(NamedTuple):
    """One row of the table: `module` holds `configure(parser)` and `execute(arguments) -> exit code`."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Command(
        "watch", "watch", "the live screen: what runs here now, or the logs and caches named (the default command)"
    ),
    Command("run", "run", "run a training command, record it and show it live"),
    Command("compile", "compile", "collect the graphs of a command in a trial run and compile them in parallel"),
    Command("diagnose", "diagnose", "say why a job failed: the line that states the cause, and what to do next"),
    Command("status", "status", "the overview once, for scripts"),
    Command("runs", "runs", "list the recordings"),
    Command("replay", "replay", "play a recording on the live screen"),
    Command("report", "report", "where a run's time went, as HTML, Markdown or JSON; of a recording or of plain logs"),
    Command("check", "check", "a gate for CI: exit status 1 when a run failed, missed or compiled too much"),
    Command("serve", "serve", "the web dashboard, a JSON API and Prometheus metrics"),
    Command("explain", "explain", "say why a graph was not found in the cache"),
    Command("compare", "compare", "put two runs or two caches side by side"),
    Command("tally", "tally", "count what is in log files: compiles, hits, failures, waits"),
    Command("telemetry", "telemetry", "read the Neuron devices of this machine, once or as a stream"),
    Command("doctor", "doctor", "say what was found on this machine and what to do about it"),
    Command("cache", "cache", "list, verify and explain the compile caches"),
    Command("config", "config", "print the settings in force and where each comes from"),
)
_EPILOG = """\
exit status: 0 fine · 1 findings or failures, or recordings that cannot be read · 2 usage or configuration, or a file
that cannot be read or written · 3 nothing to show · 4 refused for safety · 130 interrupted; `run` gives its command's
own, `compile` the number of failed graphs

start with:
  neurontop                                    what runs on this machine, live
  neurontop run -- torchrun --nproc_per_node=4 train.py
  neurontop tally train.log                    what a log says about compiles and cache
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; `argv` defaults to the process's own. Returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if sys.stdout is None:
            raise UsageError("standard output is closed; to see only the exit status, send it to /dev/null")
        status = _dispatch(arguments)
        sys.stdout.flush()  # here, where a full disk can still be told in a sentence
    except NeuronTopError as problem:
        _complain(str(problem))
        return problem.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader (head, a pager) went away: not our failure
        _abandon_output()
        return 0
    except OSError as problem:
        _abandon_output()
        _complain(_in_words(problem))
        return UsageError.exit_code
    return status


def _complain(text: str) -> None:
    """A sentence on standard error; that nobody can read it is no further failure."""
    with contextlib.suppress(OSError, ValueError):
        log_stderr(f"neurontop: {text}")


def _in_words(problem: OSError) -> str:
    """What the system refused. Without the name of a file it was our own output."""
    name = problem.filename if problem.filename is not None else "standard output"
    return f"{os.fspath(name) if not isinstance(name, int) else name}: {problem.strerror or problem}"


def _abandon_output() -> None:
    """What is still waiting to be written would make Python complain at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]):
        _overview().print_help()
        return 0
    if arguments[:1] in (["-V"], ["--version"]):
        print(f"neurontop {__version__}")
        return 0
    if not arguments or (arguments[0].startswith("-") and arguments[0] != "-"):
        arguments = ["watch", *arguments]
    command = next((row for row in COMMANDS if row.name == arguments[0]), None)
    if command is None:
        _overview().error(f"no command {arguments[0]!r}; commands: {', '.join(row.name for row in COMMANDS)}")
    module = importlib.import_module(f"neuron_top.cli.{command.module}")
    parser = Parser(
        prog=f"neurontop {command.name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    result = module.execute(parser.parse_args(arguments[1:]))
    return int(result)


def _overview() -> argparse.ArgumentParser:
    rows = "\n".join(f"  {row.name:<10} {row.summary}" for row in COMMANDS)
    return Parser(
        prog="neurontop",
        usage="neurontop [command] [options]",
        description=f"Live observability and cache management for AWS Neuron.\n\ncommands:\n{rows}",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
