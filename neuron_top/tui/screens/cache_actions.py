"""Actions of the cache screen's keys on entries: plan, confirm on a page of its own, pin, undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import msgspec
from textual.worker import Worker, get_current_worker

from neuron_top.amounts import parse_bytes
from neuron_top.errors import NeuronTopError
from neuron_top.services.caches import Plan, Verb
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.services.trash import PlanHistory
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.plan import PlanPage
from neuron_top.units import bytes_text, counted
from neuron_top.views.entries import EntryRow

READ_ONLY = "read-only mode: nothing can be changed"
NOTHING_SELECTED = "mark entries (space) or select one first"


class CacheActions:
    """Plans, pins and undoes for a screen, which says which entries are meant."""

    def __init__(
        self,
        screen: LiveScreen,
        *,
        selected: Callable[[], Sequence[EntryRow]],
        roots: Callable[[], Sequence[str]],
        executed: Callable[[], None],
        reread: Callable[[], None],
    ) -> None:
        """`selected` and `roots` are what the screen shows now; `executed` is called after a plan for the selection was
        executed, `reread` when entries may have changed."""
        self._screen, self._selected, self._roots = screen, selected, roots
        self._on_executed, self._reread = executed, reread
        self.newest: PlanExecution | None = None
        """The plan that was executed last."""
        self._undo_asked = ("", "")
        """The plan that a second press of the key undoes, and the sentence that asks for it."""

    def plan(self, verb: Verb) -> None:
        """Make a plan for the selected entries in a thread and show it; nothing is done yet."""
        rows = self._selected()
        roots = {row.root for row in rows}
        if self.refuses():
            return
        if len(roots) != 1:
            self._screen.notice("mark entries of one cache only" if roots else NOTHING_SELECTED)
            return
        paths = [row.key.removeprefix(f"{row.root}/") for row in rows]
        self._screen.notice(f"planning for {counted(len(rows), 'entry', 'entries')}")
        self._in_thread(partial(self._make_plan, verb, roots.pop(), paths))

    def _make_plan(self, verb: Verb, root: str, paths: list[str], assume_exclusive: bool = False) -> None:
        shown = -1

        def watch(done: int, total: int) -> None:
            nonlocal shown
            percent = 100 * done // total if total else 100
            if percent != shown:
                shown = percent
                self._notice(f"{percent} % of {bytes_text(total)} verified")

        caches = self._screen.host.services.caches
        plans = caches.alternatives(verb, root, paths, watch, assume_exclusive=assume_exclusive)
        again = None if assume_exclusive else partial(self._make_plan, verb, root, paths, assume_exclusive=True)
        self._screen.app.call_from_thread(self._show_plans, _with_shared_caveats(plans), again, get_current_worker())

    def make_room(self, roots: Sequence[str], amount: str) -> None:
        """Plan to evict until this much of the caches' disks is free; a disk's first cache is used first."""
        if self.refuses():
            return
        if not roots:
            self._screen.notice("no compile cache was found")
            return
        self._screen.notice(f"planning until {amount} are free")
        self._in_thread(partial(self._make_room, amount, roots))

    def _make_room(self, amount: str, roots: Sequence[str], assume_exclusive: bool = False) -> None:
        caches = self._screen.host.services.caches
        plans = caches.plan_room(roots, round(parse_bytes(amount)), assume_exclusive=assume_exclusive)
        wanted = [plan for plan in plans if plan.steps]
        if not wanted:
            self._notice(f"{amount} are free already" if _reached(plans, amount) else "nothing here may be evicted")
            return
        again = None if assume_exclusive else partial(self._make_room, amount, roots, assume_exclusive=True)
        self._screen.app.call_from_thread(self._show_plans, wanted, again, get_current_worker())

    def _show_plans(
        self, plans: Sequence[Plan], plan_exclusive: Callable[[], None] | None, planner: Worker[object]
    ) -> None:
        """Ask whether to execute one of them, unless another was asked for since, or is shown: a key that was pressed
        twice would leave a question below the one that is answered."""
        front = self._screen.app.screen
        if planner.is_cancelled or (isinstance(front, PlanPage) and front.is_question):
            return
        again = partial(self._in_thread, plan_exclusive) if plan_exclusive is not None else None
        executions = [PlanExecution(plan=plan) for plan in plans]
        self._screen.notice("")  # remove the notice about planning
        self._screen.host.open(PlanPage(executions, self._screen.host.services.caches, self._executed, again))

    def _executed(self, execution: PlanExecution) -> None:
        self.newest = execution
        self._on_executed()
        self._reread()

    def show_outcome(self) -> None:
        """Open the newest outcome again."""
        if self.newest is None:
            self._screen.notice("no plan has been executed yet")
            return
        self._screen.host.open(PlanPage([self.newest], self._screen.host.services.caches, self._executed))

    def pin(self) -> None:
        """Pin the selected modules, or unpin them when all are pinned."""
        modules = [row.module for row in self._selected()]
        if self.refuses():
            return
        if modules:
            self._in_thread(lambda: self._changed(self._screen.host.services.caches.pins.toggle(modules)))
        else:
            self._screen.notice(NOTHING_SELECTED)

    def undo(self) -> None:
        """Show the newest plan that can be undone; a second press, while that is shown, undoes it."""
        if self.refuses():
            return
        roots = sorted({row.root for row in self._selected()}) or list(self._roots())
        if self.newest is not None and self.newest.can_undo:
            roots = [self.newest.plan.root]
        if not roots:
            self._screen.notice("no compile cache was found")
            return
        plan, question = self._undo_asked
        confirmed = plan if question and self._screen.noticed == question else ""
        self._undo_asked = ("", "")
        self._in_thread(partial(self._undo, roots, confirmed))

    def _undo(self, roots: Sequence[str], confirmed: str) -> None:
        root, plan = self._newest_undoable(roots)
        begun = plan.begun
        if confirmed == begun.plan:
            self._restore(root, begun.plan)
            return
        place = f" in {root}" if len(roots) > 1 else ""
        question = f"U again undoes plan {begun.plan}: {begun.verb}{place}, {begun.policy}, {bytes_text(begun.frees)}"
        self._undo_asked = (begun.plan, question)
        self._notice(question)

    def _newest_undoable(self, roots: Sequence[str]) -> tuple[str, PlanHistory]:
        """The newest plan of any of these caches, with its cache. Raises NothingToShow."""
        trash = self._screen.host.services.caches.trash
        found = []
        for root in roots:
            with suppress(NeuronTopError, OSError):
                found.append((root, trash.last_restorable(root)))
        return max(found, key=lambda one: one[1].begun.at) if found else (roots[0], trash.last_restorable(roots[0]))

    def look_for_trash(self, roots: Sequence[str], found: Callable[[Sequence[PlanHistory]], None]) -> None:
        """Read in a thread which plans can be undone, and pass them on."""

        def look() -> None:
            self._screen.app.call_from_thread(found, self._screen.host.services.caches.trash.restorable(roots))

        self._in_thread(look)

    def undo_plan(self, roots: Sequence[str], identity: str) -> None:
        """Undo a plan by its name, or by the beginning of it."""
        if identity and not self.refuses():
            self._in_thread(partial(self._undo_plan, roots, identity))

    def _undo_plan(self, roots: Sequence[str], identity: str) -> None:
        caches = self._screen.host.services.caches
        found = [plan for plan in caches.trash.restorable(roots) if plan.begun.plan.startswith(identity)]
        if len(found) != 1:
            self._notice(f"{len(found) or 'no'} plans in the trash begin with {identity}")
            return
        self._restore(found[0].begun.root, found[0].begun.plan)

    def _restore(self, root: str, plan: str) -> None:
        caches, newest = self._screen.host.services.caches, self.newest
        if newest is not None and newest.can_undo and newest.plan.identity == plan:
            caches.trash.undo_execution(newest)  # so that its outcome says what became of it
            text = newest.message
        else:
            text = caches.trash.undo(root, plan).text
        self._changed(f"plan {plan} undone: {text}")

    def refuses(self) -> bool:
        """Whether changes are forbidden here; if so, shows the reason."""
        if self._screen.host.settings.read_only:
            self._screen.notice(READ_ONLY)
            return True
        return False

    def _in_thread(self, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except (NeuronTopError, OSError) as problem:
                self._notice(str(problem))

        self._screen.run_worker(run, thread=True, exclusive=True)

    def _changed(self, text: str) -> None:
        self._notice(text)
        self._screen.app.call_from_thread(self._reread)

    def _notice(self, text: str) -> None:
        self._screen.app.call_from_thread(self._screen.notice, text)


def _reached(plans: Sequence[Plan], amount: str) -> bool:
    return all((plan.after.free or 0) >= parse_bytes(amount) for plan in plans)


def _with_shared_caveats(plans: Sequence[Plan]) -> list[Plan]:
    """Say what rules out one alternative (no compiler here) where the other ones are shown, too."""
    shared = [note for plan in plans if not plan.steps for note in plan.notes]
    return [msgspec.structs.replace(plan, notes=tuple(dict.fromkeys((*plan.notes, *shared)))) for plan in plans]
