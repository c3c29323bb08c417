"""The cache screen's rows (heads of compiler versions, entries), its sums, and what the chosen row's state means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, bar, cells_in, fit_start, rule, without_backticks
from neuron_top.tui.panels.compiling import short_key
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.table import NEVER, Cell, Column
from neuron_top.units import age_text, bytes_text, counted, duration_text
from neuron_top.views.colors import Hue
from neuron_top.views.entries import NO_CACHES, OWN_CACHES, EntryRow, EntryTable
from neuron_top.views.entry_tree import CompilerRow, head_key
from neuron_top.views.model import BROKEN, COMPILED, FAILURES, HITS, UNSETTLED, State
from neuron_top.views.words import entry_state_words

Item = EntryRow | CompilerRow
Mark = Callable[[str], bool]
_LEAST_PATH = 12
_SHARE_CELLS = 12
"""Of the bar of a version's share."""
_NARROW = 72
"""On fewer cells there is no such bar: it would leave the names of versions too little to tell them apart."""
_SHORT: dict[str, str] = {State.HIT_LEFTOVER_LOCK: "leftover-lock", State.PUBLISHED_UNMARKED: "unmarked"}
"""States that are longer than their column, by a part of them that a filter finds; the last line has them whole."""


def state_sign(theme: Theme, state: str) -> tuple[str, Style]:
    """Symbol and color of an entry's state."""
    glyphs = theme.glyphs
    if state in HITS:
        return glyphs.done, theme.state("hit")
    if state in FAILURES or state in BROKEN:
        return glyphs.failed, theme.state("failed")
    if state in (State.COMPILING, State.RETRYING):
        return glyphs.running, theme.state("compiling")
    if state == State.LOCKED_UNKNOWN:
        return glyphs.waiting, theme.warn
    return (glyphs.warn, theme.warn) if state in UNSETTLED else (glyphs.queued, theme.quiet)


def columns(marked: Mark, largest: Callable[[], int], *, tree: bool) -> tuple[Column, ...]:
    """The table's columns. `marked` answers by key; size bars are full at `largest` bytes."""
    return (
        Column("", 1, lambda row, theme, width: [(theme.glyphs.mark if marked(row.key) else " ", theme.accent)]),
        Column("State", 16, _state, _by(lambda row: row.state)),
        Column(
            "Size",
            9,
            lambda row, theme, width: [(bytes_text(row.bytes), theme.text)],
            _by(lambda row: row.bytes),
            True,
            down=True,
        ),
        Column(
            "",
            8,
            lambda row, theme, width: bar(theme, row.bytes / (largest() or 1), width, theme.hues[Hue.BLUE]),
            least=100,
        ),
        Column(
            "Used",
            13,
            _used,
            _by(lambda row: row.age),
            True,
            least=56,
        ),
        Column(
            "Compiled in",
            12,
            lambda row, theme, width: [(duration_text(row.compile_seconds), theme.quiet)],
            _by(lambda row: row.compile_seconds),
            True,
            least=110,
            down=True,
        ),
        Column(
            "Compiler",
            31,
            lambda row, theme, width: [(row.compiler, theme.quiet)],
            _by(lambda row: row.compiler),
            least=NEVER if tree else 150,
        ),
        Column("Module", 28, _module, _by(lambda row: row.module), grow=1),
        Column("Failure or lock", 16, _trouble, _by(lambda row: row.failure or row.lock or None), grow=4, least=90),
        Column(
            "Root",
            16,
            lambda row, theme, width: [(row.root, theme.quiet)],
            _by(lambda row: row.root),
            grow=1,
            least=NEVER if tree else 170,
        ),
    )


def _by(value: Callable[[EntryRow], object]) -> Callable[[Item], object]:
    return lambda item: value(item) if isinstance(item, EntryRow) else None


def _used(row: EntryRow, theme: Theme, width: int) -> Cell:
    if row.age is None:
        return [("dated ahead", theme.quiet)]
    if row.used is not None:
        return [(age_text(row.age), theme.text)]
    return [(f"written {age_text(row.age)}", theme.quiet)]


def _trouble(row: EntryRow, theme: Theme, width: int) -> Cell:
    return [(row.failure, theme.bad)] if row.failure else [(row.lock, theme.warn)]


def _state(row: EntryRow, theme: Theme, width: int) -> Cell:
    sign, style = state_sign(theme, row.state)
    return [(f"{sign} {_SHORT.get(row.state, row.state)}", style)]


def _module(row: EntryRow, theme: Theme, width: int) -> Cell:
    return [(short_key(row.module, width, theme.glyphs.more), theme.text)]


def head(item: Item, theme: Theme, width: int, *, folded: bool, roots: int) -> Cell | None:
    """The line of a compiler version: what it takes as a bar, entries, failures, last use, its root where there are
    several `roots`; None for an entry."""
    if isinstance(item, EntryRow):
        return None
    is_narrow = width < _NARROW
    room = max(12, width - (54 - _SHARE_CELLS if is_narrow else 54))
    name = item.compiler or "no compiler version"
    name = name if len(name) <= room else name.removeprefix("neuronxcc-")
    parts = [(f"{'+' if folded else '-'} {short_key(name, room, theme.glyphs.more)} ", theme.title)]
    if not is_narrow:
        parts += bar(theme, item.share, _SHARE_CELLS, theme.hues[Hue.BLUE])
    parts.append(
        (f" {bytes_text(item.bytes):>8}  {item.entries:,} entr{'y' if item.entries == 1 else 'ies'}", theme.text)
    )
    bad = (f"{count:,} {word}" for count, word in ((item.failed, "failed"), (item.broken, "corrupt")) if count)
    if text := ", ".join(bad):
        parts.append((f"  {theme.glyphs.failed} {text}", theme.state("failed")))
    if item.age is not None:
        parts.append((f"  {'used' if item.use_known else 'written'} {age_text(item.age)} ago", theme.quiet))
    gap = "  "
    least = len(gap) + min(_LEAST_PATH, cells_in(item.root)) if roots > 1 else 0
    while len(parts) > 1 and sum(cells_in(text) for text, _style in parts) > width - least:
        parts.pop()  # a fact is shown whole or not at all; the root tells equal versions apart, and loses its beginning
    if roots > 1:
        room = width - sum(cells_in(text) for text, _style in parts) - len(gap)
        parts.append((f"{gap}{fit_start(item.root, room, theme.glyphs.more)}", theme.quiet))
    return parts


def matching_text(rows: Sequence[EntryRow]) -> str:
    """What a filter keeps, in front of the sums over all."""
    return f"{len(rows):,} match, {bytes_text(sum(row.bytes for row in rows))} · of "


def title(theme: Theme, text: str, width: int, *, is_replay: bool = False) -> Strip:
    """The title line with the sums; a path at their end that has no room loses its beginning, not its end.

    `is_replay`: a recording is shown, of which the entries are not.
    """
    name = "Compile cache, as it is now" if is_replay and text else "Compile cache"
    sums, dot, path = text.rpartition(" · ")
    if "/" not in path:
        return rule(theme, width, name, text)
    room = max(_LEAST_PATH, width - len(name) - 1 - len(sums + dot))
    return rule(theme, width, name, f"{sums}{dot}{fit_start(path, room, theme.glyphs.more)}")


def summary(view: EntryTable) -> str:
    """Entries, bytes, the compiler where there is only one, roots; nothing before any place was looked at."""
    if not view.roots:
        return ""
    there = [path for path, _origin, exists in view.roots if exists]
    total = bytes_text(sum(row.bytes for row in view.rows))
    where = there[0] if len(there) == 1 else f"{len(there)} roots"
    compilers = {row.compiler for row in view.rows}
    version = f" · {min(compilers)}" if len(compilers) == 1 else ""
    return f"{counted(len(view.rows), 'entry', 'entries')} · {total}{version} · {where}"


def nothing(view: EntryTable) -> tuple[str, ...]:
    """Lines for a table without entries: the roots that were looked for, a line each."""
    if not view.roots:
        return (*NO_CACHES, without_backticks(OWN_CACHES))
    places = (f"  {path} ({origin}{'' if there else '; not there'})" for path, origin, there in view.roots)
    return "No compile cache entry was found. Looked in:", *places


def problems_panel(theme: Theme, problems: Sequence[str], width: int, height: int) -> list[Strip]:
    """A line for each cache that cannot be read, and why."""
    sign = theme.glyphs.warn
    return [Line(theme, width).put(f"{sign} {problem}", theme.warn).strip() for problem in problems[:height]]


def marks_text(rows: Iterable[EntryRow]) -> str:
    """Running totals of marked rows: bytes and the compile time that is known; empty for none."""
    marked = list(rows)
    if not marked:
        return ""
    known = [row.compile_seconds for row in marked if row.compile_seconds is not None]
    text = f"{len(marked):,} marked · {bytes_text(sum(row.bytes for row in marked))}"
    text += f" · {duration_text(sum(known))} of compiles" if known else ""
    unknown = sum(row.compile_seconds is None and row.state in COMPILED for row in marked)
    return text + (f" · {unknown:,} of unknown compile time" if unknown else "")


def row_about(row: Item | None, shown: Sequence[EntryRow], theme: Theme) -> Cell:
    """What the state of the chosen entry means, and what to do about it; without one, how many `shown` are of each."""
    if isinstance(row, EntryRow):
        sign, style = state_sign(theme, row.state)
        more = row.advice or "; ".join(row.problems) or row.lock
        words = f"  {entry_state_words(row.state)}{f' · {more}' if more else ''}"
        return [(f"{sign} {row.state}", style), (words, theme.text)]
    rows = shown if row is None else [one for one in shown if head_key(one) == row.key]
    counts = Counter(one.state for one in rows)
    cell: list[tuple[str, Style]] = []
    for state, count in counts.most_common():
        sign, style = state_sign(theme, state)
        cell += [(f"{sign} {count:,} {state}", style), ("  ", theme.quiet)]
    return [*cell, ("select a row: its state is explained here", theme.quiet)] if row is None and cell else cell
