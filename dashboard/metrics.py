"""`/metrics`: the overview as Prometheus metrics.

Names, units and labels by its conventions: base units (seconds, bytes, ratios), counters end in `_total`. An unknown
value is a series that is absent, never zero.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from neuron_top import __version__
from neuron_top.escapes import name_text
from neuron_top.views.alerts import SEVERITIES
from neuron_top.views.core_metrics import CORE_METRICS
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.overview import Overview, overview

if TYPE_CHECKING:  # an agent serves metrics too, without the web
    from fastapi import FastAPI

    from neuron_top.dashboard.feed_registry import FeedRegistry

_CORE = ("node", "core", "kind", "device", "rank")


class Views(Collector):
    """Collects the metrics of the live run at each scrape."""

    def __init__(self, feeds: FeedRegistry) -> None:
        self._feeds = feeds

    def collect(self) -> Iterator[Metric]:
        """Every metric."""
        from neuron_top.dashboard.feed_registry import LIVE

        yield from metrics_of(self._feeds.cached_view(LIVE, overview))

    def describe(self) -> Iterator[Metric]:
        """Nothing beforehand: a collection at registration would come before the feed has started."""
        return iter(())


def metrics_of(view: Overview) -> list[Metric]:
    """The metrics of one overview, and which program has them."""
    info = InfoMetricFamily("neurontop", "The program that answers")
    info.add_metric((), {"version": __version__})
    return [info, *_job(view), *_cores(view), *_compiles(view), *_training(view)]


def _gauge(name: str, text: str, value: float | None) -> Iterator[Metric]:
    if value is not None:
        yield GaugeMetricFamily(f"neurontop_{name}", text, value=value)


def _job(view: Overview) -> Iterator[Metric]:
    head = view.header
    state = GaugeMetricFamily(
        "neurontop_job_active", "Whether the job that is shown goes on", labels=("job", "run", "node")
    )
    state.add_metric((name_text(head.name), head.run, head.node), float(head.active))
    yield state
    yield from _gauge("job_elapsed_seconds", "Time since the job began", head.elapsed)
    yield from _gauge("job_workers", "Worker processes alive", head.workers)
    alerts = GaugeMetricFamily("neurontop_alerts", "Alerts that hold now, by severity", labels=("severity",))
    for severity in SEVERITIES:
        alerts.add_metric((severity,), sum(alert.severity == severity for alert in view.alerts))
    yield alerts
    sources = GaugeMetricFamily("neurontop_source_up", "Whether a source of telemetry delivers", labels=("source",))
    for source in view.sources:
        sources.add_metric((name_text(source.name),), float(source.available))
    yield sources
    fresh = not view.host.stale
    yield from _gauge("host_cpu_ratio", "Busy share of the host's processors", view.host.cpu if fresh else None)
    yield from _gauge("host_memory_used_bytes", "Memory of the host in use", view.host.memory_used if fresh else None)
    yield from _gauge("host_memory_bytes", "Memory of the host", view.host.memory_total)


def _cores(view: Overview) -> Iterator[Metric]:
    for metric in CORE_METRICS:
        if not metric.prometheus:
            continue
        family = GaugeMetricFamily(f"neurontop_core_{metric.prometheus}", metric.help, labels=_CORE)
        for row in view.cores:
            value = metric.value(row)
            if value is not None and not row.stale:
                family.add_metric(_core_labels(row), value)
        yield family
    kinds = GaugeMetricFamily(
        "neurontop_core_memory_kind_bytes", "Device memory by kind", labels=(*_CORE, "memory_kind")
    )
    for row in view.cores:
        for kind, size in row.kinds.items():
            if not row.stale:
                kinds.add_metric([*_core_labels(row), kind], size)
    yield kinds


def _core_labels(row: CoreRow) -> list[str]:
    return [row.node, str(row.core), row.kind, *("" if one is None else str(one) for one in (row.device, row.rank))]


def _compiles(view: Overview) -> Iterator[Metric]:
    card, cache = view.compile, view.cache
    graphs = GaugeMetricFamily("neurontop_graphs", "Distinct graphs of the job, by state", labels=("state",))
    counts = {
        "compiled": card.done,
        "hit": card.hit,
        "failed": card.failed,
        "cached_failure": card.cached_failures,
        "compiling": len(card.running),
        "waiting": len(card.waiting),
        "extracted": card.extracted,
        "interrupted": card.interrupted,
    }
    for state, count in counts.items():
        graphs.add_metric((state,), count)
    yield graphs
    asked = CounterMetricFamily("neurontop_cache_lookups", "Answered lookups of the compile cache", labels=("result",))
    for result, count in (("hit", cache.hits), ("miss", cache.misses), ("cached_failure", cache.failures_met)):
        asked.add_metric((result,), count)
    yield asked
    seconds = "Wall time in which a worker compiled or waited for a compile"
    yield CounterMetricFamily("neurontop_compile_seconds", seconds, value=card.seconds)
    yield CounterMetricFamily(
        "neurontop_compile_wait_seconds", "Wall time in which a worker waited", value=card.wait_seconds
    )
    yield from _gauge("cache_hit_ratio", "Share of distinct graphs that came from the cache", cache.hit_rate)
    if cache.fetches is not None:
        fetched = "Bytes of artifacts that were fetched from elsewhere"
        yield CounterMetricFamily("neurontop_cache_fetched_bytes", fetched, value=cache.fetches.bytes)
        yield CounterMetricFamily(
            "neurontop_cache_fetched_graphs", "Artifacts that were fetched from elsewhere", value=cache.fetches.graphs
        )
    yield from _gauge("cache_entries", "Entries of the watched caches", cache.entries)
    yield from _gauge("cache_size_bytes", "Bytes that the watched caches take on disk", cache.size)
    yield from _gauge("cache_disk_free_bytes", "Least free space of their file systems", cache.free)


def _training(view: Overview) -> Iterator[Metric]:
    training = view.training
    yield from _gauge("training_step", "The last step that was printed", training.step)
    yield from _gauge("training_loss", "The last loss that was printed", training.loss)
    yield from _gauge("training_step_seconds", "Duration of a step", training.step_seconds)
    yield from _gauge("training_last_report_timestamp_seconds", "When a step was last printed", training.last_time)
    if training.throughput is not None:
        rate = GaugeMetricFamily("neurontop_training_throughput", "Work per second as printed", labels=("unit",))
        rate.add_metric((training.throughput_unit,), training.throughput)
        yield rate


_NOT_SLIM = frozenset({"neurontop_core_memory_kind_bytes", "neurontop_source_up"})
"""Families whose series grow with what a node runs: a fleet does without."""


def slim_metrics_of(view: Overview) -> list[Metric]:
    """For a fleet's collector: at most 6 series a core and 60 a node."""
    return [metric for metric in metrics_of(view) if metric.name not in _NOT_SLIM]


def register(server: FastAPI, feeds: FeedRegistry, prefix: str) -> None:
    """Add `<prefix>metrics`."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Views(feeds))

    from starlette.requests import Request
    from starlette.responses import Response

    from neuron_top.dashboard.feed_registry import LIVE

    async def metrics(request: Request) -> Response:
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        await feeds.opened(LIVE)
        return Response(await asyncio.to_thread(encode, registry), headers={"content-type": kind})

    server.add_route(f"{prefix}metrics", metrics, methods=["GET"])
