"""Numbers that are out of bounds or none: a usage error that says what is expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neuron_top.cli.main import main


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("demo --web --port -3", "'-3' is no port: must be between 0 and 65535"),
        ("agent --metrics-port 70000", "'70000' is no port: must be between 0 and 65535"),
        ("agent --metrics-port -2", "'-2' is no port: must be between 0 and 65535"),
        ("serve --port 65536", "'65536' is no port: must be between 0 and 65535"),
        ("serve --port 8.5", "'8.5' is no port: must be between 0 and 65535"),
        ("replay last --speed x", "'x' is not a number"),
        ("replay last --speed nan", "must lie between 0.001 and 1000"),
        ("report last --price -1", "must be an amount of money, 0 or more"),
        ("check last --max-compile-share 1.5", "must lie between 0 and 1"),
        ("compare last~ last --max-slowdown nan", "must be -1 or more"),
        ("compare last~ last --max-memory-growth -2", "must be -1 or more"),
        ("check last --max-late x", "'x' is not a number"),
        ("fleet top --count 0", "argument --count: must be a whole number, 1 or more, and is '0'"),
        ("fleet blame --graphs x", "must be a whole number, 1 or more, and is 'x'"),
        ("fleet init --print-sql --from -1", "must be a whole number, 0 or more, and is '-1'"),
        ("cache pull s3://bucket/prefix --streams 0", "must be a whole number, 1 or more, and is '0'"),
        ("cache retry -j 1.5", "must be a whole number, 1 or more, and is '1.5'"),
        ("compile -j 0 -- true", "argument -j/--jobs: must be a whole number, 1 or more, and is '0'"),
        ("compile --retries -1 -- true", "argument --retries: must be a whole number, 0 or more, and is '-1'"),
        (f"compile --on slurm --cores {'9' * 5000} -- true", "must be a whole number, 1 or more"),
    ],
)
def test_a_number_out_of_bounds_is_a_usage_error(
    command: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(command.split())
    assert end.value.code == 2
    assert expected in capsys.readouterr().err


def test_retries_that_a_variable_says_wrongly_are_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURON_PARALLEL_COMPILE_MAX_RETRIES", "many")
    assert main(["compile", "--", "true"]) == 2
    expected = "NEURON_PARALLEL_COMPILE_MAX_RETRIES must be a whole number, 0 or more, and is 'many'"
    assert expected in capsys.readouterr().err


def test_thresholds_that_nothing_is_measured_against_are_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "a.log"
    log.write_text("step 1 loss 2\n")
    for names in ([log, log, log], [tmp_path, tmp_path]):
        assert main(["compare", *map(str, names), "--max-slowdown", "0.1"]) == 2
        assert "--max-slowdown judges one run by another: name two runs" in capsys.readouterr().err


def test_a_dash_as_output_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "a.log"
    log.write_text("step 1 loss 2\n")
    assert main(["report", str(log), "--json", "-o", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "a.log"
    assert list(tmp_path.iterdir()) == [log]
