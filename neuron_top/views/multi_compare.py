"""More than two runs in one picture: memory per core against throughput, each compared with the first."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.units import bytes_text, signed_percent_text
from neuron_top.views.compare import TOTAL, change, distinct_titles, failure_sentences, mean_peak, memory_of
from neuron_top.views.memory_place import places_differ
from neuron_top.views.metric import value_text
from neuron_top.views.report import Report


class ComparedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run. Bytes per core are the mean over cores of each one's peak; None is unknown."""

    title: str
    cores: int
    memory: float | None
    memory_of: str
    """Whose it is: `the host`, `GPUs`; "" where none is known."""
    kinds: dict[str, float]
    throughput: float | None
    throughput_unit: str
    step_seconds: float | None
    compile_seconds: float | None
    graphs: float | None
    loss: float | None
    memory_change: float | None
    """(this − first) ÷ first; None where it is not the memory of the same place."""
    throughput_change: float | None
    diagnosis: Diagnosis | None = None
    """What went wrong; None where no log was read for it."""


class MultiComparison(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, in the order they were named."""

    answer: tuple[str, ...]
    rows: tuple[ComparedRun, ...]


def multi_compare(reports: Sequence[Report], named: int | None = None) -> MultiComparison:
    """Two or more runs against the first of them. `named`: how many were to be compared, if these are only the first
    of them."""
    titles = distinct_titles(reports)
    first = _row(reports[0], titles[0], None)
    rows = (first, *(_row(report, title, first) for report, title in zip(reports[1:], titles[1:], strict=True)))
    failures = failure_sentences(dict(zip(titles, reports, strict=True)))
    left_out = (_left_out(len(reports), named),) if named is not None and named > len(reports) else ()
    return MultiComparison(answer=(*left_out, *failures, *(_sentence(row, first) for row in rows[1:])), rows=rows)


def _row(view: Report, title: str, first: ComparedRun | None) -> ComparedRun:
    known = {metric.name: metric for metric in view.metrics}
    speed = known["throughput"]
    kinds = dict.fromkeys(kind for line in view.memory for kind in line.kinds)
    memory, place = mean_peak(view, TOTAL), memory_of(view)
    return ComparedRun(
        title=title,
        cores=len(view.memory),
        memory=memory,
        memory_of=place,
        kinds={kind: size for kind in kinds if (size := mean_peak(view, kind))},
        throughput=speed.value,
        throughput_unit=speed.unit,
        step_seconds=known["step_seconds"].value,
        compile_seconds=known["compile_wall"].value,
        graphs=known["graphs"].value,
        loss=known["loss"].value,
        memory_change=(
            change(first.memory, memory) if first is not None and not places_differ(first.memory_of, place) else None
        ),
        throughput_change=(
            change(first.throughput, speed.value) if first is not None and first.throughput_unit == speed.unit else None
        ),
        diagnosis=view.diagnosis,
    )


def _left_out(compared: int, named: int) -> str:
    return (
        f"Only the first {compared} of the {named} runs are compared here: `neurontop compare` in a terminal takes "
        "any number."
    )


def _sentence(row: ComparedRun, first: ComparedRun) -> str:
    memory = _with_change("memory per core", bytes_text(row.memory), row.memory_change)
    if places_differ(first.memory_of, row.memory_of):
        memory = f"memory per core {bytes_text(row.memory)} of {row.memory_of}, that of {first.memory_of} there"
    speed = _with_change("throughput", value_text(row.throughput, row.throughput_unit), row.throughput_change)
    if None not in (first.throughput, row.throughput) and first.throughput_unit != row.throughput_unit:
        theirs = value_text(first.throughput, first.throughput_unit)
        speed = f"throughput {value_text(row.throughput, row.throughput_unit)}, that of {first.title} {theirs}"
    return f"{row.title} against {first.title}: {memory}, {speed}."


def _with_change(what: str, value: str, change: float | None) -> str:
    if change is None:
        return f"{what} is not known of both"
    return f"{what} {value} ({signed_percent_text(change)})"
