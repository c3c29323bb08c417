"""Names on the command line: checked while argparse reads them, and read one after the other."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from neuron_top.cli.output import log_stderr
from neuron_top.errors import NeuronTopError

Read = TypeVar("Read")
PLAN_NAME = re.compile(r"[0-9a-f]{1,10}\Z")
"""What the name of a plan, or its beginning, looks like."""


def read_each(names: Sequence[str], read: Callable[[str], Read]) -> tuple[dict[str, Read], int]:
    """What `read` returns for each name, and the exit status of the first that it refuses (0 if none), which are named
    on stderr: a shell's `*` passes a file that cannot be read among many that can."""
    results, status = dict[str, Read](), 0
    for name in dict.fromkeys(names):
        try:
            results[name] = read(name)
        except NeuronTopError as problem:
            log_stderr(f"neurontop: {problem}")
            status = status or problem.exit_code
    return results, status


def named(text: str) -> str:
    """Reads one name or several; refuses a text that holds none.

    A shell passes it for a variable that is not set (`--nodes "$NODES"`), and the option would limit nothing.
    """
    if not text.strip(", \t\n"):
        raise argparse.ArgumentTypeError(f"{text!r} names nothing; is a variable of the shell empty?")
    return text
