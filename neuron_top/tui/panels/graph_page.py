"""The page of a graph or a cache entry, as lines: the run, the caches, why it missed, its history."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.services.feeds import LogLine
from neuron_top.tui.drawing import Line, fact, paragraph, rule
from neuron_top.tui.panels.compiling import ATTEMPT_STATES, lock_text
from neuron_top.tui.panels.entry_rows import state_sign as entry_sign
from neuron_top.tui.panels.why import why_lines
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, count_text, counted, duration_text, range_text
from neuron_top.views.entries import EntryRow
from neuron_top.views.graphs import AttemptRow, GraphPage, GraphRow, WorkerRow, counted_inputs
from neuron_top.views.miss_explanation import MissExplanation
from neuron_top.views.model import HITS, GraphState, LineRef, Precision
from neuron_top.views.words import entry_state_words, graph_state_words


def detail_lines(
    theme: Theme,
    key: str,
    page: GraphPage | None,
    lines: Sequence[LogLine],
    entries: Sequence[EntryRow] | None,
    why: MissExplanation | None,
    width: int,
) -> list[Strip]:
    """A graph of the run, what the caches hold of it, and why it missed once that was asked.

    `page` is None for an entry that the run has not used, `entries` until the caches were read.
    """
    is_usable = bool(entries) and all(entry.state in HITS for entry in entries or ())
    misses = not is_usable if page is None else page.row.misses or page.row.state is GraphState.CACHED_FAILURE
    strips = [rule(theme, width, key, "w explains the miss" if misses else "")]
    if page is not None:
        strips += _in_the_run(theme, page, width)
    elif entries or entries is None:
        strips.append(_none(theme, width, "no job that is shown has used it"))
    else:
        strips.append(_none(theme, width, "not part of this run any more, and in no cache of this machine"))
    strips += _in_caches(theme, page, entries, width)
    if why is not None:
        strips += [Line(theme, width).strip(), *why_lines(theme, why, width)]
    return [*strips, *_history(theme, page, lines, width)] if page is not None else strips


def _in_the_run(theme: Theme, page: GraphPage, width: int) -> list[Strip]:
    row = page.row
    sign, style = theme.graph_sign(row.state)
    state = Line(theme, width).gap(2).put(f"{sign} {row.state}", style).gap(2)
    facts = (
        ("meaning", graph_state_words(row.state)),
        ("compiler", row.compiler or ""),
        ("part", row.direction),
        ("operators", count_text(row.operators) if row.operators is not None else ""),
        ("inputs", ", ".join(counted_inputs(page.inputs))),
        ("flags", " ".join(page.flags)),
        ("graph size", bytes_text(row.graph_bytes) if row.graph_bytes is not None else ""),
        ("artifact", bytes_text(row.artifact_bytes) if row.artifact_bytes is not None else ""),
        ("cache root", page.cache_root or page.root or ""),
        ("cache entry", page.cache_state or ""),
        ("not on hub", ", ".join(page.hub_missing)),
        ("waiting", counted(row.waiters, "worker") if row.waiters else ""),
        ("lock", _lock(row, page.now) if row.waiters else ""),
    )
    lines = [strip for label, value in facts if value for strip in fact(theme, label, value, width)]
    return [state.put(_standing(row), theme.quiet).strip(), *lines]


MOST_ENTRIES = 10
"""Entries of one graph that are shown: one of each cache and compiler."""


def _in_caches(theme: Theme, page: GraphPage | None, entries: Sequence[EntryRow] | None, width: int) -> list[Strip]:
    """Every entry of the graph."""
    if entries is None:
        return [Line(theme, width).strip(), _none(theme, width, "reading the caches…")]
    strips: list[Strip] = []
    if not entries and page is not None:
        unnamed = "no line names its module, so that no cache can be searched for it"
        words = "in no cache of this machine" if page.row.module is not None else unnamed
        strips += [Line(theme, width).strip(), rule(theme, width, "In the cache"), _none(theme, width, words)]
    for entry in entries[:MOST_ENTRIES]:
        strips += [Line(theme, width).strip(), rule(theme, width, "In the cache", entry.root)]
        sign, style = entry_sign(theme, entry.state)
        strips.append(Line(theme, width).gap(2).put(f"{sign} {entry.state}", style).strip())
        strips += [strip for label, value in entry_facts(entry) if value for strip in fact(theme, label, value, width)]
    return strips


def entry_facts(row: EntryRow) -> tuple[tuple[str, str], ...]:
    """Everything that the catalog knows about one entry."""
    return (
        ("meaning", entry_state_words(row.state)),
        ("compiler", row.compiler or "no compiler folder"),
        ("size", bytes_text(row.bytes)),
        ("artifact", bytes_text(row.artifact_bytes)),
        ("last used", row.used_text),
        ("compile time", row.compile_text),
        ("flags", row.flags),
        ("lock", row.lock),
        ("failure", row.failure),
        ("advice", row.advice),
        ("problems", "; ".join(row.problems)),
    )


def _history(theme: Theme, page: GraphPage, lines: Sequence[LogLine], width: int) -> list[Strip]:
    """What happened to it in the run: the compiler's message, compiles, workers, log lines."""
    strips: list[Strip] = []
    if page.message:
        strips += [Line(theme, width).strip(), rule(theme, width, "Compiler message")]
        strips += [strip for text in page.message.splitlines() for strip in paragraph(theme, text, width, theme.bad)]
    strips += [Line(theme, width).strip(), rule(theme, width, "Compiles", f"{len(page.attempts)}")]
    strips += [_attempt(theme, attempt, width) for attempt in page.attempts] or [
        _none(theme, width, "never compiled in this run")
    ]
    strips += [Line(theme, width).strip(), rule(theme, width, "Workers", f"{len(page.workers)}")]
    strips += [_worker(theme, worker, width) for worker in page.workers]
    extent = f"the newest {len(page.lines)}{' · L shows them in the log' if lines else ''}"
    strips += [Line(theme, width).strip(), rule(theme, width, "Log lines", extent)]
    texts = {(line.source, line.offset): line.text for line in lines}
    strips += [_line(theme, place, texts.get((place.source, place.offset)), width) for place in page.lines] or [
        _none(theme, width, "no log line names it")
    ]
    return strips


def _line(theme: Theme, place: LineRef, text: str | None, width: int) -> Strip:
    """One of a graph's log lines: its text, or where it stood if that can't be read."""
    line = Line(theme, width).gap(2)
    if text is not None:
        return line.put(text, theme.quiet).strip()
    line.put(place.event, theme.text, 22).gap()
    return line.put(f"{place.source} at byte {place.offset:,}", theme.quiet).strip()


def _standing(row: GraphRow) -> str:
    words = []
    if row.elapsed is not None:
        words.append(f"for {duration_text(row.elapsed)}")
    if row.left is not None:
        words.append(f"{range_text(row.left.low, row.left.high)} left, going by {row.left.ground}")
    if row.seconds is not None:
        words.append(f"compiled in {row.seconds_text}")
    words.append(
        f"{counted(row.hits, 'hit')}, {counted(row.misses, 'miss', 'misses')}, {counted(row.failures, 'failure')}"
    )
    return " · ".join(words)


def _lock(row: GraphRow, now: float) -> str:
    if row.lock is None:
        return "holder unknown: no watched cache has the lock"
    seen = f" (looked at {duration_text(max(0.0, now - row.lock.judged))} ago)" if row.lock.judged is not None else ""
    return f"{lock_text(row.lock)}{seen}"


def _none(theme: Theme, width: int, text: str) -> Strip:
    return Line(theme, width).gap(2).put(text, theme.quiet).strip()


def _attempt(theme: Theme, attempt: AttemptRow, width: int) -> Strip:
    state = ATTEMPT_STATES[attempt.outcome]
    sign, style = theme.graph_sign(state)
    bound = "≤" if attempt.precision is Precision.BRACKETED else ""
    line = Line(theme, width).gap(2).put(f"{sign} {attempt.outcome or state}", style, 14)
    line.put(bound + duration_text(attempt.seconds), theme.text, 11, right=True).gap(2)
    line.put(_by(attempt.rank, attempt.pid), theme.quiet, 18)
    words = (
        f"peak {bytes_text(attempt.peak_rss_bytes)}" if attempt.peak_rss_bytes is not None else "",
        "inside the job's own process" if attempt.inside_job else "",
        "killed" if attempt.killed else attempt.cause,
        attempt.code or "",
        f"exit status {attempt.exit_status}" if attempt.exit_status is not None else "",
    )
    return line.put(" · ".join(word for word in words if word), theme.quiet).strip()


def _worker(theme: Theme, worker: WorkerRow, width: int) -> Strip:
    sign, style = theme.graph_sign(worker.state)
    line = Line(theme, width).gap(2).put(f"{sign} {worker.state}", style, 16).gap()
    line.put(_by(worker.rank, worker.pid), theme.text, 18)
    words = (
        counted(worker.hits, "hit") if worker.hits else "",
        counted(worker.attempts, "compile") if worker.attempts else "",
        counted(worker.failures_met, "cached failure") if worker.failures_met else "",
        f"loaded in {duration_text(worker.load_seconds)}" if worker.loads else "",
        f"waited {duration_text(worker.wait_seconds)}" if worker.wait_seconds else "",
    )
    return line.put(" · ".join(word for word in words if word), theme.quiet).strip()


def _by(rank: int | None, pid: int | None) -> str:
    words = ((f"rank {rank}" if rank is not None else ""), (f"pid {pid}" if pid is not None else ""))
    return " ".join(word for word in words if word)
