"""Look for entries that are corrupt: a cheap look at every header and flags hash, or all bytes with --deep.

  neurontop cache verify                        headers, marks, flags hashes
  neurontop cache verify --deep                 also digest, archive and graph of every artifact (reads them all)
  neurontop cache verify --deep MODULE_0123     one entry of the cache in force, or ROOT MODULE_…

Corrupt is what a client takes for a hit and cannot load. A warning is what a person should know: flags that do not
match the folder's name, a store cut short, a header newer than the runtimes known. Nothing is changed without
--quarantine, which moves what is corrupt to the trash after a question (--yes: without; --dry-run: shows it); graph and
flags stay, so the next run compiles it again.

  neurontop cache verify --deep --quarantine

exit status: 0 nothing corrupt, or moved aside · 1 something is corrupt · 2 usage ·
3 no such cache or entry · 4 refused for safety
"""

from __future__ import annotations

import argparse
import sys

from neuron_top.cli.cache_commands import common, execution, options
from neuron_top.cli.cache_commands.plan_runner import run_plans
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.escapes import name_text, visible
from neuron_top.services.cache_reader import Snapshot
from neuron_top.services.caches import CacheService
from neuron_top.services.verification import FindingLevel, Verification, verify_entries
from neuron_top.units import UNKNOWN, bytes_text
from neuron_top.views.plan_sentences import verified_text

_LEVELS = {FindingLevel.BROKEN: "corrupt", FindingLevel.WARNING: "warning"}
"""What the table says; JSON has the levels themselves."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache verify`."""
    common.add_root(parser)
    common.add_entry(parser, required=False)
    parser.add_argument("--deep", action="store_true", help="read artifacts and graphs, not only headers")
    options.add_alias(parser, "--full", "deep", action="store_true")
    parser.add_argument("--quarantine", action="store_true", help="move corrupt artifacts to the trash")
    execution.add_grace_period(parser)
    options.add_plan_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print what was found."""
    service = options.service_of(arguments)
    root, text = common.root_and_entry(arguments, service, required=False)
    backend = service.backend(root)
    snapshot = backend.snapshot(rescan=True)
    common.report_problems(snapshot)
    entries = snapshot.entries if text is None else (common.one_entry(snapshot, text),)
    with _ReadBytes() as progress:
        verification = verify_entries(backend, entries, deep=arguments.deep, watch=progress.show)
    if arguments.quarantine:
        return _quarantine(snapshot, verification, arguments, service)
    if arguments.json:
        print_json(_json(snapshot.root, verification, deep=arguments.deep))
    else:
        if verification.findings:
            rows = [
                (_LEVELS[each.level], each.entry.module, each.entry.compiler or UNKNOWN, visible(each.what))
                for each in verification.findings
            ]
            print(table(("", "module", "compiler", "what"), rows))
        how = "read in full" if arguments.deep else "checked"
        log_stderr(verified_text(len(entries), len(verification.broken), len(verification.warned), how))
    return 1 if verification.broken else 0


def _quarantine(
    snapshot: Snapshot, verification: Verification, arguments: argparse.Namespace, service: CacheService
) -> int:
    plan = service.look(snapshot.root).plan_quarantine(verification.findings)
    return run_plans([plan], arguments, service)


class _ReadBytes:
    """How much was read, on stderr where a person watches."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._shown = False

    def __enter__(self) -> _ReadBytes:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(file=sys.stderr)

    def show(self, done: int, total: int) -> None:
        """Draw it."""
        if self._live:
            self._shown = True
            print(f"\r{bytes_text(done)} of {bytes_text(total)} read\x1b[K", end="", file=sys.stderr, flush=True)


def _json(root: str, verification: Verification, *, deep: bool) -> dict[str, object]:
    now = common.now()
    return {
        "root": name_text(root),
        "full": deep,
        "entries": [
            {**common.entry_json(entry, now), "findings": listed}
            for entry in verification.entries
            if (
                listed := [
                    {"level": each.level, "what": each.what} for each in verification.findings if each.entry is entry
                ]
            )
        ],
        "totals": {
            "entries": len(verification.entries),
            "broken": verification.count(FindingLevel.BROKEN),
            "warnings": verification.count(FindingLevel.WARNING),
        },
    }
