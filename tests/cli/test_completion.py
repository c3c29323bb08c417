"""Completion scripts and the manual page, made out of the parsers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.cli.command_tree import whole_parser
from neuron_top.cli.main import COMMANDS, main


def _completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    line = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_neurontop; "
    command = ["bash", "-c", line + 'echo "${COMPREPLY[@]}"']
    asked = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=True)
    return asked.stdout.split()


def test_bash_completes_commands_sub_commands_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "neurontop"
    script.write_text(capsys.readouterr().out)
    assert _completed(script, "neurontop", "ca") == ["cache"]
    assert _completed(script, "neurontop", "cache", "ev") == ["evict"]
    assert "--dry-run" in _completed(script, "neurontop", "cache", "evict", "--dr")
    assert _completed(script, "neurontop", "tally", "--js") == ["--json"]


@pytest.mark.parametrize(
    "words",
    ["diagnose", "watch --plain", "tally other.log", "report other.log -o", "cache ls", "run -- python", "cache apply"],
)
def test_bash_completes_the_names_of_files(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "neurontop"
    script.write_text(capsys.readouterr().out)
    (tmp_path / "train.log").touch()
    assert _completed(script, "neurontop", *words.split(), "trai") == ["train.log"]


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("zsh", "log files or recordings.*:_files"),
        ("fish", r"using diagnose; .*_complete_path"),
    ],
)
def test_other_shells_complete_the_names_of_files(shell: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert re.search(line, capsys.readouterr().out)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [row.name for row in COMMANDS if row.name not in script] == []


def test_the_whole_parser_reads_what_the_program_reads() -> None:
    arguments = whole_parser().parse_args(["cache", "ls", "--state", "failed"])
    assert [state.value for state in arguments.state] == ["failed"]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `make man` writes it."""
    page = tmp_path_factory.mktemp("man") / "neurontop.1"
    script = Path(__file__).parents[2] / "docs" / "manual.py"
    subprocess.run([sys.executable, "-W", "ignore", str(script), str(page)], check=True, capture_output=True)
    return page


def test_the_manual_page_names_every_command(manual: Path) -> None:
    text = manual.read_text()
    assert [row.name for row in COMMANDS if f"neurontop {row.name}" not in text] == []


def test_the_manual_page_says_what_the_program_is_and_keeps_the_lines_of_examples(manual: Path) -> None:
    text = manual.read_text()
    assert re.search(r"^\.SH NAME\nneurontop \\- Live observability", text, re.MULTILINE), "whatis and apropos read it"
    assert re.search(r"^\.nf\n    neurontop demo +in this terminal\n", text, re.MULTILINE)
    assert len(re.findall(r"^\.nf$", text, re.MULTILINE)) == len(re.findall(r"^\.fi$", text, re.MULTILINE))
    filled = re.sub(r"^\.nf\n.*?^\.fi$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in filled.splitlines() if line.startswith(" ")] == []


@pytest.mark.skipif(not shutil.which("man"), reason="no man here")
def test_man_shows_the_page_without_a_complaint(manual: Path) -> None:
    command = ["man", "--warnings", "--local-file", str(manual)]
    environ = os.environ | {"MANPAGER": "cat", "MANWIDTH": "100"}
    result = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "neurontop cache ls" in result.stdout
