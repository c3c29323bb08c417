"""Errors that nothing in an agent expects. Its threads report them and go on: one that ended would leave the node
silent, or its operators unanswered, until somebody starts the agent again."""

from __future__ import annotations

from collections.abc import Callable

from neuron_top.errors import NeuronTopError


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
    """With its class where its text was not written for people."""
    return str(problem) if isinstance(problem, NeuronTopError | OSError) else f"{type(problem).__name__}: {problem}"
