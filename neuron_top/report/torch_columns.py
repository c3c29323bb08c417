"""The tables of a report about torch.compile in plain PyTorch processes."""

from __future__ import annotations

from neuron_top.report.table import ReportColumn, ReportTable
from neuron_top.units import count_text, duration_text, percent_text
from neuron_top.views.torch_trace import TorchView, cache_words, summary_words


def torch_tables(view: TorchView | None) -> list[ReportTable]:
    """Frames, breaks, caches and phases; nothing where no process wrote a trace."""
    if view is None:
        return []
    slowest = sorted(view.frames, key=lambda row: -(row.seconds or 0.0))
    return [
        ReportTable(
            "torch.compile", FRAMES, slowest, f"{summary_words(view.summary)}. As PyTorch measured it; slowest first."
        ),
        ReportTable("Graph breaks", BREAKS, view.breaks, "Where Dynamo cut a graph, and why."),
        ReportTable(
            "Recompiles",
            RECOMPILES,
            [row for row in view.frames if row.recompiled],
            "Which guard of an earlier compile did not hold, and the last step printed before.",
        ),
        ReportTable("Inductor's and AOTAutograd's caches", CACHES, view.summary.caches),
        ReportTable(
            "Phases of torch.compile",
            PHASES,
            view.phases,
            "Added up over compiles and processes. Phases nest: these do not add up to a whole.",
        ),
    ]


FRAMES = (
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
    ReportColumn("FX cache", lambda row: row.fx),
    ReportColumn("AOT cache", lambda row: row.aot),
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
CACHES = (
    ReportColumn("cache", lambda row: row.cache),
    ReportColumn("answers", cache_words),
    ReportColumn(
        "hit rate", lambda row: "" if row.hit_rate is None else percent_text(row.hit_rate), lambda row: row.hit_rate
    ),
    ReportColumn("why bypassed", lambda row: "; ".join(f"{times} × {reason}" for reason, times in row.bypasses)),
)
PHASES = (
    ReportColumn("phase", lambda row: row.phase),
    ReportColumn("meaning", lambda row: row.meaning),
    ReportColumn("times", lambda row: count_text(row.times), lambda row: row.times),
    ReportColumn("seconds", lambda row: duration_text(row.seconds), lambda row: row.seconds),
)
