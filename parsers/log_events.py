"""Unwraps what `aws logs get-log-events` and `filter-log-events` print: CloudWatch's events as one JSON document, over
many lines. An event's message is what a program printed; the other members of the document are CloudWatch's own.
"""

from __future__ import annotations

import msgspec

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_lines

HEADING = '"events": ['
"""How the list of events begins, on a line of its own."""
_BEGIN = late_pattern(r"\s{1,8}\"events\": \[\s*$")
_MEMBER = late_pattern(r"\s+\"(?P<name>\w{1,40})\": (?P<value>.+?),?\s*$")
_INDENT = " " * 12 + '"'
_OWN = ("message", "timestamp", "ingestionTime", "eventId", "logStreamName")
_BRACE = late_pattern(r"\s+[{}],?\s*$")


class LogEvents:
    """One stream's lines, of which some may be such a list."""

    def __init__(self) -> None:
        self.open = False
        """Whether a list has begun and not ended."""
        self._milliseconds: object = None

    def take(self, text: str) -> list[str]:
        """The lines that a program printed, of one line of the stream: its message, none of CloudWatch's own members,
        and the line itself outside of a list."""
        if not self.open:
            self.open = HEADING in text and _BEGIN.match(text) is not None
            return [] if self.open else [text]
        member = _MEMBER.match(text)
        if member is None:
            self.open = _BRACE.match(text) is not None
            return [] if self.open or text.strip() in ("]", "],") else [text]
        try:
            value = msgspec.json.decode(member["value"])
        except ValueError:
            return [text]
        if member["name"] == "timestamp":
            self._milliseconds = value
        if member["name"] != "message" or not isinstance(value, str):
            return []
        return json_lines.stamped(value, self._milliseconds)


def message_in(text: str) -> str | None:
    """What a program printed, of a line by itself that stands as far in as the AWS CLI prints it; "" for a line of
    CloudWatch's own, None for any other."""
    member = _MEMBER.match(text) if text.startswith(_INDENT) else None
    if member is None or member["name"] not in _OWN:
        return None
    if member["name"] != "message":
        return ""
    try:
        value = msgspec.json.decode(member["value"])
    except ValueError:
        return None
    return value if isinstance(value, str) else None
