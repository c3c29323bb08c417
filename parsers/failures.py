"""The text of a failed compile, which spans lines: what belongs to it, where it ends, what code it carries.

G2 writes the text behind the argv or, for a stored failure, on the next line; G3 writes it on the following lines
and closes with `[libneuronxla <version>]`.
"""

from __future__ import annotations

import re

ERROR_CODE = re.compile(r"\[(NCC_[A-Z]{3,5}\d{3}|[A-Z]{3}\d{3}|F1\d\d)\]")
"""Compiler error codes: the old style `[TEN404]`, the new `[NCC_EXTP003]`, and signals `[F137]`."""
_ARGV = re.compile(r"Failed compilation with \[[^\]]{0,20000}\]:?\s*|\['[^\]]{0,20000}\]:?\s*")
_END = re.compile(r"\[libneuronxla [^\]\s]{1,80}\]")
_EXIT_STATUS = re.compile(r"exit(?:ed with)?(?: status| code|code)[ =:]+(-?\d{1,4})")
_RETRYING = "Retrying..."
_FOREIGN = re.compile(
    r"\.+$|\.*Compiler status|Completed run_backend|Traceback \(|\d{1,3}%\||\{'|To fix the error:|\*\*\*"
    r"|(?:INFO|WARNING|DEBUG):|\d\. |Neuron: |/\S+\.py:\d+: \w*Warning|(?i:step|epoch|iteration)[ :=]+\d"
)
_MOST_LINES = 60
"""Five lines have been seen; a text whose end mark is lost must not swallow the stream."""
_MOST_LINES_BESIDE = 12
"""The same where the text began on the header's line."""


class MessageLines:
    """Collects the lines of one message, bounded."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._limit = _MOST_LINES
        self.complete = False
        """The end mark was seen, or there is no room for more."""
        self.retrying = False

    def begin(self, body: str) -> None:
        """`body` is what stood on the header's own line, argv and all."""
        _, quoted, rest = body.partition("eror log: [")
        text = _without_argv(rest if quoted else body)
        if quoted or not text.startswith(("/", "s3:", "at ")):
            self._add(text)
        if self._lines:
            self._limit = _MOST_LINES_BESIDE
        self._close_at_mark(body)

    def accepts(self, line: str) -> bool:
        """Whether a line without a header goes on with the message."""
        text = line.strip()
        return bool(text) and not _FOREIGN.match(text)

    @property
    def begun(self) -> bool:
        """A line of it was read: from now on any other line ends it; before, others may come between."""
        return bool(self._lines)

    def take(self, line: str) -> None:
        """Add an accepted line."""
        self._add(_without_argv(line))
        self._close_at_mark(line)

    def text(self) -> str:
        """The message without argv and end mark."""
        return "\n".join(self._lines)

    @property
    def code(self) -> str | None:
        """The first error code in it."""
        found = ERROR_CODE.search(self.text())
        return found[1] if found else None

    @property
    def exit_status(self) -> int | None:
        """The compiler's exit status where the text tells it."""
        found = _EXIT_STATUS.search(self.text())
        return int(found[1]) if found else None

    def _add(self, text: str) -> None:
        text = _END.split(text, maxsplit=1)[0].strip()
        if text and text not in ("[", "]"):
            self._lines.append(text[:2000])

    def _close_at_mark(self, line: str) -> None:
        self.retrying = self.retrying or _RETRYING in line
        self.complete = self.retrying or bool(_END.search(line)) or len(self._lines) >= self._limit


def _without_argv(text: str) -> str:
    """The text behind the compiler's command line, if it begins with one."""
    text = text.strip()
    found = _ARGV.match(text)
    return text[found.end() :].strip() if found else text
