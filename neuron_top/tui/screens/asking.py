"""A page of one thing that missed, which tells why once somebody asks: the answer is read from caches, in a thread."""

from __future__ import annotations

from functools import partial
from typing import Any

from neuron_top.tui.screens.detail import DetailPage
from neuron_top.views.why import Question, Why


class AskingPage(DetailPage):
    """`ask`: ask at once. Subclasses say what is asked (`action_why`) and show what came (`answered`)."""

    def __init__(self, *page: Any, ask: bool, **options: Any) -> None:
        """`page` and `options` as DetailPage takes them."""
        super().__init__(*page, **options)
        self._ask = ask
        self._why: Why | None = None

    def on_mount(self) -> None:
        """Ask, if that is what the page was opened for."""
        if self._ask:
            self.action_why()

    def action_why(self) -> None:
        """Ask why."""
        raise NotImplementedError

    def look_up(self, asked: Question) -> None:
        """Ask the caches."""
        self.notice("looking into the cache…")
        self.run_worker(partial(self._find, asked), thread=True)

    def _find(self, asked: Question) -> None:
        answer = self.top.library.why(asked)
        self.top.call_from_thread(self._came, answer)

    def _came(self, answer: Why) -> None:
        self._why = answer
        self.notice("")
        self.answered()

    def answered(self) -> None:
        """Show the answer."""
        raise NotImplementedError
