"""The tables of a report that tell of torch.compile in plain PyTorch processes."""

from __future__ import annotations

from neuron_top.report.table import Column, Table
from neuron_top.units import count_text, duration_text, percent_text
from neuron_top.views.torch_trace import TorchView, cache_words, summary_words


def torch_tables(view: TorchView | None) -> list[Table]:
    """Frames, breaks, caches and phases; nothing where no process wrote a trace."""
    if view is None:
        return []
    slowest = sorted(view.frames, key=lambda row: -(row.seconds or 0.0))
    return [
        Table(
            "torch.compile", FRAMES, slowest, f"{summary_words(view.summary)}. As PyTorch measured it; slowest first."
        ),
        Table("Graph breaks", BREAKS, view.breaks, "Where Dynamo cut a graph, and why."),
        Table(
            "Recompiles",
            RECOMPILES,
            [row for row in view.frames if row.recompiled],
            "Which guard of an earlier compile did not hold, and the last step printed before.",
        ),
        Table("Inductor's and AOTAutograd's caches", CACHES, view.summary.caches),
        Table(
            "Phases of torch.compile",
            PHASES,
            view.phases,
            "Added up over compiles and processes. Phases nest: these do not add up to a whole.",
        ),
    ]


FRAMES = (
    Column("compile", lambda row: row.compile_id),
    Column("function", lambda row: row.function),
    Column("place", lambda row: row.place),
    Column("state", lambda row: row.state),
    Column("back end", lambda row: row.backend),
    Column("rank", lambda row: "" if row.rank is None else str(row.rank), lambda row: row.rank),
    Column("took", lambda row: "" if row.seconds is None else duration_text(row.seconds), lambda row: row.seconds),
    Column("operators", lambda row: "" if row.operators is None else count_text(row.operators),
           lambda row: row.operators),
    Column("graphs", lambda row: count_text(row.graphs), lambda row: row.graphs),
    Column("breaks", lambda row: count_text(row.breaks) if row.breaks else "", lambda row: row.breaks),
    Column("FX cache", lambda row: row.fx),
    Column("AOT cache", lambda row: row.aot),
    Column("given up", lambda row: row.failure),
)  # fmt: skip
BREAKS = (
    Column("times", lambda row: count_text(row.times), lambda row: row.times),
    Column("place", lambda row: row.place),
    Column("in", lambda row: ", ".join(row.functions)),
    Column("reason", lambda row: row.reason),
)
RECOMPILES = (
    Column("compile", lambda row: row.compile_id),
    Column("function", lambda row: row.function),
    Column("at step", lambda row: "" if row.step is None else count_text(row.step), lambda row: row.step),
    Column("after warm-up", lambda row: "yes" if row.after_warm_up else ""),
    Column("took", lambda row: "" if row.seconds is None else duration_text(row.seconds), lambda row: row.seconds),
    Column("reason", lambda row: "; ".join(row.recompiled)),
)
CACHES = (
    Column("cache", lambda row: row.cache),
    Column("answers", cache_words),
    Column("hit rate", lambda row: "" if row.hit_rate is None else percent_text(row.hit_rate),
           lambda row: row.hit_rate),
    Column("why bypassed", lambda row: "; ".join(f"{times} × {reason}" for reason, times in row.bypasses)),
)  # fmt: skip
PHASES = (
    Column("phase", lambda row: row.phase),
    Column("meaning", lambda row: row.meaning),
    Column("times", lambda row: count_text(row.times), lambda row: row.times),
    Column("seconds", lambda row: duration_text(row.seconds), lambda row: row.seconds),
)
