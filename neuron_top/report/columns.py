"""The tables of a report: each column once, for HTML and Markdown alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from neuron_top.report.table import ReportColumn, ReportTable
from neuron_top.units import UNKNOWN, bytes_text, count_text, duration_text, percent_text
from neuron_top.views.blame import text as blame_text
from neuron_top.views.blame.records import Blame
from neuron_top.views.blame.text import GRAPH_COLUMNS, REPEATED_COLUMNS, graph_cells, headline, notes, repeated_cells
from neuron_top.views.metric import Metric, Provenance
from neuron_top.views.report import Report
from neuron_top.views.report_context import MemoryLine
from neuron_top.views.timeline import SpanKind
from neuron_top.views.torch_trace import TorchView, added_up_words, cache_name, cache_words

_PREFIX = {Provenance.AT_MOST: "≤ ", Provenance.AT_LEAST: "≥ ", Provenance.ESTIMATED: "≈ "}


_TRACED = " A trace is PyTorch's work for the back end neurontop, while nothing was compiled or waited for."


def tables(view: Report) -> list[ReportTable]:
    """The tables of a report that have rows, in the order of reading."""
    found = [
        ReportTable("Failures", FAILURES, view.failures, "What failed, whether a retry can help, and what to do."),
        ReportTable("Errors in the output", ERRORS, view.errors, "What went wrong and names no graph."),
        ReportTable("Parallel compile, as it reported itself", PARALLEL, view.parallel),
        ReportTable("Why was that a miss?", MISSES, view.misses),
        ReportTable(
            "Compiled after warm-up",
            LATE,
            view.after_warm_up,
            "Graphs that were new after the third reported step: shapes, branches or numbers that change.",
        ),
        ReportTable("Work done twice", DUPLICATES, view.duplicates),
        ReportTable("Lock waits", WAITS, view.waits),
        *blame_tables(view.blame),
        ReportTable(
            "Critical path",
            path_columns(view),
            sorted(view.critical_path, key=lambda one: one.start - one.end)[:20],
            "What the run waited for, the longest parts; overlaps belong to the compile that ended last."
            + _TRACED * any(one.kind is SpanKind.TRACE for one in view.critical_path),
        ),
        ReportTable(
            "Compiling beforehand, simulated",
            PRECOMPILE,
            view.precompile,
            "An estimate from the durations above: longest first on so many workers, with memory for all of them.",
        ),
        ReportTable(
            "Stages of the compiler", STAGES, view.stages[:30], "Added up over the compiles whose logs report it."
        ),
        ReportTable(
            "Memory peaks",
            memory_columns(view),
            view.memory,
            "Highest sample of each core; kinds need not have peaked at one moment.",
        ),
        ReportTable("Device memory ran out", EXHAUSTED, view.exhausted, view.exhausted_note),
        ReportTable(
            "Advice", ADVICE, view.advice, "What the runtime recommends, and why functions were compiled again."
        ),
        ReportTable("Timed by the program", PHASES, view.phases),
        ReportTable(
            "Graphs",
            GRAPHS,
            view.graphs,
            "Slowest compiles first; of several compiles of a graph the last. "
            "≤ is an upper bound between two log lines.",
        ),
        *torch_tables(view.torch),
    ]
    return [table for table in found if table.rows]


def seconds_text(seconds: float | None, provenance: Provenance = Provenance.MEASURED) -> str:
    """`≤ 12.0 s`; nothing where there is nothing to know."""
    return "" if seconds is None else f"{_PREFIX.get(provenance, '')}{duration_text(seconds)}"


def metric_text(one: Metric) -> str:
    """A metric with the sign of its provenance."""
    return f"{_PREFIX.get(one.provenance, '')}{one.text}" if one.value is not None else UNKNOWN


def unknown_words(metrics: Sequence[Metric]) -> str:
    """Names the metrics whose value is unknown, instead of thirty rows of dashes."""
    names = [metric.label for metric in metrics if metric.value is None]
    return f"Nothing is known of: {', '.join(names)}." if names else ""


def short(key: str) -> str:
    """A module key that fits a chart's hover."""
    return key if len(key) <= 44 else f"{key[:32]}…{key[-9:]}"


def flags_text(flags: tuple[str, ...] | None) -> str:
    """Flags as one would type them."""
    return "" if flags is None else " ".join(flags) or "none"


def ranks_text(ranks: Sequence[int]) -> str:
    """`0-3, 8`."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and rank == parts[-1][-1] + 1:
            parts[-1][1:] = [rank]
        else:
            parts.append([rank])
    return ", ".join("-".join(map(str, part)) for part in parts)


def _n(value: int) -> str:
    return count_text(value) if value else ""


def _saved(seconds: float) -> str:
    return f"≈ {duration_text(seconds)}" if seconds > 0 else "nothing"


def _optional(value: int | None) -> str:
    return "" if value is None else count_text(value)


def _bytes(value: int | None) -> str:
    return "" if value is None else bytes_text(value)


GRAPHS = (
    ReportColumn("graph", lambda row: row.key),
    ReportColumn("result", lambda row: row.result),
    ReportColumn("compile", lambda row: seconds_text(row.seconds, row.provenance), lambda row: row.seconds),
    ReportColumn("rank", lambda row: _optional(row.rank), lambda row: row.rank),
    ReportColumn("ranks", lambda row: ranks_text(row.ranks), lambda row: len(row.ranks)),
    ReportColumn("compiles", lambda row: _n(row.attempts), lambda row: row.attempts),
    ReportColumn("hits", lambda row: _n(row.hits), lambda row: row.hits),
    ReportColumn("failures", lambda row: _n(row.failures), lambda row: row.failures),
    ReportColumn("longest wait", lambda row: seconds_text(row.wait_seconds), lambda row: row.wait_seconds),
    ReportColumn(
        "saved", lambda row: seconds_text(row.saved_seconds, Provenance.ESTIMATED), lambda row: row.saved_seconds
    ),
    ReportColumn("graph size", lambda row: _bytes(row.graph_bytes), lambda row: row.graph_bytes),
    ReportColumn("artifact", lambda row: _bytes(row.artifact_bytes), lambda row: row.artifact_bytes),
    ReportColumn("peak memory", lambda row: _bytes(row.peak_rss_bytes), lambda row: row.peak_rss_bytes),
    ReportColumn("operators", lambda row: _optional(row.operators), lambda row: row.operators),
    ReportColumn("equal blocks", lambda row: _n(row.block_hits or 0), lambda row: row.block_hits),
    ReportColumn("flags", lambda row: flags_text(row.flags)),
)
FAILURES = (
    ReportColumn("graph", lambda row: row.key),
    ReportColumn("class", lambda row: f"{row.kind}{', stored' if row.stored else ''}"),
    ReportColumn("code", lambda row: row.code or ""),
    ReportColumn("times", lambda row: count_text(row.count), lambda row: row.count),
    ReportColumn("message", lambda row: row.message),
    ReportColumn("what to do", lambda row: row.advice),
)
MISSES = (ReportColumn("graph", lambda row: row[0]), ReportColumn("most likely because", lambda row: row[1]))
LATE = (
    ReportColumn("graph", lambda row: row.key),
    ReportColumn("after step", lambda row: _optional(row.step), lambda row: row.step),
    ReportColumn("compile", lambda row: seconds_text(row.seconds, row.provenance), lambda row: row.seconds),
    ReportColumn("ranks", lambda row: ranks_text(row.ranks)),
    ReportColumn("log line", lambda row: row.lines[0] if row.lines else ""),
)
DUPLICATES = (
    ReportColumn("what", lambda row: row.kind),
    ReportColumn("graphs", lambda row: ", ".join(row.graphs)),
    ReportColumn("seconds lost", lambda row: seconds_text(row.seconds), lambda row: row.seconds),
    ReportColumn("difference", lambda row: row.text),
)
WAITS = (
    ReportColumn("graph", lambda row: row.key),
    ReportColumn("waits", lambda row: count_text(row.waits), lambda row: row.waits),
    ReportColumn("longest", lambda row: seconds_text(row.longest_seconds), lambda row: row.longest_seconds),
    ReportColumn("added up", lambda row: seconds_text(row.total_seconds), lambda row: row.total_seconds),
    ReportColumn("ranks", lambda row: ranks_text(row.ranks)),
)
PRECOMPILE = (
    ReportColumn("workers", lambda row: count_text(row.workers), lambda row: row.workers),
    ReportColumn(
        "all compiled after", lambda row: seconds_text(row.seconds, Provenance.ESTIMATED), lambda row: row.seconds
    ),
    ReportColumn("would have saved", lambda row: _saved(row.saved_seconds), lambda row: row.saved_seconds),
    ReportColumn("memory of the compilers", lambda row: _bytes(row.memory), lambda row: row.memory),
)
ERRORS = (
    ReportColumn("kind", lambda row: row.kind),
    ReportColumn("times", lambda row: count_text(row.count), lambda row: row.count),
    ReportColumn("ranks", lambda row: ranks_text(row.ranks)),
    ReportColumn("text", lambda row: row.text),
)
PARALLEL = (
    ReportColumn("node", lambda row: row.node),
    ReportColumn("graphs", lambda row: _optional(row.total), lambda row: row.total),
    ReportColumn("compiled", lambda row: _optional(row.success), lambda row: row.success),
    ReportColumn("failed", lambda row: _optional(row.failed), lambda row: row.failed),
    ReportColumn("took", lambda row: seconds_text(row.seconds), lambda row: row.seconds),
)
STAGES = (
    ReportColumn("stage", lambda row: row.name),
    ReportColumn("seconds", lambda row: seconds_text(row.seconds), lambda row: row.seconds),
)
ADVICE = (
    ReportColumn("what", lambda row: row.what),
    ReportColumn("times", lambda row: str(row.count), lambda row: row.count),
    ReportColumn("as printed", lambda row: row.text),
    ReportColumn("next step", lambda row: row.next_step.replace("`", "")),
)
PHASES = (ReportColumn("phase", lambda row: row[0]), ReportColumn("seconds", lambda row: row[1]))
EXHAUSTED = (
    ReportColumn("device", lambda row: _optional(row.device)),
    ReportColumn("core", lambda row: _optional(row.core)),
    ReportColumn("times", lambda row: str(row.count), lambda row: row.count),
    ReportColumn("asked for", lambda row: _bytes(row.requested), lambda row: row.requested),
    ReportColumn("in use", lambda row: ", ".join(f"{kind} {bytes_text(size)}" for kind, size in row.kinds.items())),
)


def memory_columns(view: Report) -> tuple[ReportColumn, ...]:
    """Core, rank, peak, and a column for each kind that any source reported; the GPU, where one is used."""
    kinds = list(dict.fromkeys(kind for line in view.memory for kind in line.kinds))
    return (
        ReportColumn("core", lambda row: f"{row.node}/{row.core}" if row.node else str(row.core), lambda row: row.core),
        ReportColumn("rank", lambda row: _optional(row.rank), lambda row: row.rank),
        *((ReportColumn("of", lambda row: row.gpu or row.place),) if any(line.gpu for line in view.memory) else ()),
        ReportColumn("peak", lambda row: _bytes(row.peak), lambda row: row.peak),
        ReportColumn("capacity", lambda row: _bytes(row.capacity), lambda row: row.capacity),
        *(_kind_column(kind) for kind in kinds),
    )


def _kind_column(kind: str) -> ReportColumn:
    def size(line: MemoryLine) -> float | None:
        return line.kinds.get(kind)

    return ReportColumn(kind.replace("_", " "), lambda row: _bytes(row.kinds.get(kind)), size)


def path_columns(view: Report) -> tuple[ReportColumn, ...]:
    """What was waited for, whose it was, when it began after the start, and for how long."""
    zero = view.start or 0.0
    return (
        ReportColumn("graph", lambda row: row.graph),
        ReportColumn("what", lambda row: row.kind),
        ReportColumn("rank", lambda row: _optional(row.rank), lambda row: row.rank),
        ReportColumn(
            "begins after", lambda row: seconds_text(max(0.0, row.start - zero)), lambda row: row.start - zero
        ),
        ReportColumn("seconds", lambda row: seconds_text(row.end - row.start), lambda row: row.end - row.start),
    )


def blame_tables(blame: Blame | None) -> list[ReportTable]:
    """None where the report is of no fleet's job."""
    if blame is None:
        return []
    return [
        ReportTable(
            "Who compiled, who waited", _SUMS, tuple(headline(blame)), " ".join(f"{one}." for one in notes(blame))
        ),
        ReportTable(
            "Graphs by what they cost the fleet", _GRAPHS, blame.graphs, "Core-hours of compiling and waiting."
        ),
        ReportTable("Compiled again though another node had it", _REPEATED, blame.repeated),
    ]


def _columns(titles: Sequence[str], cells: Callable[[Any], Sequence[str]]) -> tuple[ReportColumn, ...]:
    return tuple(ReportColumn(title, partial(_cell, cells, number)) for number, title in enumerate(titles))


def _cell(cells: Callable[[Any], Sequence[str]], number: int, row: Any) -> str:
    return cells(row)[number]


_SUMS = _columns(("", "what it cost"), lambda row: row)
_GRAPHS = _columns(GRAPH_COLUMNS, graph_cells)
_REPEATED = _columns(
    (*REPEATED_COLUMNS, "what to do"), lambda row: (*repeated_cells(row), blame_text.ADVICE.get(row.because, ""))
)


def torch_tables(view: TorchView | None) -> list[ReportTable]:
    """Frames, breaks, caches and phases; nothing where no process wrote a trace."""
    if view is None:
        return []
    slowest = sorted(view.frames, key=lambda row: -(row.seconds or 0.0))
    return [
        ReportTable(
            "torch.compile",
            TORCH_FRAMES,
            slowest,
            f"{added_up_words(view.summary)}. As PyTorch measured it; slowest first.",
        ),
        ReportTable("Graph breaks", BREAKS, view.breaks, "Where Dynamo cut a graph, and why."),
        ReportTable(
            "Recompiles",
            RECOMPILES,
            [row for row in view.frames if row.recompiled],
            "Which guard of an earlier compile did not hold, and the last step printed before.",
        ),
        ReportTable("Inductor's and AOTAutograd's caches", TORCH_CACHES, view.summary.caches),
        ReportTable(
            "Phases of torch.compile",
            TORCH_PHASES,
            view.phases,
            "Added up over compiles and processes. Phases nest: these do not add up to a whole.",
        ),
    ]


TORCH_FRAMES = (
    ReportColumn("compile", lambda row: row.compile_id),
    ReportColumn("function", lambda row: row.function),
    ReportColumn("place", lambda row: row.place),
    ReportColumn("state", lambda row: row.state),
    ReportColumn("back end", lambda row: row.backend),
    ReportColumn("rank", lambda row: "" if row.rank is None else str(row.rank), lambda row: row.rank),
    ReportColumn(
        "took", lambda row: "" if row.seconds is None else duration_text(row.seconds), lambda row: row.seconds
    ),
    ReportColumn(
        "operators", lambda row: "" if row.operators is None else count_text(row.operators), lambda row: row.operators
    ),
    ReportColumn("graphs", lambda row: count_text(row.graphs), lambda row: row.graphs),
    ReportColumn("breaks", lambda row: count_text(row.breaks) if row.breaks else "", lambda row: row.breaks),
    ReportColumn("Inductor's cache", lambda row: row.fx),
    ReportColumn("AOTAutograd's cache", lambda row: row.aot),
    ReportColumn("given up", lambda row: row.failure),
)
BREAKS = (
    ReportColumn("times", lambda row: count_text(row.times), lambda row: row.times),
    ReportColumn("place", lambda row: row.place),
    ReportColumn("in", lambda row: ", ".join(row.functions)),
    ReportColumn("reason", lambda row: row.reason),
)
RECOMPILES = (
    ReportColumn("compile", lambda row: row.compile_id),
    ReportColumn("function", lambda row: row.function),
    ReportColumn("at step", lambda row: "" if row.step is None else count_text(row.step), lambda row: row.step),
    ReportColumn("after warm-up", lambda row: "yes" if row.after_warm_up else ""),
    ReportColumn(
        "took", lambda row: "" if row.seconds is None else duration_text(row.seconds), lambda row: row.seconds
    ),
    ReportColumn("reason", lambda row: "; ".join(row.recompiled)),
)
TORCH_CACHES = (
    ReportColumn("cache", lambda row: cache_name(row.cache)),
    ReportColumn("answers", cache_words),
    ReportColumn(
        "hit rate", lambda row: "" if row.hit_rate is None else percent_text(row.hit_rate), lambda row: row.hit_rate
    ),
    ReportColumn("why bypassed", lambda row: "; ".join(f"{times} × {reason}" for reason, times in row.bypasses)),
)
TORCH_PHASES = (
    ReportColumn("phase", lambda row: row.phase),
    ReportColumn("meaning", lambda row: row.meaning),
    ReportColumn("times", lambda row: count_text(row.times), lambda row: row.times),
    ReportColumn("seconds", lambda row: duration_text(row.seconds), lambda row: row.seconds),
)
