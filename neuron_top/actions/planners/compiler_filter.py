"""`--compiler`: a version with an operator (`<2.20`), or a pattern of folder names (`inductor-*`)."""

from __future__ import annotations

import fnmatch
import operator
import re
from collections.abc import Callable

from neuron_top.cache.model.entry import compiler_version

_SPECIFIER = re.compile(r"(<=|>=|==|!=|<|>)?\s*([0-9][0-9a-zA-Z.+]*)\Z")
_COMPARISONS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def compiler_filter(specifier: str | None) -> Callable[[str], bool]:
    """A test of compiler folders: `<2.20` compares as many parts as it has; what is no version is a pattern of names.

    Without a specifier, every folder passes. Raises ValueError for an operator without a version.
    """
    if not specifier:
        return lambda compiler: True
    found = _SPECIFIER.match(specifier.strip())
    version = _version(found[2]) if found else ()
    if found and version:
        return _version_test(_COMPARISONS[found[1] or "=="], version)
    if specifier.lstrip()[:1] in "<>=!":
        raise ValueError(
            f"compiler {specifier!r}: expected an operator and a version (<2.20) or a pattern of folder names"
        )
    return lambda compiler: fnmatch.fnmatchcase(compiler, specifier)


def _version_test(
    compare: Callable[[tuple[int, ...], tuple[int, ...]], bool], version: tuple[int, ...]
) -> Callable[[str], bool]:
    def matches(compiler: str) -> bool:
        theirs = compiler_version(compiler)
        return bool(theirs) and compare(theirs[: len(version)], version)

    return matches


def _version(text: str) -> tuple[int, ...]:
    """`2.20` → (2, 20), `2` → (2,); () if it is no version."""
    return compiler_version(text) or ((int(text[:9]),) if text.isdecimal() else ())
