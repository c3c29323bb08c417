"""Names on the command line that are empty, as a shell passes them for variables that are not set."""

from __future__ import annotations

import pytest

from neuron_top.cli.main import main


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        (("fleet", "evict", "MODULE_1*", "--nodes", "", "--yes"), "--nodes"),
        (("fleet", "evict", "MODULE_1*", "--nodes", " , ", "--yes"), "--nodes"),
        (("fleet", "evict", "MODULE_1*", "--job", "", "--yes"), "--job"),
        (("fleet", "retry", "--graphs", "", "--all", "--yes"), "--graphs"),
        (("fleet", "undo", "1a2b3c", "--nodes", ""), "--nodes"),
        (("fleet", "check", "--nodes", ""), "--nodes"),
        (("fleet", "check", "--graphs", ""), "--graphs"),
        (("fleet", "nodes", "--job", ""), "--job"),
        (("fleet", "summary", ""), "JOB"),
        (("fleet", "blame", ""), "JOB"),
        (("watch", "--plain", "--job", ""), "--job"),
        (("serve", "--job", ""), "--job"),
        (("cache", "purge", "--plan", "", "--yes"), "--plan"),
        (("cache", "restore", ""), "PLAN"),
        (("cache", "evict", "", "--max-size", "0", "--yes"), "ROOT"),
        (("cache", "evict", "--max-size", "0", "--compiler", "", "--yes"), "--compiler"),
        (("cache", "pull", "elsewhere", "--for", ""), "--for"),
    ],
)
def test_a_name_that_is_empty_does_not_stand_for_all(
    words: tuple[str, ...], argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert f"argument {argument}: " in shown
    assert "names nothing; is a variable of the shell empty?" in shown


@pytest.mark.parametrize("seconds", ["nan", "-1", "soon"])
def test_a_wait_that_is_no_time_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fleet", "retry", "--all", "--wait", seconds, "--yes"])
    assert ended.value.code == 2
    assert "argument --wait: " in capsys.readouterr().err
