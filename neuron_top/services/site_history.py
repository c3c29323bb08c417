"""The last hour of a fleet's cores, from the site's Prometheus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from neuron_top.errors import NeuronTopError
from neuron_top.settings import Settings
from neuron_top.views.fleet_node import CoreHistory, NodeHistory

Points = tuple[tuple[float, float], ...]
"""(seconds since the epoch, value), oldest first."""

_SPAN_SECONDS = 3600.0
_STEP_SECONDS = 15.0
"""Seconds between the points of a history; it is asked for again only after them."""
_MOST_KEPT = 16
_CORE_SERIES = ("neurontop_core_utilization_ratio", "neurontop_core_memory_used_bytes")
_STATISTICS = {"min": "min by (node) ({})", "median": "quantile by (node) (0.5, {})", "max": "max by (node) ({})"}


class _Answer(NamedTuple):
    """What Prometheus answered to several queries."""

    series: list[Points]
    missing: str
    """Why there are no points; empty if there are some."""
    at: float
    """When it answered, monotonic seconds."""


class SiteHistory:
    """Histories of nodes and cores; without a Prometheus in the settings they are empty, and say so."""

    def __init__(self, settings: Settings) -> None:
        self._url, self._auth = settings.prometheus, settings.prometheus_auth
        self._answers: dict[tuple[str, ...], _Answer] = {}

    def of_node(self, node: str) -> NodeHistory:
        """The last hour of a node's cores."""
        answer = self._last_hour([_utilization(statistic, node) for statistic in _STATISTICS], "this node's cores")
        low, median, high = answer.series
        return NodeHistory(low=low, median=median, high=high, missing=answer.missing)

    def of_core(self, node: str, core: int) -> CoreHistory:
        """The last hour of one core."""
        answer = self._last_hour([_of_core(series, node, core) for series in _CORE_SERIES], "this core")
        busy, used = answer.series
        return CoreHistory(utilization=busy, memory=used, missing=answer.missing)

    def _last_hour(self, queries: Sequence[str], what: str) -> _Answer:
        """The points of each query. A page is drawn each second, also while the server does not answer."""
        key = tuple(queries)
        answer = self._answers.get(key)
        if answer is None or time.monotonic() - answer.at > _STEP_SECONDS:
            answer = _Answer(*self._ask(queries, what), time.monotonic())
            if len(self._answers) >= _MOST_KEPT:
                self._answers.clear()
            self._answers[key] = answer
        return answer

    def _ask(self, queries: Sequence[str], what: str) -> tuple[list[Points], str]:
        """(the points of each query, why there are none)."""
        nothing: list[Points] = [()] * len(queries)
        if not self._url:
            return nothing, "history needs the site's Prometheus: --prometheus URL or NEURONTOP_PROMETHEUS"
        from neuron_top.telemetry.prometheus_api import prometheus_api

        end = time.time()
        try:
            api = prometheus_api(self._url, self._auth)
            found = [api.query_range(query, end - _SPAN_SECONDS, end, _STEP_SECONDS) for query in queries]
        except NeuronTopError as problem:  # a wrong address, too: the rest of the page does not need it
            return nothing, str(problem)
        series = [each[0].points if each else () for each in found]
        return series, "" if any(series) else f"{api.url} has no samples of {what} in the last hour"


def _utilization(statistic: str, node: str) -> str:
    """The recorded series of a node's cores; the raw series if a site does not use our rules."""
    chosen = f'{{node="{_quoted(node)}"}}'
    cores = _STATISTICS[statistic].format(f"neurontop_core_utilization_ratio{chosen}")
    return f"max by (node) (node:neurontop_core_utilization_ratio:{statistic}{chosen}) or {cores}"


def _of_core(series: str, node: str, core: int) -> str:
    return f'max by (node, core) ({series}{{node="{_quoted(node)}",core="{core}"}})'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
