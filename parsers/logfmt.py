"""Reads logfmt: the fields in which loggers of Go programs write, such as the device plugin and neuron-profile.

time="2026-03-04T10:00:00Z" level=error msg="could not list devices" error="no such file"
"""

from __future__ import annotations

from typing import NamedTuple

from neuron_top.late_pattern import late_pattern

_LEVEL = late_pattern(r"(?<![\w-])level=\"?(?P<level>[a-zA-Z]{3,8})\"?")
"""Not an option of a program, `--log-level=error`."""
_WITHIN = 400
"""Characters within which the level stands: stamp, caller and logger may come before it."""
_SAID = late_pattern(r"\b(msg|message|err|error|reason)=(\"(?:[^\"\\]|\\.){0,2000}\"|\S{1,500})")


class LogfmtLine(NamedTuple):
    """What a line of logfmt says."""

    level: str
    """As it was printed."""
    words: str
    """Its message and error, joined; "" where it has neither."""


def read(text: str) -> LogfmtLine | None:
    """What a line says; None if it has no level in this form."""
    found = _LEVEL.search(text, 0, _WITHIN)
    if found is None:
        return None
    said = (
        value[1:-1].replace('\\"', '"') if value[:1] == '"' and len(value) > 1 else value
        for _, value in _SAID.findall(text)
    )
    return LogfmtLine(found["level"], ": ".join(said))


def without_level(text: str) -> str:
    """The text of a line that has neither message nor error."""
    return _LEVEL.sub("", text)
