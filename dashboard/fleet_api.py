"""The endpoints of the fleet: what `neurontop fleet` prints, and the targets of a site's Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request

from neuron_top.dashboard.endpoint import Endpoint, counted_parameter
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.errors import UsageError
from neuron_top.views.blame.records import Blame
from neuron_top.views.fleet import METRICS, FleetPage, JobRow, NodeRow, TopRow, metric_named, sorted_nodes, top
from neuron_top.views.fleet_differences import Differences, differences, slow_selection
from neuron_top.views.fleet_targets import TargetGroup, scrape_targets

MOST_ROWS = 5000


def fleet_endpoints(fleet: DashboardFleet) -> tuple[Endpoint, ...]:
    """Every endpoint of the fleet."""

    def of_page(view: Callable[[FleetPage, Request], Any]) -> Callable[[Request], Awaitable[Any]]:
        async def handler(request: Request) -> Any:
            page = await asyncio.to_thread(fleet.page, request.query_params.get("job"))
            return view(page, request)

        return handler

    async def blame(request: Request) -> Blame:
        job = request.query_params.get("job", "")
        if not job:
            raise UsageError("name a job: ?job=ID")
        return await asyncio.to_thread(fleet.blame, job)

    return (
        Endpoint("fleet/jobs", "the jobs of the fleet", tuple[JobRow, ...], of_page(lambda page, _: page.jobs), ()),
        Endpoint("fleet/nodes", "its nodes", tuple[NodeRow, ...], of_page(_nodes), ("job", "sort")),
        Endpoint("fleet/top", "nodes by a metric", tuple[TopRow, ...], of_page(_top), ("job", "metric", "count")),
        Endpoint("fleet/different", "what is different", Differences, of_page(_different), ("job", "nodes")),
        Endpoint("fleet/blame", "who compiled, who waited, what it cost", Blame, blame, ("job",)),
        Endpoint(
            "targets",
            "agents, for http_sd_configs of Prometheus",
            tuple[TargetGroup, ...],
            of_page(lambda page, _: scrape_targets(page)),
            ("job",),
        ),
    )


def _nodes(page: FleetPage, request: Request) -> tuple[NodeRow, ...]:
    name = request.query_params.get("sort")
    return sorted_nodes(page.nodes, metric_named(name) if name else None)


def _top(page: FleetPage, request: Request) -> tuple[TopRow, ...]:
    metric = metric_named(request.query_params.get("metric", METRICS[0].name))
    return top(page, metric, counted_parameter(request, 10, MOST_ROWS))


def _different(page: FleetPage, request: Request) -> Differences:
    named = [name for name in request.query_params.get("nodes", "").split(",") if name]
    return differences(page, named or slow_selection(page))
