"""A page that shows what a thread reads from disks, and the lookup of why a page's graph missed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from neuron_top.errors import NeuronTopError
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.detail import DetailPage, Draw
from neuron_top.views.miss_explanation import MissExplanation, MissQuery


class AsyncPage(DetailPage):
    """Shows what `find` returns. Until then it shows `waiting`, and if it fails, `failed` with the reason."""

    def __init__(
        self,
        find: Callable[[], Any],
        draw: Draw,
        *,
        waiting: str,
        failed: str,
        why: str = "",
        below: Callable[[], DetailPage] | None = None,
        logs: Callable[[], LiveScreen] | None = None,
    ) -> None:
        """`why`: the notice for the key `w`, if the page explains misses already. `below`: what enter opens; `logs`:
        what `L` opens."""
        super().__init__(lambda run, now: self._answer, draw, "")
        self._find, self._failed, self._why, self._below, self._logs = find, failed, why, below, logs
        self._answer: Any = waiting

    def on_mount(self) -> None:
        """Start to look it up."""
        self.run_worker(self._look_up, thread=True)

    def _look_up(self) -> None:
        try:
            answer = self._find()
        except (NeuronTopError, OSError) as problem:
            answer = f"{self._failed}: {problem}"
        self.app.call_from_thread(self._on_result, answer)

    def _on_result(self, answer: Any) -> None:
        self._answer = answer
        self.show(answer)

    @property
    def has_below(self) -> bool:
        """Whether a page is below this one."""
        return self._below is not None

    @property
    def has_log_lines(self) -> bool:
        """Whether there is a page of log lines."""
        return self._logs is not None

    def action_log_lines(self) -> None:
        """Open the page of log lines, if there is one."""
        if self._logs is not None:
            self.host.open(self._logs())
        else:
            self.notice_no_lines()

    def action_open(self) -> None:
        """Open the next page below this one, if there is one."""
        if self._below is not None:
            self.host.open(self._below())

    def action_why(self) -> None:
        """Say that this page is the explanation, if it is."""
        if self._why:
            self.notice(self._why)
        else:
            super().action_why()


class MissLookup:
    """Asks the caches, for a page, why its graph missed."""

    def __init__(self, page: DetailPage, answered: Callable[[], None]) -> None:
        """`answered` is called when `explanation` has come."""
        self._page, self._answered = page, answered
        self.explanation: MissExplanation | None = None

    def start(self, query: MissQuery) -> None:
        """Ask in a thread."""
        self._page.notice("reading the cache…")
        self._page.run_worker(partial(self._look_up, query), thread=True)

    def _look_up(self, query: MissQuery) -> None:
        explanation = self._page.host.services.misses.why(query)
        self._page.app.call_from_thread(self._on_result, explanation)

    def _on_result(self, explanation: MissExplanation) -> None:
        self.explanation = explanation
        self._page.notice("")
        self._answered()
