"""What stands before every line of a log: an indentation, the number of srun's task, the number of the line.

Web pages and test runners indent a whole log, `srun --label` puts its task's number before each line (`3: `), and
`cat -n`, `grep -n` and editors that of the line. The number alone proves nothing, since programs print it, too; so it
is taken off where a log's first lines have it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from neuron_top.late_pattern import late_pattern

_LINES = 60
_BYTES = 8192
"""Of a log: its beginning, which shows the margin."""
QUOTE = late_pattern(rb"^> ?", re.MULTILINE)
_TASK = late_pattern(rb"^( {0,5}\d{1,5}: )(.*)$", re.MULTILINE)
_LINE_NUMBER = late_pattern(rb"^([ \t]{0,7}\d{1,7}(?:[:|]|\t|\b(?=[ \r\n]|\Z)))(.*)$", re.MULTILINE)
_SEPARATORS = b" \t:|"
_FEWEST = 3
"""Lines that prove such numbers, if all have them: a program's own list may have one or two."""
_LAST = 5
"""Lines with tasks behind others without: what a batch script prints itself, srun does not number."""


class Margin(NamedTuple):
    """The margin of a log."""

    indent: int = 0
    """By how much the lines are indented, behind their number."""
    label: re.Pattern[bytes] | None = None
    """A line with a number, and the rest of it."""
    is_task: bool = False
    """The number is that of a task."""

    def split(self, line: bytes) -> tuple[int | None, bytes]:
        """The task that the margin of a line names, and the line without its margin."""
        task, found = None, self.label.match(line) if self.label is not None else None
        if found is not None:
            task, line = int(found[1].strip(_SEPARATORS)) if self.is_task else None, found[2]
        return task, line if line[: self.indent].strip() else line[self.indent :]

    def behind(self, block: bytes) -> bytes:
        """The block with the margin of each line behind the line, so that positions are still in their lines."""
        if self.label is not None:
            block = self.label.sub(rb"\2\1", block)
        return re.sub(rb"(?m)^( {%d})(.*)$" % self.indent, rb"\2\1", block) if self.indent else block


NO_MARGIN = Margin()


def is_shown_by(beginning: bytes) -> bool:
    """Whether a log's first lines are as many as its margin is taken from: whatever follows does not change it."""
    return beginning.count(b"\n") >= _LINES or len(QUOTE.sub(b"", beginning)) >= _BYTES


def margin_of(beginning: bytes) -> Margin:
    """The margin that a log's first lines show, quoted or not."""
    lines = QUOTE.sub(b"", beginning)[:_BYTES].split(b"\n")[:_LINES]
    while lines and not lines[-1].strip():
        lines.pop()
    label = _label_of(lines)
    margin = Margin(label=label, is_task=label is _TASK)
    rest = [margin.split(line)[1] for line in lines]
    return margin._replace(indent=min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0))


def _label_of(lines: Sequence[bytes]) -> re.Pattern[bytes] | None:
    if len(lines) < _FEWEST:
        return None
    numbers = [int(found[1].strip(_SEPARATORS)) for found in map(_LINE_NUMBER.match, lines) if found is not None]
    if len(numbers) == len(lines) and all(after == before + 1 for before, after in pairwise(numbers)):
        return _LINE_NUMBER
    printed = [line for line in lines if line.strip()][-_LAST:]
    return _TASK if len(printed) >= _FEWEST and all(map(_TASK.match, printed)) else None
