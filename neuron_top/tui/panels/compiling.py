"""Draws compile progress and the results of cache lookups."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import BarPart, Line, fit, rule, stacked
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, clock_text, duration_text, percent_text, range_text
from neuron_top.views.counts import GRAPH_ENDED, GRAPH_FAILED, graph_parts, graphs_found, lookup_words
from neuron_top.views.missing import has_compiles
from neuron_top.views.model import AttemptOutcome, GraphState
from neuron_top.views.progress import CacheCard, CompileCard, LockHolder, RunningGraph, fetch_words

ATTEMPT_STATES = {
    "": GraphState.COMPILING,
    AttemptOutcome.DONE: GraphState.COMPILED,
    AttemptOutcome.FAILED: GraphState.FAILED,
    AttemptOutcome.INTERRUPTED: GraphState.INTERRUPTED,
}
"""How a compile ended → the state of a graph that has the same sign."""
_IN_THE_BAR = (*GRAPH_ENDED, GraphState.COMPILING, GraphState.WAITING)


def size_request(card: CompileCard, cache: CacheCard) -> SizeRequest:
    """Title, progress, cache, what is fetched, then a line per graph at work; nothing where no graph was named."""
    if not has_compiles(card, cache):
        return SizeRequest(0, 0)
    active, fetches = len(card.running) + len(card.waiting), cache.fetches is not None
    most = 3 + fetches + active + (card.queue_total is not None) + card.trial_run
    return SizeRequest(3 + fetches + min(2, active), most)


def compile_panel(theme: Theme, card: CompileCard, cache: CacheCard, width: int, height: int) -> list[Strip]:
    """The panel."""
    lines = [
        rule(theme, width, "Compile", _summary(card)),
        _progress(theme, card, width),
        _cache(theme, cache, width, card.over),
    ]
    if cache.fetches is not None and (words := fetch_words(cache.fetches)):
        style = theme.accent if cache.fetches.under_way else theme.quiet
        lines.append(Line(theme, width).put("fetch", theme.quiet).gap().put(words, style).strip())
    if card.trial_run:
        text = "trial run: graphs are extracted, what the script prints now is meaningless"
        lines.append(Line(theme, width).put(f"{theme.glyphs.warn} {text}", theme.warn).strip())
    if card.queue_total is not None:
        lines.append(_queue(theme, card, width))
    active = [*card.running, *card.waiting]
    room = height - len(lines)
    if room <= 0:
        return lines
    shown = _shown(card, room)
    lines += [graph_line(theme, graph, width) for graph in shown]
    if len(shown) < len(active) and room > 0:
        lines.append(Line(theme, width).put(f"  and {len(active) - len(shown)} more: 3 shows all", theme.quiet).strip())
    return lines


def graph_at(card: CompileCard, cache: CacheCard, height: int, y: int) -> str | None:
    """The key of the graph at work that has this line of the panel."""
    above = 3 + bool(cache.fetches is not None and fetch_words(cache.fetches)) + card.trial_run
    above += card.queue_total is not None
    shown = _shown(card, height - above)
    return shown[y - above].key if 0 <= y - above < len(shown) else None


def _shown(card: CompileCard, room: int) -> list[RunningGraph]:
    """The graphs at work that get a line of their own with this much room."""
    active = [*card.running, *card.waiting]
    return active if len(active) <= room else active[: max(0, room - 1)]


def _summary(card: CompileCard) -> str:
    if not card.total:
        return ""
    words = [f"{card.total} graph{'' if card.total == 1 else 's'}"]
    if card.seconds:
        share = f" ({percent_text(card.share)})" if card.share is not None else ""
        words.append(f"{duration_text(card.seconds)} on compiles{share}")
    if card.estimate is not None:
        words.append(f"{range_text(card.estimate.low, card.estimate.high)} left")
    return " · ".join(words)


def _progress(theme: Theme, card: CompileCard, width: int) -> Strip:
    if not card.total:
        short = "No graph." if card.over else "No graph yet."
        text = f"{short[:-1]}: none was compiled, loaded from the cache or waited for."
        return Line(theme, width).put(text if len(text) <= width else short, theme.quiet).strip()
    parts = [(part, *theme.graph_sign(part.state)) for part in graph_parts(card)]
    failed_first = sorted(parts, key=lambda part: part[0].state not in GRAPH_FAILED)  # said first, and never cut off
    texts = [(f"{sign} {part.text}", style) for part, sign, style in failed_first]
    words = sum(len(text) + 2 for text, _style in texts)
    line = Line(theme, width)
    bar = [BarPart(part.count / card.total, style) for part, _sign, style in parts if part.state in _IN_THE_BAR]
    line.add(stacked(theme, bar, max(6, min(40, width - words))))
    gap = 2 if line.left >= words else 1
    for text, style in texts:
        if line.left >= len(text) + gap:
            line.gap(gap).put(text, style)
    return line.strip()


def _cache(theme: Theme, cache: CacheCard, width: int, over: bool) -> Strip:
    line = Line(theme, width).put("cache", theme.quiet).gap()
    if cache.failures_met:  # said first, and never cut off
        plural = "s" * (cache.failures_met > 1)
        line.put(
            f"{theme.glyphs.failed} {cache.failures_met} cached failure{plural}", theme.state("cached failure")
        ).gap(2)
    if not cache.graphs_asked:
        line.put("no graph was looked up" if over else "no graph looked up yet", theme.quiet)
    else:
        line.put(f"hit rate {percent_text(cache.hit_rate)}", theme.strong).gap()
        line.put(f"({graphs_found(cache)})", theme.quiet)
        words = lookup_words(cache)
        if line.left > len(words):
            line.gap().put(words, theme.quiet)
    if cache.size is not None and line.left > 30:
        line.gap(2).put(f"takes {bytes_text(cache.size)}, {bytes_text(cache.free)} free", theme.quiet)
    return line.strip()


def _queue(theme: Theme, card: CompileCard, width: int) -> Strip:
    line = Line(theme, width).put("queue", theme.quiet).gap()
    line.put(f"{card.queue_done} of {card.queue_total} done", theme.text)
    for count, word, style in (
        (card.queue_remaining, "remaining", theme.text),
        (card.queue_locked, "locked", theme.warn),
        (card.queue_failed, "failed", theme.bad),
    ):
        line.put(f" · {count} {word}", style if count else theme.quiet)
    return line.put("  (whole cache of this compiler)", theme.quiet).strip()


def graph_line(theme: Theme, graph: RunningGraph, width: int) -> Strip:
    """One graph at work: sign, state, elapsed, who, time left, name."""
    waiting = graph.state is GraphState.WAITING
    style = theme.state(graph.state)
    line = Line(theme, width)
    line.put(f"{theme.glyphs.waiting if waiting else theme.glyphs.running} {graph.state}", style, 11).gap()
    bound = "" if graph.exact or waiting or graph.elapsed is None else "<"
    line.put(bound + clock_text(graph.elapsed), theme.text, 9, right=True).gap()
    who = f"r{graph.rank}" if graph.rank is not None else f"pid {graph.pid}" if graph.pid is not None else ""
    line.put(who, theme.quiet, 4 if graph.rank is not None or not who else 10).gap()
    if graph.left is not None:
        line.put(f"{range_text(graph.left.low, graph.left.high)} left", theme.accent).gap(2)
    if graph.waiters > 1 or (graph.waiters and not waiting):
        line.put(f"{graph.waiters} wait", theme.warn).gap(2)
    lock_words = lock_text(graph.lock)
    room = line.left - len(lock_words) - 2 if lock_words and line.left > len(lock_words) + 16 else line.left
    line.put(short_key(graph.key, min(room, len(graph.key)), theme.glyphs.more), theme.quiet)
    return line.gap(2).put(lock_words, theme.warn).strip() if room < line.width and lock_words else line.strip()


def lock_text(lock: LockHolder | None) -> str:
    """Whom a wait is for, and the proof: `held by pid 4711 on trn1, alive: its holder, process 4711, lives`."""
    if lock is None:
        return ""
    held = f"held by {lock.holder}" if lock.holder else "holder not named"
    if lock.in_this_run:
        return f"{held}, which compiles it in this run"
    return f"{held}, {lock.verdict}" + (f": {lock.proof}" if lock.proof else "")


def short_key(key: str, width: int, mark: str) -> str:
    """A cache key in this many cells: whole if it fits, else without its prefix, then without its middle or end.

    The same of a compiler's folder, whose build behind `+` tells those of one release apart.
    """
    if len(key) <= width:
        return key
    key = key.removeprefix("MODULE_")
    graph, plus, flags = key.partition("+")
    if len(key) <= width:
        return key
    room = width - len(plus + flags) - 1
    return f"{graph[:room]}{mark}{plus}{flags}" if room >= 4 else fit(key, width, mark)
