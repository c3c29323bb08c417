"""The numbers of a report, each with how it is known: time, graphs, what it cost and what hits saved, training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from neuron_top.events.torch_trace import REMOTE_CACHES
from neuron_top.run.model import Run
from neuron_top.run.spans import Interval, Span, SpanKind, share_of_time
from neuron_top.run.state import JobState
from neuron_top.units import count_text, counted
from neuron_top.views.metric import Metric, Provenance, metric
from neuron_top.views.report_graphs import Duplicate, GraphLine
from neuron_top.views.summary import Summary
from neuron_top.views.torch_trace import TorchSummary


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine costs."""

    per_hour: float
    currency: str = "$"


class ReportBasis(msgspec.Struct, frozen=True, kw_only=True):
    """What the metrics are made from, worked out once."""

    run: Run
    summary: Summary
    spans: Sequence[Span]
    """Compiles and waits, closed at `end`."""
    lines: Sequence[GraphLine]
    training: Sequence[Interval]
    tracing: Sequence[Interval]
    """PyTorch's work around the graphs of our own back end: neither compiling nor waiting."""
    duplicates: Sequence[Duplicate]
    end: float

    @property
    def whole(self) -> bool:
        """Whether the recording has both its first and its last event, so that its length is that of the command."""
        job = self.run.job
        return job.finished is not None and job.started is not None and not job.cut_off

    @property
    def wall(self) -> float | None:
        """Seconds from start to end; unknown where only a search for something to watch has times."""
        if self.summary.state is JobState.IDLE and not self.run.cores.cores:
            return None
        return self.run.seconds_since_start(self.end)


def report_metrics(basis: ReportBasis, prices: Prices | None) -> tuple[Metric, ...]:
    """All of them, in the order of reading."""
    return (
        *_time(basis),
        *_counts(basis),
        *_pytorch(basis.summary.torch),
        *_gains(basis),
        *_training(basis.run),
        *(_money(basis, prices) if prices is not None else ()),
    )


def _time(basis: ReportBasis) -> Iterator[Metric]:
    summary, wall, spent = basis.summary, basis.wall, basis.summary.compile_seconds
    undated = sum(1 for line in basis.lines if line.attempts and line.seconds is None)
    exact = all(span.exact for span in basis.spans)
    complete = not undated and (basis.whole or not basis.run.compiles.compiling)
    provenance = _provenance(exact=exact, complete=complete)
    is_untouched = _was_all_in_the_cache(basis)
    summed = 0.0 if is_untouched else summary.compile_sum_seconds or None
    alone = basis.run.compiles.totals.seconds_spent(basis.end, (SpanKind.COMPILE,))
    lengths = [(span.end or span.start) - span.start for span in basis.spans if span.kind is SpanKind.COMPILE]
    dated = sum(seconds for seconds in lengths if seconds > 0.0)  # less than nothing where the clock was set back
    yield metric(
        "wall",
        "wall time",
        wall,
        "seconds",
        Provenance.MEASURED if basis.whole else Provenance.AT_LEAST,
        "from the start to the end of the command" if basis.whole else "from the first to the last time in the log",
    )
    yield metric(
        "compile_wall",
        "compiling, on the wall clock",
        spent,
        "seconds",
        provenance,
        "while at least one worker compiled (PyTorch's own back ends too) or waited; overlaps counted once"
        + (f"; {counted(undated, 'compile')} of unknown time" if undated else ""),
    )
    yield metric(
        "compile_share",
        "share of wall time spent compiling",
        share_of_time(spent, wall),
        "share",
        provenance,
        "the two above, divided",
    )
    yield metric(
        "compile_sum",
        "compiles added up",
        summed,
        "seconds",
        _provenance(exact=exact, complete=not undated),
        "what they would take one after the other",
    )
    yield metric(
        "parallelism",
        "compiles side by side, on average",
        dated / alone if alone else None,
        "",
        Provenance.COMPUTED,
        "compiles added up, divided by the time in which any ran",
    )
    yield metric(
        "waiting",
        "waiting for others' compiles",
        summary.lock_wait_seconds if basis.spans or is_untouched else None,
        "seconds",
        Provenance.COMPUTED,
        "while at least one worker waited; part of compiling",
    )
    traced = sum(end - start for start, end in basis.tracing)
    yield metric(
        "tracing",
        "tracing for the compile cache",
        traced if basis.run.torch.traced() else None,
        "seconds",
        Provenance.MEASURED,
        "PyTorch captured graphs for the back end neurontop and loaded what it gave; no "
        "part of compiling, and a hit alone does not save it",
    )
    yield metric(
        "training",
        "training",
        sum(end - start for start, end in basis.training) or None,
        "seconds",
        Provenance.COMPUTED,
        "from the first to the last step printed, less compiling, waiting and tracing",
    )


def _was_all_in_the_cache(basis: ReportBasis) -> bool:
    """Whether graphs were looked up, and no line reports a compile or a wait: both took no time."""
    summary, counts = basis.summary, basis.run.compiles.counts
    by_compiler = counts.exit_codes or counts.stage_seconds or counts.error_codes
    waits = summary.lock_waits + sum(graph.hits_after_wait for graph in basis.run.compiles.graphs.values())
    return bool(summary.graphs_asked) and summary.compile_seconds == 0 and not by_compiler and not waits


def _counts(basis: ReportBasis) -> Iterator[Metric]:
    summary, run = basis.summary, basis.run
    late = sum(line.after_warm_up for line in basis.lines)
    after_wait = sum(graph.hits_after_wait for graph in run.compiles.graphs.values())
    for name, label, value, note in (
        ("graphs", "graphs", summary.graphs, "distinct graphs"),
        ("graphs_hit", "graphs from the cache", summary.graphs_hit, "compiled by nobody in this run"),
        ("graphs_missed", "graphs that missed", summary.graphs_missed, "distinct; a compile of each was begun"),
        ("extracted", "graphs extracted", _extracted(run), "extracted for a compile beforehand, distinct"),
    ):
        yield metric(name, label, value, "count", Provenance.COUNTED, note)
    yield metric(
        "hit_rate",
        "hit rate",
        summary.hit_rate,
        "share",
        Provenance.COUNTED,
        "graphs from the cache ÷ graphs asked for",
    )
    yield from _sharing(basis.lines)
    for name, label, value, note in (
        (
            "hits",
            "lookups that hit",
            summary.hits,
            "every rank counts" + (f"; {after_wait} of them after waiting for another's compile" if after_wait else ""),
        ),
        ("misses", "compiles begun", summary.misses, "every occurrence counts"),
        ("failures", "compiles failed", summary.failures, "in this run, every occurrence counts"),
        ("cached_failures", "stored failures", summary.cached_failures, "served from the cache, not tried again"),
        (
            "nameless_failures",
            "compiler errors that name no graph",
            nameless_failures(run),
            "reported where no graph's failure was",
        ),
        ("fallbacks", "graphs that ran without a compiler", summary.fallbacks, "every occurrence counts"),
        ("lock_waits", "lock waits", summary.lock_waits, "waits for another process's compile"),
        (
            "late",
            "graphs compiled after warm-up",
            late if run.training.warm_time is not None else None,
            "new after the third step that was reported",
        ),
    ):
        yield metric(name, label, value, "count", Provenance.COUNTED, note)


def _sharing(lines: Sequence[GraphLine]) -> Iterator[Metric]:
    """Metrics of regional compilation: how many graphs are compiled, and how many equal blocks each serves."""
    shared = [line.block_hits for line in lines if line.block_hits is not None]
    yield metric(
        "block_hits",
        "hits between equal blocks",
        sum(shared) if shared else None,
        "count",
        Provenance.COUNTED,
        "blocks of the model that ran a graph compiled for another one like it, without a "
        "lookup; every rank counts, forward and backward as one",
    )
    compiled = [line.operators for line in lines if line.attempts]
    known = [count for count in compiled if count is not None]
    yield metric(
        "operators_compiled",
        "operators compiled",
        sum(known) if known else None,
        "count",
        Provenance.COUNTED if len(known) == len(compiled) else Provenance.AT_LEAST,
        "of all graphs that were compiled, added up: what the compiler's time grows with",
    )


def _pytorch(trace: TorchSummary | None) -> Iterator[Metric]:
    """torch.compile as its own trace reports it; nothing of it is known of a run without a trace."""
    caches = [cache for cache in trace.caches if cache.cache not in REMOTE_CACHES] if trace is not None else []
    compiles, graphs, breaks, recompiles = (
        (trace.compiles, trace.graphs, trace.breaks, trace.recompiles) if trace is not None else (None,) * 4
    )
    for name, label, value, note in (
        ("torch_compiles", "frames compiled by PyTorch", compiles, "recompiles included"),
        (
            "torch_graphs",
            "graphs of PyTorch's other back ends",
            graphs,
            "those of the back end neurontop count as graphs",
        ),
        ("torch_breaks", "graph breaks", breaks, "as PyTorch's trace reports them"),
        (
            "torch_recompiles",
            "recompiles by PyTorch",
            recompiles,
            "a function called again in a form it was not compiled for",
        ),
        (
            "torch_hits",
            "hits in PyTorch's caches",
            sum(cache.hit for cache in caches) if caches else None,
            "FX-graph and AOT-autograd cache, every lookup counts",
        ),
        (
            "torch_misses",
            "misses in PyTorch's caches",
            sum(cache.miss for cache in caches) if caches else None,
            "likewise",
        ),
    ):
        yield metric(name, label, value, "count", Provenance.COUNTED, note)
    if trace is not None and trace.triton_kernels:
        yield metric(
            "triton_kernels",
            "Triton kernels compiled",
            trace.triton_kernels,
            "count",
            Provenance.COUNTED,
            "as far as PyTorch's trace lists them",
        )
    yield metric(
        "torch_late",
        "frames compiled by PyTorch after warm-up",
        trace.late if trace is not None else None,
        "count",
        Provenance.COUNTED,
        "begun after the third step that was reported",
    )
    yield metric(
        "torch_seconds",
        "PyTorch's compiles added up",
        trace.seconds if trace is not None else None,
        "seconds",
        Provenance.MEASURED,
        "with tracing and backward graphs, over all processes",
    )


def nameless_failures(run: Run) -> int:
    """Errors of a compiler whose log names no graph; where graphs failed, its errors are theirs."""
    compiles = run.compiles
    if compiles.totals.failures or compiles.totals.failures_met:
        return 0
    exits = sum(count for code, count in compiles.counts.exit_codes.items() if code)
    return max(exits, min(1, len(compiles.counts.error_codes)), compiles.counts.gave_up)


def _extracted(run: Run) -> int | None:
    """Graphs that a parallel compile listed, and those whose extraction a line reported."""
    graphs = {place.rpartition("/")[0].rpartition("/")[2] for place in run.queue.listed}
    for graph in run.compiles.graphs.values():
        if any(worker.extractions for worker in graph.workers.values()):
            graphs.add(graph.module or graph.key)
    return len(graphs) or None


def _gains(basis: ReportBasis) -> Iterator[Metric]:
    """What compiling cost more than it had to, and what the cache saved."""
    lines = basis.lines
    late = [line.seconds for line in lines if line.after_warm_up]
    saved = [line.saved_seconds for line in lines if line.saved_seconds is not None]
    only_hit = sum(1 for line in lines if line.hits and not line.attempts)
    made = [line.artifact_bytes for line in lines if line.attempts and line.artifact_bytes is not None]
    peaks = [line.peak_rss_bytes for line in lines if line.peak_rss_bytes is not None]
    yield metric(
        "late_seconds",
        "compiling after warm-up",
        _sum(late),
        "seconds",
        Provenance.AT_MOST,
        "of the graphs that were new after the third step",
    )
    yield metric(
        "duplicate_seconds",
        "work done twice",
        _sum(duplicate.seconds for duplicate in basis.duplicates),
        "seconds",
        Provenance.COMPUTED,
        "all compiles of a graph but its longest",
    )
    yield metric(
        "saved",
        "time that hits saved",
        sum(saved) if saved else None,
        "seconds",
        Provenance.ESTIMATED,
        f"compile times of {count_text(len(saved))} of {counted(only_hit, 'cached graph')}, from the cache or earlier "
        "runs, added up"
        if only_hit
        else "no graph came from the cache alone",
    )
    yield metric(
        "stored",
        "added to the cache",
        sum(made) if made else None,
        "bytes",
        Provenance.MEASURED,
        f"artifacts of {counted(len(made), 'graph that was compiled', 'graphs that were compiled')}",
    )
    yield metric(
        "compile_peak",
        "largest compile in memory",
        max(peaks, default=None),
        "bytes",
        Provenance.MEASURED,
        f"resident memory of the compiler's processes, of {counted(len(peaks), 'compile')}",
    )


def _training(run: Run) -> Iterator[Metric]:
    training = run.training
    yield metric(
        "step_seconds", "step time", training.step_seconds, "seconds", Provenance.MEASURED, "median of the last reports"
    )
    yield metric(
        "throughput",
        "throughput",
        training.throughput,
        training.throughput_unit or "/s",
        Provenance.MEASURED,
        "median of the last reports, as printed",
    )
    yield metric("loss", "last loss", training.loss, "", Provenance.MEASURED, "as printed")


def _money(basis: ReportBasis, prices: Prices) -> Iterator[Metric]:
    saved = _sum(line.saved_seconds for line in basis.lines)
    for name, label, seconds, provenance in (
        ("cost", "cost of the run", basis.wall, Provenance.COMPUTED),
        ("compile_cost", "cost of compiling", basis.summary.compile_seconds, Provenance.COMPUTED),
        ("saved_cost", "cost that hits saved", saved, Provenance.ESTIMATED),
    ):
        value = seconds / 3600.0 * prices.per_hour if seconds is not None else None
        yield metric(
            name,
            f"{label}, {prices.currency}",
            value,
            "money",
            provenance,
            f"at {prices.currency}{prices.per_hour:g} an hour",
        )


def _provenance(*, exact: bool, complete: bool) -> Provenance:
    """The provenance of a sum: with bounds among its parts it is at most so much, with parts missing at least, with
    both an estimate."""
    if complete:
        return Provenance.MEASURED if exact else Provenance.AT_MOST
    return Provenance.AT_LEAST if exact else Provenance.ESTIMATED


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
