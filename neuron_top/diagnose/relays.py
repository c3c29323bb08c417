"""What a program prints around each line of another one that it relays: its own header, or an object of JSON.

It gives all of them one level, which says nothing of a line. A program whose own lines have all the same level looks
the same, so a relay is believed only once a line shows that another program printed it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_lines

_HEADER = late_pattern(
    rb"(?:[\[\d][\d :.,TZ/+-]{7,40}\]?[ |-]{1,3}(?:[\w.]{1,40}[ |-]{1,5})?)?"
    rb"\[?INFO\]?(?: {0,8}[|-] |:(?:[\w.]{1,40}:)? ?|(?<=\]) | [\w.]{1,40}: )(?:(?:Flow|Task) run '[^'\n]{1,100}' - )?"
)
"""A stamp, perhaps a name, and the level; Prefect puts the name behind it."""
_OBJECT = late_pattern(
    rb"^(\{\"(?:[^\n]{0,400}?,\s?\")??(?:message|msg|textPayload|line)\":\s?\")([^\n]*)$", re.MULTILINE
)
"""An object of JSON, up to what was printed."""
_OF_ANOTHER = late_pattern(
    rb"Traceback \(most recent call last\):|[ \t]{0,8}File \"[^\"\n]{1,400}\", line \d+, in "
    rb"|\[?(?:WARNING|(?:INTERNAL_)?ERROR|CRITICAL|FATAL)\b"
    rb"|(?i:(?:[\w./-]{1,40}(?: [\w-]{1,40}){0,2}: )?(?:(?:fatal )?error|fatal): )"
    rb"|\[ {0,6}\d{1,9}\.\d{6}\] |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    rb"|\[?\d{4}-(?:\d\d|[A-Z][a-z]{2})-\d\d[ T]\d\d:\d\d"
    rb"|make(?:\[\d{1,3}\])?: \*{3} |npm (?:ERR!|error) |\S{1,200}: line \d{1,6}: "
)
"""Lines that no program logs as its own at one level: frames of a traceback, lines with a level or a stamp, those of
make, npm and a shell."""


def header_of(line: bytes) -> bytes:
    """What a relay has put before this line, if it has; otherwise empty."""
    found = _HEADER.match(line)
    return found[0] if found is not None else b""


def objects_with_one_level(lines: Sequence[bytes]) -> re.Pattern[bytes] | None:
    """The form of these lines, if each is an object of JSON with the same level."""
    levels = {json_lines.level_of(line) for line in lines} if all(map(_OBJECT.match, lines)) else {None}
    return _OBJECT if len(levels) == 1 and None not in levels else None


def relayed(line: bytes, behind: bytes) -> bytes:
    """The line that was relayed: what stands behind the header, or an object's text."""
    return json_lines.without_level(line) if line.startswith(b"{") else behind


def shows_another(relayed_line: bytes) -> bool:
    """Whether this line, without what a relay has put before it, is another program's."""
    return _OF_ANOTHER.match(relayed_line) is not None
