"""The text of `neurontop tally`: the rows of a log as tables."""

from __future__ import annotations

from neuron_top.cli.output import table
from neuron_top.escapes import shortened
from neuron_top.units import UNKNOWN, bytes_text, clock_text, count_text, counted, duration_text, number_text
from neuron_top.views.exhausted import ExhaustedMemory
from neuron_top.views.log_tally import LogTally, TalliedGraph

_CAUSE_CHARACTERS = 200
_CORES_SHOWN = 10
_PROGRAMS_SHOWN = 3


def tally_text(name: str, view: LogTally) -> str:
    """The whole summary of one log."""
    parts = (
        _head(name, view),
        _counts(view),
        _graphs(view),
        _failures(view),
        _memory(view),
        _advice(view),
        _problems(view),
        _progress(view),
        _unknown(view),
    )
    return "\n\n".join(part for part in parts if part)


def _head(name: str, view: LogTally) -> str:
    shown = "standard input" if name == "-" else name
    lines = [f"{shown}: {counted(view.lines, 'line')}, {bytes_text(view.bytes)}"]
    if view.seconds is not None:
        processes = counted(view.processes, "process", "processes")
        lines.append(f"{view.first} to {view.last} ({clock_text(view.seconds)}), {processes}")
    for title, values in (
        ("compiler", view.compiler_versions),
        ("cache", view.cache_roots),
        ("error codes", view.error_codes),
    ):
        if values:
            lines.append(f"{title}: {', '.join(values)}")
    if view.diagnosis.text:
        cause = shortened(view.diagnosis.text, _CAUSE_CHARACTERS)
        lines.insert(1, f"{view.diagnosis.verdict} ({view.diagnosis.where}): {cause}")
    return "\n".join(lines)


def _counts(view: LogTally) -> str:
    rows = (
        ("graphs named", view.graph_count),
        ("cache hits", view.hits),
        ("compiles", view.compiles),
        ("compiles failed", view.failures),
        ("cached failures hit", view.cached_failures),
        ("lock waits", view.lock_waits),
        ("graphs extracted", view.extracted),
        ("files not in the hub cache", view.hub_misses),
        ("runtime log lines", view.runtime_lines),
    )
    return table(("", ""), [(title, count_text(value)) for title, value in rows if value], right=(1,)).lstrip("\n")


def _graphs(view: LogTally) -> str:
    if not view.graphs:
        return ""
    rows = [
        (
            graph.module,
            _count(graph.compiled),
            _count(graph.hits),
            _count(graph.extracted),
            _count(graph.failed),
            duration_text(graph.longest_wait),
            _duration(graph),
        )
        for graph in view.graphs
    ]
    header = ("graph", "compiled", "hits", "extracted", "failed", "longest wait", "compile time")
    left_out = view.graph_count - len(view.graphs)
    return table(header, rows, right=range(1, 7)) + (f"\n… and {counted(left_out, 'more graph')}" if left_out else "")


def _failures(view: LogTally) -> str:
    lines = []
    for failure in view.failed:
        what = "failed before, stored in the cache" if failure.is_cached else "failed"
        lines.append(f"  {failure.module or UNKNOWN} {what}{_times(failure.count)}")
        lines.append(f"    {failure.message or 'no text'}")
        lines += [f"    → {failure.advice}"] if failure.advice else []
    return "\n".join(("failed graphs", *lines)) if lines else ""


def _memory(view: LogTally) -> str:
    lines = _exhausted(view.exhausted) if view.exhausted is not None else []
    lines += ["device memory by loaded program"] if view.programs else []
    lines += [f"  {program.name}: {bytes_text(program.total)}" for program in view.programs]
    return "\n".join(lines)


def _exhausted(memory: ExhaustedMemory) -> list[str]:
    lines = [f"device memory ran out: {memory.summary}"]
    for core in memory.cores[:_CORES_SHOWN]:
        in_use = f", {bytes_text(core.in_use)} in use" if core.in_use is not None else ""
        asked = f"{bytes_text(core.requested)} for {core.usage or UNKNOWN}"
        lines.append(f"  {core.place}: {asked}{in_use}{_times(core.count)}")
    left_out = len(memory.cores) - _CORES_SHOWN
    lines += [f"  … and {counted(left_out, 'more core')}"] if left_out > 0 else []
    if memory.kinds:
        filled = ", ".join(f"{kind.replace('_', ' ')} {bytes_text(size)}" for kind, size in memory.kinds.items())
        lines.append(f"  filled by: {filled}")
    lines += [f"  program {program.name}: {bytes_text(program.total)}" for program in memory.programs[:_PROGRAMS_SHOWN]]
    return [*lines, *(f"    → {text}" for text in memory.advice)]


def _advice(view: LogTally) -> str:
    lines = ["advice"] if view.advice else []
    for advice in view.advice:
        lines.append(f"  {advice.what}{_times(advice.count)}: {shortened(advice.text, _CAUSE_CHARACTERS)}")
        lines.append(f"    → {advice.next_step}")
    lines += ["timed by the program"] if view.phases else []
    lines += [f"  {name}: {seconds}" for name, seconds in view.phases]
    return "\n".join(lines)


def _problems(view: LogTally) -> str:
    lines = [f"  {text}{_times(count)}" for text, count in view.problems]
    return "\n".join(("errors", *lines)) if lines else ""


def _progress(view: LogTally) -> str:
    progress = view.progress
    if progress is None:
        return ""
    facts = [f"step {progress.step}"] if progress.step is not None else []
    facts += [f"loss {number_text(progress.loss)}"]
    facts += [f"epoch {progress.epoch:g}"] if progress.epoch is not None else []
    text = f"training: {count_text(progress.lines)} progress lines, the last: {', '.join(facts)}"
    return f"{text}\n  printed by a trial run that extracts graphs: ignore the numbers" if progress.simulated else text


def _unknown(view: LogTally) -> str:
    broken = f", {count_text(view.malformed_lines)} malformed" if view.malformed_lines else ""
    return f"{counted(view.known_lines, 'line')} recognized, {count_text(view.unknown_lines)} not{broken}"


def _duration(graph: TalliedGraph) -> str:
    if graph.compile_seconds is None:
        return UNKNOWN
    return ("≤ " if graph.is_upper_bound else "") + duration_text(graph.compile_seconds)


def _count(value: int) -> str:
    return count_text(value) if value else ""


def _times(count: int) -> str:
    return f" (× {count_text(count)})" if count > 1 else ""
