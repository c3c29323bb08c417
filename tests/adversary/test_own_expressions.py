"""Our own regular expressions on lines that were written against them: what takes long there grows with the square of
a line, and a process of its own that has far too much time for all of them is what it does not end in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.adversary.attacker import LONG

PATIENCE = 3000.0 if LONG else 240.0
HERE = Path(__file__).parents[2]

HEADED = "2026-01-05 10:00:00.000001:  12345  INFO ||NEURON_CC_WRAPPER||: "
LINES = {
    "blanks before what could be a progress bar": HEADED + "x" + " " * 60_000 + "{'",
    "blanks and a bar that is none": HEADED + "Compilation" + " \t" * 30_000 + "%|",
    "a bar of many parts": HEADED + "x" + " 1%" * 20_000 + "%|",
    "dots": "." * 60_000 + "x",
    "dots and blanks": "." + " ." * 30_000,
    "brackets": HEADED + "['" * 30_000,
    "headers in a row": HEADED * 900,
}
"""Near the longest line that is read as one."""

READ_OFTEN = """
import sys
from neuron_top.parsers.reader import LogReader
from tests.adversary.test_own_expressions import LINES
line = LINES[sys.argv[1]].encode()
for number in range(30):
    reader = LogReader("log:a")
    reader.feed(line + b"\\n")
    reader.flush()
"""

UNITS = ("a", " ", "1", ".", "[", "=") if not LONG else (
    "a", " ", "1", ".", "-", "=", "/", ",", ":", "'", '"', "[", "]", "(", ")", "{", "}", "|", "_", "A", "\t", "\r", "é",
    "\x1b[", "a ", "1 ", "a/", "a.", "A.", "['a", "', '", "{'a':", "1:", "% ", "a=1 ", "://", "://a@", '{"a": ',
    "neff at /a",
)  # fmt: skip
MARKED = """
from neuron_top.parsers.families import KEYWORDS
from neuron_top.parsers.reader import LogReader
from tests.adversary.test_own_expressions import HEADED, LONG, UNITS
marks = [""] + [mark if isinstance(mark, str) else mark.decode() for mark in KEYWORDS]
for mark in marks[:: 1 if LONG else 16]:
    for unit in UNITS:
        many = unit * (60_000 // len(unit))
        for line in (mark + many, many + mark, HEADED + mark + " " + many):
            reader = LogReader("log:a")
            reader.feed(line.encode() + b"\\n")
            reader.flush()
"""


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_was_written_against_the_parsers_is_read(name: str) -> None:
    subprocess.run([sys.executable, "-c", READ_OFTEN, name], check=True, timeout=PATIENCE, cwd=HERE)


@pytest.mark.timeout(PATIENCE + 60)
def test_whatever_is_repeated_beside_any_mark_is_read() -> None:
    subprocess.run([sys.executable, "-c", MARKED], check=True, timeout=PATIENCE, cwd=HERE)


SHAPED = """
from neuron_top.explain.signature import arrays
assert len(arrays("f32[8,128], (bf16[2], s64[])")) == 3
for text in ("a" * 200_000, "a1" * 100_000 + "[", "a[" * 100_000, "f32[" + "1," * 100_000):
    arrays(text)
"""


def test_shapes_of_a_graph_that_somebody_else_wrote_are_read() -> None:
    subprocess.run([sys.executable, "-c", SHAPED], check=True, timeout=PATIENCE, cwd=HERE)
