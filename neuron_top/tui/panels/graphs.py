"""The compile screen's table, its timeline and a graph's page, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.pipeline.log_line import LogLine
from neuron_top.run.graph import Known, LinePlace
from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.look import Look
from neuron_top.tui.panels.compiling import left_text, short_key
from neuron_top.tui.widgets.table import Cell, Column
from neuron_top.units import bytes_text, clock_text, count_text, duration_text
from neuron_top.views.graphs import AttemptRow, GraphPage, GraphRow, WorkerRow
from neuron_top.views.timeline import Bar, Lane, Timeline

LABEL = 10
"""Cells of a lane's name on the timeline."""
STATE_ORDER = ("compiling", "waiting", "failed", "cached failure", "interrupted", "extracted", "known", "done", "hit")


def state_sign(look: Look, state: str) -> tuple[str, Style]:
    """Symbol and colour of a graph's state."""
    glyphs = look.glyphs
    return {
        "compiling": (glyphs.running, look.kinds[0]),
        "waiting": (glyphs.waiting, look.warn),
        "hit": (glyphs.done, look.accent),
        "done": (glyphs.done, look.good),
        "failed": (glyphs.failed, look.bad),
        "cached failure": (glyphs.failed, look.bad),
        "interrupted": (glyphs.note, look.warn),
    }.get(state, (glyphs.queued, look.quiet))


def _state(row: GraphRow, look: Look, width: int) -> Cell:
    sign, style = state_sign(look, row.state)
    return [(f"{sign} {row.state}", style)]


def _who(row: GraphRow, look: Look, width: int) -> Cell:
    if len(row.ranks) > 1:
        return [
            (f"r{row.ranks[0]}" if row.rank is None else f"r{row.rank}", look.text),
            (f"+{len(row.ranks) - 1}", look.quiet),
        ]
    if row.rank is not None:
        return [(f"r{row.rank}", look.text)]
    return [(f"{row.pid}" if row.pid is not None else look.glyphs.unknown, look.quiet)]


def _time(row: GraphRow, look: Look, width: int) -> Cell:
    if row.elapsed is not None:
        return [(clock_text(row.elapsed), look.strong)]
    bound = "≤" if row.known is Known.BRACKETED else ""
    return [(bound + duration_text(row.seconds), look.text if row.seconds is not None else look.faint)]


def _left(row: GraphRow, look: Look, width: int) -> Cell:
    return [(left_text(row.left), look.accent)] if row.left is not None else [("", look.quiet)]


def _name(row: GraphRow, look: Look, width: int) -> Cell:
    return [(short_key(row.key, width, look.glyphs.more), look.text)]


def _count(value: int | None, look: Look) -> Cell:
    return [(count_text(value), look.text if value else look.faint)]


COLUMNS = (
    Column("State", 16, _state, lambda row: STATE_ORDER.index(row.state)),
    Column("Rank", 7, _who, lambda row: row.rank),
    Column("Time", 9, _time, lambda row: row.elapsed if row.elapsed is not None else row.seconds, True, down=True),
    Column("Left", 12, _left, lambda row: row.left.high if row.left is not None else None, True, least=96, down=True),
    Column("Hits", 5, lambda row, look, width: _count(row.hits, look), lambda row: row.hits, True, down=True),
    Column("Tries", 5, lambda row, look, width: _count(row.attempts, look), lambda row: row.attempts, True, down=True),
    Column("Ops", 6, lambda row, look, width: _count(row.operators, look), lambda row: row.operators, True, least=110,
           down=True),
    Column("Artefact", 9, lambda row, look, width: [(bytes_text(row.artefact_bytes), look.text)],
           lambda row: row.artefact_bytes, True, least=120, down=True),
    Column("Waited", 9, lambda row, look, width: [(duration_text(row.wait_seconds), look.text)],
           lambda row: row.wait_seconds, True, least=130, down=True),
    Column("Part", 9, lambda row, look, width: [(row.direction, look.quiet)], lambda row: row.direction, least=140),
    Column("Graph", 20, _name, lambda row: row.key, grow=1),
    Column("Message", 10, lambda row, look, width: [(row.message, look.bad)], None, grow=2, least=150),
)  # fmt: skip


def filter_text(row: GraphRow) -> str:
    """What a filter looks at, and what `y` copies."""
    ranks = " ".join(f"r{rank}" for rank in row.ranks)
    return f"{row.key} {row.state} {ranks} {row.direction} {row.compiler or ''} {row.message}".strip()


def timeline_lines(view: Timeline) -> int:
    """Lines the timeline fills: title and lanes, eight at most; none before the first compile."""
    return 1 + min(8, len(view.lanes)) if view.lanes else 0


def timeline_panel(look: Look, view: Timeline, width: int, height: int) -> list[Strip]:
    """A lane per worker, a bar per compile or wait, from the first compile to now."""
    if view.start is None or view.end is None:
        return []
    span = max(view.end - view.start, 1e-3)
    strips = [
        rule(
            look,
            width,
            "Timeline",
            f"{duration_text(span)} · {look.glyphs.bar} compiling  {look.glyphs.hollow} waiting",
        )
    ]
    room = height - 1
    lanes = view.lanes if len(view.lanes) <= room else view.lanes[: room - 1]
    strips += [_lane(look, lane, view.start, span, width) for lane in lanes]
    if len(lanes) < len(view.lanes):
        strips.append(Line(look, width).put(f"and {len(view.lanes) - len(lanes)} more", look.quiet).strip())
    return strips


def _lane(look: Look, lane: Lane, start: float, span: float, width: int) -> Strip:
    name = f"rank {lane.rank}" if lane.rank is not None else f"pid {lane.pid}" if lane.pid is not None else "unknown"
    line = Line(look, width).put(name, look.quiet, LABEL)
    cells: list[tuple[str, Style]] = [(look.glyphs.track, look.faint)] * line.left
    for bar in lane.bars:
        _place(look, bar, start, span, cells)
    return line.add(list(_joined(cells))).strip()


def _place(look: Look, bar: Bar, start: float, span: float, cells: list[tuple[str, Style]]) -> None:
    first = int((bar.start - start) / span * len(cells))
    end = (bar.end - start) / span * len(cells) if bar.end is not None else len(cells)
    style = look.kinds[0] if bar.end is None else look.bad if bar.outcome == "failed" else look.good
    cell = (look.glyphs.hollow, look.warn) if bar.kind == "wait" else (look.glyphs.bar, style)
    for index in range(max(0, first), min(len(cells), max(first + 1, round(end)))):
        cells[index] = cell


def _joined(cells: Sequence[tuple[str, Style]]) -> Iterator[tuple[str, Style]]:
    """Neighbours of one style as one piece."""
    text, style = "", cells[0][1] if cells else Style()
    for glyph, its_style in cells:
        if its_style is not style:
            yield text, style
            text, style = "", its_style
        text += glyph
    yield text, style


def graph_page_lines(look: Look, view: tuple[GraphPage, Sequence[LogLine]], width: int) -> list[Strip]:
    """Everything about one graph, and those of its log lines that can be read."""
    page, lines = view
    row = page.row
    sign, style = state_sign(look, row.state)
    strips = [rule(look, width, row.key, "esc goes back")]
    strips.append(
        Line(look, width).gap(2).put(f"{sign} {row.state}", style).gap(2).put(_standing(row), look.quiet).strip()
    )
    facts = (
        ("compiler", row.compiler or ""),
        ("part", row.direction),
        ("operators", count_text(row.operators) if row.operators is not None else ""),
        ("inputs", ", ".join(page.inputs)),
        ("flags", " ".join(page.flags)),
        ("graph size", bytes_text(row.graph_bytes) if row.graph_bytes is not None else ""),
        ("artefact", bytes_text(row.artefact_bytes) if row.artefact_bytes is not None else ""),
        ("cache root", page.cache_root or page.root or ""),
        ("cache entry", page.cache_state or ""),
        ("not on hub", ", ".join(page.hub_missing)),
    )
    strips += [_fact(look, width, label, value) for label, value in facts if value]
    if page.message:
        strips += [Line(look, width).strip(), rule(look, width, "What the compiler said")]
        strips += [Line(look, width).gap(2).put(text, look.bad).strip() for text in page.message.splitlines()]
    strips += [Line(look, width).strip(), rule(look, width, "Compiles", f"{len(page.attempts)}")]
    strips += [_attempt(look, attempt, width) for attempt in page.attempts] or [
        _none(look, width, "never compiled in this run")
    ]
    strips += [Line(look, width).strip(), rule(look, width, "Workers", f"{len(page.workers)}")]
    strips += [_worker(look, worker, width) for worker in page.workers]
    told = f"the newest {len(page.lines)}{' · L shows them in the log' if lines else ''}"
    strips += [Line(look, width).strip(), rule(look, width, "Log lines", told)]
    texts = {(line.source, line.offset): line.text for line in lines}
    strips += [_line(look, place, texts.get((place.source, place.offset)), width) for place in page.lines] or [
        _none(look, width, "no line named it")
    ]
    return strips


def _line(look: Look, place: LinePlace, text: str | None, width: int) -> Strip:
    """One of a graph's log lines: its text, or where it stood if that can't be read."""
    line = Line(look, width).gap(2)
    if text is not None:
        return line.put(text, look.quiet).strip()
    line.put(place.event, look.text, 22).gap()
    return line.put(f"{place.source} at byte {place.offset:,}", look.quiet).strip()


def _standing(row: GraphRow) -> str:
    words = []
    if row.elapsed is not None:
        words.append(f"for {duration_text(row.elapsed)}")
    if row.left is not None:
        words.append(f"{left_text(row.left)} left, going by {row.left.ground}")
    if row.seconds is not None:
        words.append(f"compiled in {'at most ' if row.known is Known.BRACKETED else ''}{duration_text(row.seconds)}")
    words.append(f"{row.hits} hits, {row.misses} misses, {row.failures} failures")
    return " · ".join(words)


def _fact(look: Look, width: int, label: str, value: str) -> Strip:
    return Line(look, width).gap(2).put(label, look.quiet, 12).gap().put(value, look.text).strip()


def _none(look: Look, width: int, text: str) -> Strip:
    return Line(look, width).gap(2).put(text, look.quiet).strip()


def _attempt(look: Look, attempt: AttemptRow, width: int) -> Strip:
    state = attempt.outcome or "compiling"
    sign, style = state_sign(look, state)
    bound = "≤" if attempt.known is Known.BRACKETED else ""
    line = Line(look, width).gap(2).put(f"{sign} {state}", style, 14)
    line.put(bound + duration_text(attempt.seconds), look.text, 11, right=True).gap(2)
    line.put(_by(attempt.rank, attempt.pid), look.quiet, 18)
    words = (
        f"peak {bytes_text(attempt.peak_rss_bytes)}" if attempt.peak_rss_bytes is not None else "",
        "inside the job's own process" if attempt.inside_job else "",
        "killed" if attempt.killed else attempt.cause,
        attempt.code or "",
        f"exit status {attempt.exit_status}" if attempt.exit_status is not None else "",
    )
    return line.put(" · ".join(word for word in words if word), look.quiet).strip()


def _worker(look: Look, worker: WorkerRow, width: int) -> Strip:
    sign, style = state_sign(look, worker.state)
    line = Line(look, width).gap(2).put(f"{sign} {worker.state}", style, 16).gap()
    line.put(_by(worker.rank, worker.pid), look.text, 18)
    words = (
        f"{worker.hits} hits" if worker.hits else "",
        f"{worker.attempts} compiles" if worker.attempts else "",
        f"{worker.failures_met} cached failures" if worker.failures_met else "",
        f"loaded in {duration_text(worker.load_seconds)}" if worker.loads else "",
        f"waited {duration_text(worker.wait_seconds)}" if worker.wait_seconds else "",
    )
    return line.put(" · ".join(word for word in words if word), look.quiet).strip()


def _by(rank: int | None, pid: int | None) -> str:
    words = ((f"rank {rank}" if rank is not None else ""), (f"pid {pid}" if pid is not None else ""))
    return " ".join(word for word in words if word)
