"""Say why a job failed: the verdict, the line that states the cause, the lines around it, and what to do next.

LOG is console output of a job (plain or compressed), a compiler's log-neuron-cc.txt, a runtime's or a tool's log; `-`
is standard input. RUN is a recording (an id, a unique prefix of one, a name, or `last`), whose exit code is
known too.

  neurontop diagnose train.log                   one screen, the reason first
  neurontop diagnose last                        the last recording
  kubectl logs job/train | neurontop diagnose -
  neurontop diagnose --json *.log | jq 'map_values(.causes[0].text)'

What a compiler or a device reports counts before what frameworks and launchers make of it, and an error that the job
overcame is no failure; nor is a wait for another process's compile in which a log ends: the answer names the entry,
since when, and the commands that show who holds its lock and free it. If the log does not state the reason, the answer
says so, with the nearest line and where to look for more.

exit status: 0 nothing failed, or what failed was overcome · 1 failed · 2 a file cannot be read, is empty or no text ·
3 recording not found. Of several names, those that cannot be read are named on stderr, and 1 goes before 2 and 3.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from functools import partial

from neuron_top import settings as configuration
from neuron_top.cli.names import read_each
from neuron_top.cli.output import (
    broken_text,
    log_stderr,
    print_json_of,
    print_text,
    standard_input_bytes,
    storable_name,
    terminal_width,
)
from neuron_top.escapes import shortened, visible
from neuron_top.services.diagnosis import DiagnosisService
from neuron_top.units import count_text
from neuron_top.views.diagnosis import DiagnosisView, diagnosis_view, other_findings

_WIDTH = 118
"""Columns, or those of a narrower terminal."""
_LEAST = 20
_LONGEST = 400
"""Characters of a line that are shown; --json has all."""
_LONGEST_STEP = 1500
"""The same of what to do next, whose commands may name the folder of a cache twice."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `diagnose`."""
    parser.add_argument("names", nargs="+", metavar="LOG|RUN", help="log files or recordings; - is standard input")
    parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON; for several names one each")


def execute(arguments: argparse.Namespace) -> int:
    """Read everything that can be read, then print."""
    settings, _ = configuration.load()
    service = DiagnosisService(settings, log_stderr)
    diagnoses, unread = read_each(arguments.names, partial(service.of, standard_input=standard_input_bytes()))
    views = {name: diagnosis_view(each, goes_on=service.goes_on(name)) for name, each in diagnoses.items()}
    if arguments.json:
        documents = {storable_name(name): diagnosis for name, diagnosis in diagnoses.items()}
        print_json_of(documents, arguments.names)
    elif views:
        print_text("\n\n".join(_text(name, view) for name, view in views.items()))
    if any(view.failed for view in views.values()):
        return 1
    return unread or (2 if any(view.is_unreadable for view in views.values()) else 0)


def _text(name: str, view: DiagnosisView) -> str:
    shown = "standard input" if name == "-" else visible(name)
    parts = [broken_text(f"{shown}: {view.verdict}", 2, 0)]
    if view.text:
        certainty = f" · {view.certainty}" if view.certainty else ""
        parts.append(f"{view.where}{certainty}\n{_wrapped(view.text)}")
    if view.lines:
        width = max(len(count_text(line.line)) for line in view.lines)
        room = max(_LEAST, _width() + 2 - len(f"> {width * ' '}  "))
        parts.append(
            "\n".join(
                f"{'>' if line.is_cause else ' '} {count_text(line.line):>{width}}  {shortened(line.text, room)}"
                for line in view.lines
            )
        )
    if view.next_step:
        parts.append(f"next\n{_wrapped(view.next_step, _LONGEST_STEP)}")
    if view.others:
        others = (f"  {broken_text(other, 4, 2)}" for other in other_findings(view, _WIDTH))
        parts.append("\n".join(("also seen", *others)))
    return "\n\n".join(parts)


def _wrapped(text: str, longest: int = _LONGEST) -> str:
    return textwrap.fill(
        shortened(text, longest), _width(), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False,
        break_long_words=not sys.stdout.isatty(),
    )  # fmt: skip


def _width() -> int:
    return min(_WIDTH, max(_LEAST, terminal_width() - 2)) if sys.stdout.isatty() else _WIDTH
