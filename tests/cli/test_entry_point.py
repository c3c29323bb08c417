"""The command line's entry point: help at once, clear errors, documented exit codes."""

import subprocess
import sys

import pytest

from neuron_top import __version__
from neuron_top.cli import main as entry_point

HEAVY = {"textual", "dash", "plotly", "pandas", "torch", "psycopg"}


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_top", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_help_lists_every_command_and_the_exit_codes() -> None:
    result = started("--help")
    assert result.returncode == 0
    for row in entry_point.COMMANDS:
        assert f"  {row.name} " in result.stdout
    assert "exit status" in result.stdout


def test_version_is_printed() -> None:
    assert started("--version").stdout == f"neurontop {__version__}\n"


def test_an_unknown_command_is_a_usage_error_that_names_the_known_ones() -> None:
    result = started("explode")
    assert result.returncode == 2
    assert "explode" in result.stderr
    assert "tally" in result.stderr


@pytest.mark.parametrize("row", entry_point.COMMANDS, ids=lambda row: row.name)
def test_every_command_teaches_itself_without_loading_a_screen(row: entry_point.Command) -> None:
    code = (
        f"import sys; from neuron_top.cli.main import main\n"
        f"try: main([{row.name!r}, '--help'])\nexcept SystemExit as end: assert not end.code, end.code\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr.strip() == "[]"
    assert len(result.stdout) > 120, "help that says too little"


def test_a_reader_that_goes_away_is_no_failure() -> None:
    pipeline = f"{sys.executable} -m neuron_top config | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.strip() == "0"
    assert "Traceback" not in result.stderr


def test_an_overview_is_drawn_without_what_reads_logs_for_causes() -> None:
    code = "import sys, neuron_top.views.overview; print('neuron_top.diagnose.diagnoser' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.strip() == "False", result.stderr
