"""The recordings: result, duration, compile share, hit rate; enter plays one on these screens."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.widget import Widget

from neuron_top.errors import NeuronTopError
from neuron_top.run.model import Run
from neuron_top.tui.look import Theme
from neuron_top.tui.screens.base import LiveScreen, bindings_for
from neuron_top.tui.widgets.poller import Poller, title
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.tui.widgets.table import Cell, Column, Table
from neuron_top.units import bytes_text, count_text, duration_text, percent_text
from neuron_top.views.runs import RunRow

NOTHING = (
    "No recording yet.",
    "neurontop run -- torchrun --nproc_per_node=4 train.py records a job while it shows it; here it can be played "
    "again, faster or slower, with pause and seek.",
)


def _state(row: RunRow, look: Theme, width: int) -> Cell:
    glyphs = look.glyphs
    sign, style = {"finished": (glyphs.done, look.good), "running": (glyphs.running, look.accent),
                   "cut off": (glyphs.warn, look.warn)}.get(row.state, (glyphs.failed, look.bad))  # fmt: skip
    return [(f"{sign} {row.state}", style)]


def _started(row: RunRow, look: Theme, width: int) -> Cell:
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.started)) if row.started else look.glyphs.unknown
    return [(text, look.text)]


def _name(row: RunRow) -> str:
    return row.name or (row.command[0].rpartition("/")[2] if row.command else "")


COLUMNS = (
    Column("Result", 24, _state, lambda row: row.state),
    Column("Started", 19, _started, lambda row: row.started, down=True),
    Column("Took", 9, lambda row, look, width: [(duration_text(row.seconds), look.text)], lambda row: row.seconds, True,
           down=True),
    Column("Name", 12, lambda row, look, width: [(_name(row), look.strong)], _name, grow=1),
    Column("Compile", 8, lambda row, look, width: [(percent_text(row.compile_share), look.text)],
           lambda row: row.compile_share, True, least=90, down=True),
    Column("Hit rate", 8, lambda row, look, width: [(percent_text(row.hit_rate), look.text)],
           lambda row: row.hit_rate, True, least=90, down=True),
    Column("Graphs", 6, lambda row, look, width: [(count_text(row.graphs), look.text)], lambda row: row.graphs, True,
           least=100, down=True),
    Column("Size", 9, lambda row, look, width: [(bytes_text(row.bytes), look.quiet)], lambda row: row.bytes, True,
           least=110, down=True),
    Column("Command", 20, lambda row, look, width: [(" ".join(row.command), look.quiet)], None, grow=3, least=120),
    Column("Id", 20, lambda row, look, width: [(row.id, look.quiet)], lambda row: row.id, least=150),
)  # fmt: skip


def filter_text(row: RunRow) -> str:
    """What a filter looks at, and what `y` copies."""
    return f"{row.id} {_name(row)} {row.state} {' '.join(row.command)}"


class RunsScreen(LiveScreen):
    """Recordings."""

    PLACE: ClassVar[str] = "runs"
    BINDINGS = bindings_for("runs")

    def __init__(self) -> None:
        super().__init__()
        self.marked: list[str] = []
        """Two at most, in the order in which they were marked."""

    def body(self) -> Iterable[Widget]:
        """Title and table."""
        yield RenderWidget(
            "title", lambda look, text, width, height: [title(look, "Recordings", text, width)], lambda text: 1
        )
        marks = Column("", 1, lambda row, look, width: [(self._letter(row), look.title)])
        table: Table[RunRow] = Table((marks, *COLUMNS), lambda row: row.id, filter_text, id="runs")
        table.nothing = ("Looking for recordings…",)
        yield table
        yield Poller(self._look_up, self._came, period=5.0)

    def _letter(self, row: RunRow) -> str:
        return "AB"[self.marked.index(row.id)] if row.id in self.marked else " "

    def _look_up(self) -> tuple[RunRow, ...]:
        return self.top.library.runs()

    @property
    def table(self) -> Table[RunRow]:
        """The recordings."""
        return self.query_one("#runs", Table)

    def read(self, run: Run, now: float) -> None:
        """Nothing of the run: recordings come from the library."""

    def show(self, view: Any) -> None:
        """Nothing moves with the run."""

    def _came(self, rows: tuple[RunRow, ...] | Exception) -> None:
        if isinstance(rows, Exception):
            self.table.nothing = (f"The recordings cannot be read: {rows}",)
            rows, told = (), f"in {self.top.library.place}"
        else:
            self.table.nothing = NOTHING
            told = f"{len(rows)} in {self.top.library.place} · enter plays one"
        self.marked = [one for one in self.marked if one in {row.id for row in rows}]
        self.query_one("#title", RenderWidget).show(told)
        self.table.show(rows)

    def action_mark(self) -> None:
        """Mark the recording under the cursor, or take its mark off; a third mark takes the oldest one off."""
        row = self.table.order.current
        if row is None:
            self.notice("choose a recording first (arrow keys)")
            return
        if row.id in self.marked:
            self.marked.remove(row.id)
        else:
            self.marked = [*self.marked, row.id][-2:]
        self.table.redraw()

    def action_compare(self) -> None:
        """Two marked recordings, or the marked one and the one under the cursor, side by side."""
        row = self.table.order.current
        both = list(self.marked)
        if len(both) == 1 and row is not None and row.id not in both:
            both.append(row.id)
        if len(both) != 2:
            self.notice("mark two recordings first (space)")
            return
        from neuron_top.tui.screens.compare_runs import CompareRunsPage

        self.top.push_screen(CompareRunsPage(partial(self.top.library.compare, *both)))

    def action_why(self) -> None:
        """Every miss of the recording under the cursor, with its reason."""
        row = self.table.order.current
        if row is None:
            self.notice("choose a recording first (arrow keys)")
            return
        from neuron_top.tui.screens.misses import MissesPage

        self.top.push_screen(MissesPage(partial(self.top.library.misses_of, row.id)))

    def action_delete(self) -> None:
        """Ask, then delete the chosen recording."""
        row = self.table.order.current
        if row is None:
            self.notice("choose a recording first (arrow keys)")
        elif row.state == "running":
            self.notice("this one is being recorded now: it stays")
        else:
            from neuron_top.tui.screens.delete_run import DeleteRunPage

            self.top.push_screen(DeleteRunPage(row, self._delete))

    def _delete(self, row: RunRow) -> None:
        self.run_worker(partial(self._deleted, row.id), thread=True)

    def _deleted(self, run: str) -> None:
        try:
            words = f"deleted: {bytes_text(self.top.library.delete(run))} freed"
        except (NeuronTopError, OSError) as problem:
            words = f"not deleted: {problem}"
        self.top.call_from_thread(self.notice, words)
        self.top.call_from_thread(self.query_one(Poller).look_again)

    def opened(self, row: RunRow) -> None:
        """Play it on these screens."""
        self.top.play(row.id)


SCREEN = RunsScreen
