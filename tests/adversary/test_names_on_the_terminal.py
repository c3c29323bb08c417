"""Names that others chose, in what our commands print: of files, folders, recordings and variables."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from neuron_top.cli.main import main
from neuron_top.cli.output import json_text
from neuron_top.events import RunStarted
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from tests.adversary.attacker import ESCAPES, unprintable

Said = Callable[..., str]
MODULE = "MODULE_1234567890+abcdef01"
NO_TEXT = os.fsdecode(b"\xff\xfe")
"""A file name that is no UTF-8: printing it as it is ends a program."""


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Said:
    """What `neurontop …` prints on both streams, in a folder of the test's. The streams take strict UTF-8 only."""
    monkeypatch.chdir(tmp_path)

    def printed(*arguments: str, environ: Mapping[str, str] | None = None) -> str:
        with monkeypatch.context() as patch:
            for name, value in (environ or {}).items():
                patch.setenv(name, value)
            with contextlib.suppress(SystemExit):
                main(arguments)
        shown = capsys.readouterr()
        return shown.out + shown.err

    return printed


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with names that are escape sequences wherever a name is free."""
    root = tmp_path / f"cache{ESCAPES}"
    entry = root / "neuronxcc-2.21.1+abc" / MODULE
    entry.mkdir(parents=True)
    (root / f"neuronxcc-{ESCAPES}" / MODULE).mkdir(parents=True)
    (root / ESCAPES).mkdir()
    (root / NO_TEXT).mkdir()
    (entry / ESCAPES).touch()
    (entry / NO_TEXT).touch()
    (entry / "model.log").write_text(f"ERROR {ESCAPES}: failed\n[NCC_E{ESCAPES}]\n")
    (entry / "compile_flags.json").write_text(json.dumps([f"--x={ESCAPES}"]))
    (entry / "model.hlo_module.pb.lock").write_text(ESCAPES)
    return root


@pytest.mark.parametrize(
    "command",
    [
        ["cache", "ls"],
        ["cache", "stats"],
        ["cache", "show", MODULE],
        ["cache", "verify"],
        ["cache", "retry", "--dry-run"],
        ["cache", "unlock", "--dry-run"],
        ["cache", "evict", "--older-than", "0s", "--dry-run"],
        ["cache", "journal"],
        ["explain", MODULE, "--cache"],
    ],
    ids=" ".join,
)
def test_hostile_names_in_a_cache_are_printed_safely(command: list[str], cache: Path, said: Said) -> None:
    assert unprintable(said(*command, str(cache))) == []


@pytest.mark.parametrize("name", [ESCAPES, NO_TEXT], ids=["escapes", "no text"])
@pytest.mark.parametrize(
    "command",
    [
        ["tally"],
        ["report"],
        ["watch"],
        ["runs"],
        ["cache", "ls"],
        ["explain"],
        [],
        ["telemetry", "--once", "--source"],
        ["compare", "last"],
        ["check"],
        ["replay", "--plain"],
        ["run", "--plain", "--"],
        ["cache"],
        ["cache", "apply"],
        ["cache", "ls", "--state"],
    ],
    ids=" ".join,
)
def test_hostile_arguments_are_printed_safely(command: list[str], name: str, said: Said) -> None:
    """`neurontop tally *` in a folder of somebody else's."""
    assert unprintable(said(*command, name)) == []


@pytest.mark.parametrize("name", [f"{ESCAPES}.log", f"{NO_TEXT}.log"], ids=["escapes", "no text"])
@pytest.mark.parametrize("command", [["tally"], ["report"], ["watch"], ["check"], ["tally", "--json"]], ids=" ".join)
def test_logs_with_hostile_names_are_printed_safely(command: list[str], name: str, tmp_path: Path, said: Said) -> None:
    (tmp_path / name).write_text(
        f"2026-01-01 10:00:00.000001: 1 INFO ||NEURON_CC_WRAPPER||: Using a cached neff at {ESCAPES}/{MODULE}/x\n"
        f"step 3 loss 2.5 {ESCAPES}\nTraceback (most recent call last):\nRuntimeError: {ESCAPES}\n"
    )
    assert unprintable(said(*command, name)) == []


def test_a_recording_of_a_job_with_such_a_name(tmp_path: Path, said: Said) -> None:
    with SqliteStore(tmp_path / FILE_NAME) as store:
        started = RunStarted(
            run="20260101-1",
            name=ESCAPES,
            command=(ESCAPES, "x"),
            directory=ESCAPES,
            at=1.0,
            node=ESCAPES,
            environment={ESCAPES: ESCAPES},
            git_revision=ESCAPES,
        )
        store.begin(started, now=1.0)
        store.append("20260101-1", [started], 2.0)
        store.finish("20260101-1", 1, 3.0, b"{}")
    environ = {"NEURONTOP_STATE_DIR": str(tmp_path)}
    commands = ["runs"], ["runs", "--json"], ["report", "last"], ["check", "last"], ["compare", "last", "last"]
    for command in commands:
        assert unprintable(said(*command, environ=environ)) == [], command


def test_variables_in_the_doctors_findings(said: Said) -> None:
    names = (
        "NEURON_CC_FLAGS",
        "NEURON_COMPILE_CACHE_URL",
        "NEURON_CC_CACHE_DIR",
        "NEURON_RT_VISIBLE_CORES",
        "NEURON_RT_NUM_CORES",
        "NEURON_FRAMEWORK_DEBUG",
        "XLA_FLAGS",
        "NEURON_RT_ROOT_COMM_ID",
    )
    environ = dict.fromkeys(names, f"/x{ESCAPES}")
    assert unprintable(said("doctor", environ=environ)) == []
    assert unprintable(said("config", environ={"NEURONTOP_CACHE_PINS": ESCAPES})) == []
    assert unprintable(said("cache", "roots", environ=environ)) == []


def test_hostile_lines_through_a_pipe_are_printed_safely() -> None:
    log = f"step 3 loss 2.5 {ESCAPES}\nTraceback (most recent call last):\nRuntimeError: {ESCAPES}\n"
    shown = subprocess.run(
        [sys.executable, "-m", "neuron_top", "watch", "--plain", "-"],
        input=log.encode(),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert unprintable((shown.stdout + shown.stderr).decode()) == []


def test_json_is_the_same_value_and_steers_nothing() -> None:
    value = {f"{ESCAPES}{NO_TEXT}": [f"{ESCAPES}{NO_TEXT}", 1.5, None]}
    for text in (json_text(value), json_text(value, indent=2)):
        assert unprintable(text) == []
        assert json.loads(text) == value


def test_a_number_that_json_lacks_is_null_beside_any_name() -> None:
    for name in ("log", NO_TEXT):
        value = {name: [float("nan"), {"most": float("inf")}, (1.5,)]}
        assert json.loads(json_text(value), parse_constant=pytest.fail) == {name: [None, {"most": None}, [1.5]]}
