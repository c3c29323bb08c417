"""How severe a line of a log is: by the program that printed it, and for the person who reads it."""

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
        """The level behind a printed name; NOTSET where no program is known to use it."""
        return _NAMES.get(name) or _NAMES.get(name.upper(), cls.NOTSET)

    @classmethod
    def _missing_(cls, value: object) -> LogLevel:
        # Recordings made before levels were an enum carry the names as they were printed.
        return cls.named(str(value))

    @property
    def is_error(self) -> bool:
        """An error or worse."""
        return self in _ERRORS

    @property
    def is_mild(self) -> bool:
        """A level was printed, and it is below an error."""
        return self not in _ERRORS and self is not LogLevel.NOTSET

    @property
    def is_marked(self) -> bool:
        """A warning or worse: worth a person's eye."""
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
        """That of a line that says nothing but its level."""
        return cls.ERROR if level.is_error else cls.WARNING if level.is_marked else cls.PLAIN

    @property
    def is_marked(self) -> bool:
        """A warning or an error."""
        return self in (LineLevel.WARNING, LineLevel.ERROR)
