"""Control characters, kept away from terminals: what a log holds may have been written to do harm.

Log text reaches a terminal, a web page and a report; an escape sequence in it could move the cursor, change the
title or worse. Color codes are dropped before parsing; whatever else is not printable is made visible.
"""

from __future__ import annotations

import re

import msgspec

LINE_JOIN = "⏎"
"""Stands between the lines of a message that spanned several; a screen may break the line there."""

ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[ -/]{1,2}[0-~]|[0-Z\\^-~])"
    r"|#033\[[0-9;]*[A-Za-z]"
)
"""CSI and OSC sequences, shorter escapes, and escape codes that a log service has turned into text."""
_RESETS = ("[0m", "[0;0m", "[39m", "[22m", "[m")
_TEXT_COLOR = re.compile(
    r"(?:\^\[|[␛\ufffd]|\\{1,4}(?:x1b|033|e|u001b))?\[(?:\d{1,3}(?:;\d{1,3}){0,4}m(?!\])|m(?![\w\]]))"
)
"""Colors that a program wrote as text, or whose escape character was lost, as on web pages from which people copy."""
_TEXT_RESET = re.compile(r"\[(?:(?:0|0;0|22|39)m(?!\]| ?\d{1,2}(?:\.\d+)?s)|m(?![\w\]]))")
"""A line with one of these has such colors; without, `[12m 30s]` is a duration."""
ANSI_COLOR = re.compile(rb"\x1b\[[0-9;]*m")
"""Color and weight alone (ECMA-48 SGR): what is counted, not what is dropped."""

_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")
_IN_ADDRESS = re.compile(r"://[^/\s]*@")
_SHOWN = {code: chr(0x2400 + code) for code in range(0x20)} | {0x09: " ", 0x0A: LINE_JOIN, 0x7F: "␡"}
"""Unicode has a picture for each control character; a tab is a blank."""

PLAIN = str.maketrans(
    {"—": "-", "–": "-", "…": "~", "·": "-", "×": "x", "÷": "/", "→": ">", "←": "<", "↑": "^", "↓": "v", "•": "*"}
    | {"▲": "^", "▼": "v", "’": "'", "‘": "'", "“": '"', "”": '"', "≤": "<", "≥": ">", "≈": "~", "µ": "u", "␡": "^?"}
    | {chr(0x2400 + code): f"^{chr(0x40 + code)}" for code in range(0x20)}
)
"""How our own signs are spelled where only ASCII can be drawn or encoded."""


def strip_ansi(text: str) -> str:
    """The text without terminal sequences; cheap when there are none."""
    if "\x1b" in text or "#033[" in text:
        text = ANSI.sub("", text)
    if any(reset in text for reset in _RESETS) and _TEXT_RESET.search(text):
        return _TEXT_COLOR.sub("", text)
    return text


def visible(text: str) -> str:
    """The text with everything that is not printable replaced by something that shows: nothing here moves a cursor.

    That includes direction overrides, invisible characters and lone surrogates; unusual blanks become blanks.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def visible_lines(text: str) -> str:
    """As `visible`, for a text of several lines: its line ends stay."""
    return text if text.isprintable() else "\n".join(map(visible, text.split("\n")))


def shortened(text: str, longest: int) -> str:
    """Begin and end of a line of a log around `…`, where it is longer: what failed often stands at its end."""
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end].rstrip()}…{text[-end:].lstrip()}"


def without_secret(text: str) -> str:
    """The text with whoever and whatever stands before the `@` of an address (`s3://user:password@bucket`) left out."""
    return _IN_ADDRESS.sub("://…@", text) if "@" in text else text


def name_text(name: str) -> str:
    """A file name as text that can be stored: bytes that are no UTF-8 become visible escapes (`\\xff`)."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def name_of(text: str) -> str:
    """The file name that `name_text` was given."""
    return _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), text)


def json_bytes(value: object) -> bytes:
    """A value as JSON; text that is not UTF-8, as a file's name may be, is escaped as in `name_text`."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: object) -> object:
    match value:
        case str():
            return name_text(value)
        case dict():
            return {_encodable(name): _encodable(each) for name, each in value.items()}
        case list() | tuple():
            return [_encodable(each) for each in value]
        case _:
            return value


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code in _SHOWN:
        return _SHOWN[code]
    return " " if character.isspace() and code > 0x9F else f"\\u{code:04x}"
