"""Lines that were joined into one: any line is parted in a time that its length bounds."""

from __future__ import annotations

import time

from neuron_top.diagnose.joined_lines import parts

FRAME = ' File "plan.py", line 1, in load'


def test_blanks_between_frames_take_no_time() -> None:
    begun = time.process_time()
    lines = parts(FRAME + " " * 30_000 + "During" + FRAME + " ValueError: no plan")
    assert lines[-1] == "ValueError: no plan"
    assert time.process_time() - begun < 2


def test_a_line_with_one_header_stays_one() -> None:
    line = "2024-05-06 10:00:00,123 - mesh - ERROR - could not load the plan: " + "x" * 200 + " ERROR"
    assert parts(line) == [line]
