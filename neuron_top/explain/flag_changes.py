"""Two lists of compiler flags compared as a person would: by option, with paths of logs and work folders apart.

The cache key hashes the list byte by byte, so flags that mean the same still give another key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import msgspec

_PATH_OPTION = re.compile(
    r"(?<![a-z])(?:logs?|log-?_?(?:file|dir|path)|logging|dump|(?:work|cache|tmp|temp|out)-?_?dir|artifacts?|traces?"
    r"|tensorizer-verbose|output|tmp|temp)(?![a-z])",
    re.I,
)
"""Whole words of an option's name: `log` is no word of `--logical-nc-config`, nor `temp` of `--template`."""
_TARGET = frozenset(("--target", "--lnc", "--logical-nc-config", "--num-neuroncores"))


class FlagsChange(StrEnum):
    """How two lists of compiler flags differ."""

    SAME = "same"
    ORDER_ONLY = "order only"
    SPELLING_ONLY = "spelling only"
    """`--a=b` and `--a b`."""
    LOG_PATH_ONLY = "log path only"
    TARGET = "target"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class FlagsDifference(msgspec.Struct, frozen=True, kw_only=True):
    """What one list has and the other lacks. `changed` is (option, before, now)."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    reordered: bool = False
    """The options stand in another order."""
    respelled: bool = False
    """Options and order are the same, but not the words."""

    @property
    def count(self) -> int:
        """How many options differ."""
        return len(self.added) + len(self.removed) + len(self.changed)

    @property
    def kind(self) -> FlagsChange:
        """What kind of difference it is."""
        if not self.count:
            if self.reordered:
                return FlagsChange.ORDER_ONLY
            return FlagsChange.SPELLING_ONLY if self.respelled else FlagsChange.SAME
        if self._only_paths():
            return FlagsChange.LOG_PATH_ONLY
        if any(name in _TARGET for name, _, _ in self.changed):
            return FlagsChange.TARGET
        if self.changed or (self.added and self.removed):
            return FlagsChange.CHANGED
        return FlagsChange.ADDED if self.added else FlagsChange.REMOVED

    def _only_paths(self) -> bool:
        names = [_name(flag) for flag in (*self.added, *self.removed)]
        return all(_PATH_OPTION.search(name) for name in names) and all(
            _PATH_OPTION.search(name) and _is_path(now) for name, _, now in self.changed
        )


def differences(before: Sequence[str], now: Sequence[str]) -> FlagsDifference:
    """What became of the flags `before` in `now`; an option given several times counts as often."""
    options = _options(before), _options(now)
    old, new = map(Counter, options)
    gone, come = list((old - new).elements()), list((new - old).elements())
    changed = []
    for option in list(gone):
        match = next((other for other in come if other[0] == option[0]), None)
        if match is not None:
            gone.remove(option)
            come.remove(match)
            changed.append((option[0], option[1], match[1]))
    return FlagsDifference(
        added=tuple(_joined(option) for option in come),
        removed=tuple(_joined(option) for option in gone),
        changed=tuple(changed),
        reordered=options[0] != options[1],
        respelled=options[0] == options[1] and list(before) != list(now),
    )


def _options(flags: Sequence[str]) -> list[tuple[str, str]]:
    """(name, value) pairs: `--a=b`, `--a b`, `-O1`, `-O 1`; words without an option stand for themselves."""
    found: list[tuple[str, str]] = []
    for word in flags:
        if not word.startswith("-") and found and found[-1][0].startswith("-") and not found[-1][1]:
            found[-1] = (found[-1][0], word)
        elif word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            found.append((name, value))
        elif re.fullmatch(r"-[A-Za-z]\w+", word):
            found.append((word[:2], word[2:]))
        else:
            found.append((word, ""))
    return found


def _joined(option: tuple[str, str]) -> str:
    name, value = option
    if not value:
        return name
    return f"{name}={value}" if name.startswith("--") else f"{name}{value}"


def _name(flag: str) -> str:
    return flag.partition("=")[0]


def _is_path(value: str) -> bool:
    return "/" in value or "." in value or not value
