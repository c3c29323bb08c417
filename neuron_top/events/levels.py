"""How severe a log line is: the level by the program that printed it, and how much it matters to the reader."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class _Ordered(StrEnum):
    """Members in ascending order."""

    def and_worse(self) -> tuple[Self, ...]:
        """This level and those after it."""
        every = tuple(type(self))
        return every[every.index(self) :]


class LogLevel(_Ordered):
    """The level that a program printed with its line, whatever that program calls it. Later is more severe."""

    NOTSET = ""
    """It printed none."""
    TRACE = "TRACE"
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"
    CRITICAL = "CRITICAL"
    FATAL = "FATAL"
    """The program ends with this line."""

    @classmethod
    def named(cls, name: str) -> LogLevel:
        """The level that a printed name stands for; NOTSET if no program is known to use it."""
        return _NAMES.get(name) or _NAMES.get(name.upper(), cls.NOTSET)

    @classmethod
    def _missing_(cls, value: object) -> LogLevel:
        # Recordings made before levels were an enum carry the names as they were printed.
        return cls.named(str(value))

    @property
    def is_error(self) -> bool:
        """Whether it is an error or worse."""
        return self in _ERRORS

    @property
    def is_mild(self) -> bool:
        """Whether a level was printed, and it is below an error."""
        return self not in _ERRORS and self is not LogLevel.NOTSET

    @property
    def is_marked(self) -> bool:
        """Whether it is a warning or worse, so that a person should see it."""
        return self in _ERRORS or self is LogLevel.WARNING


_ERRORS = (LogLevel.ERROR, LogLevel.CRITICAL, LogLevel.FATAL)
_NAMES = {
    **{level.value: level for level in LogLevel},
    **dict.fromkeys(("I", "NOTICE", "USER"), LogLevel.INFO),
    **dict.fromkeys(("W", "WARN"), LogLevel.WARNING),
    **dict.fromkeys(("E", "ERR", "SEVERE", "INTERNAL_ERROR"), LogLevel.ERROR),
    **dict.fromkeys(("CRIT", "ABORT", "PANIC", "DPANIC", "EMERG", "ALERT"), LogLevel.CRITICAL),
    "F": LogLevel.FATAL,
}


class LineLevel(_Ordered):
    """How much a line matters to the person who reads the log. Later matters more."""

    PLAIN = ""
    EVENT = "event"
    """An event came from it."""
    WARNING = "warning"
    ERROR = "error"

    @classmethod
    def of(cls, level: LogLevel) -> LineLevel:
        """The level of a line of which only the printed level is known."""
        return cls.ERROR if level.is_error else cls.WARNING if level.is_marked else cls.PLAIN

    @property
    def is_marked(self) -> bool:
        """Whether it is a warning or an error."""
        return self in (LineLevel.WARNING, LineLevel.ERROR)
