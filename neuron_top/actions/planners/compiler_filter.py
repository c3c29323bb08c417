"""`--compiler`: a version with an operator (`<2.20`), or a pattern of folder names (`inductor-*`)."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

import msgspec

from neuron_top.cache.model.entry import compiler_version

_SPECIFIER = re.compile(r"(<=|>=|==|!=|<|>)?\s*([0-9][0-9a-zA-Z.+]*)\Z")


class _Matcher(msgspec.Struct, frozen=True):
    operator: str
    version: tuple[int, ...]
    pattern: str = ""

    def __call__(self, compiler: str) -> bool:
        if self.pattern:
            return fnmatch.fnmatchcase(compiler, self.pattern)
        theirs = compiler_version(compiler)
        if not theirs:
            return False
        same = theirs[: len(self.version)]
        return {
            "<": same < self.version,
            "<=": same <= self.version,
            ">": same > self.version,
            ">=": same >= self.version,
            "==": same == self.version,
            "!=": same != self.version,
        }[self.operator]


def compiler_filter(specifier: str | None) -> Callable[[str], bool]:
    """A test of compiler folders: `<2.20` compares as many parts as it has; what is no version is a pattern of names.

    Raises ValueError for an operator without a version.
    """
    if not specifier:
        return _Matcher("", (), "*")
    found = _SPECIFIER.match(specifier.strip())
    version = _version(found[2]) if found else ()
    if found and version:
        return _Matcher(found[1] or "==", version)
    if specifier.lstrip()[:1] in "<>=!":
        raise ValueError(
            f"compiler {specifier!r}: expected an operator and a version (<2.20) or a pattern of folder names"
        )
    return _Matcher("", (), specifier)


def _version(text: str) -> tuple[int, ...]:
    """`2.20` → (2, 20), `2` → (2,); () if it is no version."""
    return compiler_version(text) or ((int(text[:9]),) if text.isdecimal() else ())
