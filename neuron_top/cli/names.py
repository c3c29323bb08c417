"""Names on the command line. For argparse, which prints what is wrong with one."""

from __future__ import annotations

import argparse
import re

PLAN_NAME = re.compile(r"[0-9a-f]{1,10}\Z")
"""What the name of a plan, or its beginning, looks like."""


def named(text: str) -> str:
    """Reads one name or several; refuses a text that holds none.

    A shell passes it for a variable that is not set (`--nodes "$NODES"`), and the option would limit nothing.
    """
    if not text.strip(", \t\n"):
        raise argparse.ArgumentTypeError(f"{text!r} names nothing; is a variable of the shell empty?")
    return text
