"""What argparse's messages do not say: which command or option was meant, and which commands there are."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

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
        return message + _meant(found["given"], choices)
    if found := _NO_OPTION.match(message):
        if _choices(parser, "COMMAND"):  # of a group, whose commands have the options
            return f"{message}; options follow the command: {parser.prog} COMMAND … {found['given']}"
        shown = (action for action in parser._actions if action.help is not argparse.SUPPRESS)
        return message + _meant(found["given"], [name for action in shown for name in action.option_strings])
    return message


def no_command(given: str, commands: Sequence[str]) -> str:
    """That there is no such command, and which there are."""
    return f"no command {given!r}{_meant(given, commands)}; commands: {', '.join(commands)}"


def no_first_command(given: str, commands: Sequence[str]) -> str:
    """As `no_command`, for the word after `neurontop`: it may be a log or a cache to watch."""
    if os.path.lexists(given):
        return f"no command {given!r}; to watch the file or folder of that name: neurontop watch {shlex.quote(given)}"
    return f"no command {given!r}{_meant(given, [*commands, '--help', '--version'])}; commands: {', '.join(commands)}"


def _meant(given: str, names: Iterable[str]) -> str:
    near = get_close_matches(given, list(names), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _choices(parser: argparse.ArgumentParser, argument: str) -> list[str]:
    """What an argument can be; it is named as argparse's messages do."""
    for action in parser._actions:
        names = ("/".join(action.option_strings), action.metavar, action.dest)
        if action.choices is not None and argument in names:
            return [str(choice) for choice in action.choices]
    return []
