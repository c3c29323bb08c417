"""The recordings: result, duration, compile share, hit rate; enter plays one on these screens."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, TypedDict

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.errors import NeuronTopError
from neuron_top.tui.drawing import fact, paragraph, rule
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.screens.poller import Poller
from neuron_top.tui.screens.question_page import QuestionPage, button_lines
from neuron_top.tui.screens.table_screen import TableScreen
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.tui.widgets.table import Cell, Column, Table
from neuron_top.units import bytes_text, count_text, duration_text, percent_text
from neuron_top.views.model import Run
from neuron_top.views.overlay import LETTERS, MOST_RUNS
from neuron_top.views.runs import RunRow
from neuron_top.views.states import JobState, job_text

NOTHING = (
    "No recording yet.",
    "neurontop run -- torchrun --nproc_per_node=4 train.py records a job while it shows it; here it can be played "
    "again, faster or slower, with pause and seek.",
)


def _sign(state: JobState, theme: Theme) -> tuple[str, Style]:
    glyphs = theme.glyphs
    return {
        JobState.FINISHED: (glyphs.done, theme.good),
        JobState.RUNNING: (glyphs.running, theme.accent),
        JobState.CUT_OFF: (glyphs.warn, theme.warn),
    }.get(state, (glyphs.failed, theme.bad))


def _state(row: RunRow, theme: Theme, width: int) -> Cell:
    sign, style = _sign(row.state, theme)
    return [(f"{sign} {row.state_text}", style)]


def about(row: RunRow | None, shown: Sequence[RunRow], theme: Theme) -> Cell:
    """Why the chosen recording failed and what it ran, which its row has no room for; else how many ended how."""
    if row is not None:
        why = [(f"{row.reason}  ", theme.text)] if row.reason else []
        note = [(f"{row.note}  ", theme.accent)] if row.note else []
        return [(f"{_state(row, theme, 0)[0][0]}  ", _sign(row.state, theme)[1]), *why, *note,
                (" ".join(row.command), theme.quiet)]  # fmt: skip
    cell: list[tuple[str, Style]] = []
    for state, count in Counter(one.state for one in shown).most_common():
        sign, style = _sign(state, theme)
        cell.append((f"{sign} {count_text(count)} {job_text(state)}  ", style))
    return [*cell, ("select a row: its reason is shown here", theme.quiet)] if cell else cell


def _started(row: RunRow, theme: Theme, width: int) -> Cell:
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.started)) if row.started else theme.glyphs.unknown
    return [(text, theme.text)]


def _name(row: RunRow) -> str:
    return row.called


def _named(row: RunRow, theme: Theme) -> Cell:
    star = [(f"{theme.glyphs.note} " if theme.is_ascii else "★ ", theme.warn)] if row.starred else []
    return [*star, (_name(row), theme.strong)]


COLUMNS = (
    Column("Result", 24, _state, lambda row: row.state_text),
    Column("Started", 19, _started, lambda row: row.started, least=60, down=True),
    Column("Took", 9, lambda row, theme, width: [(duration_text(row.seconds), theme.text)], lambda row: row.seconds,
           True, least=72, down=True),
    Column("Name", 12, lambda row, theme, width: _named(row, theme), _name, grow=1),
    Column("Compile", 8, lambda row, theme, width: [(percent_text(row.compile_share), theme.text)],
           lambda row: row.compile_share, True, least=90, down=True),
    Column("Hit rate", 9, lambda row, theme, width: [(percent_text(row.hit_rate), theme.text)],
           lambda row: row.hit_rate, True, least=90, down=True),
    Column("Graphs", 7, lambda row, theme, width: [(count_text(row.graphs), theme.text)], lambda row: row.graphs, True,
           least=100, down=True),
    Column("Why", 13, lambda row, theme, width: [(row.reason, theme.bad)], lambda row: row.reason or None, grow=2,
           least=110),
    Column("Tags", 14, lambda row, theme, width: [(" ".join(row.tags), theme.accent)], lambda row: row.tags or None,
           least=135),
    Column("Size", 9, lambda row, theme, width: [(bytes_text(row.bytes), theme.quiet)], lambda row: row.bytes, True,
           least=120, down=True),
    Column("Command", 20, lambda row, theme, width: [(" ".join(row.command), theme.quiet)], None, grow=2, least=156),
    Column("Id", 20, lambda row, theme, width: [(row.id, theme.quiet)], lambda row: row.id, least=177),
)  # fmt: skip


def filter_text(row: RunRow) -> str:
    """The text for filters, and for copying with `y`."""
    labels = " ".join((*row.tags, row.note, "starred" if row.starred else ""))
    return f"{row.id} {_name(row)} {row.state_text} {row.reason} {labels} {' '.join(row.command)}"


CHANGES = ("delete", "star", "rename", "note", "tags")
"""The actions that change a recording."""


class Labels(TypedDict, total=False):
    """The labels of a recording to change; one that is missing stays as it is."""

    new_name: str
    starred: bool
    note: str
    add_tags: Iterable[str]
    remove_tags: Iterable[str]


def _tag_changes(row: RunRow, text: str) -> Labels:
    wanted = text.split()
    return {"add_tags": wanted, "remove_tags": [tag for tag in row.tags if tag not in wanted]}


class RunsScreen(TableScreen):
    """Recordings."""

    NAME: ClassVar[str] = "runs"
    BINDINGS = screen_bindings("runs")

    def __init__(self) -> None:
        super().__init__()
        self._poller = Poller(self, self._read_runs, self._on_runs, period=5.0)
        self.marked: list[str] = []
        """Eight at most, in the order in which they were marked."""

    def body(self) -> Iterable[Widget]:
        """Title and table."""
        yield RenderWidget(
            "title", lambda theme, text, width, height: [rule(theme, width, "Recordings", text)], lambda text: 1
        )
        marks = Column("", 1, lambda row, theme, width: [(self._letter(row), theme.title)])
        table: Table[RunRow] = Table((marks, *COLUMNS), lambda row: row.id, filter_text, id="runs")
        table.nothing = ("Looking for recordings…",)
        table.about = lambda row, theme: about(row, tuple(table.order.rows), theme)
        yield table

    def on_mount(self) -> None:
        """Start to read the recordings."""
        self._poller.start()

    def arrive(self) -> None:
        """Show what is known, and read again."""
        super().arrive()
        self._poller.arrive()

    def clear_marks(self) -> bool:
        """Remove all marks; False when there were none."""
        if not self.marked:
            return False
        self.marked = []
        self.table.redraw()
        return True

    def _letter(self, row: RunRow) -> str:
        return LETTERS[self.marked.index(row.id)] if row.id in self.marked else " "

    def _read_runs(self) -> tuple[RunRow, ...]:
        return self.host.services.runs.rows()

    @property
    def table(self) -> Table[RunRow]:
        """The recordings."""
        return self.query_one("#runs", Table)

    def read(self, run: Run, now: float) -> None:
        """Return None, as recordings come from the store."""

    def show(self, view: Any) -> None:
        """Does nothing: the page does not depend on the run."""

    def _on_runs(self, rows: tuple[RunRow, ...] | Exception) -> None:
        if isinstance(rows, Exception):
            self.table.nothing = (f"The recordings cannot be read: {rows}",)
            rows, summary = (), f"in {self.host.services.runs.folder}"
        else:
            self.table.nothing = NOTHING
            summary = f"{len(rows)} in {self.host.services.runs.folder} · enter plays one"
        self.marked = [run for run in self.marked if run in {row.id for row in rows}]
        self.query_one("#title", RenderWidget).show(summary)
        self.table.show(rows)

    def mark(self, row: RunRow) -> None:
        """Mark a recording, or take its mark off; a ninth mark takes the oldest one off."""
        if row.id in self.marked:
            self.marked.remove(row.id)
        else:
            if len(self.marked) == MOST_RUNS:
                oldest = self.marked.pop(0)
                self.notice(f"{MOST_RUNS} can be marked: the mark of {oldest}, the oldest, is gone")
            self.marked.append(row.id)

    def _chosen(self) -> list[str]:
        """The marked recordings; with only one of them the one under the cursor too."""
        row = self.table.order.current
        chosen = list(self.marked)
        if len(chosen) <= 1 and row is not None and row.id not in chosen:
            chosen.append(row.id)
        return chosen

    def action_overlay(self) -> None:
        """The curves of the marked recordings over one axis."""
        chosen = self._chosen()
        if not chosen:
            self.notice("mark recordings first (space)")
            return
        from neuron_top.tui.screens.compare_runs import overlay_page

        self.host.open(overlay_page(lambda: self.host.services.runs.overlay(chosen)))

    # Labels

    def offers(self, action: str) -> bool:
        """Not what changes a recording in the demo."""
        return super().offers(action) and not (self.host.is_demo and action in CHANGES)

    def _to_change(self) -> RunRow | None:
        """The recording under the cursor; None, with a notice, where there is none or it cannot be changed."""
        row = self.table.order.current
        if self.host.is_demo:
            self.notice("the demo plays a copy of its recording: nothing about it can be changed")
            return None
        if row is None:
            self.notice("select a recording first (arrow keys)")
        return row

    def action_star(self) -> None:
        """Give the recording under the cursor a star, or take it away."""
        self._label(lambda row: {"starred": not row.starred})

    async def action_rename(self) -> None:
        """Ask for another name."""
        await self._ask("name", lambda row: row.name, lambda row, text: {"new_name": text})

    async def action_note(self) -> None:
        """Ask for a note."""
        await self._ask("note", lambda row: row.note, lambda row, text: {"note": text})

    async def action_tags(self) -> None:
        """Ask for tags."""
        await self._ask("tags, with blanks between them", lambda row: " ".join(row.tags), _tag_changes)

    async def _ask(self, what: str, known: Callable[[RunRow], str], change: Callable[[RunRow, str], Labels]) -> None:
        row = self._to_change()
        if row is None:
            return
        await self.ask(f"{what} of {row.id}", known(row), lambda text: self._change_labels(row, change(row, text)))

    def _label(self, change: Callable[[RunRow], Labels]) -> None:
        row = self._to_change()
        if row is not None:
            self._change_labels(row, change(row))

    def _change_labels(self, row: RunRow, labels: Labels) -> None:
        self.run_worker(partial(self._labeled, row.id, labels), thread=True)

    def _labeled(self, run: str, labels: Labels) -> None:
        try:
            self.host.services.runs.label(run, **labels)
        except NeuronTopError as problem:
            self.app.call_from_thread(self.notice, f"not changed: {problem}")
        self.app.call_from_thread(self._poller.read_again)

    def action_compare(self) -> None:
        """Marked recordings, or the marked one and the one under the cursor, side by side."""
        chosen = self._chosen()
        if len(chosen) < 2:
            self.notice("mark two recordings first (space)")
            return
        from neuron_top.tui.screens.compare_runs import compare_many_page, compare_page

        if len(chosen) == 2:
            self.host.open(compare_page(partial(self.host.services.reports.compare, *chosen)))
        else:
            self.host.open(compare_many_page(partial(self.host.services.reports.compare_many, chosen)))

    def action_why(self) -> None:
        """Open the page that explains every miss of the recording under the cursor."""
        row = self.table.order.current
        if row is None:
            self.notice("select a recording first (arrow keys)")
            return
        from neuron_top.tui.screens.misses import misses_page

        self.host.open(misses_page(partial(self.host.services.misses.misses_of, row.id)))

    def action_delete(self) -> None:
        """Ask, then delete the recording under the cursor."""
        row = self._to_change()
        if row is not None and row.state is JobState.RUNNING:
            self.notice("this recording is still being written and cannot be deleted")
        elif row is not None:
            self.host.open(DeleteRunPage(row, self._delete))

    def _delete(self, row: RunRow) -> None:
        self.run_worker(partial(self._deleted, row.id), thread=True)

    def _deleted(self, run: str) -> None:
        try:
            text = f"deleted {run}: {bytes_text(self.host.services.runs.delete(run))} freed"
        except (NeuronTopError, OSError) as problem:
            text = f"not deleted: {problem}"
        self.app.call_from_thread(self.notice, text)
        self.app.call_from_thread(self._poller.read_again)

    def opened(self, row: RunRow) -> None:
        """Play it on these screens."""
        self.host.play(row.id)


SCREEN = RunsScreen


CHOICES = ("Cancel", "Delete")
DELETE = 1


class DeleteRunPage(QuestionPage):
    """One recording; `delete` is called once, when Delete is selected and enter pressed."""

    def __init__(self, row: RunRow, delete: Callable[[RunRow], None]) -> None:
        super().__init__()
        self._row, self._delete = row, delete

    @property
    def asked_word(self) -> str:
        """None: the choice is enough."""
        return ""

    @property
    def buttons(self) -> int:
        """Two."""
        return len(CHOICES)

    def _draw_lines(self, theme: Theme, width: int) -> list[Strip]:
        row = self._row
        facts = (
            ("recording", row.id),
            ("name", row.called),
            ("result", f"{row.state_text}, after {duration_text(row.seconds)}"),
            ("deleted", f"{bytes_text(row.bytes)}: {count_text(row.events)} events and the folder {row.folder}"),
            ("kept", "compile caches, and the compile times that estimates use"),
        )
        strips = [rule(theme, width, "Delete this recording?", "this cannot be undone")]
        return strips + [strip for label, value in facts for strip in fact(theme, label, value, width, cells=10)]

    def _draw_choice(self, theme: Theme, width: int) -> list[Strip]:
        below = paragraph(theme, "tab selects, enter does what is selected, esc cancels", width, theme.quiet)
        return [*button_lines(theme, width, CHOICES, self.chosen), *below]

    def action_back(self) -> None:
        """Cancel."""
        self.dismiss()

    def action_open(self) -> None:
        """Do what is selected."""
        self.dismiss()
        if self.chosen == DELETE:
            self._delete(self._row)
