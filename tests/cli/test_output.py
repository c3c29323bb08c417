"""What commands print on terminals that are too narrow for it."""

from __future__ import annotations

import sys

import pytest

from neuron_top.cli.doctor import print_findings
from neuron_top.cli.output import broken_text, table
from neuron_top.services.doctor import CheckLevel, DoctorFinding


def test_a_column_of_names_is_cut_only_on_a_terminal_that_is_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ("20260101", "a run with a name of many words and tp 8", "completed")
    monkeypatch.setenv("COLUMNS", "50")
    assert row[1] in table(("run", "name", "state"), [row], names=1)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert table(("run", "name", "state"), [row], names=1).splitlines() == [
        "run       name                          state",
        "20260101  a run with a name o…and tp 8  completed",
    ]
    assert row[1] in table(("run", "name", "state"), [row])


def test_rows_that_do_not_fit_go_on_below_without_the_columns_of_which_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    header = ("module", "size", "used", "compiler", "")
    rows = [
        ("MODULE_1", "9 KiB", "—", "neuronxcc-2.21", ""),
        ("MODULE_2", "12 KiB", "—", "neuronxcc-2.21", "the compiler ran out of the memory of its host"),
    ]
    monkeypatch.setenv("COLUMNS", "44")
    assert len(table(header, rows, right=(1, 2)).splitlines()) == 3
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert table(header, rows, right=(1, 2)).splitlines() == [
        "module      size  compiler",
        "MODULE_1   9 KiB  neuronxcc-2.21",
        "MODULE_2  12 KiB  neuronxcc-2.21",
        "    the compiler ran out of the memory of",
        "    its host",
    ]
    monkeypatch.setenv("COLUMNS", "60")
    assert table(header, rows, right=(1, 2)).splitlines()[2:] == [
        "MODULE_2  12 KiB  neuronxcc-2.21  the compiler ran out of",
        "                                  the memory of its host",
    ]


def test_a_line_that_begins_elsewhere_goes_on_at_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    line = "  failed    12.0 KiB  neuronxcc-2.21/MODULE_0123"
    assert broken_text(line, 6, 0) == line
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert broken_text(line, 6, 0).splitlines() == ["  failed    12.0 KiB", "      neuronxcc-2.21/MODULE_0123"]


def test_findings_of_the_doctor_are_broken_between_words_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = DoctorFinding(
        check="caches",
        level=CheckLevel.NOTE,
        text="the cache is on a disk that is nearly full",
        next_step="remove old files",
    )
    monkeypatch.setenv("COLUMNS", "31")
    monkeypatch.setenv("NO_COLOR", "1")
    print_findings([finding])
    assert finding.text in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_findings([finding])
    assert capsys.readouterr().out.splitlines() == [
        "caches",
        "  note     the cache is on a",
        "           disk that is nearly",
        "           full",
        "           → remove old files",
    ]
