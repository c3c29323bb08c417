"""The catalogue of compile caches: every entry of every root, what it takes, when it was used, why it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.actions.plan import Plan
from neuron_top.cache.entry import BROKEN, FAILURES, HITS, UNSETTLED, State
from neuron_top.errors import NeuronTopError
from neuron_top.run.model import Run
from neuron_top.tui.drawing import Line, bar, rule
from neuron_top.tui.look import Look
from neuron_top.tui.panels.compiling import short_key
from neuron_top.tui.screens.base import LiveScreen, bindings_for
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.plan import PlanPage
from neuron_top.tui.widgets.drawn import Drawn
from neuron_top.tui.widgets.shelf import Shelf, title
from neuron_top.tui.widgets.table import Cell, Column, Table
from neuron_top.units import bytes_text, duration_text
from neuron_top.views.entries import EntryRow, EntryTable, entry_filter


def state_sign(look: Look, state: str) -> tuple[str, Style]:
    """Symbol and colour of an entry's state."""
    glyphs = look.glyphs
    if state in HITS:
        return glyphs.done, look.good
    if state in FAILURES or state in BROKEN:
        return glyphs.failed, look.bad
    if state in (State.COMPILING, State.RETRYING):
        return glyphs.running, look.accent
    return (glyphs.waiting, look.warn) if state in UNSETTLED else (glyphs.queued, look.quiet)


def _trouble(row: EntryRow, look: Look, width: int) -> Cell:
    return [(row.failure, look.bad)] if row.failure else [(row.lock, look.warn)]


def _state(row: EntryRow, look: Look, width: int) -> Cell:
    sign, style = state_sign(look, row.state)
    return [(f"{sign} {row.state}", style)]


def _module(row: EntryRow, look: Look, width: int) -> Cell:
    return [(short_key(row.module, width, look.glyphs.more), look.text)]


COLUMNS = (
    Column("State", 18, _state, lambda row: row.state),
    Column("Size", 9, lambda row, look, width: [(bytes_text(row.bytes), look.text)], lambda row: row.bytes, True,
           down=True),
    Column("Used", 10, lambda row, look, width: [(duration_text(row.age), look.text)], lambda row: row.age, True),
    Column("Compiled in", 11, lambda row, look, width: [(duration_text(row.compile_seconds), look.quiet)],
           lambda row: row.compile_seconds, True, least=110, down=True),
    Column("Compiler", 18, lambda row, look, width: [(row.compiler, look.quiet)], lambda row: row.compiler, least=96),
    Column("Module", 20, _module, lambda row: row.module, grow=1),
    Column("Failure or lock", 16, _trouble, lambda row: row.failure or row.lock or None, grow=1, least=120),
    Column("Root", 16, lambda row, look, width: [(row.root, look.quiet)], lambda row: row.root, grow=1, least=170),
)  # fmt: skip


class CacheScreen(LiveScreen):
    """Entries."""

    PLACE: ClassVar[str] = "cache"
    BINDINGS = bindings_for("cache")

    def body(self) -> Iterable[Widget]:
        """Sums by compiler, then the table."""
        yield Drawn(
            "title", lambda look, text, width, height: [title(look, "Compile cache", text, width)], lambda text: 1
        )
        yield Drawn("compilers", compilers_panel, lambda view: min(4, len(compilers(view))))
        table: Table[EntryRow] = Table(
            (self._mark_column(), *COLUMNS), lambda row: row.key, lambda row: row.key, id="entries"
        )
        table.nothing = ("Looking through the caches…",)
        yield table
        yield Shelf(self._look_up, self._came, period=10.0)

    def __init__(self) -> None:
        super().__init__()
        self.marked: dict[str, EntryRow] = {}
        self.outcome_page: PlanPage | None = None
        self._last_mark: str | None = None
        self._undo_asked: str | None = None
        self._summary = ""

    def _look_up(self) -> EntryTable:
        return self.top.library.entries()

    def _mark_column(self) -> Column:
        return Column(
            "", 1, lambda row, look, width: [(look.glyphs.done if row.key in self.marked else " ", look.accent)]
        )

    @property
    def table(self) -> Table[EntryRow]:
        """The entries."""
        return self.query_one("#entries", Table)

    def read(self, run: Run, now: float) -> None:
        """Nothing of the run: entries come from the catalogue."""

    def show(self, view: Any) -> None:
        """Nothing moves with the run."""

    def _came(self, view: EntryTable | Exception) -> None:
        if isinstance(view, Exception):
            self.table.nothing = (f"The catalogue cannot be read: {view}",)
            view = EntryTable(roots=(), rows=())
        else:
            self.table.nothing = ("No compile cache entry was found. Looked in:", *_places(view))
        there = {row.key: row for row in view.rows}
        self.marked = {key: there[key] for key in self.marked if key in there}
        self._summary = summary(view)
        self._tell_marks()
        self.query_one("#compilers", Drawn).show(view)
        self.table.show(view.rows)

    # Marks

    def action_mark(self) -> None:
        """Mark the row under the cursor, or take its mark off, and go on to the next."""
        row = self.table.order.current
        if row is None:
            self.table.move(1)
            return
        if self.marked.pop(row.key, None) is None:
            self.marked[row.key] = row
        self._last_mark = row.key
        self.table.move(1)
        self._tell_marks()

    def action_mark_shown(self) -> None:
        """All rows that the filter shows."""
        shown = {row.key: row for row in self.table.order.part(0, len(self.table.order))}
        if shown.keys() <= self.marked.keys():
            self.marked = {key: row for key, row in self.marked.items() if key not in shown}
        else:
            self.marked.update(shown)
        self._tell_marks()

    def action_mark_range(self) -> None:
        """From the last marked row to the cursor."""
        rows = list(self.table.order.part(0, len(self.table.order)))
        keys = [row.key for row in rows]
        current = self.table.order.current
        if current is None or self._last_mark not in keys:
            self.notice("mark a row first (space), then move and press V")
            return
        first, last = sorted((keys.index(self._last_mark), keys.index(current.key)))
        self.marked.update({row.key: row for row in rows[first : last + 1]})
        self._tell_marks()

    def _tell_marks(self) -> None:
        """The running totals, in the title line."""
        self.query_one("#title", Drawn).show(marks_text(self.marked.values()) or self._summary)
        self.table.redraw()

    def _meant(self) -> list[EntryRow]:
        """The marked rows, else the one under the cursor."""
        current = self.table.order.current
        return list(self.marked.values()) or ([current] if current is not None else [])

    # Acts

    def action_plan(self, verb: str) -> None:
        """Make a plan for the marked entries in a thread and show it; nothing is done yet."""
        rows = self._meant()
        roots = {row.root for row in rows}
        if self.top.settings.read_only:
            self.notice("read-only mode: nothing is changed")
        elif len(roots) != 1:
            self.notice("mark entries of one root" if roots else "mark entries first (space), or choose one")
        else:
            paths = [f"{row.compiler}/{row.module}" for row in rows]
            self.notice(f"planning for {len(rows)} entries")
            self.run_worker(partial(self._make_plan, verb, roots.pop(), paths), thread=True, exclusive=True)

    def _make_plan(self, verb: str, root: str, paths: list[str]) -> None:
        desk = self.top.desk

        def watch(done: int, total: int) -> None:
            if done % 16 == 0 or done == total:
                self.app.call_from_thread(self.notice, f"{done} of {total} entries read")

        try:
            plan = desk.plan(verb, root, paths, watch)
        except (NeuronTopError, OSError) as problem:
            self.app.call_from_thread(self.notice, str(problem))
            return
        self.app.call_from_thread(self._show_plan, plan)

    def _show_plan(self, plan: Plan) -> None:
        self.top.push_screen(PlanPage(plan, self.top.desk, self._carried_out))

    def _carried_out(self, page: PlanPage) -> None:
        """Keep the outcome, drop the marks, look again."""
        self.outcome_page = page
        self.marked.clear()
        self.query_one(Shelf).look_again()

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
        modules = [row.module for row in self._meant()]
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
        roots = sorted({row.root for row in self._meant()} or {row.root for row in self.table.order.part(0, 1)})
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
            self.app.call_from_thread(self.query_one(Shelf).look_again)

        self.run_worker(run, thread=True, exclusive=True)

    def filtered(self, query: str) -> None:
        """`state:failed size>1GB used>30d compiler:2.21 text`."""
        self.table.filter_rows(query, entry_filter(query) if query.strip() else None)

    def opened(self, row: EntryRow) -> None:
        """An entry's page."""
        self.top.push_screen(DetailPage(lambda run, now: row, entry_lines, ""))


def _places(view: EntryTable) -> tuple[str, ...]:
    return tuple(f"  {path} ({origin}{'' if there else '; not there'})" for path, origin, there in view.roots)


def summary(view: EntryTable) -> str:
    """Entries, bytes, roots."""
    there = [path for path, _origin, exists in view.roots if exists]
    total = bytes_text(sum(row.bytes for row in view.rows))
    where = there[0] if len(there) == 1 else f"{len(there)} roots"
    return f"{len(view.rows):,} entries · {total} · {where}"


def marks_text(rows: Iterable[EntryRow]) -> str:
    """Running totals of marked rows: bytes and the compile time that is known; empty for none."""
    marked = list(rows)
    if not marked:
        return ""
    known = [row.compile_seconds for row in marked if row.compile_seconds is not None]
    text = f"{len(marked):,} marked · {bytes_text(sum(row.bytes for row in marked))}"
    text += f" · {duration_text(sum(known))} of compiles" if known else ""
    return text + (f" · {len(marked) - len(known):,} of unknown compile time" if len(known) < len(marked) else "")


def compilers(view: EntryTable) -> list[tuple[str, int, int]]:
    """(compiler version, entries, bytes), the largest first."""
    sums: dict[str, tuple[int, int]] = {}
    for row in view.rows:
        count, size = sums.get(row.compiler, (0, 0))
        sums[row.compiler] = (count + 1, size + row.bytes)
    return sorted(((name, count, size) for name, (count, size) in sums.items()), key=lambda each: -each[2])


def compilers_panel(look: Look, view: EntryTable, width: int, height: int) -> list[Strip]:
    """A bar per compiler version, so that what is old and large stands out."""
    sums = compilers(view)
    whole = sum(size for _name, _count, size in sums) or 1
    strips = []
    for name, count, size in sums[:height]:
        line = Line(look, width).gap(2).put(name, look.text, 30).gap()
        line.add(bar(look, size / whole, max(10, min(40, width - 60)), look.kinds[0])).gap()
        strips.append(
            line.put(bytes_text(size), look.text, 9, right=True).put(f"  {count:,} entries", look.quiet).strip()
        )
    return strips


def entry_lines(look: Look, row: EntryRow, width: int) -> list[Strip]:
    """Everything the catalogue knows about one entry."""
    sign, style = state_sign(look, row.state)
    facts = (
        ("root", row.root), ("compiler", row.compiler), ("size", bytes_text(row.bytes)),
        ("artefact", bytes_text(row.artefact_bytes)), ("last used", f"{duration_text(row.age)} ago"),
        ("compiled in", duration_text(row.compile_seconds)), ("flags", row.flags), ("lock", row.lock),
        ("failure", row.failure), ("advice", row.advice), ("problems", "; ".join(row.problems)),
    )  # fmt: skip
    strips = [
        rule(look, width, row.module, "esc goes back"),
        Line(look, width).gap(2).put(f"{sign} {row.state}", style).strip(),
    ]
    return strips + [
        Line(look, width).gap(2).put(label, look.quiet, 12).gap().put(value, look.text).strip()
        for label, value in facts
        if value
    ]


SCREEN = CacheScreen
