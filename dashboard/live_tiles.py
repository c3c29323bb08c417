"""The tiles at the top of the first page: each a number, and a line below it that explains it."""

from __future__ import annotations

from neuron_top.units import UNKNOWN, clock_text, count_text, counted, duration_text, number_text, percent_text
from neuron_top.views.core_rows import silence_text
from neuron_top.views.counts import graph_parts, graphs_found, lookup_words
from neuron_top.views.model import CoreKind
from neuron_top.views.overview import Overview, TrainingCard
from neuron_top.views.progress import CacheCard, fetch_words

TILES = (
    ("live-elapsed", "Elapsed"), ("live-step", "Step"), ("live-loss", "Loss"), ("live-speed", "Throughput"),
    ("live-graphs", "Graphs"), ("live-rate", "Cache hit rate"), ("live-busy", "Cores busy"),
)  # fmt: skip
TEXTS = tuple(f"{identity}{part}" for identity, _label in TILES for part in ("", "-sub"))
"""The outputs of all tiles: numbers and the lines below them."""


def tile_texts(view: Overview) -> dict[str, str]:
    """The text of every output of TEXTS."""
    head, training, cache, compiling = view.header, view.training, view.cache, view.compile
    busy = [row.utilization for row in view.cores if row.utilization is not None and not row.stale]
    values = {
        "live-elapsed": (clock_text(head.elapsed) if head.elapsed is not None else UNKNOWN, head.node),
        "live-step": (
            count_text(training.step),
            f"of {count_text(training.total_steps)}"
            if training.total_steps
            else _ago(training.since_last if head.active else None),
        ),
        "live-loss": (
            number_text(training.loss),
            f"learning rate {number_text(training.learning_rate, 3)}" if training.learning_rate is not None else "",
        ),
        "live-speed": (
            count_text(round(training.throughput))
            if training.throughput is not None and 1000 <= training.throughput < float("inf")
            else number_text(training.throughput, 3),
            _speed_words(training),
        ),
        "live-graphs": (
            count_text(compiling.total),
            ", ".join(part.text for part in graph_parts(compiling)) or ("none" if head.over else "none yet"),
        ),
        "live-rate": (percent_text(cache.hit_rate), _cache_words(cache)),
        "live-busy": (
            percent_text(sum(busy) / len(busy) if busy else None),
            _cores_words(
                sum(row.kind is CoreKind.NEURON for row in view.cores), head.workers, silence_text(view.cores, view.now)
            ),
        ),
    }
    return {
        f"{name}{part}": text for name, pair in values.items() for part, text in zip(("", "-sub"), pair, strict=True)
    }


def _speed_words(training: TrainingCard) -> str:
    """Explains the number, a median of recent reports, which may differ from the last point of the chart."""
    if training.throughput is not None:
        return " · ".join(filter(None, (training.throughput_unit, "recent median")))
    return f"{duration_text(training.step_seconds)} per step" if training.step_seconds is not None else ""


def _cores_words(cores: int, workers: int, silence: str) -> str:
    counts = [counted(count, word) for count, word in ((cores, "core"), (workers, "worker")) if count]
    return "; ".join(filter(None, (", ".join(counts), silence)))


def _cache_words(cache: CacheCard) -> str:
    answers = "; ".join(filter(None, (graphs_found(cache), lookup_words(cache))))
    fetched = fetch_words(cache.fetches) if cache.fetches is not None else ""
    return f"{answers} · {fetched}" if fetched else answers


def _ago(seconds: float | None) -> str:
    return f"last {duration_text(seconds)} ago" if seconds is not None else ""
