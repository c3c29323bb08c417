"""The text of a failed compile, which spans lines: what belongs to it, where it ends, what code it carries.

G2 writes the text after the argv or, for a stored failure, on the next line; G3 writes it on the following lines
and closes with `[libneuronxla <version>]`.
"""

from __future__ import annotations

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.failure_signs import ERROR_CODE, FAILURE

_ARGV = late_pattern(FAILURE + r" \[[^\]]{0,65536}\]:?\s*|\['[^\]]{0,65536}\]:?\s*")
_OPEN_ARGV = late_pattern(r"\[\s*['\"][^\]]*\Z")
_ARGUMENT = late_pattern(r"['\"/,-]|\]|\S{0,400}['\"],?\s*\Z")
"""What a line of an argv begins with, or ends with, where somebody has put each argument on a line of its own."""
_MOST_ARGV_LINES = 400
_LONGEST_ARGV = 65_536
_END = late_pattern(r"\[libneuronxla [^\]\s]{1,80}\]")
_STAMP = late_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\s+(?=\S)")
"""The compiler's own timestamp before its message; the line's header has the time already."""
_EXIT_STATUS = late_pattern(r"exit(?:ed with)?(?: status| code|code)[ =:]+(-?\d{1,4})")
_RETRYING = late_pattern(r"\]?\.?\s*Retrying\.\.\.")
"""What ends a stored failure that is compiled once more: the bracket around its message, and these words."""
_FOREIGN = late_pattern(
    r"\.+$|\.*Compiler status|Completed run_backend|Traceback \(|\d{1,3}%\||\{'|To fix the error:|\*\*\*"
    r"|(?:INFO|WARNING|DEBUG):|\d\. |Neuron: |/\S+\.py:\d+: \w*Warning|(?i:step|epoch|iteration)[ :=]+\d"
)
_MOST_LINES = 60
"""Five lines are the most that was seen; a message whose end mark is lost must not swallow the rest of the stream."""
_MOST_LINES_BESIDE = 12
"""The same where the text began on the header's line."""


class MessageLines:
    """Collects the lines of one message, bounded."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._limit = _MOST_LINES
        self._argv = ""
        """What was read of a command line that did not end on its first line."""
        self._argv_lines = 0
        self.complete = False
        """The end mark was seen, or there is no room for more."""
        self.retrying = False

    def begin(self, body: str) -> None:
        """`body` is what stood on the header's own line, argv and all."""
        _, quoted, rest = body.partition("eror log: [")
        text = self._begin_argv(_without_argv(rest if quoted else body))
        if quoted or not text.startswith(("/", "s3:", "at ")):
            self._add(text)
        if self._lines:
            self._limit = _MOST_LINES_BESIDE
        self._close_at_mark(body)

    def accepts(self, line: str) -> bool:
        """Whether a line without a header continues the message."""
        text = line.strip()
        if self._argv_lines and _ARGUMENT.match(text):
            return True
        return bool(text) and not _FOREIGN.match(text)

    @property
    def begun(self) -> bool:
        """Whether a line of it was read: from then on any other line ends it; before that, others may come between."""
        return bool(self._lines)

    def take(self, line: str) -> None:
        """Add an accepted line."""
        if self._argv_lines and self._take_argument(line.strip()):
            return
        self._add(self._begin_argv(_without_argv(line)))
        self._close_at_mark(line)

    def text(self) -> str:
        """The message without argv, the compiler's timestamp and the end mark."""
        return "\n".join(self._lines)

    @property
    def argv(self) -> str:
        """The compiler's command line, if it came in several lines."""
        return self._argv

    @property
    def code(self) -> str | None:
        """The first error code in it."""
        found = ERROR_CODE.search(self.text())
        return found[1] if found else None

    @property
    def exit_status(self) -> int | None:
        """The compiler's exit status where the text reports it."""
        found = _EXIT_STATUS.search(self.text())
        return int(found[1]) if found else None

    def _begin_argv(self, text: str) -> str:
        """The text before a command line that does not end on this line; the command line goes to `argv`."""
        opened = _OPEN_ARGV.search(text)
        if opened is None or self._argv:
            return text
        self._argv, self._argv_lines = opened[0][:_LONGEST_ARGV], _MOST_ARGV_LINES
        return text[: opened.start()].replace(FAILURE, "")

    def _take_argument(self, text: str) -> bool:
        """Read a line of the command line; False where that has ended without its bracket."""
        argument, closed, rest = text.partition("]")
        if not _ARGUMENT.match(text):
            self._argv_lines = 0
            return False
        if len(self._argv) < _LONGEST_ARGV:
            self._argv += argument
        self._argv_lines = 0 if closed else self._argv_lines - 1
        self._add(rest.lstrip(": "))
        self._close_at_mark(rest)
        return True

    def _add(self, text: str) -> None:
        text = _RETRYING.split(_END.split(text, maxsplit=1)[0], maxsplit=1)[0].strip()
        stamp = _STAMP.match(text)
        text = text[stamp.end() :] if stamp else text
        if text and text not in ("[", "]"):
            self._lines.append(text[:2000])

    def _close_at_mark(self, line: str) -> None:
        self.retrying = self.retrying or bool(_RETRYING.search(line))
        self.complete = self.retrying or bool(_END.search(line)) or len(self._lines) >= self._limit


def _without_argv(text: str) -> str:
    """The text behind the compiler's command line, if it begins with one."""
    text = text.strip()
    found = _ARGV.match(text)
    return text[found.end() :].strip() if found else text
