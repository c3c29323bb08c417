"""Takes headers off the front of a statement, and notes what they tell about it.

A header is a timestamp, a program, a level, a logger, or several of these in a form of their own. Each reader here
takes one off and returns True; it returns False if the text begins with something else.
"""

from __future__ import annotations

from neuron_top.diagnose.headers import frameworks, levels, neuron, tools
from neuron_top.diagnose.statement import Statement
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

_MOST_HEADERS = 5
"""One after the other: timestamp, program, level, part of the program, level of what that quotes."""
_FRAME = 'File "'
_PYTHON_WARNING = late_pattern(r"(?:.{0,400}:\d{1,7}: )?\w{0,60}Warning: ")
"""`/path/file.py:12: UserWarning: …`, or the category alone."""


def read_header(statement: Statement) -> None:
    """Take headers off the front, one after another; the innermost level counts."""
    if statement.indent and statement.text.startswith(_FRAME, statement.indent):
        return  # every second line of a traceback, which may have thousands
    if _PYTHON_WARNING.match(statement.text.lstrip()):
        statement.level = LogLevel.WARNING
        return
    for _ in range(_MOST_HEADERS):
        before = statement.text
        for reader in _READERS:
            if reader(statement):
                break
        if statement.text == before:
            return


_READERS = (
    tools.passed_on,
    frameworks.glog,
    neuron.nccl,
    neuron.ucx,
    tools.level_alone,
    neuron.native,
    neuron.compiler,
    neuron.bare_runtime,
    tools.kernel,
    tools.tool,
    tools.ansible,
    tools.apptainer,
    tools.cross,
    tools.nested,
    tools.py4j,
    tools.petsc,
    tools.logrus,
    tools.logfmt,
    levels.stamp,
    levels.level,
)
