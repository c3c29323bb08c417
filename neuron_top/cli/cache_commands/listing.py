"""List the entries of a cache: state, size, age, compile time, flags and, for a failure, its cause.

  neurontop cache ls --state failed,corrupt --sort bytes
  neurontop cache ls s3://bucket/prefix         a cache in S3, from one listing
  neurontop cache ls --inductor                 PyTorch's own: FX graphs, AOTAutograd, generated code; read-only
  neurontop cache ls --json | jq '.entries[] | select(.state == "extracted") | .module'

The last column tells what matters most about the state: a failure's code and advice, the proof about a lock's holder,
what is wrong with a file. `last used` is the later of two times: the last use by a recorded run (`neurontop run`), and
the artifact's access time if the mount keeps it (with `relatime` to the day); it is empty if neither is known. Compile
times are known for local compiles and from recorded runs. On a terminal, a compiler that is the same for all rows is
named once, below them.

exit status: 0 listed · 2 usage · 3 no such cache
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from neuron_top.cli.cache_commands import common, inductor, options, vllm
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.errors import UsageError
from neuron_top.escapes import name_text, visible
from neuron_top.services.cache_reader import FAILURES, Entry, State, UsageHistory, written_at
from neuron_top.units import UNKNOWN, bytes_text, count_text, counted, duration_text
from neuron_top.views.entry_states import MEANINGS
from neuron_top.views.failure_advice import ADVICE

_LAST = float("-inf")
_SORT = "module"
SORTS: dict[str, tuple[Callable[[Entry, UsageHistory], Any], bool]] = {
    "module": (lambda entry, past: (entry.compiler, entry.module), False),
    "compiler": (lambda entry, past: (entry.compiler, entry.module), False),
    "state": (lambda entry, past: (entry.state, entry.compiler, entry.module), False),
    "bytes": (lambda entry, past: entry.allocated, True),
    "compiled": (lambda entry, past: _or_last(entry.compiled_at), True),
    "used": (lambda entry, past: _or_last(past.last_used(entry)), True),
    "seconds": (lambda entry, past: _or_last(past.compile_seconds(entry)), True),
}
"""Order → (key, largest first). What is unknown comes last."""


def _or_last(value: float | None) -> float:
    return _LAST if value is None else value


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache ls`."""
    common.add_root(parser)
    inductor.add_option(parser)
    parser.add_argument(
        "--state",
        metavar="S",
        type=common.state_names,
        action="extend",
        default=[],
        help=f"only these states, comma-separated or given again: {', '.join(State)}",
    )
    parser.add_argument("--sort", choices=SORTS, help=f"order of the rows (default: {_SORT})")
    parser.add_argument("--rescan", action="store_true", help="look at every file again, not only at what changed")
    options.add_alias(parser, "--full", "rescan", action="store_true")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    is_inductors = inductor.is_asked_for(arguments)
    if is_inductors or vllm.is_asked_for(arguments):
        if arguments.state or arguments.sort:
            raise UsageError("--state and --sort are for Neuron caches: this is another program's")
        return inductor.listing(arguments) if is_inductors else vllm.listing(arguments)
    service = options.reader()
    root = service.resolve(arguments.root)
    snapshot = common.take_snapshot(service, root, rescan=arguments.rescan)
    past = service.usage_history(root)
    key, largest_first = SORTS[arguments.sort or _SORT]
    entries = sorted(snapshot.entries, key=lambda entry: key(entry, past), reverse=largest_first)
    if arguments.state:
        entries = [entry for entry in entries if entry.state in arguments.state]
    now = common.now()
    if arguments.json:
        print_json(
            {
                "root": name_text(snapshot.root),
                "as_of": common.instant(snapshot.taken_at),
                "entries": [common.entry_json(entry, now, past) for entry in entries],
                "totals": common.totals_json(service.totals(snapshot, past), snapshot.filesystem),
                "problems": list(snapshot.problems),
            }
        )
        return 0
    compilers = {entry.compiler for entry in entries}
    only = compilers.pop() if sys.stdout.isatty() and len(compilers) == 1 else None
    if entries:
        columns = [column for column, name in enumerate(_HEADER) if only is None or name != _COMPILER]
        rows = (_row(entry, now, past) for entry in entries)
        lines = [[row[column] for column in columns] for row in (_HEADER, *rows)]
        print(table(lines[0], lines[1:], right=(2, 3, 4, 5)))
    log_stderr(_closing(len(entries), len(snapshot.entries), snapshot.root, only))
    common.name_others(root)
    return 0


_COMPILER = "compiler"
_HEADER = ("module", "state", "size", "age", "compile", "last used", _COMPILER, "")


def _row(entry: Entry, now: float, past: UsageHistory) -> tuple[str, ...]:
    return (
        entry.module,
        entry.state,
        bytes_text(entry.allocated),
        common.since_text(written_at(entry), now),
        duration_text(past.compile_seconds(entry)),
        common.since_text(past.last_used(entry), now),
        entry.compiler or UNKNOWN,
        visible(remark(entry)),
    )


def remark(entry: Entry) -> str:
    """What is most worth knowing besides the state, on one line."""
    if entry.failure is not None and entry.state in FAILURES:
        cause = entry.failure.code or entry.failure.message.partition("\n")[0][:60] or "no message"
        return f"{cause}: {entry.failure.kind}, {ADVICE[entry.failure.cause]}"
    if entry.lock is not None:
        return entry.lock.proof or MEANINGS[entry.state]
    if entry.problems:
        return entry.problems[0]
    return "flags do not match the folder's name" if entry.flags_hash_ok is False else ""


def _closing(shown: int, there: int, root: str, compiler: str | None) -> str:
    """`compiler`: that of all rows, where they do not name it."""
    of = "" if shown == there else f"{count_text(shown)} of "
    ending = f", compiled by {visible(compiler)}" if compiler else ""
    return f"{of}{counted(there, 'entry', 'entries')} in {visible(name_text(root))}{ending}"
