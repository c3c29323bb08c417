"""The sentences of a report: five lines at its top, what to do next time, and what its metrics rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_top.run.model import Run
from neuron_top.run.spans import Span
from neuron_top.units import count_text, counted, duration_text, percent_text
from neuron_top.views.metric import Metric, Provenance
from neuron_top.views.report_graphs import Duplicate, GraphLine
from neuron_top.views.report_time import Precompile
from neuron_top.views.states import JobState
from neuron_top.views.summary import Summary

_WORTH_SAYING = 1.0
"""A smaller gain in seconds is not recommended, as nobody changes a job for it."""
_WORTH_SHARE = 0.05
"""Nor is a gain below this share of the compile time."""
_STEADY = "pad inputs to fixed shapes, drop incomplete last batches, keep numbers that change by step in tensors"
_ENDS = {JobState.RUNNING: "goes on", JobState.TRAINING: "goes on", JobState.COMPILING: "goes on (it compiles)",
         JobState.CUT_OFF: "was cut off"}  # fmt: skip
_WAS = (JobState.INTERRUPTED, JobState.KILLED)
"""States whose words need a verb in a sentence: `was interrupted (SIGINT)`."""
_PREFIX = {Provenance.AT_MOST: "at most ", Provenance.AT_LEAST: "at least ", Provenance.ESTIMATED: "about "}

Metrics = dict[str, Metric]


def metric_text(metric: Metric) -> str:
    """A metric inside a sentence: `at most 3 m 05 s`."""
    return f"{_PREFIX.get(metric.provenance, '')}{metric.text}"


def headline(
    run: Run, summary: Summary, metrics: Sequence[Metric], lines: Sequence[GraphLine], errors: int
) -> tuple[str, ...]:
    """Five lines that a manager understands; one where nothing can be said, as there was no job or no sign of one.
    `errors`: how many there were that name no graph."""
    if summary.state is JobState.IDLE:
        return ("No job was seen.",)
    known = {metric.name: metric for metric in metrics}
    wrong = [*_went_wrong(summary, known), *_nameless(run, errors)]
    told = summary.run or lines or errors or wrong or summary.steps is not None or summary.torch is not None
    if not told and known["wall"].value is None:
        return ("The log tells of no compile, no training step, no error and no time: it may not be that of a job.",)
    return (
        _ended(summary, known),
        _spent(run, known),
        _cached(summary, known),
        _slow(lines, run, known),
        _sentence(wrong) if wrong else "No compile failed, nobody waited, and nothing was compiled late.",
    )


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _ended(summary: Summary, known: Metrics) -> str:
    wall = known["wall"]
    if summary.run:
        verb = "was " if summary.state in _WAS else ""
        text = f"The run {_ENDS.get(summary.state, f'{verb}{summary.state_text}')}"
        text += f" after {metric_text(wall)}" if wall.value is not None else ""
    elif wall.value is None:
        text = "The log carries no time"
    else:
        text = f"The log covers {metric_text(wall)}" if wall.value else "The log covers one moment only"
    if summary.steps is not None:
        text += f"{', its last report at' if not summary.run else ', at'} step {count_text(summary.steps)}"
        text += f" of {count_text(summary.total_steps)}" if summary.total_steps is not None else ""
    if known["loss"].value is not None:
        text += f", with loss {known['loss'].text}"
    return text + "."


def _spent(run: Run, known: Metrics) -> str:
    spent, share = known["compile_wall"], known["compile_share"]
    if spent.value is None:
        return "How long compiling held it up cannot be known: the lines that would say so carry no time."
    if spent.value == 0:
        if run.compiles.counts.exit_codes or run.compiles.counts.stage_seconds:
            return "It is a compiler's own log: how long a run was held up by it cannot be known from it."
        if run.compiles.counts.error_codes and not run.compiles.totals.failures_met:
            return "A compiler's error is reported, without the time that it took."
        if known["torch_graphs"].value:
            return "How long compiling held it up cannot be known: PyTorch's trace dates no compile."
        return "Nothing was compiled and nobody waited for a compile."
    text = f"Compiling held it up for {metric_text(spent)}"
    text += f", {percent_text(share.value)} of its time" if share.value is not None else ""
    traced = known["tracing"]
    worth = (traced.value or 0.0) > max(_WORTH_SAYING, _WORTH_SHARE * spent.value)
    return text + (f", and PyTorch's tracing for {metric_text(traced)} more." if worth else ".")


def _cached(summary: Summary, known: Metrics) -> str:
    if summary.hit_rate is None:
        return "No graph was looked up in the compile cache."
    text = f"{count_text(summary.graphs_hit)} of {counted(summary.graphs_asked, 'graph')} came from the compile cache"
    saved = known["saved"]
    return text + (f", which saved {metric_text(saved)} of compiling." if saved.value is not None else ".")


def _slow(lines: Sequence[GraphLine], run: Run, known: Metrics) -> str:
    timed = [line for line in lines if line.seconds is not None and line.attempts]
    if timed:
        whole, first = sum(line.seconds or 0.0 for line in timed), timed[0]
        took = f"{_PREFIX.get(first.provenance, '')}{duration_text(first.seconds)}"
        name = first.key if first.named else "the log does not name it"
        if len(timed) == 1:
            return f"The one compile whose duration is known took {took} ({name})."
        share = percent_text((first.seconds or 0.0) / whole if whole else None)
        return f"The slowest of {counted(len(timed), 'compile')} took {took}, {share} of all added up ({name})."
    if any(line.attempts for line in lines):
        return "No compile's duration is known."
    if run.compiles.counts.passes:
        passes = counted(run.compiles.counts.passes, "success", "successes")
        return f"The compiler reported {passes}, without naming a graph."
    if any(run.compiles.counts.stage_seconds.values()):
        stage, seconds = max(run.compiles.counts.stage_seconds.items(), key=lambda pair: pair[1])
        return f"The compiler's longest stage, {stage}, took {duration_text(seconds)}."
    by_pytorch = known["torch_graphs"].value
    if by_pytorch:
        return f"PyTorch compiled {counted(int(by_pytorch), 'graph')} itself, outside the compile cache."
    if extracted := known["extracted"].value:
        return f"{counted(int(extracted), 'graph was', 'graphs were')} extracted, to be compiled beforehand."
    return "No graph was compiled."


def _went_wrong(summary: Summary, known: Metrics) -> Iterator[str]:
    if summary.failures:
        yield f"{counted(summary.failures, 'compile')} failed"
    if summary.cached_failures:
        yield f"{counted(summary.cached_failures, 'stored failure')} served from the cache"
    if summary.lock_waits:
        text = f"{counted(summary.lock_waits, 'wait')} for another's compile"
        yield text + (f" ({metric_text(known['waiting'])})" if known["waiting"].value else "")
    if known["late"].value:
        yield f"{counted(int(known['late'].value), 'graph')} compiled after warm-up"
    if summary.torch is not None and summary.torch.late:
        yield f"{counted(summary.torch.late, 'function')} compiled by PyTorch after warm-up"
    if summary.fallbacks:
        yield f"{counted(summary.fallbacks, 'graph')} ran without a compiler"


def _nameless(run: Run, errors: int) -> Iterator[str]:
    """Errors that no line ties to a graph."""
    compiles = run.compiles
    if not (compiles.totals.failures or compiles.totals.failures_met):
        codes = [*compiles.counts.error_codes, *(f"exit status {code}" for code in compiles.counts.exit_codes if code)]
        if codes:
            yield f"the compiler ended with {', '.join(codes[:3])}"
    if errors:
        yield f"{counted(errors, 'error')} in the output"


def recommendations(
    run: Run,
    summary: Summary,
    lines: Sequence[GraphLine],
    duplicates: Sequence[Duplicate],
    simulated: Sequence[Precompile],
) -> tuple[str, ...]:
    """What would have made the run shorter, the largest gain first, each with its number; three at most."""
    spent = run.compiles.totals.seconds_spent(run.job.finished or run.last_time or 0.0)
    found = [*_beforehand(run, summary, simulated, spent), *_avoidable(lines, duplicates), *_retry(lines, spent)]
    return tuple(text for _, text in sorted(found, key=lambda pair: -pair[0])[:3])


def _beforehand(
    run: Run, summary: Summary, simulated: Sequence[Precompile], spent: float
) -> Iterator[tuple[float, str]]:
    waited = summary.lock_wait_seconds
    # The fewest workers within a twentieth of the best time, as more would only take memory.
    best = next((one for one in simulated if one.seconds <= 1.05 * simulated[-1].seconds), None)
    if best is not None and best.saved_seconds > max(_WORTH_SAYING, _WORTH_SHARE * spent):
        took = f"about {duration_text(best.seconds)} instead of {duration_text(spent)} (simulated)"
        how = f"`neurontop compile -j {best.workers}`"
        what = f"Compile with more workers, {how}" if run.queue.counts is not None else f"Compile beforehand with {how}"
        yield best.saved_seconds, f"{what}: {took}."
    elif not simulated and waited > _WORTH_SAYING:
        yield waited, f"Ranks waited {duration_text(waited)} for each other's compiles: compile beforehand."


def _avoidable(lines: Sequence[GraphLine], duplicates: Sequence[Duplicate]) -> Iterator[tuple[float, str]]:
    wasted = sum(duplicate.seconds or 0.0 for duplicate in duplicates)
    if wasted > _WORTH_SAYING:
        reason = (
            "use the same flags in every job"
            if any(duplicate.kind.is_avoided_by_equal_flags for duplicate in duplicates)
            else "share one cache"
        )
        yield wasted, f"{duration_text(wasted)} of compiling was done twice: {reason}."
    late = [line for line in lines if line.after_warm_up]
    seconds = sum(line.seconds or 0.0 for line in late)
    if seconds > _WORTH_SAYING:
        new = f"{counted(len(late), 'graph was', 'graphs were')} new after warm-up ({duration_text(seconds)})"
        yield seconds, f"{new}: {_STEADY}."


def _retry(lines: Sequence[GraphLine], spent: float) -> Iterator[tuple[float, str]]:
    if failed := [line for line in lines if line.failures]:
        text = (
            f"{counted(len(failed), 'graph')} failed: the table of failures says whether a retry helps; "
            "a stored failure is served again until it is retried."
        )
        yield spent, text


def notes(run: Run, spans: Sequence[Span]) -> tuple[str, ...]:
    """What the reader must know about the metrics."""
    return tuple(_notes(run, spans))


def _notes(run: Run, spans: Sequence[Span]) -> Iterator[str]:
    bounds = sum(not span.exact for span in spans)
    if bounds:
        yield f"{counted(bounds, 'bar')} of the timeline at a bound: the log names no exact start or end."
    placeless = [summary.graph for summary in run.compiles.totals.summaries() if summary.misses and not summary.spans]
    timeless = sum(graph.duration.seconds is None for graph in placeless)
    if timeless:
        yield f"{counted(timeless, 'compiled graph')} without any time, in no sum of seconds."
    if len(placeless) > timeless:
        yield (
            f"{counted(len(placeless) - timeless, 'compiled graph')} of known duration but not of known time: "
            "added up, and not on the timeline."
        )
    if run.compiles.counts.passes > run.compiles.totals.misses:
        passes = counted(run.compiles.counts.passes, "pass", "passes")
        yield f"{passes} of the compiler, more than compiles were announced."
    if run.training.simulated_reports and not run.training.reports:
        yield "Graphs were only extracted: the numbers the script printed mean nothing."
    if run.job.malformed:
        yield f"{counted(run.job.malformed, 'broken line')} passed over."
    if run.job.cut_off:
        yield (
            "The run was cut off: its recorder died, and how the command ended is not known. "
            "Figures are up to its last event."
        )
    elif run.job.finished is None and run.job.started is not None:
        yield "The run goes on: metrics are up to its last event."
