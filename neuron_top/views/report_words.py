"""The sentences of a report: five lines at its top, what to do next time, and what its figures rest on."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.run.model import Run
from neuron_top.run.spans import Span
from neuron_top.units import count_text, duration_text, percent_text
from neuron_top.views.figure import Basis, Figure
from neuron_top.views.report_graphs import Duplicate, GraphLine
from neuron_top.views.report_time import Precompile
from neuron_top.views.summary import Summary

_WORTH_SAYING = 1.0
"""Seconds below which nothing is recommended: nobody changes a job for less."""
_STEADY = "pad inputs to fixed shapes, drop incomplete last batches, keep numbers that change by step in tensors"
_ENDS = {"finished": "finished", "running": "goes on", "training": "goes on", "compiling": "goes on (it compiles)"}
_PREFIX = {Basis.AT_MOST: "at most ", Basis.AT_LEAST: "at least ", Basis.ESTIMATED: "about "}


def told(figure: Figure) -> str:
    """A figure inside a sentence: `at most 3 m 05 s`."""
    return f"{_PREFIX.get(figure.basis, '')}{figure.text}"


def headline(closing: Summary, figures: Sequence[Figure], lines: Sequence[GraphLine]) -> tuple[str, ...]:
    """Five lines that a manager understands."""
    known = {one.name: one for one in figures}
    return (
        _ended(closing, known),
        _spent(known),
        _cached(closing, known, lines),
        _slow(lines),
        _went_wrong(closing, known),
    )


def _ended(closing: Summary, known: dict[str, Figure]) -> str:
    wall = known["wall"]
    if not closing.run:
        text = f"The log covers {told(wall)}" if wall.value is not None else "The log carries no time"
    else:
        text = f"The run {_ENDS.get(closing.state, closing.state)}"
        text += f" after {told(wall)}" if wall.value is not None else ""
    if closing.steps is not None:
        text += f"{', its last report at' if not closing.run else ', at'} step {count_text(closing.steps)}"
        text += f" of {count_text(closing.total_steps)}" if closing.total_steps is not None else ""
    if known["loss"].value is not None:
        text += f" with loss {known['loss'].text}"
    return text + "."


def _spent(known: dict[str, Figure]) -> str:
    spent, share = known["compile_wall"], known["compile_share"]
    if spent.value is None:
        return "How long compiling took cannot be told: the lines that would say so carry no time."
    if spent.value == 0:
        return "Nothing was compiled and nobody waited for a compile."
    text = f"Compiling held it up for {told(spent)}"
    return text + (f", {percent_text(share.value)} of its time." if share.value is not None else ".")


def _cached(closing: Summary, known: dict[str, Figure], lines: Sequence[GraphLine]) -> str:
    if closing.hit_rate is None:
        return "No graph was looked up in the compile cache."
    refused = sum(1 for line in lines if line.result == "cached failure" and not line.hits and not line.attempts)
    asked = closing.graphs_hit + closing.graphs_missed + refused
    text = f"{count_text(closing.graphs_hit)} of {count_text(asked)} graphs came from the compile cache"
    saved = known["saved"]
    return text + (f", which saved {told(saved)} of compiling." if saved.value is not None else ".")


def _slow(lines: Sequence[GraphLine]) -> str:
    timed = [line for line in lines if line.seconds is not None and line.attempts]
    if not timed:
        return "No compile's duration is known."
    whole, first = sum(line.seconds or 0.0 for line in timed), timed[0]
    share = (first.seconds or 0.0) / whole if whole else None
    prefix = _PREFIX.get(first.basis, "")
    return (
        f"The slowest of {count_text(len(timed))} compile(s) took {prefix}{duration_text(first.seconds)}, "
        f"{percent_text(share)} of all compile time ({first.key})."
    )


def _went_wrong(closing: Summary, known: dict[str, Figure]) -> str:
    parts = []
    if closing.failures:
        parts.append(f"{count_text(closing.failures)} compile(s) failed")
    if closing.cached_failures:
        parts.append(f"{count_text(closing.cached_failures)} stored failure(s) were met in the cache")
    if closing.lock_waits:
        parts.append(f"{count_text(closing.lock_waits)} time(s) somebody waited for another's compile")
    if known["late"].value:
        parts.append(f"{known['late'].text} graph(s) were compiled after warm-up")
    if closing.fallbacks:
        parts.append(f"{count_text(closing.fallbacks)} graph(s) ran without a compiler")
    return f"{'; '.join(parts)}." if parts else "No compile failed, nobody waited, and nothing was compiled late."


def recommendations(closing: Summary, lines: Sequence[GraphLine], twice: Sequence[Duplicate],
                    simulated: Sequence[Precompile], figures: Sequence[Figure]) -> tuple[str, ...]:  # fmt: skip
    """What would have made the run shorter, the largest gain first, each with its number; three at most."""
    known = {one.name: one for one in figures}
    spent = known["compile_wall"].value or 0.0
    found: list[tuple[float, str]] = []
    if simulated and (gain := spent - simulated[-1].seconds) > _WORTH_SAYING:
        best = simulated[-1]
        took = f"about {duration_text(best.seconds)} instead of {duration_text(spent)} (simulated)"
        found.append((gain, f"Compile beforehand with `neurontop compile -j {best.workers}`: {took}."))
    wasted = sum(one.seconds or 0.0 for one in twice)
    if wasted > _WORTH_SAYING:
        reason = "use the same flags in every job" if any("flags" in one.kind for one in twice) else "share one cache"
        found.append((wasted, f"{duration_text(wasted)} of compiling was done twice: {reason}."))
    late = [line for line in lines if line.after_warm_up]
    seconds = sum(line.seconds or 0.0 for line in late)
    if seconds > _WORTH_SAYING:
        new = f"{count_text(len(late))} graph(s) were new after warm-up ({duration_text(seconds)})"
        found.append((seconds, f"{new}: {_STEADY}."))
    waited = closing.lock_wait_seconds
    if waited > _WORTH_SAYING:
        found.append(
            (waited / 2, f"Ranks waited {duration_text(waited)} for each other's compiles: compile beforehand.")
        )
    if failed := [line for line in lines if line.failures]:
        what = f"{count_text(len(failed))} graph(s) failed: `neurontop explain {failed[0].key}` says what to do"
        found.append((spent, f"{what}; a stored failure is served again until it is retried."))
    return tuple(text for _, text in sorted(found, key=lambda pair: -pair[0])[:3])


def notes(run: Run, spans: Sequence[Span]) -> tuple[str, ...]:
    """What the reader must know about the figures."""
    found = []
    bounds = sum(not span.exact for span in spans)
    if bounds:
        found.append(
            f"{count_text(bounds)} bar(s) of the timeline end or begin at a bound: the log names no exact time."
        )
    undated = sum(1 for one in run.compiles.digests() if one.misses and not one.spans)
    if undated:
        found.append(f"{count_text(undated)} compiled graph(s) have no time at all and are in no sum of seconds.")
    if run.compiles.passes > run.compiles.misses:
        found.append(
            f"The compiler reported {count_text(run.compiles.passes)} passes, more than compiles were announced."
        )
    if run.training.simulated_reports and not run.training.reports:
        found.append("Graphs were only extracted: the numbers the script printed mean nothing.")
    if run.job.malformed:
        found.append(f"{count_text(run.job.malformed)} broken line(s) were passed over.")
    if run.job.finished is None and run.job.started is not None:
        found.append("The run goes on (or its recorder died): figures are up to its last event.")
    return tuple(found)
