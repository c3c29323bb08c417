"""`neurontop tally` as a user runs it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parsers.logs import FOLDER, M1, g2, g3

LOG = "noise\n" + g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff") * 3
FAILED = g3("Failed compilation with ['x']:", level="ERROR") + "[F137] killed\n[libneuronxla 1.0+ab]\n"


def tally(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "neuron_top", "tally", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_one_file_gives_its_object_alone_and_several_give_one_each(tmp_path: Path) -> None:
    first, second = tmp_path / "a.log", tmp_path / "b.log.gz"
    first.write_text(LOG)
    second.write_bytes(gzip.compress(LOG.encode()))
    alone = json.loads(tally("--json", str(first)).stdout)
    assert (alone["hits"], alone["lines"], alone["modules_hit"]) == (3, 4, [M1])
    assert json.loads(tally("--json", str(first), str(second)).stdout) == {str(first): alone, str(second): alone}


def test_standard_input_is_read_and_summarized_by_graph() -> None:
    result = tally("-", stdin=LOG)
    assert result.returncode == 0
    row = next(line for line in result.stdout.splitlines() if line.startswith(M1))
    assert row.split()[1] == "3"


def test_one_line_of_one_process_is_counted_as_one() -> None:
    shown = tally("-", stdin=g3("Using a cached neff at x/model.neff")).stdout
    assert "standard input: 1 line, " in shown
    assert shown.splitlines()[1].endswith(", 1 process")


GAVE_UP = g2(f"Compilation failed for /tmp/w/model.{M1}.hlo.pb after 0 retries.", level="ERROR")
WHY = g2(f"Failed compilation with ['x', '/tmp/w/model.{M1}.hlo.pb']: out of memory", level="ERROR")


@pytest.mark.parametrize("log", [GAVE_UP, WHY + GAVE_UP], ids=["without a reason", "behind its reason"])
def test_a_graph_that_the_wrapper_gave_up_has_failed_once(log: str) -> None:
    shown = tally("-", stdin=g2(f"Call compiler with cmd: neuronx-cc /tmp/w/model.{M1}.hlo.pb") + log).stdout
    rows = [line.split() for line in shown.splitlines()]
    assert ["compiles", "failed", "1"] in rows
    assert next(row for row in rows if row[:1] == [M1])[1:3] == ["1", "1"]


def test_a_missing_file_is_a_usage_error_with_a_clear_message(tmp_path: Path) -> None:
    result = tally("--json", str(tmp_path / "none.log"))
    assert (result.returncode, result.stdout) == (2, "")
    assert "none.log: No such file or directory" in result.stderr


def test_the_files_that_can_be_read_are_counted_beside_one_that_cannot(tmp_path: Path) -> None:
    log, failed, missing = tmp_path / "a.log", tmp_path / "b.log", tmp_path / "none.log"
    log.write_text(LOG)
    failed.write_text(FAILED)
    result = tally("--json", str(missing), str(log))
    assert (result.returncode, list(json.loads(result.stdout))) == (2, [str(log)])
    assert result.stderr.count("none.log: No such file or directory") == 1
    result = tally(str(log), str(missing))
    assert (result.returncode, result.stdout.startswith(f"{log}: 4 lines")) == (2, True)
    assert tally("--check", str(failed), str(missing)).returncode == 1
    result = tally("--json", str(missing), str(tmp_path))
    assert (result.returncode, json.loads(result.stdout), len(result.stderr.splitlines())) == (2, {}, 2)


def test_binary_junk_is_read_without_complaint(tmp_path: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(bytes(range(256)) * 500)
    assert tally(str(junk)).returncode == 0


def test_check_turns_a_failure_into_the_exit_status() -> None:
    assert tally("--check", "-", stdin=LOG).returncode == 0
    result = tally("--check", "-", stdin=FAILED)
    assert result.returncode == 1
    assert "host memory" in result.stdout
