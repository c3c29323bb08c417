"""Leaves out what looks like a secret: command lines and environment variables go into recordings, reports and pages,
and people put tokens into both.

Left out are the values of options and variables that are named like secrets, tokens in well-known formats, signatures
in URLs, and credentials before the `@` of a URL. A secret with neither such a name nor such a format is not found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from neuron_top.database_address import masked
from neuron_top.escapes import without_secret
from neuron_top.late_pattern import late_pattern

LEFT_OUT = "…"
_NAMES = (
    r"token|secret|secrets|password|passwd|passphrase|passcode|pwd|credential|credentials|auth|authorization|pat|"
    r"api[-_]?key|access[-_]?key(?:[-_]?id)?|secret[-_]?key|private[-_]?key|session[-_]?token"
)
_NAME = late_pattern(rf"(?:^|[-_.])(?:{_NAMES})$", re.IGNORECASE)
_OPTION = late_pattern(
    rf"((?:^|[\s'\"])-{{0,2}}(?:[\w.-]{{0,60}}[-_.])?(?:{_NAMES})(?:=|\s+(?=[^-\s])))('[^']*'|\"[^\"]*\"|[^\s'\"]+)",
    re.IGNORECASE,
)
_SHAPES = late_pattern(
    r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|hf_\w{20,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|sk-[\w-]{20,}|"
    r"xox[abprs]-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)
_BEARER = late_pattern(r"\b(Bearer|Basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE)
_IN_QUERY = late_pattern(
    r"([?&](?:X-Amz-(?:Signature|Credential|Security-Token)|sig|signature|token|access_token|key|password)=)[^&\s]+",
    re.IGNORECASE,
)

_DATABASE = late_pattern(r"\bpostgres(?:ql)?://[^\s'\"]+", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether an option or a variable is named like a secret: `HF_TOKEN`, `--api-key`; not `--max_tokens`."""
    return _NAME.search(name.lstrip("-")) is not None


def without_secrets(text: str) -> str:
    """The text without what looks like a secret."""
    text = _DATABASE.sub(lambda found: masked(found[0]), text)
    text = _IN_QUERY.sub(rf"\1{LEFT_OUT}", without_secret(text))
    text = _SHAPES.sub(LEFT_OUT, _BEARER.sub(rf"\1 {LEFT_OUT}", text))
    return _OPTION.sub(rf"\1{LEFT_OUT}", text)


def command_without_secrets(words: Sequence[str]) -> tuple[str, ...]:
    """A command line, word by word: the word after `--password` is left out too, whatever it holds."""
    kept: list[str] = []
    for word in words:
        before = kept[-1] if kept else ""
        if before.startswith("-") and "=" not in before and is_secret_name(before) and not word.startswith("-"):
            kept.append(LEFT_OUT)
            continue
        name, equals, _ = word.partition("=")
        kept.append(f"{name}={LEFT_OUT}" if equals and is_secret_name(name) else without_secrets(word))
    return tuple(kept)
