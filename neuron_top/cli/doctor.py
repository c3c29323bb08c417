"""Examine this machine and say how to fix what is wrong. Changes nothing.

Checks the Neuron devices and their driver, the SDK's tools, compilers and packages, every compile-cache root and its
users (owner, permissions, file system, space), environment variables here and in running jobs (and misspelled ones),
the state folder, and the terminal.

examples:
  neurontop doctor                     all findings, with the next step for each problem
  neurontop doctor --problems          problems only
  neurontop doctor --json              {"problems", "findings", "facts"}, for scripts and bug reports
                                       (review it first: it holds paths and user names)

exit status: 0 no problem (a machine without Neuron devices has none) · 1 at least one problem ·
2 usage or configuration
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from neuron_top import settings
from neuron_top.cli.output import broken_text, colors_wanted, log_stderr, print_json, print_text
from neuron_top.errors import UsageError
from neuron_top.services.doctor import CheckLevel, DoctorFinding, examine_machine

_SYSFS = "/sys"
_COLUMN = 11
"""Where texts begin."""
_COLORS = {CheckLevel.PROBLEM: "\x1b[31m", CheckLevel.NOTE: "\x1b[33m", CheckLevel.OK: "\x1b[32m"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop doctor`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object: problems, findings, facts")
    parser.add_argument("--problems", action="store_true", help="show problems only")
    parser.add_argument(
        "--sysfs-root", default=_SYSFS, metavar="DIR", help=f"look for the driver below DIR (default: {_SYSFS})"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Examine and print."""
    if arguments.sysfs_root != _SYSFS and not Path(arguments.sysfs_root).is_dir():
        raise UsageError(f"--sysfs-root {arguments.sysfs_root}: no such folder")
    examination = examine_machine(settings.load()[0], arguments.sysfs_root)
    findings, problems = examination.findings, examination.problems
    if arguments.problems:
        findings = tuple(finding for finding in findings if finding.level is CheckLevel.PROBLEM)
    if arguments.json:
        print_json({"problems": problems, "findings": findings, "facts": examination.facts})
    else:
        print_findings(findings)
        log_stderr(f"{problems} problem{'s' if problems != 1 else ''}" if problems else "no problem found")
    return 1 if problems else 0


def print_findings(findings: Sequence[DoctorFinding]) -> None:
    """One block per check: level, text and, where there is one, the next step below."""
    colored = colors_wanted()
    for number, finding in enumerate(findings):
        if not number or findings[number - 1].check != finding.check:
            print_text(("" if not number else "\n") + finding.check)
        mark = f"{finding.level:<7}"
        if colored:
            mark = f"{_COLORS[finding.level]}{mark}\x1b[0m"
        sys.stdout.write(f"  {mark}  ")
        print_text(broken_text(finding.text, _COLUMN))
        if finding.next_step:
            print_text(f"{'':<{_COLUMN}}→ {broken_text(finding.next_step, _COLUMN + 2)}")
