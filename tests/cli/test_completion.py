"""Completion scripts and the manual page, made out of the parsers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.cli.command_tree import whole_parser
from neuron_top.cli.main import COMMANDS, main


def _completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    line = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_neurontop; "
    asked = subprocess.run(["bash", "-c", line + 'echo "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True)
    return asked.stdout.split()


def test_bash_completes_commands_sub_commands_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "neurontop"
    script.write_text(capsys.readouterr().out)
    assert _completed(script, "neurontop", "ca") == ["cache"]
    assert _completed(script, "neurontop", "cache", "ev") == ["evict"]
    assert "--dry-run" in _completed(script, "neurontop", "cache", "evict", "--dr")
    assert _completed(script, "neurontop", "tally", "--js") == ["--json"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [row.name for row in COMMANDS if row.name not in script] == []


def test_the_whole_parser_reads_what_the_program_reads() -> None:
    arguments = whole_parser().parse_args(["cache", "ls", "--state", "failed"])
    assert [state.value for state in arguments.state] == ["failed"]


def test_the_manual_page_names_every_command(tmp_path: Path) -> None:
    page = tmp_path / "neurontop.1"
    options = ["--module", "neuron_top.cli.command_tree", "--function", "whole_parser", "--prog", "neurontop"]
    command = [sys.executable, "-W", "ignore", "-c", "from argparse_manpage.cli import main; main()", *options]
    subprocess.run([*command, "--output", str(page)], check=True, capture_output=True)
    text = page.read_text()
    assert [row.name for row in COMMANDS if f"neurontop {row.name}" not in text] == []
