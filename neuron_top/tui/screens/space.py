"""The page that says where caches lie, how they grew, what could go at what price, and what lies in the trash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from neuron_top.services.caches import Disk
from neuron_top.services.trash import PlanHistory
from neuron_top.tui.drawing import Line, bar, cells_in, paragraph, rule
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, counted, duration_text, percent_text
from neuron_top.views.entries import EntryTable
from neuron_top.views.growth import Growth, growth
from neuron_top.views.reclaim import Reclaim, reclaimable

_LEAST_SHARE = 0.001
"""Smaller amounts would be printed as 0."""
_BEHIND_TITLE = 86
"""Cells for what stands behind the title of what could be removed."""


class Space(NamedTuple):
    """What the page is made of."""

    entries: EntryTable
    disks: Mapping[str, Disk]
    budget: int | None
    """Bytes that a cache may take, by the settings."""
    trash: Sequence[PlanHistory] = ()
    """Plans whose files can be brought back."""
    now: float = 0.0


def space_page(look: Callable[[], Space]) -> AsyncPage:
    """The page of what `look` returns."""
    return AsyncPage(look, space_lines, waiting="Looking at the caches…", failed="The caches cannot be read")


def space_lines(theme: Theme, view: Space | str, width: int) -> list[Strip]:
    """A line per cache, then what could go."""
    strips = [rule(theme, width, "Space")]
    if isinstance(view, str):
        return [*strips, *paragraph(theme, view, width, theme.quiet)]
    if not view.entries.rows:
        trash = _trash_lines(theme, view, width) if view.trash else []
        return [*strips, *paragraph(theme, "No entry takes space.", width, theme.quiet), *trash]
    for root, size in view.entries.bytes_by_root.items():
        strips += _root_lines(theme, root, size, view, width)
    return [
        *strips,
        *_growth_lines(theme, growth(view.entries.rows, view.now), width),
        *_reclaim_lines(theme, reclaimable(view.entries.rows), width),
        *_trash_lines(theme, view, width),
    ]


def _root_lines(theme: Theme, root: str, size: int, view: Space, width: int) -> list[Strip]:
    disk = view.disks.get(root)
    whole = view.budget or (disk.total if disk is not None else None)
    line = Line(theme, width).gap(4).put(bytes_text(size), theme.text, 9, right=True).gap()
    if whole:
        line.add(bar(theme, size / whole, max(8, min(30, width - 70)), theme.load(size / whole))).gap()
        of = "of its budget of" if view.budget else "of its disk of"
        is_tiny = 0 < size / whole < _LEAST_SHARE
        share = f"< {percent_text(_LEAST_SHARE)}" if is_tiny else percent_text(size / whole)
        line.put(f"{share} {of} {bytes_text(whole)}", theme.quiet)
    strips = [Line(theme, width).gap(2).put(root, theme.strong).strip()]
    if disk is None:
        return [*strips, line.strip()]
    return [*strips, *_whole(line, f"{bytes_text(disk.free)} of the disk free", theme.load(1 - disk.free / disk.total))]


def _whole(line: Line, text: str, style: Style, column: int = 14) -> list[Strip]:
    """The line followed by a text; the text goes on lines of its own if it would be cut."""
    if cells_in(text) + 2 <= line.left:
        return [line.gap(2).put(text, style).strip()]
    return [line.strip(), *paragraph(line.theme, text, line.width, style, left=column)]


def _growth_lines(theme: Theme, found: list[Growth], width: int) -> list[Strip]:
    strips = [Line(theme, width).strip(), rule(theme, width, "Growth", "written and still there")]
    if not found:
        return [*strips, *paragraph(theme, "Unknown: no entry says when it was written.", width, theme.quiet)]
    for one in found:
        line = Line(theme, width).gap(2).put(f"in the last {one.span}", theme.text, 34).gap()
        line.put(counted(one.entries, "entry", "entries"), theme.text, 14, right=True).gap()
        strips.append(line.put(bytes_text(one.bytes), theme.strong, 16, right=True).strip())
    return strips


def _trash_lines(theme: Theme, view: Space, width: int) -> list[Strip]:
    """The plans whose files can be restored, newest first."""
    strips = [
        Line(theme, width).strip(),
        rule(theme, width, "Trash", "Z on the Cache screen brings a plan's files back"),
    ]
    if not view.trash:
        return [*strips, *paragraph(theme, "Nothing in the trash.", width, theme.quiet)]
    for plan in sorted(view.trash, key=lambda plan: -plan.begun.at):
        line = Line(theme, width).gap(2).put(plan.begun.plan, theme.accent, 28).gap()
        line.put(f"{duration_text(max(0.0, view.now - plan.begun.at))} ago", theme.quiet, 14).gap()
        line.put(f"{plan.begun.verb}, {bytes_text(plan.bytes_in_trash)}", theme.text, 22)
        strips += _whole(line, f"{plan.begun.policy}, by {plan.begun.user}", theme.quiet, 4)
    return strips


def _reclaim_lines(theme: Theme, parts: list[Reclaim], width: int) -> list[Strip]:
    strips = [
        Line(theme, width).strip(),
        rule(theme, width, "What could be removed", "R on the Cache screen makes room at once"),
    ]
    if not parts:
        text = "Nothing is failed, unfinished, older than a week, or of an older compiler."
        return [*strips, *paragraph(theme, text, width, theme.quiet)]
    column = max(20, min(34, width - 36), min(max(cells_in(part.title) for part in parts), width - _BEHIND_TITLE))
    for part in parts:
        line = Line(theme, width).gap(2).put(part.title, theme.text, column).gap()
        line.put(counted(part.entries, "entry", "entries"), theme.text, 14, right=True).gap()
        line.put(f"frees {bytes_text(part.bytes)}", theme.strong, 16, right=True)
        strips += _whole(line, f"to compile again: {part.rebuild_text}", theme.quiet, 4)
        strips += paragraph(theme, f"/ {part.query}", width, theme.quiet, left=4)
    return strips
