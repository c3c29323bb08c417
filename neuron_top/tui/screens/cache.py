"""The catalog of compile caches: every entry of every root below its compiler, what it takes, why it failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from textual.strip import Strip
from textual.widget import Widget

from neuron_top.amounts import parse_bytes
from neuron_top.services.caches import Verb
from neuron_top.services.trash import PlanHistory
from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.panels import entry_rows
from neuron_top.tui.panels.entry_rows import Item
from neuron_top.tui.screens.cache_actions import CacheActions
from neuron_top.tui.screens.graph_detail import GraphDetail
from neuron_top.tui.screens.poller import Poller
from neuron_top.tui.screens.table_screen import TableScreen
from neuron_top.tui.theme import Theme
from neuron_top.tui.ui_state import TableState
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.tui.widgets.table import NEVER, Table
from neuron_top.units import bytes_text, count_text
from neuron_top.views.entries import EntryRow, EntryTable, entry_filter
from neuron_top.views.entry_tree import CompilerRow, compiler_rows, head_key
from neuron_top.views.miss_explanation import known_roots
from neuron_top.views.model import HITS, Run
from neuron_top.views.other_caches import COMMAND, READ_ONLY, OtherCache

TRASH_HINT = "plan to undo"
_OTHER_LINES = 2
"""Lines that the panel of other caches has for each."""


class ArrangedEntries(NamedTuple):
    """The entries as the screen arranges them."""

    view: EntryTable
    entries: Sequence[EntryRow]
    heads: Sequence[CompilerRow]
    places: Mapping[str, int]
    """By the key of a row, its place in the tree: that of its head, or the one below that."""
    largest: int
    """Bytes of the largest entry."""


def arranged(view: EntryTable) -> ArrangedEntries:
    """What was read, arranged; in the thread that has read it, as there may be many entries."""
    # Entries that are no hits come first, as people look for these among fifty thousand; then the largest, as on the
    # web. In the order of the disk a new entry could appear anywhere.
    entries = sorted(view.rows, key=lambda row: (row.state in HITS, -row.bytes, row.module))
    heads = compiler_rows(view)
    places = {head.key: 2 * index for index, head in enumerate(heads)}
    places |= {row.key: places[head_key(row)] + 1 for row in entries}
    return ArrangedEntries(view, entries, heads, places, max((row.bytes for row in entries), default=0))


class CacheScreen(TableScreen):
    """Entries as a tree by compiler version (enter folds a version), or as one flat table (x)."""

    NAME: ClassVar[str] = "cache"
    BINDINGS = screen_bindings("cache")
    FILTER_HINT: ClassVar[str] = "state:failed size>1GB used>30d compiler:2.21 root:/data words !words"

    def __init__(self) -> None:
        super().__init__()
        self.marked: dict[str, EntryRow] = {}
        self._poller = Poller(self, self._read_entries, self._on_entries, period=10.0)
        self.actions = CacheActions(
            self,
            selected=self.selected_entries,
            roots=self.roots_shown,
            executed=self._clear_marks,
            reread=self._reread,
        )
        self._arranged = arranged(EntryTable(roots=(), rows=()))
        self._folded: frozenset[str] = frozenset()
        self._flat = False
        self._last_mark: str | None = None
        self._refresh = False
        """Whether buckets are listed at the next reading, however short a time ago they were."""
        self._keep: Callable[[EntryRow], bool] | None = None
        self._matching: Sequence[EntryRow] = ()
        """What the filter keeps."""
        self._kept_keys: frozenset[str] = frozenset()
        """The same by their keys, with the heads that they are below."""

    def body(self) -> Iterable[Widget]:
        """Sums, then the table."""
        yield RenderWidget("title", self._title, lambda text: 1)
        table: Table[Item] = Table(self._columns(), lambda row: row.key, lambda row: row.key, id="entries")
        table.across = lambda row, theme, width: entry_rows.head(
            row, theme, width, folded=row.key in self._folded and self._keep is None, roots=self._roots
        )
        table.about = lambda row, theme: entry_rows.row_about(row, self._matching, theme)
        table.nothing = ("Looking through the caches…",)
        yield RenderWidget("problems", entry_rows.problems_panel, len)
        yield table
        yield RenderWidget("others", _others_lines, _others_height)

    def _title(self, theme: Theme, text: str, width: int, height: int) -> list[Strip]:
        return [entry_rows.title(theme, text, width, is_replay=self.host.is_replay)]

    def on_mount(self) -> None:
        """Show the title, and start to read the caches."""
        self.query_one("#title", RenderWidget).show("")
        self.query_one("#problems", RenderWidget).show(())
        self._poller.start()

    def arrive(self) -> None:
        """Show what is known, and read again."""
        super().arrive()
        self._poller.arrive()

    def _columns(self) -> tuple[Any, ...]:
        return entry_rows.columns(lambda key: key in self.marked, lambda: self._arranged.largest, tree=self._tree)

    @property
    def _tree(self) -> bool:
        """Whether entries stand below heads: where there is more than one head, unless the user asked for a flat
        table."""
        return not self._flat and len(self._arranged.heads) > 1

    @property
    def _view(self) -> EntryTable:
        return self._arranged.view

    @property
    def _roots(self) -> int:
        return sum(exists for _path, _origin, exists in self._view.roots)

    @property
    def table(self) -> Table[Item]:
        """The entries."""
        return self.query_one("#entries", Table)

    def read(self, run: Run, now: float) -> None:
        """Nothing of the run: entries come from the catalog."""

    def show(self, view: Any) -> None:
        """Does nothing: the entries do not depend on the run."""

    def _read_entries(self) -> ArrangedEntries:
        refresh, self._refresh = self._refresh, False
        self.host.services.cache_listing.also(self.host.feed.read(lambda run, _now: known_roots(run)))
        return arranged(self.host.services.cache_listing.entries(refresh=refresh))

    def _reread(self) -> None:
        """Read again after an action has changed something; buckets are listed again too."""
        self._refresh = True
        self._poller.read_again()

    def _on_entries(self, listing: ArrangedEntries | Exception) -> None:
        if isinstance(listing, Exception):
            self.table.nothing = (f"The catalog cannot be read: {listing}",)
            listing = arranged(EntryTable(roots=(), rows=()))
        else:
            self.table.nothing = entry_rows.nothing(listing.view)
        if self.marked:
            self.marked = {row.key: row for row in listing.entries if row.key in self.marked}
        self._arranged = listing
        self.query_one("#problems", RenderWidget).show(listing.view.problems)
        self.query_one("#others", RenderWidget).show(listing.view.others)
        self._filter_rows()
        self._show_rows()

    # The tree

    def _show_rows(self, *, arrange: bool = False) -> None:
        """Show heads and the entries that are not folded; with a filter, everything that matches.

        `arrange`: a person asked for other rows, which need not keep their places.
        """
        listing, order = self._arranged, self.table.order
        rows: Sequence[Item] = listing.entries
        self.table.columns = self._columns()
        if self._tree:
            if self._folded and self._keep is None:
                rows = [row for row in listing.entries if head_key(row) not in self._folded]
            rows = [*listing.heads, *rows]
        order.group = (lambda row: listing.places[row.key]) if self._tree else None
        order.keep = (lambda row: row.key in self._kept_keys) if self._keep is not None else None
        self.table.show(rows, arrange=arrange)
        self._show_totals()

    def apply_filter(self, query: str) -> None:
        """`state:failed size>1GB used>30d compiler:2.21 text`; folded versions open for what matches."""
        self._keep = entry_filter(query) if query.strip() else None
        self.table.query_text = query
        self._filter_rows()
        self._show_rows(arrange=True)

    def _filter_rows(self) -> None:
        """Find what the filter keeps."""
        keep = self._keep
        if keep is None:
            self._matching, self._kept_keys = self._view.rows, frozenset()
            return
        self._matching = [row for row in self._view.rows if keep(row)]
        self._kept_keys = frozenset(key for row in self._matching for key in (row.key, head_key(row)))

    def action_tree(self) -> None:
        """Tree or flat table."""
        self._flat = not self._flat
        column = self.table.sorted_by
        if column is not None and self._columns()[column].least == NEVER:
            self.table.sort(None)  # a tree does not have the column that the rows were sorted by
        self._show_rows(arrange=True)

    def action_fold_all(self) -> None:
        """Fold all compiler versions, or open them all again; the cursor goes to the version that its entry is of."""
        if self._refuses_to_fold():
            return
        self._flat = False
        self._folded = frozenset() if self._folded else frozenset(head.key for head in self._arranged.heads)
        row = self.table.order.current
        if self._folded and self._tree and isinstance(row, EntryRow):
            self.table.order.chosen = head_key(row)
        self._show_rows(arrange=True)

    def opened(self, row: Item) -> None:
        """An entry's page; a head folds."""
        if isinstance(row, EntryRow):
            self.host.open(GraphDetail(row.module, row))
        elif not self._refuses_to_fold():
            self._folded ^= {row.key}
            self._show_rows(arrange=True)

    def _refuses_to_fold(self) -> bool:
        """Whether a filter keeps all versions open; if so, shows that."""
        if self._keep is not None:
            self.notice("a filter shows all versions open: esc drops it")
        return self._keep is not None

    def action_why(self) -> None:
        """The page of the entry under the cursor, with the reason why it missed."""
        row = self.table.order.current
        if isinstance(row, EntryRow):
            self.host.open(GraphDetail(row.module, row, why=True))
        else:
            self.notice("select an entry first (arrow keys)")

    def table_state(self) -> TableState:
        """Sort, filter, folded versions."""
        table = self.table
        return TableState(
            column=table.sorted_title,
            reverse=table.reversed,
            filter=table.query_text,
            folded=tuple(sorted(self._folded)),
            flat=self._flat,
        )

    def restore_table(self, state: TableState) -> None:
        """Sort as before, and fold the same versions."""
        self._folded, self._flat = frozenset(state.folded), state.flat
        super().restore_table(state)

    # Marks

    def mark(self, row: Item) -> None:
        """Mark a row (a head: its entries), or take the marks off."""
        self._mark(self._entries_of(row))
        self._last_mark = row.key
        self._show_totals()

    def _mark(self, rows: Iterable[EntryRow]) -> None:
        """Mark all; if all are marked, remove the marks."""
        chosen = {row.key: row for row in rows}
        if chosen.keys() <= self.marked.keys():
            self.marked = {key: row for key, row in self.marked.items() if key not in chosen}
        else:
            self.marked.update(chosen)

    def _entries_of(self, row: Item) -> list[EntryRow]:
        """The entry itself, or the entries below a head that the filter keeps."""
        if isinstance(row, EntryRow):
            return [row]
        return [each for each in self._matching if head_key(each) == row.key]

    def action_mark_shown(self) -> None:
        """All rows that the filter shows."""
        self._mark(row for row in self.table.order.rows if isinstance(row, EntryRow))
        self._show_totals()

    def action_mark_range(self) -> None:
        """From the last marked row to the cursor."""
        rows = self.table.order.rows
        keys = [row.key for row in rows]
        current = self.table.order.current
        if current is None or self._last_mark not in keys:
            self.notice("mark a row first (space), then move and press V")
            return
        first, last = sorted((keys.index(self._last_mark), keys.index(current.key)))
        self.marked.update({row.key: row for row in rows[first : last + 1] if isinstance(row, EntryRow)})
        self._show_totals()

    def clear_marks(self) -> bool:
        """Remove all marks; False when there were none."""
        if not self.marked:
            return False
        self._clear_marks()
        self._show_totals()
        return True

    def _show_totals(self) -> None:
        """Show the running totals in the title line."""
        matching = entry_rows.matching_text(self._matching) if self._keep is not None else ""
        text = entry_rows.marks_text(self.marked.values()) or matching + entry_rows.summary(self._view)
        self.query_one("#title", RenderWidget).show(text)
        self.table.redraw()

    # Actions

    def action_plan(self, verb: str) -> None:
        """Plan for the selected entries."""
        self.actions.plan(Verb(verb))

    def action_pin(self) -> None:
        """Pin, or unpin."""
        self.actions.pin()

    def action_undo(self) -> None:
        """Undo the newest plan."""
        self.actions.undo()

    def action_plan_change(self) -> None:
        """Ask nodes of the fleet for a change of the selected modules."""
        if not self.host.settings.store:
            self.notice("no fleet is named: set NEURONTOP_STORE")
            return
        from neuron_top.tui.screens.fleet_request import FleetRequestPage

        self.host.open(FleetRequestPage(["*"], [row.module for row in self.selected_entries()]))

    def action_space_used(self) -> None:
        """Where caches lie and what could go."""
        from neuron_top.tui.screens.space import Space, space_page

        def look() -> Space:
            disks = self.host.services.caches.disks(self.roots_shown())
            limit = self.host.settings.cache_max_size
            trash = self.host.services.caches.trash.restorable(self.roots_shown())
            return Space(self._view, disks, parse_bytes(limit) if limit else None, trash, time.time())

        self.host.open(space_page(look))

    async def action_room(self) -> None:
        """Ask how much of the disk is to be free, and plan it."""
        if self.actions.refuses():
            return
        hint = "how much of the disk is to be free, as 50GB"
        await self.ask(
            hint, self.host.settings.cache_min_free, partial(self.actions.make_room, self._view.largest_first)
        )

    async def action_bring_back(self) -> None:
        """Ask which plan's files to restore from the trash; the question is closed if there are none."""
        if self.actions.refuses():
            return
        await self.ask(TRASH_HINT, "", partial(self.actions.undo_plan, self.roots_shown()))
        self.actions.look_for_trash(self.roots_shown(), self._on_trash)

    def _on_trash(self, trash: Sequence[PlanHistory]) -> None:
        prompt = self.prompt
        if prompt is None or not prompt.has_class("open") or prompt.placeholder != TRASH_HINT:
            return
        if not trash:
            prompt.close()
            self.notice("nothing is in the trash")
            return
        newest = max(trash, key=lambda plan: plan.begun.at)
        more = f"; {len(trash) - 1} more on the page of space (b)" if len(trash) > 1 else ""
        prompt.placeholder = (
            f"{TRASH_HINT}: {newest.begun.plan} ({newest.begun.verb}, {bytes_text(newest.bytes_in_trash)}){more}"
        )

    def action_outcome(self) -> None:
        """The newest outcome again."""
        self.actions.show_outcome()

    def _clear_marks(self) -> None:
        self.marked = {}

    def selected_entries(self) -> list[EntryRow]:
        """The marked rows, else those under the cursor."""
        current = self.table.order.current
        return list(self.marked.values()) or (self._entries_of(current) if current is not None else [])

    def roots_shown(self) -> list[str]:
        """The existing roots, including emptied ones, which may have a trash."""
        there = {path for path, _origin, exists in self._view.roots if exists}
        return sorted(there | {row.root for row in self._view.rows})


SCREEN = CacheScreen


def _others_height(view: Sequence[OtherCache]) -> int:
    """How many lines the panel of other caches needs; 0 where there is none."""
    return _OTHER_LINES * len(view)


def _others_lines(theme: Theme, view: Sequence[OtherCache], width: int, rows: int) -> list[Strip]:
    """A title and a line of sums for each of the other caches."""
    pairs = ((rule(theme, width, READ_ONLY, cache.root), _sums(theme, cache, width)) for cache in view)
    return [strip for pair in pairs for strip in pair][:rows]


def _sums(theme: Theme, cache: OtherCache, width: int) -> Strip:
    line = Line(theme, width).gap(2)
    if not cache.kinds:
        return line.put("empty", theme.quiet).strip()
    line.put(f"{count_text(cache.entries)} entries · {bytes_text(cache.bytes)}", theme.text)
    line.put(f" · listed by {COMMAND}", theme.quiet)
    for kind in cache.kinds:
        line.put(f" · {kind.kind} {count_text(kind.entries)}, {bytes_text(kind.bytes)}", theme.quiet)
    return line.strip()
