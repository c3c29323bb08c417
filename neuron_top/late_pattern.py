"""Regular expressions that are compiled when they are first used: a log needs few of the hundreds that it might."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_ATTRIBUTES = (
    "match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split",
    "pattern", "flags", "groups", "groupindex",
)  # fmt: skip


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, later: what is wrong with a pattern is raised where it is first used."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))


class _Compiled:
    """Has the attributes of the compiled pattern as its own."""

    __dict__: dict[str, Any]


class _Late(_Compiled):
    """Not compiled yet."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._made_of: tuple[Any, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._made_of)
        self.__dict__.update({attribute: getattr(compiled, attribute) for attribute in _ATTRIBUTES})
        # A class with __getattr__ makes every access slower, to existing attributes too.
        self.__class__ = _Compiled  # type: ignore[assignment]
        return getattr(self, name)
