"""Numbers of the command line, within their bounds. For argparse, which prints what is wrong with one."""

from __future__ import annotations

import argparse
from collections.abc import Callable

_MOST_PORT = 65535
_MOST_DIGITS = 18


def number_in(least: float, most: float, words: str) -> Callable[[str], float]:
    """Reads a number between two bounds, both included; `words` says what is expected of one that is not."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(words)
        return value

    return read


def whole_number(least: int) -> Callable[[str], int]:
    """Reads a whole number that is `least` or more."""

    def read(text: str) -> int:
        value = _digits(text)
        if value is None or value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more, and is {text!r}")
        return value

    return read


def port(text: str) -> int:
    """A TCP port; 0 stands for a free one."""
    value = _digits(text)
    if value is None or value > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: must be between 0 and {_MOST_PORT}")
    return value


def _digits(text: str) -> int | None:
    """The number that plain digits make; None for other text, and for more digits than any count has."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
