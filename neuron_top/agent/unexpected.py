"""Errors that nothing in an agent expects. Its threads report them and go on: one that ended would leave the node
silent, or its operators unanswered, until somebody starts the agent again."""

from __future__ import annotations

from collections.abc import Callable


class UnexpectedErrors:
    """Warns of each error once, however often it comes back."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._reported: set[str] = set()

    def report(self, what: str, problem: Exception) -> None:
        """`what`: what does not work now."""
        text = f"{what}: {described(problem)}"
        if text not in self._reported:
            self._reported.add(text)
            self._warn(text)


def described(problem: Exception) -> str:
    """With its class: texts of such errors are not written for people."""
    return f"{type(problem).__name__}: {problem}"
