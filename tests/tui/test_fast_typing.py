"""Keys that come faster than the program draws: each does what it would have done at leisure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tui.test_terminal import NEURONTOP, Tmux

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: apt-get install tmux"),
]


def test_a_screen_a_filter_and_its_letters_in_one_burst_are_not_taken_for_other_keys(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"line n{number}\n" for number in range(500)))
    tmux = Tmux(tmp_path)
    try:
        tmux.open(f"{NEURONTOP} watch {log}")
        tmux.until("line n499")
        tmux.press("5", "/", *"line n42", "Enter")
        shown = tmux.until("'line n42'", "line n429")
        assert "line n430" not in shown
    finally:
        tmux("kill-server")
