"""The report of a run: where its time went, what missed and why, what to do next time. Pure; every front end draws it.

A report is made from a run alone, live or replayed, so both are equal. What else is known of its graphs (their cache
entries, earlier runs) comes in as `memory`, and metrics that rest on it say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.run.model import Run
from neuron_top.run.spans import Interval, Span, SpanKind, merged, union_seconds, without
from neuron_top.run.state import ENDED, JobState
from neuron_top.views import report_context, report_text
from neuron_top.views.advice import AdviceLine, advice_lines
from neuron_top.views.alerts import Limits
from neuron_top.views.blame.records import Blame
from neuron_top.views.metric import Metric
from neuron_top.views.report_context import ErrorLine, ExhaustedLine, MemoryLine, ReportSeries, StageLine, SummaryLine
from neuron_top.views.report_graphs import (
    Duplicate,
    FailureLine,
    GraphLine,
    Memory,
    WaitLine,
    duplicates,
    failure_lines,
    graph_lines,
    wait_lines,
)
from neuron_top.views.report_metrics import Prices, ReportBasis, report_metrics
from neuron_top.views.report_time import (
    Precompile,
    ReportStep,
    Segment,
    closed,
    concurrency,
    critical_path,
    intervals,
    precompiled,
)
from neuron_top.views.states import log_title, run_name
from neuron_top.views.summary import Summary, summary
from neuron_top.views.timeline import Timeline, timeline
from neuron_top.views.torch_trace import TorchView, torch_view


class PartName(StrEnum):
    """What a part of the wall time was spent on."""

    COMPILING = "compiling"
    WAITING = "waiting"
    TRACING = "tracing"
    TRAINING = "training"
    REST = "rest"


class ReportPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the wall time. The parts of a run add up to it."""

    name: PartName
    seconds: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that a report shows. Times are seconds since the epoch."""

    title: str
    state: str
    """How a recorded run ended or what it does; "" for one that was read from logs."""
    start: float | None
    end: float | None
    headline: tuple[str, ...]
    """Five lines that need no explanation."""
    recommendations: tuple[str, ...]
    metrics: tuple[Metric, ...]
    parts: tuple[ReportPart, ...]
    """Where the wall time went."""
    graphs: tuple[GraphLine, ...]
    failures: tuple[FailureLine, ...]
    errors: tuple[ErrorLine, ...]
    """What went wrong besides."""
    waits: tuple[WaitLine, ...]
    duplicates: tuple[Duplicate, ...]
    after_warm_up: tuple[GraphLine, ...]
    misses: tuple[tuple[str, str], ...]
    """(graph, why it was a miss), where a cache was at hand to compare with."""
    timeline: Timeline
    training: tuple[Interval, ...]
    """From the first to the last step that was printed, less the time in which somebody compiled, waited or traced."""
    concurrency: tuple[ReportStep, ...]
    critical_path: tuple[Segment, ...]
    precompile: tuple[Precompile, ...]
    parallel: tuple[SummaryLine, ...]
    """What parallel compiles said of themselves."""
    stages: tuple[StageLine, ...]
    memory: tuple[MemoryLine, ...]
    compile_memory: tuple[ReportStep, ...]
    """Peaks of the compiles that ran, added up: an upper bound."""
    host_memory: tuple[ReportStep, ...]
    exhausted: tuple[ExhaustedLine, ...]
    exhausted_note: str
    advice: tuple[AdviceLine, ...]
    phases: tuple[tuple[str, str], ...]
    """What the program timed of itself: name, seconds."""
    series: tuple[ReportSeries, ...]
    environment: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    summary: Summary
    torch: TorchView | None = None
    """torch.compile of plain PyTorch processes; None where none wrote a trace."""
    diagnosis: Diagnosis | None = None
    """What went wrong; None where no log was read for it."""
    blame: Blame | None = None
    """Of a fleet's job: what `neurontop fleet blame` reports."""

    @property
    def goes_on(self) -> bool:
        """Whether it is of a job whose recording is still being made."""
        return bool(self.summary.run) and self.summary.state not in ENDED


def report(
    run: Run,
    now: float,
    *,
    memory: Memory | None = None,
    prices: Prices | None = None,
    misses: Sequence[tuple[str, str]] = (),
    limits: Limits | None = None,
    diagnosis: Diagnosis | None = None,
    blame: Blame | None = None,
) -> Report:
    """The report of a run as it stands; one that goes on is taken up to `now`."""
    run_summary = summary(run, now, limits)
    last = now if run.last_time is None else min(run.last_time, run.effective_now(now))
    end = run.job.finished if run.job.finished is not None else last
    spans = closed(run.compiles.totals.spans(), end)
    lines = graph_lines(run, memory or {})
    repeated = duplicates(lines, run)
    by_pytorch = run.torch.spans()
    traced = run.torch.tracing()
    held = [*intervals(spans), *run.torch.elsewhere()]
    tracing = tuple(without(run.torch.traced(), held))
    training = _training(run, [*held, *tracing])
    metrics = report_metrics(
        ReportBasis(
            run=run,
            summary=run_summary,
            spans=spans,
            lines=lines,
            training=training,
            tracing=tracing,
            duplicates=repeated,
            end=end,
        ),
        prices,
    )
    simulated = precompiled(lines, run.compiles.totals.seconds_spent(end), run.job.world_size)
    return Report(
        title=run_name(run.job.name, run.job.command, run.job.run) or ", ".join(map(log_title, run.job.sources)),
        state=run_summary.state_text if run.job.run or run_summary.state is JobState.FAILED else "",
        start=run.started,
        end=end if run.started is not None else None,
        headline=report_text.headline(run, run_summary, metrics, lines, report_context.error_count(run)),
        recommendations=report_text.recommendations(run, run_summary, lines, repeated, simulated),
        metrics=metrics,
        parts=_parts(run, spans, tracing, training, end),
        graphs=lines,
        failures=failure_lines(run),
        errors=report_context.error_lines(run),
        waits=wait_lines(run),
        duplicates=repeated,
        after_warm_up=tuple(line for line in lines if line.after_warm_up),
        misses=tuple(misses),
        timeline=timeline(run, end),
        training=training,
        concurrency=concurrency([span for span in (*spans, *by_pytorch) if span.kind is SpanKind.COMPILE]),
        critical_path=critical_path([*spans, *by_pytorch, *traced]),
        precompile=simulated,
        parallel=report_context.summary_lines(run),
        stages=report_context.stage_lines(run),
        memory=report_context.memory_lines(run),
        compile_memory=report_context.compile_memory(run, spans),
        host_memory=report_context.host_memory(run),
        exhausted=report_context.exhausted_lines(run),
        exhausted_note=report_context.exhausted_note(run),
        advice=advice_lines(run.advice),
        phases=tuple((name, value) for name, value in run.training.facts.items() if value.endswith(" s")),
        series=report_context.series_of(run),
        environment=report_context.environment(run),
        notes=report_text.notes(run, spans),
        summary=run_summary,
        torch=torch_view(run, end),
        diagnosis=diagnosis or run.job.diagnosis,
        blame=blame,
    )


def _training(run: Run, held: Sequence[Interval]) -> tuple[Interval, ...]:
    first, last = run.training.first_time, run.training.last_time
    if first is None or last is None or last <= first:
        return ()
    return tuple(without([(first, last)], held))


def _parts(
    run: Run, spans: Sequence[Span], tracing: Sequence[Interval], training: Sequence[Interval], end: float
) -> tuple[ReportPart, ...]:
    """Each second of the wall time once: compiled, else waited, else traced, else trained, else the rest."""
    if run.started is None or end <= run.started:
        return ()
    whole = (run.started, end)
    compiles = [(span.start, span.end or span.start) for span in spans if span.kind is SpanKind.COMPILE]
    compiling = _within(whole, [*compiles, *run.torch.elsewhere()])
    waiting = without(_within(whole, [(span.start, span.end or span.start) for span in spans]), compiling)
    traced = without(_within(whole, tracing), [*compiling, *waiting])
    trained = without(_within(whole, training), [*compiling, *waiting, *traced])
    taken = [*compiling, *waiting, *traced, *trained]
    named = (
        (PartName.COMPILING, compiling),
        (PartName.WAITING, waiting),
        (PartName.TRACING, traced),
        (PartName.TRAINING, trained),
        (PartName.REST, without([whole], taken)),
    )
    return tuple(ReportPart(name=name, seconds=union_seconds(some)) for name, some in named if union_seconds(some) > 0)


def _within(whole: Interval, intervals: Sequence[Interval]) -> list[Interval]:
    return merged((max(whole[0], start), min(whole[1], end)) for start, end in intervals)
