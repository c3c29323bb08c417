"""Reports unexpected errors of an agent's threads, which then go on: a thread that ended would leave the node silent,
or its operators unanswered, until somebody starts the agent again."""

from __future__ import annotations

from collections.abc import Callable

from neuron_top.errors import NeuronTopError


class UnexpectedErrors:
    """Warns of each error once, however often it occurs."""

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
    """The text of an error; with its class, if the text was not written for people."""
    return str(problem) if isinstance(problem, NeuronTopError | OSError) else f"{type(problem).__name__}: {problem}"
