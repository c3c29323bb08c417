"""What argparse's messages do not say: which command or option was meant, and which commands there are."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence

from neuron_top.suggestions import did_you_mean

_NO_CHOICE = re.compile(r"argument (?P<argument>\S+): invalid choice: '(?P<given>[^']*)'")
_NO_OPTION = re.compile(r"unrecognized arguments: (?P<given>-[^\s=]+)")
_NO_COMMAND = "the following arguments are required: COMMAND"


def with_hint(parser: argparse.ArgumentParser, message: str) -> str:
    """The message with what was probably meant."""
    if message == _NO_COMMAND:
        return f"specify a command: {', '.join(_choices(parser, 'COMMAND'))}"
    if found := _NO_CHOICE.match(message):
        choices = _choices(parser, found["argument"])
        if found["argument"] == "COMMAND":
            return no_command(found["given"], choices)
        if "|" in found["argument"]:  # actions of a command that lists without one
            meant = did_you_mean(found["given"], choices)
            return f"no action {found['given']!r}{meant}; `{parser.prog}` alone lists; actions: {', '.join(choices)}"
        return message + did_you_mean(found["given"], choices)
    if found := _NO_OPTION.match(message):
        if _choices(parser, "COMMAND"):  # of a group, whose commands have the options
            return f"{message}; options follow the command: {parser.prog} COMMAND … {found['given']}"
        shown = (action for action in parser._actions if action.help is not argparse.SUPPRESS)
        return message + did_you_mean(found["given"], [name for action in shown for name in action.option_strings])
    return message


def no_command(given: str, commands: Sequence[str]) -> str:
    """That there is no such command, and which there are."""
    return f"no command {given!r}{did_you_mean(given, commands)}; commands: {', '.join(commands)}"


def no_first_command(given: str, commands: Sequence[str], of_groups: Sequence[str]) -> str:
    """As `no_command`, for the word after `neurontop`: it may be a log or a cache to watch, or a command of a group
    that was left out (`ls`, of which `of_groups` has `cache ls`)."""
    if os.path.lexists(given):
        return f"no command {given!r}; to watch the file or folder of that name: neurontop watch {shlex.quote(given)}"
    of_group = next((f" (did you mean {name!r}?)" for name in of_groups if name.split()[1] == given), "")
    meant = of_group or did_you_mean(given, [*commands, "--help", "--version"])
    return f"no command {given!r}{meant}; commands: {', '.join(commands)}"


def _choices(parser: argparse.ArgumentParser, argument: str) -> list[str]:
    """What an argument can be; it is named as argparse's messages do."""
    for action in parser._actions:
        names = ("/".join(action.option_strings), action.metavar, action.dest)
        if action.choices is not None and argument in names:
            return [str(choice) for choice in action.choices]
    return []
