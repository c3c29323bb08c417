"""The entry point: finds the command and imports its module, nothing else.

`neurontop --help` needs the table alone, and a scripting command never loads textual or dash.
Exit codes: 0 fine, 1 findings or failures (recordings that cannot be read are one), 2 usage or configuration, or a file
that cannot be read or written, 3 not found, 4 refused for safety, 130 interrupted; `run` gives its command's own,
`compile` the number of failed graphs.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from neuron_top.cli.command import Command
from neuron_top.cli.output import HelpFormatter, Parser, fill_closed_streams, log_stderr, prepare_streams
from neuron_top.errors import LimitReached, NeuronTopError, UsageError, is_thread_limit

INTERRUPTED = 130
_FLAGS = frozenset({"--json", "--plain", "--read-only", "--yes", "--dry-run"})
"""Options without a value that people write before a command."""

COMMANDS = (
    Command("watch", "watch", "live view of this machine, or of the given logs and caches (default)"),
    Command("demo", "demo", "play a real run that comes with neurontop: every screen without a job of your own"),
    Command("run", "run", "run a training command, record it and show it live"),
    Command("agent", "agent", "read what runs on this node and ship it to the fleet's database, without a screen"),
    Command("compile", "compile", "compile the graphs of a training command before it runs, in parallel"),
    Command("diagnose", "diagnose", "say why a job failed: the line that states the cause, and what to do next"),
    Command("status", "status", "print the overview once, for scripts"),
    Command("alerts", "alerts", "list the alerts of a job and past ones; acknowledge or mute them"),
    Command("runs", "runs", "list, label, copy and delete recordings"),
    Command("replay", "replay", "play back a recording in the live view"),
    Command(
        "report", "report", "report where a run's time went, from a recording or plain logs, as HTML, Markdown or JSON"
    ),
    Command("check", "check", "check a run against thresholds, for CI: exit status 1 when one is exceeded"),
    Command("serve", "serve", "serve the web dashboard, a JSON API and Prometheus metrics"),
    Command("explain", "explain", "explain why a graph missed the compile cache"),
    Command("compare", "compare", "compare runs, or two caches"),
    Command("tally", "tally", "count compiles, cache hits, failures and lock waits in log files"),
    Command("telemetry", "telemetry", "print telemetry of the Neuron devices, once or as a stream"),
    Command("doctor", "doctor", "examine this machine and say how to fix what is wrong"),
    Command("cache", "cache", "list, verify and clean up compile caches"),
    Command(
        "fleet", "fleet", "look at and change many nodes: jobs, nodes, compiles and caches of a fleet, and its database"
    ),
    Command("config", "config", "print the effective settings and their origins"),
    Command("completion", "completion", "print a completion script for bash, zsh or fish"),
)
_EPILOG = """\
exit status: 0 fine · 1 findings or failures, or recordings that cannot be read · 2 usage or configuration, or a file
that cannot be read or written · 3 not found · 4 refused for safety · 130 interrupted; `run` gives its command's own,
`compile` the number of failed graphs

examples:
  neurontop                                    live view of this machine
  neurontop run -- torchrun --nproc_per_node=4 train.py
  neurontop tally train.log                    compiles, cache hits and failures in a log
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; `argv` defaults to the process's own. Returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _keep_exit_statuses()
        fill_closed_streams()
        if sys.stdout is None:
            raise UsageError("standard output is closed; redirect it to /dev/null to get only the exit status")
        prepare_streams()
        status = _dispatch(arguments)
        sys.stdout.flush()  # here, where a full disk can still be reported in a sentence
    except NeuronTopError as problem:
        _print_error(str(problem))
        return problem.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader (head, a pager) went away: not our failure
        _discard_output()
        return 0
    except OSError as problem:
        _discard_output()
        _print_error(_system_error_text(problem))
        return UsageError.exit_code
    except RuntimeError as problem:
        if not is_thread_limit(problem):
            raise
        _print_error(f"{problem}: raise the limit of processes (ulimit -u), or end some of this user's")
        return LimitReached.exit_code
    return status


def _keep_exit_statuses() -> None:
    """Take back that SIGCHLD is ignored, which a program inherits: the kernel then keeps no exit status of a child, and
    Python gives 0 for each."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _print_error(text: str) -> None:
    log_stderr(f"neurontop: {text}")


def _system_error_text(problem: OSError) -> str:
    """A system error as text. One without a file name concerns our own output, or the folder that we are in."""
    if problem.filename is None and problem.errno == errno.ENOENT:
        return "the folder that this was started in does not exist any more; change to another one"
    name = problem.filename if problem.filename is not None else "standard output"
    return f"{os.fspath(name) if not isinstance(name, int) else name}: {problem.strerror or problem}"


def _discard_output() -> None:
    """Discard buffered output: flushing it would fail again at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]):
        overview_parser().print_help()
        return 0
    if arguments[:1] in (["-V"], ["--version"]):
        from neuron_top.cli.version import print_version  # looks around; no other command needs it

        print_version()
        return 0
    if not arguments or (arguments[0].startswith("-") and arguments[0] != "-"):
        _check_options(arguments)
        arguments = ["watch", *arguments]
    command = next((row for row in COMMANDS if row.name == arguments[0]), None)
    if command is None:
        _refuse(arguments[0])
    module = importlib.import_module(f"neuron_top.cli.{command.module}")
    parser = Parser(
        prog=f"neurontop {command.name}",
        description=module.__doc__,
        formatter_class=HelpFormatter,
    )
    module.configure(parser)
    result = module.execute(parser.parse_args(arguments[1:]))
    return int(result)


def _refuse(given: str) -> NoReturn:
    """End for a word that names no command."""
    from neuron_top.cli import cache_commands, fleet_commands  # only where something is wrong
    from neuron_top.cli.usage_hints import no_first_command

    groups = {"cache": cache_commands.SUBCOMMANDS, "fleet": fleet_commands.SUBCOMMANDS}
    of_groups = [f"{group} {row.name}" for group, rows in groups.items() for row in rows]
    overview_parser().error(no_first_command(given, [row.name for row in COMMANDS], of_groups))


def _check_options(arguments: Sequence[str]) -> None:
    """End with a usage error where the version is meant, or options stand before the command: its name would be taken
    for a log to wait for."""
    if arguments and (arguments[0] == "-v" or arguments[0].startswith("--ver")):
        overview_parser().error(f"no option {arguments[0]!r} (did you mean '--version'?)")
    first = next((place for place, word in enumerate(arguments) if not word.startswith("-")), None)
    if first is None or not set(arguments[:first]) <= _FLAGS:
        return
    name = arguments[first]
    if any(row.name == name for row in COMMANDS) and not os.path.lexists(name):
        options = " ".join(arguments[:first])
        overview_parser().error(f"options follow the command: neurontop {name} … {options}")


def overview_parser() -> argparse.ArgumentParser:
    """The parser of `neurontop --help`: it names the commands and knows none of their options."""
    width = max(len(row.name) for row in COMMANDS) + 1  # two blanks are a column of explanations
    rows = "\n".join(f"  {row.name:<{width}} {row.summary}" for row in COMMANDS)
    parser = Parser(
        prog="neurontop",
        usage="neurontop [command] [options]",
        description=f"Live observability and cache management for AWS Neuron.\n\ncommands:\n{rows}",
        epilog=_EPILOG,
        formatter_class=HelpFormatter,
    )
    parser.add_argument(
        "-V",
        "--version",
        action="store_true",
        help="print the version, and what was found beside it: extras, SDK, tools",
    )
    return parser
