"""What can be done to cache entries from their screen: plan, confirm on a page of its own, pin, undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from neuron_top.actions.plan import Plan
from neuron_top.errors import NeuronTopError
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.plan import PlanPage
from neuron_top.tui.widgets.poller import Poller
from neuron_top.units import bytes_text, counted
from neuron_top.views.entries import EntryRow

ALTERNATIVES = {"retry": ("compile", "retry")}
"""Verbs that have several ways to the same end, each a plan of its own to choose from: now, or on the next run."""

FALLBACKS = {"retry": "insist", "unlock": "force"}
"""What is offered where no other way finds anything to do; the preview warns of each step and asks for a word."""


class CacheActs(LiveScreen):
    """The acts of the cache screen, which says what they are meant for."""

    def __init__(self) -> None:
        super().__init__()
        self.marked: dict[str, EntryRow] = {}
        self.outcome_page: PlanPage | None = None
        self._undo_asked: str | None = None

    def meant(self) -> list[EntryRow]:
        """The marked rows, else those under the cursor."""
        raise NotImplementedError

    def roots_shown(self) -> list[str]:
        """The roots of all rows."""
        raise NotImplementedError

    def action_plan(self, verb: str) -> None:
        """Make a plan for the marked entries in a thread and show it; nothing is done yet."""
        rows = self.meant()
        roots = {row.root for row in rows}
        if self.top.settings.read_only:
            self.notice("read-only mode: nothing is changed")
        elif len(roots) != 1:
            self.notice("mark entries of one root" if roots else "mark entries first (space), or choose one")
        else:
            paths = [f"{row.compiler}/{row.module}" for row in rows]
            self.notice(f"planning for {counted(len(rows), 'entry', 'entries')}")
            self.run_worker(partial(self._make_plan, verb, roots.pop(), paths), thread=True, exclusive=True)

    def _make_plan(self, verb: str, root: str, paths: list[str]) -> None:
        desk = self.top.desk

        def watch(done: int, total: int) -> None:
            if done % 16 == 0 or done == total:
                self.app.call_from_thread(self.notice, f"{done} of {total} entries read")

        try:
            plans = [desk.plan(each, root, paths, watch) for each in ALTERNATIVES.get(verb, (verb,))]
            if verb in FALLBACKS and not any(plan.steps for plan in plans):
                plans.append(desk.plan(FALLBACKS[verb], root, paths, watch))
        except (NeuronTopError, OSError) as problem:
            self.app.call_from_thread(self.notice, str(problem))
            return
        self.app.call_from_thread(self._show_plans, _with_remarks(plans))

    def _show_plans(self, plans: Sequence[Plan]) -> None:
        self.top.push_screen(PlanPage(plans[0], self.top.desk, self._carried_out, plans[1:]))

    def _carried_out(self, page: PlanPage) -> None:
        """Keep the outcome, drop the marks, look again."""
        self.outcome_page = page
        self.marked.clear()
        self.query_one(Poller).look_again()

    def action_outcome(self) -> None:
        """The last outcome again."""
        if self.outcome_page is None:
            self.notice("nothing was carried out yet")
            return
        before = self.outcome_page
        page = PlanPage(before.plan, self.top.desk, self._carried_out)
        page.stage, page.lines = before.stage, before.lines
        self.top.push_screen(page)

    def action_pin(self) -> None:
        """Pin, or unpin."""
        modules = [row.module for row in self.meant()]
        if self.top.settings.read_only:
            self.notice("read-only mode: nothing is changed")
        elif modules:
            self._in_thread(lambda: self.top.desk.pin(modules))
        else:
            self.notice("mark entries first (space), or choose one")

    def action_undo(self) -> None:
        """Bring back what the last plan took, after a second press within the same look."""
        if self.top.settings.read_only:
            self.notice("read-only mode: nothing is changed")
            return
        roots = sorted({row.root for row in self.meant()}) or self.roots_shown()
        if self.outcome_page is not None:
            roots = [self.outcome_page.plan.root]
        if not roots:
            self.notice("there is no cache")
            return
        root = roots[0]
        asked, self._undo_asked = self._undo_asked, None
        self._in_thread(partial(self._undo, root, asked))

    def _undo(self, root: str, asked: str | None) -> str:
        begun = self.top.desk.last_done(root).begun
        if asked == begun.plan:
            return self.top.desk.undo(root, begun.plan)
        self._undo_asked = begun.plan
        return f"U again undoes plan {begun.plan}: {begun.verb}, {begun.policy}, {bytes_text(begun.frees)}"

    def _in_thread(self, work: Callable[[], str]) -> None:
        def run() -> None:
            try:
                text = work()
            except (NeuronTopError, OSError) as problem:
                text = str(problem)
            self.app.call_from_thread(self.notice, text)
            self.app.call_from_thread(self.query_one(Poller).look_again)

        self.run_worker(run, thread=True, exclusive=True)


def _with_remarks(plans: Sequence[Plan]) -> list[Plan]:
    """What stands in the way of one way (no compiler here) is told where the other ways are shown, too."""
    in_the_way = [caveat for plan in plans if not plan.steps for caveat in plan.caveats]
    return [msgspec.structs.replace(plan, caveats=tuple(dict.fromkeys((*plan.caveats, *in_the_way)))) for plan in plans]
