"""The command line's entry point: help at once, clear errors, documented exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top import __version__
from neuron_top.cli import main as entry_point

HEAVY = {"textual", "dash", "plotly", "pandas", "torch", "psycopg"}


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_top", *arguments]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, check=False)


def test_help_lists_every_command_and_the_exit_codes() -> None:
    result = started("--help")
    assert result.returncode == 0
    for row in entry_point.COMMANDS:
        assert f"  {row.name} " in result.stdout
    assert "exit status" in result.stdout
    assert "-V, --version" in result.stdout


def test_version_is_printed() -> None:
    first, *rest = started("--version").stdout.splitlines()
    assert first == f"neurontop {__version__}"
    assert re.match(r"Python +3\.\d+\.\d+", rest[0])


def test_version_names_what_is_installed_and_how_to_add_what_is_not(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "neuron-ls").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "neuron-ls").chmod(0o755)
    (tmp_path / "boto3").mkdir()
    (tmp_path / "boto3-9.8.7.dist-info").mkdir()
    (tmp_path / "boto3-9.8.7.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: boto3\nVersion: 9.8.7\n")
    code = (
        "import importlib.metadata as metadata, sys; from neuron_top.cli.main import main\n"
        "real = metadata.version\n"
        "def version(name):\n"
        "    if name == 'ray': raise metadata.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "metadata.version = version\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "main(['--version'])\n"
        f"assert not {HEAVY!r} & set(sys.modules)"
    )
    environ = {**os.environ, "PATH": str(tmp_path / "bin")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=environ
    )
    assert done.returncode == 0, done.stderr
    rows = dict(re.split(r"  +", line, maxsplit=1) for line in done.stdout.splitlines()[1:])
    assert rows["[s3]"] == "boto3 9.8.7"
    assert rows["[ray]"] == "not installed: pip install 'neuron-top[ray]'"
    assert rows["Neuron tools"] == str(tmp_path / "bin" / "neuron-ls")


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


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_locale_without_utf_8_spells_signs_in_ascii_and_keeps_json(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    log = tmp_path / "log → é.log"
    log.write_text("step 5: loss 0.1 → ok\nValueError: ≤ 5\n", encoding="utf-8")
    name = str(log)
    for arguments in (["--help"], ["doctor"], ["status", name], ["tally", name], ["report", name], ["runs", "é → 𝄞"]):
        result = started(*arguments)
        assert "Traceback" not in result.stderr, arguments
    assert "log > " in started("status", name).stdout
    for arguments in (["diagnose", "--json", name, "/dev/null"], ["status", "--json", name]):
        result = started(*arguments)
        assert result.stdout.isascii()
        assert "log → é.log" in json.dumps(json.loads(result.stdout), ensure_ascii=False)
    page = started("report", "--format", "html", name).stdout
    assert page.isascii()
    assert "log &#8594; &#233;.log" in page


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [(("compare", "last"), "B"), (("compare",), "A, B"), (("replay",), "RUN")],
)
def test_only_what_is_required_is_named_as_missing(arguments: tuple[str, ...], missing: str) -> None:
    result = started(*arguments)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].endswith(f"the following arguments are required: {missing}")


@pytest.mark.parametrize(
    ("command", "status"), [("demo", 0), ("tally none.log", 2), ("runs rm last", 3), ("explode", 2), ("cache roots", 0)]
)
def test_closed_standard_streams_are_no_crash(
    command: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    for closed in ("<&-", "2>&-", "<&- 2>&-"):
        line = f"{sys.executable} -m neuron_top {command} {closed}"
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, (closed, done.stderr)
        assert "usage:" not in done.stdout
        assert "Traceback" not in done.stderr


def test_the_state_folder_is_shown_and_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NEURONTOP_STATE_DIR", raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    found = {}
    for name, given in (("XDG_STATE_HOME", "relative"), ("XDG_STATE_HOME", "/xdg"), ("NEURONTOP_STATE_DIR", "here")):
        monkeypatch.setenv(name, given)
        found[given] = json.loads(started("config", "--json").stdout)["state_dir"]["value"]
    assert found == {
        "relative": str(tmp_path / ".local/state/neuron-top"),
        "/xdg": "/xdg/neuron-top",
        "here": str(tmp_path / "here"),
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json", "status"), "neurontop status … --json"),
        (("--json", "fleet", "jobs"), "neurontop fleet … --json"),
        (("--yes", "--json", "cache", "evict"), "neurontop cache … --yes --json"),
    ],
)
def test_options_before_a_command_are_no_view_of_a_log_of_that_name(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        entry_point.main(words)
    assert ended.value.code == 2
    assert f"options follow the command: {said}" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("fleet jobs", 2),
        ("agent --once", 2),
        ("watch --job pretrain", 2),
        ("run -- true", 2),
        ("runs", 2),
        ("doctor --problems", 1),
    ],
)
def test_without_the_extra_for_fleets_every_command_names_it(
    words: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("NEURONTOP_STORE", "postgresql://127.0.0.1:1/none")
    code = (
        "import sys; sys.modules['psycopg'] = None; from neuron_top.cli.main import main; "
        f"sys.exit(main({words.split()}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "a PostgreSQL store needs psycopg: pip install 'neuron-top[fleet]'" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == status
