"""What `cli/output.py` prints."""

from __future__ import annotations

import sys

import pytest

from neuron_top.cli.output import table


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
