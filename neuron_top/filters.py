"""Filters as people type them: their limits, the engine of their regular expressions, and the time that one may take.

A filter comes from a person, or through a link that somebody else made, and the lines it is applied to come from
programs that nobody vouches for. So regular expressions run on RE2, whose time grows with the length of the text and
never with the number of ways to match it, and everything that multiplies that time has a limit here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from neuron_top.errors import UsageError

MOST_CHARACTERS = 1000
"""Of a filter."""
MOST_TERMS = 24
MOST_EXPRESSIONS = 4
MOST_INSTRUCTIONS = 1000
"""Of one compiled expression: its time is at most this many steps for each byte of a line."""
_ENGINE_BYTES = 1 << 20
_SHOWN = 60
"""Characters of an expression that a message repeats."""

_UNSUPPORTED = {
    "(?=": "look-ahead (?=…)",
    "(?!": "negative look-ahead (?!…)",
    "(?<=": "look-behind (?<=…)",
    "(?<!": "negative look-behind (?<!…)",
    "(?P=": "a back reference (?P=…)",
    "(?>": "an atomic group (?>…)",
    "(?(": "a conditional group (?(…)…)",
    "(?#": "a comment (?#…)",
    "(?x": "the flag (?x)",
    "\\Z": "\\Z (write \\z for the end of the line)",
    "\\u": "\\u (write the character itself, or \\x{…})",
    "\\N": "\\N (write the character itself)",
    "++": "a possessive repetition ++",
    "*+": "a possessive repetition *+",
    "?+": "a possessive repetition ?+",
}
"""What Python's engine knows and RE2 does not, by the beginning that RE2's message quotes."""

Row = TypeVar("Row")


class Kept(NamedTuple, Generic[Row]):
    """The rows that a filter kept, in their order. `unseen`: older rows that there was no time to look at."""

    rows: list[Row]
    unseen: int


def check_filter(query: str, terms: int = 0, expressions: int = 0) -> None:
    """Raise UsageError for a filter that is too long, or has too many terms or regular expressions."""
    if len(query) > MOST_CHARACTERS:
        raise UsageError(f"a filter has at most {MOST_CHARACTERS:,} characters, this one has {len(query):,}")
    if terms > MOST_TERMS:
        raise UsageError(f"a filter has at most {MOST_TERMS} terms, this one has {terms}")
    if expressions > MOST_EXPRESSIONS:
        raise UsageError(f"a filter has at most {MOST_EXPRESSIONS} regular expressions, this one has {expressions}")


def expression(text: str) -> Callable[[str], bool]:
    """Whether a regular expression occurs in a text, in any case. Raises UsageError, which says what is wrong."""
    # Here, so that a program that filters nothing does not load it.
    import re2  # type: ignore[import-untyped]  # carries no types

    try:
        compiled = re2.compile(text.encode("utf-8", "replace"), _options(re2))
    except re2.error as problem:
        raise UsageError(f"/{_shown(text)}/: {_explained(problem)}") from None
    if compiled.programsize > MOST_INSTRUCTIONS:
        raise UsageError(f"/{_shown(text)}/: the expression is too large; use fewer or smaller repetitions {{…}}")
    search = compiled.search
    return lambda line: search(line.encode("utf-8", "replace")) is not None


def newest_kept(
    rows: Sequence[Row], keep: Callable[[Row], bool], seconds: float, clock: Callable[[], float] = time.monotonic
) -> Kept[Row]:
    """The rows that are wanted, as far as can be known within so many seconds; the last rows are looked at first."""
    deadline = clock() + seconds
    kept: list[Row] = []
    unseen = 0
    for at in range(len(rows) - 1, -1, -1):
        if keep(rows[at]):
            kept.append(rows[at])
        if clock() > deadline:
            unseen = at
            break
    kept.reverse()
    return Kept(kept, unseen)


def words_filter(query: str) -> Callable[[str], bool]:
    """A predicate on text: all words must occur (any case), those with `!` in front must not. Raises UsageError."""
    words = [word.casefold() for word in query.split()]
    check_filter(query, len(words))
    wanted = [word for word in words if not word.startswith("!")]
    banned = [word[1:] for word in words if word.startswith("!") and len(word) > 1]

    def keep(text: str) -> bool:
        folded = text.casefold()
        return all(word in folded for word in wanted) and not any(word in folded for word in banned)

    return keep


def _options(re2: Any) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False  # it would write to standard error, into the middle of a screen
    options.max_mem = _ENGINE_BYTES
    return options


def _explained(problem: Exception) -> str:
    """RE2's message, or the name of what it does not support."""
    (message, *_rest) = (*problem.args, b"")
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    quoted = text.rpartition(": ")[2]
    name = next((name for mark, name in _UNSUPPORTED.items() if quoted.startswith(mark)), "")
    if not name and quoted == "(?P":
        name = _UNSUPPORTED["(?P="]
    if not name and quoted[:1] == "\\" and quoted[1:].isdigit():
        name = f"a back reference {quoted}"
    return f"{name} is not supported by the engine of filters (RE2)" if name else _shown(text)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
