"""What the commands say of themselves: complete, plain, and with the options of earlier releases behind them."""

from __future__ import annotations

import argparse
import importlib
import re

import pytest

from neuron_top.cli import cache_commands, fleet_commands
from neuron_top.cli.help_layout import fit, fit_usage
from neuron_top.cli.main import COMMANDS, Command, main, overview_parser
from neuron_top.cli.output import HelpFormatter

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
    parser = argparse.ArgumentParser(
        prog=f"neurontop {row.name}", description=module.__doc__, formatter_class=HelpFormatter
    )
    module.configure(parser)
    return parser


@pytest.mark.parametrize("row", OWN_COMMANDS, ids=lambda row: row.name)
def test_the_help_says_what_the_command_does_and_how_it_ends(row) -> None:
    description = parser_of(row).description or ""
    first = description.strip().splitlines()[0]
    assert first[0].isupper()
    assert len(first) <= 120
    assert re.search(r"\b2 [a-z]", description.partition("exit status:")[2]), "that of a wrong option is not named"
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


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("row", OWN_COMMANDS, ids=lambda row: row.name)
def test_descriptions_fit_a_narrow_terminal_but_for_commands_that_are_longer(monkeypatch, row, columns) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    parser = parser_of(row)
    written = (parser.description or "").splitlines()
    parser.usage, parser._action_groups = "neurontop", []
    for line in parser.format_help().splitlines():
        is_command = any(one.startswith(line) for one in written) and "  " not in line.strip()
        assert len(line) <= columns or is_command, line


@pytest.mark.parametrize("columns", [40, 80])
def test_the_list_of_commands_fits_a_narrow_terminal(monkeypatch, columns) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    rows = overview_parser().format_help().partition("commands:")[2].partition("options:")[0]
    assert [line for line in rows.splitlines() if len(line) > columns] == []


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("row", OWN_COMMANDS, ids=lambda row: row.name)
def test_usage_lines_fit_the_terminal_and_keep_every_part(monkeypatch, row, columns) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    whole = "".join(parser_of(row).format_usage().split())
    monkeypatch.setenv("COLUMNS", str(columns))
    usage = parser_of(row).format_usage()
    assert "".join(usage.split()) == whole
    for line in usage.splitlines():
        assert len(line) <= columns, line


def test_the_table_of_commands_fits_a_narrow_terminal(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, overview_parser().format_help().splitlines())) <= 60


def test_help_stays_as_it_is_written_where_it_fits(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    for row in OWN_COMMANDS:
        parser = parser_of(row)
        assert (parser.description or "").strip() in parser.format_help()


def test_long_explanations_stay_in_their_column_and_go_below_the_name_where_that_is_too_narrow() -> None:
    text = "examples:\n  one --fast     all that it can find\n                 (and more)\n  two            nothing\n"
    assert fit(text.replace("find", "find on this whole machine"), 47).splitlines() == [
        "examples:",
        "  one --fast     all that it can find on this",
        "                 whole machine (and more)",
        "  two            nothing",
    ]
    assert fit(text, 33).splitlines() == [
        "examples:", "  one --fast", "      all that it can find (and", "      more)", "  two", "      nothing",
    ]  # fmt: skip


def test_prose_is_filled_and_an_exit_status_stays_with_its_words() -> None:
    assert (
        fit("exit status: 0 fine · 1 failed ·\n2 cannot be read", 33)
        == "exit status: 0 fine · 1 failed ·\n2 cannot be read"
    )
    assert fit("exit status: 0 fine · 1 failed · 2 cannot be read", 34).splitlines() == [
        "exit status: 0 fine · 1 failed ·", "2 cannot be read",
    ]  # fmt: skip


def test_a_usage_line_breaks_between_its_parts() -> None:
    assert fit_usage("usage: tool go [--on a|b] [-j N | -k] [--] <command>\n\n", 30) == (
        "usage: tool go [--on a|b]\n               [-j N | -k]\n               [--] <command>\n\n"
    )
    assert fit_usage("usage: tool go [-h] (--all | --one A,B) --at TIME [MODULE ...]\n", 36).splitlines() == [
        "usage: tool go [-h]", "               (--all | --one A,B)", "               --at TIME",
        "               [MODULE ...]",
    ]  # fmt: skip
    assert fit_usage("usage: tool go -- <command>\n", 20).splitlines() == ["usage: tool go", "       -- <command>"]


def test_a_part_of_a_usage_line_that_is_longer_than_the_terminal_breaks_between_its_alternatives() -> None:
    assert fit_usage("usage: tool list [--sort {size,name,state}] [A|B]\n", 28).splitlines() == [
        "usage: tool list", "       [--sort {size,name,", "        state}] [A|B]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["wacth"], "no command 'wacth' (did you mean 'watch'?); commands: watch, demo, "),
        (["evict"], "no command 'evict' (did you mean 'cache evict'?); commands: watch, demo, "),
        (["nodes"], "no command 'nodes' (did you mean 'fleet nodes'?); commands: watch, demo, "),
        (["zzz"], "no command 'zzz'; commands: watch, demo, "),
        (["help"], "no command 'help' (did you mean '--help'?); commands: watch, demo, "),
        (["--verson"], "no option '--verson' (did you mean '--version'?)\n"),
        (["-v"], "no option '-v' (did you mean '--version'?)\n"),
        (["cache"], "specify a command: ls, stats, "),
        (["cache", "lss"], "no command 'lss' (did you mean 'ls'?); commands: ls, stats, "),
        (["cache", "copy"], "the following arguments are required: DEST\n"),
        (["fleet", "nodes", "--jsno=3"], "unrecognized arguments: --jsno=3 (did you mean '--json'?)\n"),
        (["cache", "--json", "ls"], "--json; options follow the command: neurontop cache COMMAND … --json\n"),
        (["fleet", "nodes", "--zzz"], "unrecognized arguments: --zzz\n"),
        (["completion", "bsh"], "'fish') (did you mean 'bash'?)\n"),
        (["completion"], "the following arguments are required: shell\n"),
        (["runs", "ls", "/nowhere"], "no action 'ls'; `neurontop runs` alone lists; actions: name, tag, star, "),
        (["alerts", "mtue"], "no action 'mtue' (did you mean 'mute'?); `neurontop alerts` alone lists; actions: ack, "),
        (["check", "--json", "--markdown"], "argument --markdown: not allowed with argument --json\n"),
        (["demo", "--web", "--json"], "argument --json: not allowed with argument --web\n"),
    ],
)
def test_a_wrong_command_or_option_is_answered_with_the_one_that_was_meant(given, said, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_log_in_place_of_a_command_is_answered_with_how_to_watch_it(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train 1.log").touch()
    with pytest.raises(SystemExit) as ended:
        main(["train 1.log"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(
        "no command 'train 1.log'; to watch the file or folder of that name: neurontop watch 'train 1.log'\n"
    )
