"""What stands before every line of a log: an indentation, a number, or the name of who printed it.

Web pages and test runners indent a whole log. `srun --label` puts its task's number before each line (`3: `), `pdsh`
its host (`node12: `), GitLab a stamp and a stream, others a name (`[worker-3] `, `app | `), and `cat -n`, `grep -n` and
editors the number of the line. A program that relays another one's lines puts its own header before each, with one
level for all. None of these proves anything by itself, since programs print such things, too; so it is taken off where
a log's first lines all have it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import NamedTuple

from neuron_top.diagnose import relays
from neuron_top.diagnose.learned_prefixes import rank_in
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import prefixes

_LINES = 60
_BYTES = 8192
"""Of a log: its beginning, which shows the margin."""
QUOTE = late_pattern(rb"^> ?", re.MULTILINE)
_TASK = late_pattern(rb"^( {0,5}\d{1,5}: )(.*)$", re.MULTILINE)
_LINE_NUMBER = late_pattern(rb"^([ \t]{0,7}\d{1,7}(?:[:|]|\t|\b(?=[ \r\n]|\Z)))(.*)$", re.MULTILINE)
_SERVICES = late_pattern(rb"^(\d{4}-\d\d-\d\dT[\d:.]{8,18}Z \d\d[OE]\+? ?|\d{13}[ \t])(.*)$", re.MULTILINE)
"""GitLab's stamp and stream, and CloudWatch's milliseconds."""
_LEVELS = rb"(?:trace|debug|info|notice|warn(?:ing)?|error|err|critical|fatal|success)\b"
_BAR = late_pattern(
    rb"^((?:\d\d:\d\d:\d\d (?=[\w ])|(?=\w))(?!(?i:%b))(?:[A-Za-z][\w.-]{0,60})? {0,30}\|(?: |$))(.*)$" % _LEVELS,
    re.MULTILINE,
)
"""The services of `docker compose` and the processes of `foreman`, each with its name."""
_SEPARATORS = b" \t:|"
_FEWEST = 3
"""Lines that prove a margin, if all have it: a program's own list may have one or two."""
_MOST_LABELS = 3
"""Of a margin: a platform's stamp, a service's name, an indentation."""
_LAST = 5
"""Lines with a task or a service behind others without: what a batch script prints itself, srun does not number."""
_NAME = late_pattern(
    rb"(?:\d\d:\d\d:\d\d )?(?P<name>[a-z][a-z\d-]{2,60}-[a-z\d]{1,10} [a-z][a-z\d-]{1,40} |\[[\w./: @-]{1,40}\](?: |:)"
    rb"|\w[\w./ -]{0,40}?(?: \| |> )|(?=[\w.-]*\d|std(?:out|err): )[A-Za-z\d][\w.-]{0,60}: "
    rb"|(?=\S*\d)[\w./:=@-]{1,60}\t|# )"
)
"""Who printed a line: in brackets, before a bar or an angle, a host with a number in its name, or a pod and its
container; `foreman` puts the time of day before the name."""
_OF_LOGGERS = late_pattern(rb"(?i)\d\d:\d|\[[\d. ]+\]|\b%b|\b[diwef]\b" % _LEVELS)
"""What a logger puts before its own lines: a stamp, a process or a level."""


class Words(NamedTuple):
    """A line without its margin, and who printed it, as far as the margin says so."""

    line: bytes
    task: int | None = None
    """The number of srun's task."""
    printer: str = ""
    """The name of a host, a worker or a container."""
    rank: int | None = None
    """That which the name says."""


class Kind(Enum):
    """What a label says."""

    TASK = auto()
    """The number of srun's task."""
    PRINTER = auto()
    """Who printed the line."""
    HOST = auto()
    """The same, if the name has a number in it."""
    RELAY = auto()
    """That another program relays the line, in its own form: its level is not the line's."""
    NOTHING = auto()


class Label(NamedTuple):
    """What stands before each line."""

    split: re.Pattern[bytes]
    """A line with it, as two groups: the label and the rest."""
    kind: Kind = Kind.NOTHING

    def off(self, words: Words) -> Words:
        """Take it off a line."""
        found = self.split.match(words.line)
        if found is None:
            return words
        if self.kind is Kind.RELAY:
            return words._replace(line=relays.relayed(words.line, found[2]))
        words = words._replace(line=found[2])
        if self.kind is Kind.TASK:
            return words._replace(task=int(found[1].strip(_SEPARATORS)))
        if self.kind is Kind.NOTHING or (self.kind is Kind.HOST and re.search(rb"\d", found[1]) is None):
            return words
        name = found[1].decode("utf-8", "replace")
        return words._replace(printer=name, rank=rank_in(name))


class Margin(NamedTuple):
    """The margin of a log: its labels, from the left."""

    labels: tuple[Label, ...] = ()
    relay: Label | None = None
    """What stands behind them and is a relay's, if a line shows that another program printed it."""

    def shown_by(self, line: bytes) -> Margin:
        """The margin that this line shows, too: with the relay, if another program than it has printed the line."""
        if self.relay is None or not relays.shows_another(self.relay.off(self.split(line)).line):
            return self
        return Margin((*self.labels, self.relay))

    def split(self, line: bytes) -> Words:
        """Take the margin off a line."""
        words = Words(line)
        for label in self.labels:
            words = label.off(words)
        return words

    def behind(self, block: bytes) -> bytes:
        """The block with the margin of each line behind the line, so that positions are still in their lines."""
        for label in self.labels:
            block = label.split.sub(rb"\2\1", block)
        return block


NO_MARGIN = Margin()
_OF_THE_LAST = (Label(_TASK, Kind.TASK), Label(_SERVICES), Label(_BAR, Kind.PRINTER))
"""Labels that the last lines of the beginning show."""


def is_shown_by(beginning: bytes) -> bool:
    """Whether a log's first lines are as many as its margin is taken from: whatever follows does not change it."""
    return beginning.count(b"\n") >= _LINES or len(QUOTE.sub(b"", beginning)) >= _BYTES


def margin_of(beginning: bytes) -> Margin:
    """The margin that a log's first lines show, quoted or not."""
    text = QUOTE.sub(b"", beginning)
    whole = text if len(text) <= _BYTES else text[:_BYTES].rpartition(b"\n")[0] or text[:_BYTES]
    lines = whole.split(b"\n")[:_LINES]
    while lines and not lines[-1].strip():
        lines.pop()
    labels = list[Label]()
    while len(labels) < _MOST_LABELS:
        label = _label_of(lines)
        if label is None:
            break
        without = [label.off(Words(line)).line for line in lines]
        if label.kind is Kind.RELAY and not any(map(relays.shows_another, without)):
            return Margin(tuple(labels), label)
        labels.append(label)
        lines = without
    return Margin(tuple(labels))


def _label_of(lines: Sequence[bytes]) -> Label | None:
    """What stands first before all of these lines."""
    printed = [line for line in lines if line.strip()]
    indent = min((len(line) - len(line.lstrip(b" ")) for line in printed), default=0)
    label = _number_of(lines) or _name_of(printed) or _relay_of(printed) if len(printed) >= _FEWEST else None
    return label if label or not indent else Label(re.compile(rb"(?m)^( {%d})(.*)$" % indent))


def _number_of(lines: Sequence[bytes]) -> Label | None:
    numbers = [int(found[1].strip(_SEPARATORS)) for found in map(_LINE_NUMBER.match, lines) if found is not None]
    if len(numbers) == len(lines) and all(after == before + 1 for before, after in pairwise(numbers)):
        return Label(_LINE_NUMBER)
    printed = [line for line in lines if line.strip()][-_LAST:]
    return next((label for label in _OF_THE_LAST if all(map(label.split.match, printed))), None)


def _name_of(printed: Sequence[bytes]) -> Label | None:
    """The name before each line, the same but for the numbers in it."""
    found = _NAME.match(printed[0])
    if found is None or _OF_LOGGERS.search(found["name"]) is not None:
        return None
    if prefixes.split(printed[0].decode("utf-8", "replace"))[0].rank is not None:
        return None  # a form that is read everywhere
    name = _same_before_all(found[0], printed)
    return Label(name, Kind.HOST) if name is not None else None


def _relay_of(printed: Sequence[bytes]) -> Label | None:
    """What a program may put before each line of another one that it relays."""
    header = relays.header_of(printed[0])
    form = _same_before_all(header, printed) if header else relays.objects_with_one_level(printed)
    return Label(form, Kind.RELAY) if form is not None else None


def _same_before_all(front: bytes, printed: Sequence[bytes]) -> re.Pattern[bytes] | None:
    """The pattern of this beginning of the first line and of the rest, if all lines begin so, but for their numbers."""
    beginning = re.sub(rb"\d+", rb"\\d{1,10}", re.escape(front.rstrip()))
    is_of_all = re.compile(beginning).match
    end = b"(?:[ \\t]|$)" if front[-1:].isspace() else b""
    return re.compile(b"(?m)^(%b%b)(.*)$" % (beginning, end)) if all(map(is_of_all, printed)) else None
