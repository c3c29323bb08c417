"""What the commands say of themselves: complete, plain, and with the options of earlier releases behind them."""

from __future__ import annotations

import argparse
import importlib

import pytest

from neuron_top.cli import cache_commands, fleet_commands
from neuron_top.cli.main import COMMANDS, Command

GROUPS = ("cache", "fleet")
OWN_COMMANDS = [row for row in COMMANDS if row.name not in GROUPS] + [
    Command(f"{group} {row.name}", f"{group}_commands.{row.module}", row.summary)
    for group, rows in (("cache", cache_commands.SUBCOMMANDS), ("fleet", fleet_commands.SUBCOMMANDS))
    for row in rows
]
RIDDLES = ("left alone", "what fills", "worth a look", "nothing to show", "told are", "the sign of", "all at once",
           "as if nobody", "riddle", "the only hand")  # fmt: skip


def parser_of(row: Command) -> argparse.ArgumentParser:
    """The parser of a command, as `main` makes it."""
    module = importlib.import_module(f"neuron_top.cli.{row.module}")
    parser = argparse.ArgumentParser(prog=f"neurontop {row.name}", description=module.__doc__)
    module.configure(parser)
    return parser


@pytest.mark.parametrize("row", OWN_COMMANDS, ids=lambda row: row.name)
def test_the_help_says_what_the_command_does_and_how_it_ends(row) -> None:
    description = parser_of(row).description or ""
    first = description.strip().splitlines()[0]
    assert first[0].isupper()
    assert len(first) <= 120
    assert "exit status" in description
    assert not [riddle for riddle in RIDDLES if riddle in description.lower()]


@pytest.mark.parametrize("row", OWN_COMMANDS, ids=lambda row: row.name)
def test_every_option_has_a_sentence_or_is_an_old_spelling_of_one_that_has(row) -> None:
    actions = parser_of(row)._actions
    shown = {action.dest for action in actions if action.help not in (None, argparse.SUPPRESS)}
    for action in actions:
        assert action.help is not None, f"{row.name} {action.option_strings or action.dest} has no help"
        assert action.dest in shown, f"{row.name} {action.option_strings} is hidden and stands for nothing"


def test_the_table_of_commands_begins_each_row_with_a_verb_or_a_noun_in_small_letters() -> None:
    for row in COMMANDS:
        assert row.summary[0].islower()
        assert len(row.summary) <= 100
        assert not [riddle for riddle in RIDDLES if riddle in row.summary]
