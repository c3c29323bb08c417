"""Look for entries that are broken: a cheap look at every header and flags hash, or all bytes with --full.

  neurontop cache verify                        headers, marks, flags hashes
  neurontop cache verify --full                 also digest, archive and graph of every artifact (reads them all)
  neurontop cache verify --full MODULE_0123     one entry of the cache in force, or ROOT MODULE_…

Broken is what a client takes for a hit and cannot load. A warning is what a person should know: flags that do not
match the folder's name, a store cut short, a header newer than the runtimes known. Nothing is changed without
--quarantine, which moves what is broken to the trash after a question (--yes: without; --dry-run: shows it); graph and
flags stay, so the next run compiles it again.

  neurontop cache verify --full --quarantine

exit status: 0 nothing broken, or moved aside · 1 something is broken · 3 no such cache or entry · 4 refused for safety
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import verify
from neuron_top.cli.cache_commands import acting, carrying, common
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.escapes import visible
from neuron_top.units import bytes_text, counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache verify`."""
    common.add_root(parser)
    common.add_entry(parser, required=False)
    parser.add_argument("--full", action="store_true", help="read artifacts and graphs, not only headers")
    parser.add_argument("--quarantine", action="store_true", help="move broken artifacts to the trash")
    carrying.add_drain(parser)
    acting.add_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print what was found."""
    given, text = common.root_and_entry(arguments, required=False, buckets=True)
    root = acting.root_meant(given)
    snapshot = common.take_snapshot(root, full=True)
    entries = snapshot.entries if text is None else (common.one_entry(snapshot, text),)
    findings = _findings(snapshot, entries, full=arguments.full)
    if arguments.quarantine:
        return _quarantine(snapshot, findings, arguments)
    broken = {finding.entry.path for finding in findings if finding.level == verify.BROKEN_LEVEL}
    if arguments.json:
        print_json(_json(snapshot, entries, findings, full=arguments.full))
    else:
        if findings:
            rows = [(one.level, one.entry.module, one.entry.compiler, visible(one.what)) for one in findings]
            print(table(("", "module", "compiler", "what"), rows))
        looked = "read in full" if arguments.full else "looked at"
        warned = {one.entry.path for one in findings} - broken
        asked = counted(len(entries), "entry", "entries")
        log_stderr(f"{asked} {looked}: {len(broken)} broken, {len(warned)} with a warning")
    return 1 if broken else 0


def _findings(snapshot: Snapshot, entries: tuple[Entry, ...], *, full: bool) -> list[verify.Finding]:
    if snapshot.root.startswith("s3://"):
        from neuron_top.cli.cache_commands import bucket

        return list(bucket.findings(snapshot.root, entries, full=full))
    return [*verify.cheap(entries), *(_deep(snapshot, entries) if full else ())]


def _quarantine(snapshot: Snapshot, findings: list[verify.Finding], arguments: argparse.Namespace) -> int:
    broken = {one.entry.path: one.what for one in reversed(findings) if one.level == verify.BROKEN_LEVEL}
    _, around = acting.look(snapshot.root, arguments)
    entries = [entry for entry in snapshot.entries if entry.path in broken]
    return acting.settle([plan_quarantine(entries, snapshot.root, around, broken)], arguments)


def _deep(snapshot: Snapshot, entries: tuple[Entry, ...]) -> Iterator[verify.Finding]:
    """Full verification with progress on stderr where a person looks on."""
    total = sum(entry.artifact_bytes or 0 for entry in entries)
    done, live = 0, sys.stderr.isatty()
    for entry in entries:
        yield from verify.deep(snapshot.root, entry)
        done += entry.artifact_bytes or 0
        if live:
            print(f"\r{bytes_text(done)} of {bytes_text(total)} read\x1b[K", end="", file=sys.stderr, flush=True)
    if live:
        print(file=sys.stderr)


def _json(
    snapshot: Snapshot, entries: tuple[Entry, ...], findings: list[verify.Finding], *, full: bool
) -> dict[str, Any]:
    now = common.now()
    return {
        "root": common.root_text(snapshot.root),
        "full": full,
        "entries": [
            {**common.entry_json(entry, now), "findings": found}
            for entry in entries
            if (found := [{"level": one.level, "what": one.what} for one in findings if one.entry is entry])
        ],
        "totals": {
            "entries": len(entries),
            "broken": sum(one.level == verify.BROKEN_LEVEL for one in findings),
            "warnings": sum(one.level == verify.WARNING_LEVEL for one in findings),
        },
    }
