"""Numbers of the command line, within their bounds. For argparse, which prints what is wrong with one."""

from __future__ import annotations

import argparse
from collections.abc import Callable

_MOST_PORT = 65535


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


def port(text: str) -> int:
    """A TCP port; 0 stands for a free one."""
    if not (text.isascii() and text.isdigit()) or int(text) > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: must be between 0 and {_MOST_PORT}")
    return int(text)
