"""Pages whose answers are read from disks, in a thread: one that is its answer, and one that tells why when asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from neuron_top.errors import NeuronTopError
from neuron_top.tui.screens.detail import DetailPage, Draw
from neuron_top.views.miss_explanation import MissExplanation, MissQuery


class AsyncPage(DetailPage):
    """`find` is called once; until it answers `waiting` stands there, and `failed` with what it raised when it did."""

    def __init__(self, find: Callable[[], Any], draw: Draw, *, waiting: str, failed: str) -> None:
        super().__init__(lambda run, now: self._answer, draw, "")
        self._find, self._failed = find, failed
        self._answer: Any = waiting

    def on_mount(self) -> None:
        """Begin to ask."""
        self.run_worker(self._ask, thread=True)

    def _ask(self) -> None:
        try:
            answer = self._find()
        except (NeuronTopError, OSError) as problem:
            answer = f"{self._failed}: {problem}"
        self.top.call_from_thread(self._came, answer)

    def _came(self, answer: Any) -> None:
        self._answer = answer
        self.show(answer)


class ExplainablePage(DetailPage):
    """`ask`: ask at once. Subclasses say what is asked (`action_why`) and show what came (`answered`)."""

    def __init__(self, *page: Any, ask: bool, **options: Any) -> None:
        """`page` and `options` as DetailPage takes them."""
        super().__init__(*page, **options)
        self._ask = ask
        self._why: MissExplanation | None = None

    def on_mount(self) -> None:
        """Ask, if that is what the page was opened for."""
        if self._ask:
            self.action_why()

    def action_why(self) -> None:
        """Ask why."""
        raise NotImplementedError

    def look_up(self, asked: MissQuery) -> None:
        """Ask the caches."""
        self.notice("looking into the cache…")
        self.run_worker(partial(self._find, asked), thread=True)

    def _find(self, asked: MissQuery) -> None:
        answer = self.top.library.why(asked)
        self.top.call_from_thread(self._came, answer)

    def _came(self, answer: MissExplanation) -> None:
        self._why = answer
        self.notice("")
        self.answered()

    def answered(self) -> None:
        """Show the answer."""
        raise NotImplementedError
